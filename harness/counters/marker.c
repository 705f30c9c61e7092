#include "harness/counters/marker.h"

bool ulb_marker_active;

#ifdef ULB_HAVE_LIKWID

#define LIKWID_PERFMON
#include <likwid-marker.h>

#include <stddef.h>
#include <stdlib.h>

/* likwid-perfctr -m sets these; without them likwid_markerInit prints a note and does nothing. */
static bool under_likwid_perfctr(void)
{
    static const char *const names[] = {"LIKWID_MODE", "LIKWID_FILEPATH", "LIKWID_EVENTS", "LIKWID_THREADS"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (!getenv(names[i]))
            return false;
    }
    return true;
}

void ulb_marker_init(void)
{
    ulb_marker_active = under_likwid_perfctr();
    if (ulb_marker_active)
        LIKWID_MARKER_INIT;
}

void ulb_marker_close(void)
{
    if (ulb_marker_active)
        LIKWID_MARKER_CLOSE;
    ulb_marker_active = false;
}

void ulb_marker_region(const char *name, bool begin)
{
    if (begin)
        LIKWID_MARKER_START(name);
    else
        LIKWID_MARKER_STOP(name);
}

#else

void ulb_marker_init(void) {}

void ulb_marker_close(void) {}

void ulb_marker_region(const char *name, bool begin)
{
    (void)name;
    (void)begin;
}

#endif
