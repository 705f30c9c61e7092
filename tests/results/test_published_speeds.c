/* No published decode speed lies above what the bandwidth of its machine and the bytes of its weights allow,
 * but those that came from a build known to be broken. */
#include "results/reference/published_speeds.h"

#include "kernels/kernel.h"
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

/* Our bits of a format, weights and scales. */
static double bits_of(const char *name)
{
    for (size_t i = 0; i < ulb_kernel_count; i++) {
        const struct ulb_format *format = ulb_kernels[i]->layout->format;
        if (strcmp(format->name, name) == 0)
            return format->bits;
    }
    return NAN;
}

/* Weights of a model of the catalogue: all of them, and the embedding's, which are as many as the head's. */
struct weights {
    double all, embedding;
};

static struct weights weights_of(const char *name)
{
    struct ulb_model model = {0};
    struct ulb_shape_list shapes;
    struct ulb_error err = {""};
    if (ulb_model_load(name, &model, &err) != ULB_OK || strcmp(model.name, name) != 0)
        fail_msg("%s is no name of the catalogue: %s", name, err.message);
    assert_int_equal(ulb_model_shapes(&model, ULB_FORM_FUSED, &shapes, &err), ULB_OK);
    struct weights weights = {.embedding = (double)model.vocab * model.hidden};
    weights.all = model.tied_head ? 0 : weights.embedding;
    for (size_t s = 0; s < shapes.n; s++)
        weights.all += (double)shapes.items[s].m * (double)shapes.items[s].k * shapes.items[s].count;
    free(shapes.items);
    ulb_model_free(&model);
    return weights;
}

/* A row that names a model and a format of ours has their bytes: at least without the embedding, which no
 * token reads, at most with a head of 16 bits. */
static void our_names_fit_the_bytes(void **state)
{
    (void)state;
    struct ulb_published_speed *rows;
    struct ulb_error err = {""};
    size_t n, named = 0;
    assert_int_equal(ulb_published_speeds(&rows, &n, &err), ULB_OK);
    for (size_t i = 0; i < n; i++) {
        double bits = bits_of(rows[i].our_format);
        if (!rows[i].our_model[0] || isnan(bits))
            continue;
        struct weights weights = weights_of(rows[i].our_model);
        double least = bits * (weights.all - weights.embedding) / 8;
        double most = least + 16 * weights.embedding / 8;
        if (!(rows[i].bytes_read > 0.99 * least && rows[i].bytes_read < 1.02 * most))
            fail_msg("%s %s reads %.4g bytes, %s in %s %.4g to %.4g", rows[i].model, rows[i].quant,
                     rows[i].bytes_read, rows[i].our_model, rows[i].our_format, least, most);
        named++;
    }
    assert_true(named > 20);
    free(rows);
}

static void each_machine_has_its_fastest(void **state)
{
    (void)state;
    struct ulb_published_speed *rows;
    struct ulb_error err = {""};
    size_t n;
    assert_int_equal(ulb_published_speeds(&rows, &n, &err), ULB_OK);
    const struct ulb_published_speed **fastest = calloc(n, sizeof *fastest);
    assert_non_null(fastest);
    assert_int_equal(ulb_fastest_published(rows, n, "llama3-8b", "q4_0", fastest), 2);
    size_t zen = strcmp(fastest[0]->cpu, "AMD Ryzen 9 7950X") == 0 ? 0 : 1;
    assert_string_equal(fastest[zen]->cpu, "AMD Ryzen 9 7950X");
    assert_string_equal(fastest[1 - zen]->cpu, "Apple M2 Max (CPU only)");
    assert_true(fastest[zen]->tokens_per_s >= 13.55);
    for (size_t i = 0; i < n; i++) {
        bool same = strcmp(rows[i].our_model, "llama3-8b") == 0 && strcmp(rows[i].our_format, "q4_0") == 0;
        for (size_t m = 0; m < 2 && same && !rows[i].broken; m++) {
            if (strcmp(rows[i].cpu, fastest[m]->cpu) == 0)
                assert_true(rows[i].tokens_per_s <= fastest[m]->tokens_per_s);
        }
    }
    assert_int_equal(ulb_fastest_published(rows, n, "llama3-8b", "int1", fastest), 0);
    assert_int_equal(ulb_fastest_published(rows, n, "", "q4_0", fastest), 0);
    for (size_t i = 0; i < n; i++) {
        size_t machines = ulb_fastest_published(rows, n, rows[i].our_model, rows[i].our_format, fastest);
        for (size_t m = 0; m < machines; m++)
            assert_false(fastest[m]->broken);
    }
    free(fastest);
    free(rows);
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
        cmocka_unit_test(our_names_fit_the_bytes),
        cmocka_unit_test(each_machine_has_its_fastest),
        cmocka_unit_test(tolerance_depends_on_how_the_bandwidth_is_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
