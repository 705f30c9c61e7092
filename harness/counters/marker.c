#include "harness/counters/marker.h"

#include <dlfcn.h>
#include <stddef.h>
#include <stdlib.h>

bool ulb_marker_active;

/* LIKWID's marker API (likwid-marker.h of LIKWID 5). Loaded by the process that likwid-perfctr started, by no
 * other: its tables alone take 15 MiB. */
static struct {
    void *library;
    void (*init)(void);
    void (*close)(void);
    int (*start)(const char *region);
    int (*stop)(const char *region);
} likwid;

/* likwid-perfctr -m sets these. */
static bool under_likwid_perfctr(void)
{
    static const char *const names[] = {"LIKWID_MODE", "LIKWID_FILEPATH", "LIKWID_EVENTS", "LIKWID_THREADS"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (!getenv(names[i]))
            return false;
    }
    return true;
}

/* The address is stored as an object's, because ISO C has no conversion between the two (POSIX, dlsym). */
static bool find(const char *name, void *function)
{
    *(void **)function = dlsym(likwid.library, name);
    return *(void **)function != NULL;
}

enum ulb_status ulb_marker_init(struct ulb_error *err)
{
    if (!under_likwid_perfctr())
        return ULB_OK;
    likwid.library = dlopen("liblikwid.so.5", RTLD_NOW);
    if (!likwid.library || !find("likwid_markerInit", &likwid.init) ||
        !find("likwid_markerClose", &likwid.close) || !find("likwid_markerStartRegion", &likwid.start) ||
        !find("likwid_markerStopRegion", &likwid.stop))
        return ulb_fail(
            err, ULB_ENVIRONMENT,
            "LIKWID_MODE and its like are set, but the marker API cannot be loaded: %s; install LIKWID 5 "
            "or leave likwid-perfctr -m",
            dlerror());
    ulb_marker_active = true;
    likwid.init();
    return ULB_OK;
}

void ulb_marker_close(void)
{
    if (ulb_marker_active)
        likwid.close();
    ulb_marker_active = false;
}

void ulb_marker_region(const char *name, bool begin)
{
    (begin ? likwid.start : likwid.stop)(name);
}
