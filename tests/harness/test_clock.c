/* Repetitions that fill a time are counted by the work, not by a pause of the machine in the middle of it.
 * Where PAPI is built in: a counter that can be had once at a time, and one that stops counting. */
#include "harness/timing/clock.h"

#include "common/emulation.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <math.h>
#include <string.h>

#include <cmocka.h>

static const double SECONDS = 400e-6, EACH = 10e-6;

/* Work of so many seconds a repetition, and longer once: where it is run for the nth time. */
struct work {
    int runs, paused;
};

static void wait(double seconds)
{
    for (double begin = ulb_now(); ulb_now() - begin < seconds;)
        ;
}

static void work(void *arg, size_t n)
{
    struct work *of = arg;
    wait(EACH * (double)n + (of->runs++ == of->paused ? 10 * SECONDS : 0));
}

/* A busy machine may make repetitions longer, by far not all of them 8 times; where it does all the same, the
 * planted pause is there again in the next try. */
static void a_pause_is_not_work(void **state)
{
    enum { LEAST = 8, MOST = 64, TRIES = 5 };
    (void)state;
    for (int paused = -1; paused < 6; paused++) {
        size_t n = 0;
        for (int i = 0; i < TRIES && n < LEAST; i++) {
            struct work of = {.paused = paused};
            n = ulb_repetitions(SECONDS, 1 << 20, work, &of);
        }
        assert_in_range(n, LEAST, MOST);
    }
}

static void there_is_an_end(void **state)
{
    (void)state;
    struct work of = {.paused = -1};
    assert_int_equal(ulb_repetitions(1, 4, work, &of), 4);
}

#ifdef ULB_HAVE_PAPI
#include <papi.h>

/* The program's own definitions stand before those of the shared library. Every reading is a probe's loop
 * later: one cycle per addition. */
enum { ADDS_OF_A_PROBE = 1 << 20 };
static int papi_started, papi_reads;
static bool papi_fails;

int PAPI_library_init(int version)
{
    (void)version;
    return PAPI_VERSION_NUMBER(7, 2, 0, 0);
}
int PAPI_thread_init(unsigned long (*id)(void))
{
    return id() ? PAPI_OK : PAPI_EINVAL;
}
int PAPI_create_eventset(int *set)
{
    *set = 3;
    return PAPI_OK;
}
int PAPI_add_event(int set, int event)
{
    return set == 3 && event == (int)PAPI_TOT_CYC ? PAPI_OK : PAPI_EINVAL;
}
int PAPI_start(int set)
{
    (void)set;
    return papi_started++ ? PAPI_EISRUN : PAPI_OK; /* one event set of a component at a time */
}
int PAPI_read(int set, long long *value)
{
    (void)set;
    *value = (long long)++papi_reads * ADDS_OF_A_PROBE;
    return papi_fails ? PAPI_EINVAL : PAPI_OK;
}
int PAPI_stop(int set, long long *value)
{
    papi_started--;
    return PAPI_read(set, value);
}
int PAPI_cleanup_eventset(int set)
{
    return set == 3 ? PAPI_OK : PAPI_EINVAL;
}
int PAPI_destroy_eventset(int *set)
{
    *set = PAPI_NULL;
    return PAPI_OK;
}
int PAPI_unregister_thread(void)
{
    return PAPI_OK;
}
char *PAPI_strerror(int code)
{
    static char none[] = "No error", other[] = "Something else";
    return code == PAPI_OK ? none : other;
}

static void nothing(void *arg)
{
    (void)arg;
}

static void a_probe_leaves_the_counter_to_others(void **state)
{
    (void)state;
    if (ulb_emulator() != NULL)
        skip();
    struct ulb_clock clock;
    assert_string_equal(ulb_clock_probe().name, "papi");
    assert_int_equal(papi_started, 0);
    ulb_clock_open(&clock, 0);
    assert_string_equal(clock.source, "papi");
    ulb_clock_close(&clock);
    assert_int_equal(papi_started, 0);
}

static void a_counter_that_stops_is_given_up(void **state)
{
    (void)state;
    if (ulb_emulator() != NULL)
        skip();
    struct ulb_clock clock;
    double seconds, cycles = NAN;
    ulb_clock_open(&clock, 0);
    clock.shared_core = true; /* neighbours do not matter here */
    assert_true(ulb_clock_cycles(&clock, nothing, NULL, &seconds) == ADDS_OF_A_PROBE);
    papi_fails = true;
    assert_true(isnan(ulb_clock_cycles(&clock, nothing, NULL, &seconds)));
    assert_string_equal(clock.source, "chain");
    assert_non_null(strstr(clock.reason, "papi"));
    assert_int_equal(papi_started, 0);
    for (int tries = 0; tries < 2000 && isnan(cycles); tries++)
        cycles = ulb_clock_cycles(&clock, nothing, NULL, &seconds);
    assert_true(cycles > 0);
    ulb_clock_close(&clock);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pause_is_not_work),
        cmocka_unit_test(there_is_an_end),
#ifdef ULB_HAVE_PAPI
        cmocka_unit_test(a_probe_leaves_the_counter_to_others),
        cmocka_unit_test(a_counter_that_stops_is_given_up),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
