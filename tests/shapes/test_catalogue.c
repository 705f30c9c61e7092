/* The catalogue against the sizes that the models' own configurations give. */
#include "shapes/model.h"
#include "shapes/shapes.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct truth {
    const char *name;
    double parameters;    /* 1e9, linear layers and embedding */
    double block_weights; /* 1e6, read per token without the head */
    const char *stored;   /* "layer MxK" as the model's files hold them, one block, and how often where not
                             once a layer */
    const char *fused;
};

/* Sizes as the models' own configurations give them; the appendix of bitnet.cpp and the IPEX table below. */
static const struct truth truths[] = {
    {"falcon3-1b", 1.669, 1132.5,
     "q 2048x2048, k 1024x2048, v 1024x2048, o 2048x2048, gate 8192x2048, up 8192x2048, down 2048x8192, "
     "lm_head 131072x2048 (1/18)",
     "qkv 4096x2048, o 2048x2048, gate_up 16384x2048, down 2048x8192, lm_head 131072x2048 (1/18)"},
    {"mobilellm-1.5b", 1.511, 1459.8,
     "q 1600x1600, k 320x1600, v 320x1600, o 1600x1600, gate 4352x1600, up 4352x1600, down 1600x4352, "
     "lm_head 32000x1600 (1/54)",
     "qkv 2240x1600, o 1600x1600, gate_up 8704x1600, down 1600x4352, lm_head 32000x1600 (1/54)"},
    {"llama3-8b", 8.030, 6979.3,
     "q 4096x4096, k 1024x4096, v 1024x4096, o 4096x4096, gate 14336x4096, up 14336x4096, down 4096x14336, "
     "lm_head 128256x4096 (1/32)",
     "qkv 6144x4096, o 4096x4096, gate_up 28672x4096, down 4096x14336, lm_head 128256x4096 (1/32)"},
    {"bitnet-2b-4t", 2.412, 2084.0,
     "q 2560x2560, k 640x2560, v 640x2560, o 2560x2560, gate 6912x2560, up 6912x2560, down 2560x6912, "
     "lm_head 128256x2560 (1/30)",
     "qkv 3840x2560, o 2560x2560, gate_up 13824x2560, down 2560x6912, lm_head 128256x2560 (1/30)"},
    {"bitnet-large", 0.729, 679.5, NULL,
     "qkv 4608x1536, o 1536x1536, gate_up 8192x1536, down 1536x4096, lm_head 32002x1536 (1/24)"},
    {"bitnet-xl", 1.273, 1207.8, NULL,
     "qkv 6144x2048, o 2048x2048, gate_up 10920x2048, down 2048x5460, lm_head 32002x2048 (1/24)"},
    {"bitnet-3b", 3.324, 3221.5, NULL,
     "qkv 9600x3200, o 3200x3200, gate_up 17280x3200, down 3200x8640, lm_head 32002x3200 (1/26)"},
    {"llama3-8b-1.58", 8.030, 6979.3, NULL,
     "qkv 6144x4096, o 4096x4096, gate_up 28672x4096, down 4096x14336, lm_head 128256x4096 (1/32)"},
    {"gptj-6b", 6.050, 5637.1,
     "q 4096x4096, k 4096x4096, v 4096x4096, o 4096x4096, up 16384x4096, down 4096x16384, "
     "lm_head 50400x4096 (1/28)",
     "qkv 12288x4096, o 4096x4096, up 16384x4096, down 4096x16384, lm_head 50400x4096 (1/28)"},
    {"llama2-7b", 6.738, 6476.0, NULL,
     "qkv 12288x4096, o 4096x4096, gate_up 22016x4096, down 4096x11008, lm_head 32000x4096 (1/32)"},
    {"llama2-7b-chat", 6.738, 6476.0, NULL,
     "qkv 12288x4096, o 4096x4096, gate_up 22016x4096, down 4096x11008, lm_head 32000x4096 (1/32)"},
    {"qwen2.5-0.5b", 0.494, 357.8, NULL,
     "qkv 1152x896, o 896x896, gate_up 9728x896, down 896x4864, lm_head 151936x896 (1/24)"},
    {"qwen2.5-1.5b", 1.544, 1310.2, NULL,
     "qkv 2048x1536, o 1536x1536, gate_up 17920x1536, down 1536x8960, lm_head 151936x1536 (1/28)"},
    {"qwen3-0.6b", 0.596, 440.4,
     "q 2048x1024, k 1024x1024, v 1024x1024, o 1024x2048, gate 3072x1024, up 3072x1024, down 1024x3072, "
     "lm_head 151936x1024 (1/28)",
     "qkv 4096x1024, o 1024x2048, gate_up 6144x1024, down 1024x3072, lm_head 151936x1024 (1/28)"},
    {"qwen3-4b", 4.022, 3633.3, NULL,
     "qkv 6144x2560, o 2560x4096, gate_up 19456x2560, down 2560x9728, lm_head 151936x2560 (1/36)"},
    {"gemma3-1b", 1.000, 697.8, NULL,
     "qkv 1536x1152, o 1152x1024, gate_up 13824x1152, down 1152x6912, lm_head 262144x1152 (1/26)"},
    {"gemma3-4b", 3.880, 3208.6, NULL,
     "qkv 4096x2560, o 2560x2048, gate_up 20480x2560, down 2560x10240, lm_head 262208x2560 (1/34)"},
    {"phi3-mini", 3.821, 3623.9,
     "qkv 9216x3072, o 3072x3072, gate_up 16384x3072, down 3072x8192, lm_head 32064x3072 (1/32)",
     "qkv 9216x3072, o 3072x3072, gate_up 16384x3072, down 3072x8192, lm_head 32064x3072 (1/32)"},
    {"phi4-mini", 3.836, 3221.2, NULL,
     "qkv 5120x3072, o 3072x3072, gate_up 16384x3072, down 3072x8192, lm_head 200064x3072 (1/32)"},
    {"mistral-7b", 7.241, 6979.3, NULL,
     "qkv 6144x4096, o 4096x4096, gate_up 28672x4096, down 4096x14336, lm_head 32000x4096 (1/32)"},
    {"mixtral-8x7b", 46.703, 12617.5,
     "q 4096x4096, k 1024x4096, v 1024x4096, o 4096x4096, router 8x4096, expert.gate 14336x4096 (2 of 8), "
     "expert.up 14336x4096 (2 of 8), expert.down 4096x14336 (2 of 8), lm_head 32000x4096 (1/32)",
     NULL},
    {"qwen3-coder-30b-a3b", 30.532, 2730.5,
     "q 4096x2048, k 512x2048, v 512x2048, o 2048x4096, router 128x2048, expert.gate 768x2048 (8 of 128), "
     "expert.up 768x2048 (8 of 128), expert.down 2048x768 (8 of 128), lm_head 151936x2048 (1/48)",
     NULL},
    {"deepseek-v3", 671.025, 35697.9,
     "q_a 1536x7168, q_b 24576x1536, kv_a 576x7168, kv_b 32768x512, o 7168x16384, gate 18432x7168 (3/61), "
     "up 18432x7168 (3/61), down 7168x18432 (3/61), router 256x7168 (58/61), shared.gate 2048x7168 (58/61), "
     "shared.up 2048x7168 (58/61), shared.down 7168x2048 (58/61), "
     "expert.gate 2048x7168 (58/61, 8 of 256), expert.up 2048x7168 (58/61, 8 of 256), "
     "expert.down 7168x2048 (58/61, 8 of 256), lm_head 129280x7168 (1/61)",
     NULL},
    {"bitnet-125m", 0.1284, 103.8, NULL,
     "qkv 2304x768, o 768x768, gate_up 6144x768, down 768x3072, lm_head 32002x768 (1/11)"},
    {"bitnet-350m", 0.360, 327.2, NULL, NULL},
    {"bitnet-700m", 0.729, 679.5, NULL, NULL},
    {"bitnet-1b", 0.997, 931.1, NULL, NULL},
    {"bitnet-1.5b", 1.503, 1453.3, NULL, NULL},
    {"bitnet-2.5b", 2.461, 2378.9, NULL, NULL},
    {"bitnet-3.8b", 3.803, 3680.5, NULL,
     "qkv 11520x3840, o 3840x3840, gate_up 16384x3840, down 3840x8192, lm_head 32002x3840 (1/24)"},
    {"bitnet-7b", 7.010, 6878.7, NULL, NULL},
    {"bitnet-13b", 12.852, 12687.8, NULL, NULL},
    {"bitnet-30b", 30.476, 30263.2, NULL, NULL},
    {"bitnet-70b", 70.049, 69793.2, NULL, NULL},
    {"bitnet-100b", 100.225, 99962.8, NULL,
     "qkv 24576x8192, o 8192x8192, gate_up 91136x8192, down 8192x45568, lm_head 32002x8192 (1/72)"},
    {"gpt-117m", 0.1157, 84.93,
     "qkv 2304x768, o 768x768, up 3072x768, down 768x3072, lm_head 40000x768 (1/12)", NULL},
    {"gpt2-1.5b", 1.555, 1474.6, NULL, NULL},
    {"gpt3-175b", 174.564, 173946.2, NULL, NULL},
    {"megatron-8.3b", 8.311, 8153.7, NULL, NULL},
    {"bloom-176b", 176.237, 172640.7, NULL, NULL},
    {"llama-7b", 6.738, 6476.0, NULL, NULL},
    {"turing-nlg-17b", 17.172, 16954.1, NULL, NULL},
    {"gpt-neox-20b", 20.551, 19931.3, NULL, NULL},
    {"gopher-280b", 258.222, 257698.0, NULL, NULL},
    {"mt-nlg-530b", 528.482, 528482.3, NULL, NULL},
};

