/* A team on a machine of 8192 PUs: this program's functions stand before those of libc and play its kernel,
 * which refuses masks that are too short for all of them. */
#include "harness/threads/team.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { PUS = 8192, CALLERS_PU = 7000, CALLS = 8 };

static struct {
    pthread_t thread;
    unsigned pu;
} pinned[CALLS];
static size_t calls;

int pthread_getaffinity_np(pthread_t thread, size_t bytes, cpu_set_t *set)
{
    (void)thread;
    if (bytes < PUS / 8)
        return EINVAL;
    memset(set, 0, bytes);
    CPU_SET_S(CALLERS_PU, bytes, set);
    return 0;
}

int pthread_setaffinity_np(pthread_t thread, size_t bytes, const cpu_set_t *set)
{
    for (unsigned pu = 0; pu < 8 * bytes; pu++) {
        if (!CPU_ISSET_S(pu, bytes, set))
            continue;
        assert_true(calls < CALLS);
        pinned[calls].thread = thread;
        pinned[calls++].pu = pu;
    }
    return 0;
}

static void members_are_pinned_and_the_caller_freed(void **state)
{
    (void)state;
    static const unsigned pus[] = {5000, PUS - 1};
    struct ulb_team *team;
    struct ulb_error err;
    assert_int_equal(ulb_team_start(&team, pus, 2, &err), ULB_OK);
    assert_int_equal(calls, 2);
    assert_int_equal(pinned[0].pu, 5000);
    assert_int_equal(pinned[1].pu, PUS - 1);
    ulb_team_stop(team);
    assert_int_equal(calls, 3);
    assert_true(pthread_equal(pinned[2].thread, pthread_self()));
    assert_int_equal(pinned[2].pu, CALLERS_PU);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(members_are_pinned_and_the_caller_freed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
