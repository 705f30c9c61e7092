/* Buffers of all threads together stay in the caches that they share. */
#include "harness/memory/cache_share.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { KIB = 1 << 10, MIB = 1 << 20, PUS_MAX = 32 };

static unsigned numbers[PUS_MAX];

/* PUs first to first + n - 1. */
static struct ulb_pu_list run(unsigned first, size_t n)
{
    return (struct ulb_pu_list){numbers + first, n};
}

static void expect(const struct ulb_topology *topology, struct ulb_pu_list pus, size_t l1, size_t l2,
                   size_t llc)
{
    size_t bytes[ULB_CACHE_LEVELS];
    ulb_cache_levels(topology, pus.items, pus.n, bytes);
    assert_int_equal(bytes[ULB_L1], l1);
    assert_int_equal(bytes[ULB_L2], l2);
    assert_int_equal(bytes[ULB_LLC], llc);
}

/* Like the i7-1370P's parts: 2 cores of two threads with an L2 each, 4 whose L2 is one, all under one L3; and
 * 2 cores without L3. */
static void hybrid_classes_share_the_l3(void **state)
{
    (void)state;
    struct ulb_pu_list p_cores[] = {run(0, 2), run(2, 2)},
                       e_cores[] = {run(4, 1), run(5, 1), run(6, 1), run(7, 1)};
    struct ulb_pu_list lp_cores[] = {run(8, 1), run(9, 1)}, e_cluster = run(4, 4), lp_cluster = run(8, 2);
    struct ulb_cache_share p_l3 = {run(0, 4), 24 * MIB}, e_l3 = {run(4, 4), 24 * MIB};
    struct ulb_topology topology = {.n_classes = 3,
                                    .classes = {{.name = "P",
                                                 .pus = run(0, 4),
                                                 .cores = 2,
                                                 .smt_siblings = p_cores,
                                                 .l2_clusters = p_cores,
                                                 .n_l2_clusters = 2,
                                                 .l3_pus = run(0, 4),
                                                 .l3_caches = &p_l3,
                                                 .n_l3_caches = 1,
                                                 .l1d_bytes = 48 * KIB,
                                                 .l2_bytes = 1280 * KIB},
                                                {.name = "E",
                                                 .pus = run(4, 4),
                                                 .cores = 4,
                                                 .smt_siblings = e_cores,
                                                 .l2_clusters = &e_cluster,
                                                 .n_l2_clusters = 1,
                                                 .l3_pus = run(4, 4),
                                                 .l3_caches = &e_l3,
                                                 .n_l3_caches = 1,
                                                 .l1d_bytes = 32 * KIB,
                                                 .l2_bytes = 2 * MIB},
                                                {.name = "LP-E",
                                                 .pus = run(8, 2),
                                                 .cores = 2,
                                                 .smt_siblings = lp_cores,
                                                 .l2_clusters = &lp_cluster,
                                                 .n_l2_clusters = 1,
                                                 .l1d_bytes = 32 * KIB,
                                                 .l2_bytes = 2 * MIB}}};
    unsigned leaders[] = {0, 2, 4, 5, 6, 7};
    expect(&topology, run(0, 1), 24 * KIB, 640 * KIB, 5 * MIB);    /* P:1, of the LLC 4 times L2 */
    expect(&topology, run(0, 2), 12 * KIB, 320 * KIB, 2560 * KIB); /* one core's two threads */
    expect(&topology, run(4, 1), 16 * KIB, MIB, 8 * MIB);          /* E:1 */
    expect(&topology, run(4, 4), 16 * KIB, 256 * KIB, 2 * MIB);    /* E: four share 2 MiB */
    expect(&topology, (struct ulb_pu_list){leaders, 6}, 16 * KIB, 256 * KIB, 0); /* 2 MiB of L3 are too few */
    expect(&topology, run(8, 2), 16 * KIB, 512 * KIB, 0);
    expect(&topology, run(6, 4), 16 * KIB, 512 * KIB, 0); /* E and LP-E: only one has an L3 */
}

/* Like a 7950X: 16 cores, two L3s of 32 MiB. */
static void each_l3_is_shared_by_its_own_cores(void **state)
{
    (void)state;
    enum { CORES = 16 };
    struct ulb_pu_list cores[CORES];
    for (unsigned i = 0; i < CORES; i++)
        cores[i] = run(i, 1);
    struct ulb_cache_share l3[] = {{run(0, 8), 32 * MIB}, {run(8, 8), 32 * MIB}};
    struct ulb_topology topology = {.n_classes = 1,
                                    .classes = {{.name = "core",
                                                 .pus = run(0, CORES),
                                                 .cores = CORES,
                                                 .smt_siblings = cores,
                                                 .l2_clusters = cores,
                                                 .n_l2_clusters = CORES,
                                                 .l3_pus = run(0, CORES),
                                                 .l3_caches = l3,
                                                 .n_l3_caches = 2,
                                                 .l1d_bytes = 32 * KIB,
                                                 .l2_bytes = MIB}}};
    expect(&topology, run(0, CORES), 16 * KIB, 512 * KIB, 2 * MIB);
    expect(&topology, run(0, 8), 16 * KIB, 512 * KIB, 2 * MIB);
    expect(&topology, run(6, 3), 16 * KIB, 512 * KIB, 4 * MIB);
    l3[1].bytes = 16 * MIB;
    expect(&topology, run(0, CORES), 16 * KIB, 512 * KIB, 0);
    topology.classes[0].l2_bytes = 0;
    expect(&topology, run(0, CORES), 16 * KIB, 0, 0);
}

int main(void)
{
    for (unsigned i = 0; i < PUS_MAX; i++)
        numbers[i] = i;
    const struct CMUnitTest tests[] = {cmocka_unit_test(hybrid_classes_share_the_l3),
                                       cmocka_unit_test(each_l3_is_shared_by_its_own_cores)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