/* Published sizes in 1e9, to the digits that are published. */
static const struct {
    const char *name;
    double parameters, active; /* 0: not published */
} published[] = {
    {"falcon3-3b", 3.228, 0},
    {"falcon3-7b", 7.456, 0},
    {"falcon3-10b", 10.306, 0},
    {"falcon-e-1b", 1.59, 0},
    {"falcon-e-3b", 3.05, 0},
    {"trilm-99m", 0.0998, 0},
    {"trilm-190m", 0.190, 0},
    {"trilm-390m", 0.392, 0},
    {"trilm-560m", 0.569, 0},
    {"trilm-830m", 0.834, 0},
    {"trilm-1.1b", 1.149, 0},
    {"trilm-1.5b", 1.515, 0},
    {"trilm-2.4b", 2.461, 0},
    {"trilm-3.9b", 3.99, 0},
    {"bonsai-1.7b", 1.72, 0},
    {"bonsai-4b", 4.02, 0},
    {"bonsai-8b", 8.19, 0},
    {"qwen3-1.7b", 1.72, 0},
    {"qwen3-8b", 8.19, 0},
    {"qwen3-14b", 14.77, 0},
    {"qwen3-32b", 32.76, 0},
    {"llama3.2-1b", 1.236, 0},
    {"llama3.2-3b", 3.213, 0},
    {"llama3.3-70b", 70.55, 0},
    {"gemma3-270m", 0.268, 0},
    {"gemma3-12b", 11.77, 0},
    {"gemma3-27b", 27.01, 0},
    {"phi4", 14.66, 0},
    {"smollm3-3b", 3.075, 0},
    {"mistral-small-24b", 23.57, 0},
    {"mistral-nemo-12b", 12.25, 0},
    {"olmo2-1b", 1.485, 0},
    {"olmo2-7b", 7.299, 0},
    {"granite3.3-8b", 8.171, 0},
    {"qwen3-235b-a22b", 235.09, 22.2},
    {"gpt-oss-20b", 20.91, 3.61},
    {"gpt-oss-120b", 116.83, 5.13},
    {"glm4.5-air", 106.85, 0},
    {"kimi-k2", 1026.4, 32},
    {"minimax-m2", 228.7, 10},
};

