#include "common/filter.h"

#include <stddef.h>

enum ulb_status ulb_filter_compile(regex_t *filter, const char *option, const char *text,
                                   struct ulb_error *err)
{
    char why[128];
    if (*text == '\0')
        return ulb_fail(err, ULB_BAD_INPUT, "%s is empty and would match everything; leave it out", option);
    int code = regcomp(filter, text, REG_EXTENDED | REG_NOSUB);
    if (code == 0)
        return ULB_OK;
    if (code == REG_ESPACE)
        return ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for %s '%.100s'", option, text);
    regerror(code, filter, why, sizeof why);
    return ulb_fail(err, ULB_BAD_INPUT, "%s '%.100s' is no regular expression: %s", option, text, why);
}

enum ulb_status ulb_filter_match(const regex_t *filter, const char *name, bool *matches,
                                 struct ulb_error *err)
{
    int code = regexec(filter, name, 0, NULL, 0);
    /* glibc says so too when it gets no memory for its tables; then they are made now. */
    if (code == REG_NOMATCH)
        code = regexec(filter, name, 0, NULL, 0);
    *matches = code == 0;
    if (code == 0 || code == REG_NOMATCH)
        return ULB_OK;
    return ulb_fail(err, ULB_ENVIRONMENT, "not enough memory to match '%.100s'", name);
}
