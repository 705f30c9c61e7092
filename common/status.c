#include "common/status.h"

#include "common/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* A message is one line of printable characters, whatever the names in it are. */
static void make_line(struct ulb_error *err)
{
    ulb_text_mend(err->message);
    ulb_text_printable(err->message);
}

enum ulb_status ulb_fail(struct ulb_error *err, enum ulb_status status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(err->message, sizeof err->message, format, args);
    va_end(args);
    make_line(err);
    return status;
}

enum ulb_status ulb_fail_prefix(struct ulb_error *err, enum ulb_status status, const char *format, ...)
{
    char old[sizeof err->message];
    memcpy(old, err->message, sizeof old);
    va_list args;
    va_start(args, format);
    int used = vsnprintf(err->message, sizeof err->message, format, args);
    va_end(args);
    int left = (int)sizeof err->message - used;
    if (used >= 0 && left > 0)
        snprintf(err->message + used, (size_t)left, ": %.*s", left, old);
    make_line(err);
    return status;
}

int ulb_exit_code(enum ulb_status status)
{
    switch (status) {
    case ULB_OK:
        return 0;
    case ULB_FINDING:
        return 1;
    case ULB_BAD_INPUT:
        return 2;
    case ULB_ENVIRONMENT:
        return 3;
    case ULB_UNDECIDED:
        return 4;
    case ULB_INTERRUPTED:
        return 130;
    }
    return 3;
}
