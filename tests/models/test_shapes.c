/* The catalogue against the sizes that the models' own configurations give. */
#include "shapes/shapes.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

struct truth {
    const char *name;
    unsigned layers;
    double parameters;    /* 1e9, linear layers and embedding */
    double block_weights; /* 1e6, read per token without the head */
    double head;          /* 1e6 */
    size_t mk[4][2];
};

static const struct truth truths[] = {
    {"falcon3-1b", 18, 1.669, 1132.5, 268.4, {{4096, 2048}, {2048, 2048}, {16384, 2048}, {2048, 8192}}},
    {"mobilellm-1.5b", 54, 1.511, 1459.8, 51.2, {{2240, 1600}, {1600, 1600}, {8704, 1600}, {1600, 4352}}},
    {"llama3-8b", 32, 8.030, 6979.3, 525.3, {{6144, 4096}, {4096, 4096}, {28672, 4096}, {4096, 14336}}},
    {"bitnet-2b-4t", 30, 2.412, 2084.0, 328.3, {{3840, 2560}, {2560, 2560}, {13824, 2560}, {2560, 6912}}},
};

static void expect_near(double value, double wanted, double relative)
{
    if (!(fabs(value - wanted) <= relative * wanted))
        fail_msg("%.9g, wanted %.9g", value, wanted);
}

static void test_sizes(void **state)
{
    (void)state;
    static const char *const layers[] = {"qkv", "o", "gate_up", "down"};
    assert_int_equal(ulb_model_count, sizeof truths / sizeof *truths);
    for (size_t i = 0; i < ulb_model_count; i++) {
        const struct truth *truth = &truths[i];
        const struct ulb_model *model = ulb_model_find(truth->name);
        assert_non_null(model);
        assert_int_equal(model->layers, truth->layers);
        assert_int_equal(model->n_shapes, 4);
        double read = 0;
        for (size_t s = 0; s < 4; s++) {
            const struct ulb_layer_shape *shape = &model->shapes[s];
            assert_string_equal(shape->layer, layers[s]);
            assert_int_equal(shape->m, truth->mk[s][0]);
            assert_int_equal(shape->k, truth->mk[s][1]);
            assert_int_equal(shape->count, truth->layers);
            assert_int_equal(shape->active, truth->layers);
            read += (double)shape->m * (double)shape->k * shape->active;
        }
        expect_near(read / 1e6, truth->block_weights, 1e-4);
        expect_near((double)model->vocab * model->hidden / 1e6, truth->head, 1e-3);
        expect_near(ulb_model_parameters(model) / 1e9, truth->parameters, 1e-3);
    }
}

static void test_rows_are_complete(void **state)
{
    (void)state;
    for (size_t i = 0; i < ulb_model_count; i++) {
        assert_true(strlen(ulb_models[i].title) > 0);
        assert_true(strlen(ulb_models[i].source) > 0);
        assert_ptr_equal(ulb_model_find(ulb_models[i].name), &ulb_models[i]);
    }
    assert_null(ulb_model_find("Falcon3-1B")); /* names are lower case */
    assert_null(ulb_model_find(""));
}

static void test_tied_head_counts_once(void **state)
{
    (void)state;
    struct ulb_model model = {.vocab = 10, .hidden = 3, .n_shapes = 1, .shapes = {{"o", 4, 5, 2, 1}}};
    assert_true(ulb_model_parameters(&model) == 2 * 30 + 2 * 20);
    model.tied_head = true;
    assert_true(ulb_model_parameters(&model) == 30 + 2 * 20);
}

static void test_given_shapes(void **state)
{
    (void)state;
    static const struct ulb_shape wanted[] = {{4096, 14336}, {1, 1}, {16777216, 2}};
    const char *list = "4096x14336,1x1,16777216x2";
    struct ulb_shape shape;
    struct ulb_error err;
    bool found;
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(ulb_shape_next(&list, &shape, &found, &err), ULB_OK);
        assert_true(found && shape.m == wanted[i].m && shape.k == wanted[i].k);
    }
    assert_int_equal(ulb_shape_next(&list, &shape, &found, &err), ULB_OK);
    assert_false(found);

    static const char *const wrong[] = {"x",
                                        "4096",
                                        "4096x",
                                        "x4096",
                                        "0x1",
                                        "1x0",
                                        "1x2x3",
                                        "1 x2",
                                        "1x 2",
                                        "+1x2",
                                        "-1x2",
                                        "16777217x1",
                                        "1x99999999999999999999"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        list = wrong[i];
        if (ulb_shape_next(&list, &shape, &found, &err) != ULB_BAD_INPUT)
            fail_msg("'%s' was taken", wrong[i]);
        assert_non_null(strstr(err.message, wrong[i]));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_rows_are_complete),
        cmocka_unit_test(test_tied_head_counts_once),
        cmocka_unit_test(test_given_shapes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
