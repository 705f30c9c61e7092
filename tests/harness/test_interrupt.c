/* Signals that end a run: one, one sent twice, and two. */
#include "harness/cli/interrupt.h"
#include "harness/session/interrupted.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

enum { FLAG_SET = 7 };

static void sleep_ms(long ms)
{
    struct timespec left = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
    while (nanosleep(&left, &left) != 0)
        continue;
}

/* How a process ends that gets so many signals, so far apart: as waitpid() says. */
static int end_of(int number, int times, long apart_ms)
{
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        ulb_catch_signals();
        for (int i = 0; i < times; i++) {
            if (i > 0)
                sleep_ms(apart_ms);
            raise(number);
        }
        _exit(ulb_interrupted ? FLAG_SET : EXIT_FAILURE);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

static void goes_on(int status)
{
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), FLAG_SET);
}

static void first_sets_the_flag(void **state)
{
    (void)state;
    goes_on(end_of(SIGINT, 1, 0));
    goes_on(end_of(SIGTERM, 1, 0));
}

/* timeout(1) signals the program and then its group. */
static void same_event_twice_is_one(void **state)
{
    (void)state;
    goes_on(end_of(SIGINT, 3, 0));
    goes_on(end_of(SIGTERM, 2, 10));
}

static void later_one_ends_at_once(void **state)
{
    (void)state;
    int status = end_of(SIGINT, 2, 600);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGINT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(first_sets_the_flag),
        cmocka_unit_test(same_event_twice_is_one),
        cmocka_unit_test(later_one_ends_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
