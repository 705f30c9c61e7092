#include "common/doing.h"

#include "common/text.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { STACK_BYTES = 64 << 10 };

struct ulb_doing ulb_doing;
volatile uint64_t ulb_calls, ulb_calls_at_work;

void ulb_doing_set(const void *about, const char *what, const char *remedy, double limit_s,
                   const char *format, ...)
{
    va_list args;
    ulb_doing.active = false; /* a handler that comes in between sees nothing rather than halves */
    ulb_doing.about = about;
    va_start(args, format);
    vsnprintf(ulb_doing.where, sizeof ulb_doing.where, format, args);
    va_end(args);
    ulb_text_mend(ulb_doing.where);
    ulb_text_printable(ulb_doing.where);
    snprintf(ulb_doing.remedy, sizeof ulb_doing.remedy, "%s", remedy);
    ulb_doing.limit_s = limit_s;
    snprintf(ulb_doing.what, sizeof ulb_doing.what, "%s", what);
    ulb_doing.active = true;
}

static _Thread_local void *own_stack;

bool ulb_signal_stack_open(void)
{
    stack_t there, stack = {.ss_size = STACK_BYTES};
    if (sigaltstack(NULL, &there) == 0 && !(there.ss_flags & SS_DISABLE))
        return true; /* a sanitizer has made one */
    stack.ss_sp = own_stack = malloc(STACK_BYTES);
    if (!own_stack)
        return false;
    if (sigaltstack(&stack, NULL) == 0)
        return true;
    free(own_stack);
    own_stack = NULL;
    return false;
}

void ulb_signal_stack_close(void)
{
    const stack_t none = {.ss_flags = SS_DISABLE};
    if (own_stack && sigaltstack(&none, NULL) == 0) {
        free(own_stack);
        own_stack = NULL;
    }
}

const char *ulb_signal_name(int number)
{
    switch (number) {
    case SIGSEGV:
        return "Segmentation fault";
    case SIGBUS:
        return "Bus error";
    case SIGILL:
        return "Illegal instruction";
    case SIGFPE:
        return "Floating point exception";
    case SIGABRT:
        return "Aborted";
    case SIGSYS:
        return "Bad system call";
    case SIGTRAP:
        return "Trace/breakpoint trap";
    default:
        return "a signal";
    }
}
