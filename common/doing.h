/* What the program hands its thread to, so that whoever finds it crashed or at a standstill can say so: code
 * that is not ours, plug-ins and libraries. */
#ifndef ULB_COMMON_DOING_H
#define ULB_COMMON_DOING_H

#include <stdbool.h>
#include <stdint.h>

struct ulb_doing {
    char what[96];   /* "kernel int8a8-mine-any-1x1x1", "hwloc"; "": nothing of others */
    char where[192]; /* "at 64x128", "reading HWLOC_XMLFILE=m.xml" */
    char remedy[128];
    double limit_s; /* that one call of it may take; 0: any time */
};

/* One at a time, set by the main thread; read in signal handlers and by the watch. */
extern struct ulb_doing ulb_doing;

/* what and where as above; the format gives where. */
void ulb_doing_set(const char *what, const char *remedy, double limit_s, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
void ulb_doing_end(void);

/* Odd while a call is at work: counted where it begins and where it ends. */
extern volatile uint64_t ulb_calls;

static inline void ulb_call_begin(void)
{
    ulb_calls = ulb_calls + 1;
}

static inline void ulb_call_end(void)
{
    ulb_calls = ulb_calls + 1;
}

/* Another stack for the signal handlers of the calling thread, of which overflowing its own is one cause;
 * false: no memory, and such a crash has no message. close before the thread ends; the main thread keeps its
 * own. */
bool ulb_signal_stack_open(void);
void ulb_signal_stack_close(void);

#endif
