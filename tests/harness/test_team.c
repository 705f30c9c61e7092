/* The team and the splits: every job on every thread, every row exactly once, whatever the number of threads.
 */
#include "harness/timing/clock.h"
#include "harness/timing/smt_interference.h"
#include "harness/threads/split.h"
#include "harness/threads/team.h"

#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

enum { THREADS_MAX = 8, ROWS_MAX = 4096 };

/* n threads over the PUs that this process may use, more threads than PUs if need be. */
static struct ulb_team *team_of(size_t n)
{
    unsigned pus[THREADS_MAX], allowed[CPU_SETSIZE];
    size_t count = 0;
    cpu_set_t set;
    assert_int_equal(sched_getaffinity(0, sizeof set, &set), 0);
    for (unsigned pu = 0; pu < CPU_SETSIZE; pu++) {
        if (CPU_ISSET(pu, &set))
            allowed[count++] = pu;
    }
    for (size_t i = 0; i < n; i++)
        pus[i] = allowed[i % count];
    struct ulb_team *team;
    struct ulb_error err;
    assert_int_equal(ulb_team_start(&team, pus, n, &err), ULB_OK);
    return team;
}

struct tally {
    _Atomic int runs[THREADS_MAX];
    const unsigned *pus;
    _Atomic int elsewhere;
};

static void count_job(void *arg, size_t thread)
{
    struct tally *tally = arg;
    atomic_fetch_add(&tally->runs[thread], 1);
    if (sched_getcpu() != (int)tally->pus[thread])
        atomic_fetch_add(&tally->elsewhere, 1);
}

static void every_thread_runs_every_job_on_its_pu(void **state)
{
    (void)state;
    for (size_t n = 1; n <= 4; n++) {
        struct ulb_team *team = team_of(n);
        struct tally tally = {.pus = ulb_team_pus(team)};
        for (int i = 0; i < 200; i++)
            ulb_team_run(team, count_job, &tally);
        for (size_t t = 0; t < n; t++)
            assert_int_equal(tally.runs[t], 200);
        assert_int_equal(tally.elsewhere, 0);
        ulb_team_stop(team);
    }
}

/* Idle members sleep; the next job wakes them. */
static void a_sleeping_team_wakes(void **state)
{
    (void)state;
    struct ulb_team *team = team_of(3);
    struct tally tally = {.pus = ulb_team_pus(team)};
    for (int i = 0; i < 3; i++) {
        nanosleep(&(struct timespec){.tv_nsec = 60000000}, NULL);
        ulb_team_run(team, count_job, &tally);
    }
    for (size_t t = 0; t < 3; t++)
        assert_int_equal(tally.runs[t], 3);
    ulb_team_stop(team);
}

static void the_caller_gets_its_affinity_back(void **state)
{
    (void)state;
    cpu_set_t before, after;
    sched_getaffinity(0, sizeof before, &before);
    ulb_team_stop(team_of(2));
    sched_getaffinity(0, sizeof after, &after);
    assert_true(CPU_EQUAL(&before, &after));
}

static void a_pu_that_is_not_there_is_refused(void **state)
{
    (void)state;
    struct ulb_team *team;
    struct ulb_error err = {""};
    unsigned pus[] = {0, 100000};
    assert_int_equal(ulb_team_start(&team, pus, 2, &err), ULB_ENVIRONMENT);
    assert_null(team);
    assert_non_null(strstr(err.message, "100000"));
}

struct split_job {
    struct ulb_row_split split;
    _Atomic int rows[ROWS_MAX];
    _Atomic int ragged;
    size_t slow_thread;
};

static void take_rows(void *arg, size_t thread)
{
    struct split_job *job = arg;
    size_t m0, m1;
    while (ulb_split_next(&job->split, thread, &m0, &m1)) {
        if (m0 % job->split.grain || (m1 % job->split.grain && m1 != job->split.m) || m0 >= m1)
            atomic_fetch_add(&job->ragged, 1);
        for (size_t row = m0; row < m1; row++)
            atomic_fetch_add(&job->rows[row], 1);
        if (thread == job->slow_thread)
            sched_yield();
    }
}

