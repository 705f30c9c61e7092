/* No published decode speed lies above what the bandwidth of its machine and the bytes of its weights allow,
 * but those that came from a build known to be broken. */
#include "results/reference/published_speeds.h"

#include "models/models.h"
#include "shapes/model.h"
#include "shapes/shapes.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void every_sound_speed_is_possible_and_no_broken_one(void **state)
{
    (void)state;
    struct ulb_published_speed *rows;
    struct ulb_error err = {""};
    size_t n, broken = 0, close_to = 0;
    if (ulb_published_speeds(&rows, &n, &err) != ULB_OK)
        fail_msg("%s", err.message);
    assert_int_equal(n, 355);
    for (size_t i = 0; i < n; i++) {
        double bound = ulb_decode_roofline(rows[i].bandwidth, rows[i].bytes_read);
        bool possible = ulb_speed_possible(rows[i].tokens_per_s, bound, rows[i].kind);
        if (possible == rows[i].broken)
            fail_msg("%s, %s %s, %u threads: %.2f tokens/s under a bound of %.2f, %s", rows[i].cpu,
                     rows[i].model, rows[i].quant, rows[i].threads, rows[i].tokens_per_s, bound,
                     rows[i].broken ? "from a broken build" : "from a sound one");
        broken += rows[i].broken;
        close_to += rows[i].tokens_per_s > 0.9 * bound;
    }
    assert_int_equal(broken, 3);
    /* The bound is one that implementations come close to: else a verdict under it would say nothing. */
    assert_true(close_to > 40);
    free(rows);
}

/* The bytes that a token does not read are the embedding's share of all weights, by our own shapes. */
static void unread_bytes_are_those_of_our_shapes(void **state)
{
    (void)state;
    static const struct {
        const char *published, *ours;
        double unread, file; /* of the file in Q4_0 */
    } models[] = {{"LLaMA-2-7B", "llama2-7b", 74582986, 3833258311},
                  {"LLaMA-3-8B", "llama3-8b", 305549081, 4670776934}};
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        struct ulb_model model = {0};
        struct ulb_shape_list shapes;
        struct ulb_error err = {""};
        double weights = 0;
        assert_int_equal(ulb_model_load(models[i].ours, &model, &err), ULB_OK);
        assert_int_equal(ulb_model_shapes(&model, ULB_FORM_FUSED, &shapes, &err), ULB_OK);
        for (size_t s = 0; s < shapes.n; s++)
            weights += (double)shapes.items[s].m * (double)shapes.items[s].k * shapes.items[s].count;
        double embedding = (double)model.vocab * model.hidden;
        double ours = embedding / (weights + embedding), theirs = models[i].unread / models[i].file;
        if (fabs(ours / theirs - 1) > 1e-3)
            fail_msg("%s: %.6f of the weights are not read, by the table %.6f", models[i].ours, ours, theirs);
        free(shapes.items);
        ulb_model_free(&model);
    }
}

static void tolerance_depends_on_how_the_bandwidth_is_known(void **state)
{
    (void)state;
    assert_true(ulb_speed_possible(10.19, 10, ULB_BANDWIDTH_MEASURED));
    assert_false(ulb_speed_possible(10.21, 10, ULB_BANDWIDTH_MEASURED));
    assert_false(ulb_speed_possible(10.21, 10, ULB_BANDWIDTH_STATED));
    assert_false(ulb_speed_possible(10.21, 10, ULB_BANDWIDTH_THEORETICAL));
    assert_true(ulb_speed_possible(10.49, 10, ULB_BANDWIDTH_MAX_SEEN));
    assert_false(ulb_speed_possible(10.51, 10, ULB_BANDWIDTH_MAX_SEEN));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_sound_speed_is_possible_and_no_broken_one),
        cmocka_unit_test(unread_bytes_are_those_of_our_shapes),
        cmocka_unit_test(tolerance_depends_on_how_the_bandwidth_is_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