static void published_sizes(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof published / sizeof *published; i++) {
        const struct ulb_model *model = ulb_model_find(published[i].name);
        struct ulb_shape_list list;
        struct ulb_error err;
        assert_non_null(model);
        assert_int_equal(ulb_model_shapes(model, ULB_FORM_FUSED, &list, &err), ULB_OK);
        double parameters = ulb_model_parameters(model, &list) / 1e9;
        double active = ulb_model_active_parameters(model, &list) / 1e9;
        if (fabs(parameters / published[i].parameters - 1) > 0.005)
            fail_msg("%s: %.4f of %.4f", model->name, parameters, published[i].parameters);
        if (published[i].active > 0 && fabs(active / published[i].active - 1) > 0.05)
            fail_msg("%s: %.3f active of %.3f", model->name, active, published[i].active);
        free(list.items);
    }
}

static void expect_near(const char *name, double value, double wanted, double relative)
{
    if (!(fabs(value - wanted) <= relative * wanted))
        fail_msg("%s: %.9g, wanted %.9g", name, value, wanted);
}

/* The list in the notation of the table above. */
static void describe(const struct ulb_shape_list *list, unsigned layers, char *text, size_t bytes)
{
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < list->n; i++) {
        const struct ulb_layer_shape *shape = &list->items[i];
        /* Experts of a layer: every layer has as many, so that these are in lowest terms of the layers. */
        unsigned in = shape->count, experts = 1, active = 1;
        if (shape->count != shape->active) {
            experts = shape->count / shape->active;
            for (in = layers; shape->active % in || shape->count % in; in--)
                ;
            experts = shape->count / in;
            active = shape->active / in;
        }
        used += (size_t)snprintf(text + used, bytes - used, "%s%s %zux%zu", i ? ", " : "", shape->layer,
                                 shape->m, shape->k);
        if (in != layers && experts == 1)
            used += (size_t)snprintf(text + used, bytes - used, " (%u/%u)", in, layers);
        else if (in != layers)
            used += (size_t)snprintf(text + used, bytes - used, " (%u/%u, %u of %u)", in, layers, active,
                                     experts);
        else if (experts != 1)
            used += (size_t)snprintf(text + used, bytes - used, " (%u of %u)", active, experts);
    }
}