static void every_row_is_taken_once(void **state)
{
    (void)state;
    static const size_t sizes[] = {1, 31, 32, 33, 320, 1600, 4096};
    static struct ulb_tile_range ranges[THREADS_MAX];
    static const double thread_shares[THREADS_MAX] = {3, 1, 1, 0.5};
    struct split_job *job = calloc(1, sizeof *job);
    assert_non_null(job);
    for (size_t n = 1; n <= 4; n++) {
        struct ulb_team *team = team_of(n);
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
            for (int kind = ULB_SPLIT_STATIC; kind <= ULB_SPLIT_WEIGHTED; kind++) {
                memset(job, 0, sizeof *job);
                job->split = (struct ulb_row_split){(enum ulb_split)kind, sizes[s], 32, n, 2,
                                                    thread_shares,        ranges,   1};
                job->slow_thread = 0;
                ulb_split_reset(&job->split);
                ulb_team_run(team, take_rows, job);
                assert_int_equal(job->ragged, 0);
                for (size_t row = 0; row < ROWS_MAX; row++)
                    assert_int_equal(job->rows[row], row < sizes[s]);
            }
        }
        ulb_team_stop(team);
    }
    free(job);
}

/* Every part of every tile is taken once: in pieces of whole tiles, or of parts of one. */
static void take_pieces(void *arg, size_t thread)
{
    struct split_job *job = arg;
    struct ulb_split_piece piece;
    const size_t grain = job->split.grain, parts = job->split.parts;
    while (ulb_split_next_piece(&job->split, thread, &piece)) {
        bool whole = piece.part0 == 0 && piece.part1 == parts, one = piece.m1 <= piece.m0 + grain;
        if (piece.m0 % grain || piece.m0 >= piece.m1 || piece.part0 >= piece.part1 || (!whole && !one))
            atomic_fetch_add(&job->ragged, 1);
        for (size_t tile = piece.m0 / grain; tile * grain < piece.m1; tile++) {
            for (size_t part = piece.part0; part < piece.part1; part++)
                atomic_fetch_add(&job->rows[tile * parts + part], 1);
        }
        if (thread == job->slow_thread)
            sched_yield();
    }
}

static void every_part_is_taken_once(void **state)
{
    (void)state;
    static const size_t sizes[] = {1, 33, 320, 4096};
    static struct ulb_tile_range ranges[THREADS_MAX];
    static const double thread_shares[THREADS_MAX] = {3, 1, 1, 0.5};
    struct split_job *job = calloc(1, sizeof *job);
    assert_non_null(job);
    for (size_t turn = 0; turn < 4 * 4 * 3 * 3; turn++) {
        size_t n = 1 + turn % 4, m = sizes[turn / 4 % 4], parts = 2 + turn / 16 % 3;
        struct ulb_team *team = team_of(n);
        memset(job, 0, sizeof *job);
        job->split = ulb_split_of((enum ulb_split)(turn / 48), m, 32, n, thread_shares, ranges);
        job->split.parts = parts;
        ulb_split_reset(&job->split);
        ulb_team_run(team, take_pieces, job);
        assert_int_equal(job->ragged, 0);
        for (size_t i = 0; i < ROWS_MAX; i++)
            assert_int_equal(job->rows[i], i < (m + 31) / 32 * parts);
        ulb_team_stop(team);
    }
    free(job);
}

/* Parts even out what tiles alone leave: three tiles of two parts, for two threads. */
static void parts_share_a_tile(void **state)
{
    (void)state;
    static struct ulb_tile_range ranges[2];
    struct ulb_row_split split = ulb_split_of(ULB_SPLIT_STATIC, 96, 32, 2, NULL, ranges);
    struct ulb_split_piece piece;
    split.parts = 2;
    ulb_split_reset(&split);
    assert_true(ulb_split_next_piece(&split, 1, &piece));
    assert_int_equal(piece.m0, 32);
    assert_int_equal(piece.m1, 64);
    assert_int_equal(piece.part0, 1);
    assert_int_equal(piece.part1, 2);
    assert_true(ulb_split_next_piece(&split, 1, &piece));
    assert_int_equal(piece.m0, 64);
    assert_int_equal(piece.m1, 96);
    assert_int_equal(piece.part0, 0);
    assert_int_equal(piece.part1, 2);
    assert_false(ulb_split_next_piece(&split, 1, &piece));
    assert_true(ulb_split_slowest(&split) == 0.5);
}

/* A thread that does nothing leaves all its rows to the others in the dynamic split, and in that alone. */
static void only_the_dynamic_split_steals(void **state)
{
    (void)state;
    static struct ulb_tile_range ranges[2];
    for (int kind = ULB_SPLIT_STATIC; kind <= ULB_SPLIT_DYNAMIC; kind++) {
        struct ulb_row_split split = {(enum ulb_split)kind, 640, 32, 2, 3, NULL, ranges, 1};
        size_t m0, m1, rows = 0;
        ulb_split_reset(&split);
        while (ulb_split_next(&split, 1, &m0, &m1))
            rows += m1 - m0;
        assert_int_equal(rows, kind == ULB_SPLIT_DYNAMIC ? 640 : 320);
    }
}

