#include "common/filter.h"

enum ulb_status ulb_filter_compile(regex_t *filter, const char *option, const char *text,
                                   struct ulb_error *err)
{
    char why[128];
    int code = regcomp(filter, text, REG_EXTENDED | REG_NOSUB);
    if (code == 0)
        return ULB_OK;
    if (code == REG_ESPACE)
        return ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for %s '%.100s'", option, text);
    regerror(code, filter, why, sizeof why);
    return ulb_fail(err, ULB_BAD_INPUT, "%s '%.100s' is no regular expression: %s", option, text, why);
}