static void expect_shapes(const struct ulb_model *model, enum ulb_form form, const char *wanted)
{
    struct ulb_shape_list list;
    struct ulb_error err;
    char text[2048];
    if (!wanted)
        return;
    assert_int_equal(ulb_model_shapes(model, form, &list, &err), ULB_OK);
    describe(&list, model->layers, text, sizeof text);
    if (strcmp(text, wanted) != 0)
        fail_msg("%s has %s\nwanted %s", model->name, text, wanted);
    free(list.items);
}

static void test_sizes(void **state)
{
    (void)state;
    assert_int_equal(ulb_model_count, sizeof truths / sizeof *truths + sizeof published / sizeof *published);
    for (size_t i = 0; i < sizeof truths / sizeof *truths; i++) {
        const struct truth *truth = &truths[i];
        const struct ulb_model *model = ulb_model_find(truth->name);
        struct ulb_shape_list list;
        struct ulb_error err;
        assert_non_null(model);
        expect_shapes(model, ULB_FORM_STORED, truth->stored);
        expect_shapes(model, ULB_FORM_FUSED, truth->fused);
        for (int form = ULB_FORM_FUSED; form <= ULB_FORM_STORED; form++) {
            assert_int_equal(ulb_model_shapes(model, (enum ulb_form)form, &list, &err), ULB_OK);
            expect_near(truth->name, ulb_shape_weights(&list).active / 1e6, truth->block_weights, 2e-4);
            expect_near(truth->name, ulb_model_parameters(model, &list) / 1e9, truth->parameters, 1e-3);
            free(list.items);
        }
    }
}

static void test_rows_are_complete(void **state)
{
    (void)state;
    struct ulb_error err;
    for (size_t i = 0; i < ulb_model_count; i++) {
        const struct ulb_model *model = &ulb_models[i];
        assert_true(strlen(model->title) > 0 && strlen(model->source) > 0);
        assert_ptr_equal(ulb_model_find(model->name), model);
        if (model->alias[0])
            assert_ptr_equal(ulb_model_find(model->alias), model);
        if (ulb_model_check(model, &err) != ULB_OK)
            fail_msg("%s: %s", model->name, err.message);
    }
    assert_null(ulb_model_find(""));
}

static void names_in_any_spelling(void **state)
{
    (void)state;
    static const char *const same[][2] = {{"Falcon3-1B", "falcon3-1b"},
                                          {"Qwen 3_8B", "qwen3-8b"},
                                          {"Llama-3.2-1B-Instruct", "llama3.2-1b"},
                                          {"gemma-3-27b-it", "gemma3-27b"},
                                          {"Phi-4", "phi4"},
                                          {"BitNet-b1.58-2B-4T", "bitnet-2b-4t"},
                                          {"llama2-7b-chat", "llama2-7b-chat"},
                                          {"GLM 4.5 Air", "glm4.5-air"}};
    static const char *const other[] = {"qwen38b", "bitnet-1.3b", "qwen3-80b", "llama3.2-11b", "instruct"};
    struct ulb_error err;
    struct ulb_model model;
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        const struct ulb_model *found = ulb_model_find(same[i][0]);
        if (!found || strcmp(found->name, same[i][1]) != 0)
            fail_msg("%s is %s", same[i][0], found ? found->name : "nothing");
    }
    for (size_t i = 0; i < sizeof other / sizeof *other; i++) {
        if (ulb_model_find(other[i]))
            fail_msg("%s is %s", other[i], ulb_model_find(other[i])->name);
    }
    assert_int_equal(ulb_model_load("qwen3-8bb", &model, &err), ULB_BAD_INPUT);
    assert_string_equal(err.message, "unknown model 'qwen3-8bb'; did you mean 'qwen3-8b'?");
    assert_int_equal(ulb_model_load("perceiver", &model, &err), ULB_BAD_INPUT);
    assert_non_null(strstr(err.message, "unknown model 'perceiver'; see 'ulb-bench list models'"));
    static const char *const remote[] = {"Qwen/Qwen3-8B", "https://huggingface.co/some/where",
                                         "some/model-9b"};
    for (size_t i = 0; i < sizeof remote / sizeof *remote; i++) {
        assert_int_equal(ulb_model_load(remote[i], &model, &err), ULB_BAD_INPUT);
        assert_non_null(strstr(err.message, "nothing is downloaded"));
    }
}