static void shares_set_the_parts(void **state)
{
    (void)state;
    static struct ulb_tile_range ranges[2];
    const double thread_shares[2] = {3, 1};
    struct ulb_row_split split = {ULB_SPLIT_WEIGHTED, 3200, 32, 2, 1, thread_shares, ranges, 1};
    size_t m0, m1;
    ulb_split_reset(&split);
    assert_true(ulb_split_next(&split, 0, &m0, &m1));
    assert_int_equal(m0, 0);
    assert_int_equal(m1, 2400);
    assert_true(ulb_split_slowest(&split) == 0.75);
    split.kind = ULB_SPLIT_STATIC;
    assert_true(ulb_split_slowest(&split) == 0.5);
}

/* What a core does alone is learnt anew from a few better readings, and from many that are a little worse; a
 * busy sibling, which takes much, is never taken for it. */
static void the_monitor_learns_anew(void **state)
{
    (void)state;
    struct ulb_interference_monitor monitor = {.baseline = 4};
    assert_true(ulb_interference_monitor_judge(&monitor, 3.9));
    for (int i = 0; i < 1000; i++)
        assert_false(ulb_interference_monitor_judge(&monitor, i % 2 ? 2.4 : 3));
    for (int i = 0; i < 63; i++)
        assert_false(ulb_interference_monitor_judge(&monitor, 3.6));
    assert_true(ulb_interference_monitor_judge(&monitor, 3.6) &&
                ulb_interference_monitor_judge(&monitor, 3.5));
    assert_false(ulb_interference_monitor_judge(&monitor, 3.2));
    for (int i = 0; i < 4; i++)
        ulb_interference_monitor_judge(&monitor, 4);
    assert_false(ulb_interference_monitor_judge(&monitor, 3.6));
}

struct rival {
    int pu;
    _Atomic int running, stop;
};

static void *spin_beside(void *argument)
{
    struct rival *rival = argument;
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET((size_t)rival->pu, &set);
    if (pthread_setaffinity_np(pthread_self(), sizeof set, &set) == 0)
        atomic_store(&rival->running, 1);
    while (!atomic_load(&rival->stop))
        ;
    return NULL;
}

static void spin_job(void *arg, size_t thread)
{
    (void)thread;
    double begin = ulb_now();
    while (ulb_now() - begin < *(double *)arg)
        ;
}

/* Another thread of this system that ran in a member's place is reported afterwards, when it is gone. */
static void a_rival_is_noticed(void **state)
{
    (void)state;
    struct ulb_team *team = team_of(1);
    bool interference_free = ulb_team_is_interference_free(team);
    for (int i = 0; i < 1000 && !interference_free; i++)
        interference_free = ulb_team_is_interference_free(team);
    assert_true(interference_free);
    struct rival rival = {.pu = sched_getcpu()};
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, spin_beside, &rival), 0);
    double seconds = 0.1;
    while (!atomic_load(&rival.running))
        sched_yield();
    ulb_team_run(team, spin_job, &seconds);
    atomic_store(&rival.stop, 1);
    pthread_join(thread, NULL);
    assert_false(ulb_team_is_interference_free(team));
    ulb_team_stop(team);
}

/* The chain is one addition a cycle: its frequency is that of some real core, and the clock agrees with it.
 */
static void the_clock_counts_core_cycles(void **state)
{
    (void)state;
    struct ulb_team *team = team_of(1);
    double hz = ulb_chain_hz();
    assert_true(hz > 2e8 && hz < 8e9);
    assert_true(ulb_timer_step() > 0 && ulb_timer_step() < 1e-5);
    ulb_team_stop(team);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_thread_runs_every_job_on_its_pu),
        cmocka_unit_test(a_sleeping_team_wakes),
        cmocka_unit_test(the_caller_gets_its_affinity_back),
        cmocka_unit_test(a_pu_that_is_not_there_is_refused),
        cmocka_unit_test(every_row_is_taken_once),
        cmocka_unit_test(every_part_is_taken_once),
        cmocka_unit_test(parts_share_a_tile),
        cmocka_unit_test(only_the_dynamic_split_steals),
        cmocka_unit_test(shares_set_the_parts),
        cmocka_unit_test(the_monitor_learns_anew),
        cmocka_unit_test(a_rival_is_noticed),
        cmocka_unit_test(the_clock_counts_core_cycles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
