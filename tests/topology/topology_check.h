/* A machine's expected description, lists written as text, and the check of a replayed topology against it.
 */
#ifndef ULB_TESTS_TOPOLOGY_TOPOLOGY_CHECK_H
#define ULB_TESTS_TOPOLOGY_TOPOLOGY_CHECK_H

#include "harness/topology/topology_private.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

struct expected_class {
    const char *name, *pus, *leaders;
    unsigned cores, smt;
    const char *siblings;    /* "0-1 2-3": PUs of each core; NULL: each PU is a core */
    const char *l2_clusters; /* "" when there is no L2; NULL: each PU has its own */
    const char *l3_pus; /* "" when there is no L3; of several with the KiB of each: "0-3:8192 4-7:16384" */
    size_t l1d_kib, l2_kib, l3_kib;
};

struct expected_machine {
    const char *file; /* name without .xml */
    bool hybrid;
    const char *how, *allowed, *offline;
    unsigned packages;
    size_t llc_kib;
    size_t n_classes;
    struct expected_class classes[3];
};

/* Points HWLOC_XMLFILE at DIRECTORY/FILE.xml; false when there is no such file. DIRECTORY is below the
 * source. */
bool replay(const char *directory, const char *file);

/* Loads what replay() points at and checks every field of the expectation. */
void check_machine(const struct expected_machine *expected);

#define DATA "tests/topology/data"

#endif