static void test_parts_make_the_whole(void **state)
{
    (void)state;
    struct ulb_shape_list list;
    struct ulb_error err;
    assert_int_equal(ulb_model_shapes(ulb_model_find("llama3-8b"), ULB_FORM_FUSED, &list, &err), ULB_OK);
    assert_int_equal(list.items[0].n_parts, 3);
    assert_string_equal(list.items[0].parts[1].layer, "k");
    for (size_t i = 0; i < list.n; i++) {
        size_t sum = 0;
        for (unsigned p = 0; p < list.items[i].n_parts; p++)
            sum += list.items[i].parts[p].m;
        assert_true(sum == (list.items[i].n_parts ? list.items[i].m : 0));
    }
    assert_true(ulb_shape_is_head(&list.items[list.n - 1]));
    free(list.items);
}

static void test_tied_head_counts_once(void **state)
{
    (void)state;
    struct ulb_model model = *ulb_model_find("llama2-7b");
    struct ulb_shape_list list;
    struct ulb_error err;
    assert_int_equal(ulb_model_shapes(&model, ULB_FORM_FUSED, &list, &err), ULB_OK);
    double untied = ulb_model_parameters(&model, &list);
    model.tied_head = true;
    assert_true(untied - ulb_model_parameters(&model, &list) == 32000.0 * 4096);
    free(list.items);
}

static void test_impossible_models(void **state)
{
    (void)state;
    struct ulb_error err;
    struct ulb_model model = *ulb_model_find("deepseek-v3");
#define REFUSED(field, value)                                                                                \
    do {                                                                                                     \
        struct ulb_model broken = model;                                                                     \
        broken.field = (value);                                                                              \
        if (ulb_model_check(&broken, &err) != ULB_BAD_INPUT)                                                 \
            fail_msg(#field " = %g was taken", (double)broken.field);                                        \
    } while (0)
    REFUSED(layers, 0);
    REFUSED(layers, 1u << 31);
    REFUSED(hidden, 0);
    REFUSED(hidden, (1u << 24) + 1);
    REFUSED(vocab, 4000000000u);
    REFUSED(kv_heads, 0);
    REFUSED(kv_heads, 3);
    REFUSED(heads, 1u << 20); /* times 192 */
    REFUSED(head_dim, 0);
    REFUSED(v_head_dim, 0);
    REFUSED(mla_rope, 192);
    REFUSED(mla_q_rank, 1u << 30);
    REFUSED(rope_dims, 193);
    REFUSED(intermediate, 0);
    REFUSED(experts, 1u << 30);
    REFUSED(experts_active, 0);
    REFUSED(experts_active, 257);
    REFUSED(expert_intermediate, 0);
    REFUSED(dense_layers, 62);
}

static void test_lists(void **state)
{
    (void)state;
    struct ulb_model_list list;
    struct ulb_error err;
    assert_int_equal(ulb_model_list_load("falcon3-1b,,gpt-j-6b,", &list, &err), ULB_OK);
    assert_int_equal(list.n, 2);
    assert_string_equal(list.items[1].name, "gptj-6b");
    assert_true(list.items[1].parallel_block && !list.items[1].gated);
    ulb_model_list_free(&list);
    static const char *const wrong[] = {"", ",", "falcon3-1b,nosuch", "falcon3-1b,falcon3-1b"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        if (ulb_model_list_load(wrong[i], &list, &err) != ULB_BAD_INPUT)
            fail_msg("'%s' was taken", wrong[i]);
        ulb_model_list_free(&list);
    }
}

static void test_given_shapes(void **state)
{
    (void)state;
    static const struct ulb_shape wanted[] = {{4096, 14336}, {1, 1}, {16777216, 2}};
    const char *list = ",4096x14336,,1x1,16777216x2,";
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
        cmocka_unit_test(published_sizes),
        cmocka_unit_test(test_rows_are_complete),
        cmocka_unit_test(names_in_any_spelling),
        cmocka_unit_test(test_parts_make_the_whole),
        cmocka_unit_test(test_tied_head_counts_once),
        cmocka_unit_test(test_impossible_models),
        cmocka_unit_test(test_lists),
        cmocka_unit_test(test_given_shapes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
