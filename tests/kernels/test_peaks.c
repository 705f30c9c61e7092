/* The register-only loops: they do what they are asked for, and no compiler drops it. */
#include "harness/clock.h"
#include "kernels/kernel.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { TRIES = 9 };

static double seconds_of(const struct ulb_peak *peak, size_t passes)
{
    double best = 1;
    for (int i = 0; i < TRIES; i++) {
        double begin = ulb_now();
        peak->run(passes);
        double now = ulb_now() - begin;
        best = now < best ? now : best;
    }
    return best;
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
        double few = seconds_of(peak, 2000), many = seconds_of(peak, 16000);
        double rate = peak->ops_per_pass * 16000 / many;
        if (many < 5 * few || many > 13 * few)
            fail_msg("%s: 2000 passes %.3g s, 16000 passes %.3g s", peak->isa, few, many);
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
