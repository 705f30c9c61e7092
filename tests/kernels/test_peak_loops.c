/* The register-only loops: they do what they are asked for, and no compiler drops it. */
#include "harness/timing/stopwatch.h"
#include "kernels/kernel.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { FEW = 2000, MANY = 8 * FEW, ROUNDS_MIN = 9, ROUNDS_MAX = 100 };

/* The best time of each number of passes, in turn: neighbours that take a share of the core for as long as a
 * round or two would else take it of one alone. */
struct times {
    double few, many;
};

static void run_once(const struct ulb_peak *peak, size_t passes, double *best)
{
    double begin = ulb_now();
    peak->run(passes);
    double now = ulb_now() - begin;
    *best = now < *best ? now : *best;
}

static bool in_proportion(struct times times)
{
    return times.many >= 5 * times.few && times.many <= 13 * times.few;
}

static struct times times_of(const struct ulb_peak *peak)
{
    struct times times = {1, 1};
    for (int i = 0; i < ROUNDS_MIN || (i < ROUNDS_MAX && !in_proportion(times)); i++) {
        run_once(peak, FEW, &times.few);
        run_once(peak, MANY, &times.many);
    }
    return times;
}

/* Eight times the passes take about eight times as long; and a core does between 1 and 8192 operations in a
 * cycle of 1 to 8 GHz. */
static void loops_do_their_passes(void **state)
{
    (void)state;
    ulb_isa_set isa = ulb_isa_detect();
    const struct ulb_peak *peak;
    for (size_t i = 0; (peak = ulb_peak_at(i)); i++) {
        if (peak->needs & ~isa) {
            char missing[128];
            print_message("skipped: peak %s: this CPU lacks %s\n", peak->isa,
                          ulb_isa_names(peak->needs & ~isa, missing, sizeof missing));
            continue;
        }
        struct times times = times_of(peak);
        double rate = peak->ops_per_pass * MANY / times.many;
        if (!in_proportion(times))
            fail_msg("%s: %d passes %.3g s, %d passes %.3g s", peak->isa, FEW, times.few, MANY, times.many);
        if (rate < 1e9 || rate > 8192 * 8e9)
            fail_msg("%s: %.3g operations per second", peak->isa, rate);
    }
}

/* Every loop once, complete. */
static void table_is_complete(void **state)
{
    (void)state;
    const struct ulb_peak *peak;
    size_t n = 0;
    for (; (peak = ulb_peak_at(n)); n++) {
        assert_true(strlen(peak->isa) > 0 && peak->run && peak->ops_per_pass >= 16);
        for (size_t other = 0; other < n; other++)
            assert_true(strcmp(ulb_peak_at(other)->isa, peak->isa) != 0 ||
                        ulb_peak_at(other)->activation != peak->activation);
    }
    assert_null(ulb_peak_at(n + 1));
#if defined(__x86_64__)
    assert_true(n >= 8);
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loops_do_their_passes),
        cmocka_unit_test(table_is_complete),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
