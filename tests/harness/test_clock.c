/* Repetitions that fill a time are counted by the work, not by a pause of the machine in the middle of it. */
#include "harness/clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pause_is_not_work),
        cmocka_unit_test(there_is_an_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
