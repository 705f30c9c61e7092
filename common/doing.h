/* What the program hands its thread to, so that whoever finds it crashed or at a standstill can say so: code
 * that is not ours, plug-ins and libraries. */
#ifndef ULB_COMMON_DOING_H
#define ULB_COMMON_DOING_H

#include <stdbool.h>
#include <stdint.h>

struct ulb_doing {
    volatile bool active;
    const void *about; /* what it was set for, so that to set it again is cheap */
    char what[96];     /* "kernel int8a8-mine-any-1x1x1", "hwloc" */
    char where[192];   /* "at 64x128", "reading HWLOC_XMLFILE=m.xml" */
    char remedy[128];
    double limit_s; /* that one call of it may take; 0: any time */
};

/* One at a time, set by the main thread; read in signal handlers and by the watchdog. */
extern struct ulb_doing ulb_doing;

/* about may be NULL; what, remedy and limit as above; the format gives where. Becomes active. */
void ulb_doing_set(const void *about, const char *what, const char *remedy, double limit_s,
                   const char *format, ...) __attribute__((format(printf, 5, 6)));

static inline void ulb_doing_end(void)
{
    ulb_doing.active = false;
}

/* Calls of others' code that have begun or ended, and those at work; one may be part of another. Counted by
 * the main thread. */
extern volatile uint64_t ulb_calls, ulb_calls_at_work;

static inline void ulb_call_begin(void)
{
    ulb_calls = ulb_calls + 1;
    ulb_calls_at_work = ulb_calls_at_work + 1;
}

static inline void ulb_call_end(void)
{
    ulb_calls = ulb_calls + 1;
    ulb_calls_at_work = ulb_calls_at_work - 1;
}

/* "Segmentation fault"; may be called in a signal handler, with any C library. */
const char *ulb_signal_name(int number);

/* Another stack for the signal handlers of the calling thread, of which overflowing its own is one cause;
 * false: no memory, and such a crash has no message. close before the thread ends; the main thread keeps its
 * own. */
bool ulb_signal_stack_open(void);
void ulb_signal_stack_close(void);

#endif
