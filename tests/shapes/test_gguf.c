/* GGUF headers: every model of the catalogue and back, both byte orders, parts, what differs, and damage. */
#include "tests/shapes/gguf_writer.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[] = "/tmp/ulb-gguf-XXXXXX";
static struct ulb_error err;

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    char command[64];
    snprintf(command, sizeof command, "rm -r '%s'", folder);
    return system(command); /* NOLINT: the name is ours */
}

static void expect_same_shapes(const struct ulb_model *model, const struct ulb_model *wanted,
                               enum ulb_form form)
{
    struct ulb_shape_list a, b;
    assert_int_equal(ulb_model_shapes(model, form, &a, &err), ULB_OK);
    assert_int_equal(ulb_model_shapes(wanted, form, &b, &err), ULB_OK);
    if (a.n != b.n)
        fail_msg("%s has %zu kinds of matrices instead of %zu", wanted->name, a.n, b.n);
    for (size_t i = 0; i < a.n; i++) {
        const struct ulb_layer_shape *got = &a.items[i], *want = &b.items[i];
        if (strcmp(got->layer, want->layer) != 0 || got->m != want->m || got->k != want->k ||
            got->count != want->count || got->active != want->active)
            fail_msg("%s: %s %zux%zu, %u of %u, instead of %s %zux%zu, %u of %u", wanted->name, got->layer,
                     got->m, got->k, got->active, got->count, want->layer, want->m, want->k, want->active,
                     want->count);
    }
    free(a.items);
    free(b.items);
}

/* Loads what was written, which must be that model in numbers and shapes. */
static void expect_model(const struct gguf_writer *w, const struct ulb_model *wanted)
{
    char path[256];
    struct ulb_model model;
    gguf_save(w, folder, "Some-Model.gguf", path);
    if (ulb_model_load(path, &model, &err) != ULB_OK)
        fail_msg("%s: %s", wanted->name, err.message);
    assert_string_equal(model.name, "some-model");
    assert_null(model.stored);
    assert_int_equal(model.tied_head, wanted->tied_head);
    assert_int_equal(model.gated, wanted->gated);
    assert_int_equal(model.vocab, wanted->vocab);
    assert_true(model.stored_bytes_per_token > 0 && model.stored_bytes >= model.stored_bytes_per_token);
    expect_same_shapes(&model, wanted, ULB_FORM_FUSED);
    expect_same_shapes(&model, wanted, ULB_FORM_STORED);
    ulb_model_free(&model);
}

/* The file must be refused with one line that holds the text. */
static void expect_refused(const struct gguf_writer *w, const char *text)
{
    char path[256];
    struct ulb_model model;
    gguf_save(w, folder, "damaged.gguf", path);
    enum ulb_status status = ulb_model_load(path, &model, &err);
    if (status != ULB_BAD_INPUT)
        fail_msg("status %d where '%s' was wanted", status, text);
    if (!strstr(err.message, text) || !strstr(err.message, path) || strchr(err.message, '\n'))
        fail_msg("'%s' does not say '%s'", err.message, text);
}

static void every_model_and_back(void **state)
{
    (void)state;
    for (size_t i = 0; i < ulb_model_count; i++) {
        struct ulb_model model = ulb_models[i];
        struct gguf_writer w;
        model.vocab = model.vocab ? model.vocab : 1000;
        gguf_open(&w, i % 2 ? 2 : 3, i % 3 == 0);
        gguf_model(&w, &model, model.mla_kv_rank ? "deepseek2" : "llama");
        expect_model(&w, &model);
        gguf_free(&w);
    }
}

static void half_precision_is_two_bytes_a_weight(void **state)
{
    (void)state;
    const struct ulb_model *wanted = ulb_model_find("mixtral-8x7b");
    struct gguf_writer w;
    struct ulb_model model;
    char path[256];
    gguf_open(&w, 3, false);
    gguf_model(&w, wanted, "llama");
    gguf_save(&w, folder, "x.gguf", path);
    assert_int_equal(ulb_model_load(path, &model, &err), ULB_OK);
    double per_token = 2 * (12617.5e6 + 131.1e6), all = 2 * 46.7027e9;
    assert_true(fabs(model.stored_bytes_per_token / per_token - 1) < 1e-4);
    assert_true(fabs(model.stored_bytes / all - 1) < 1e-3);
    ulb_model_free(&model);
    gguf_free(&w);
}

static void numbers_that_are_left_out(void **state)
{
    (void)state;
    struct ulb_model wanted = *ulb_model_find("qwen3-0.6b"); /* heads x head_dim is not hidden */
    struct ulb_model reduced = wanted;
    struct gguf_writer w;
    reduced.head_dim = reduced.v_head_dim = reduced.rope_dims = 0;
    gguf_open(&w, 3, false);
    gguf_metadata(&w, &reduced, "qwen3");
    for (unsigned i = 0; i < wanted.layers; i++)
        gguf_block(&w, &wanted, i);
    gguf_outside(&w, &wanted);
    gguf_close(&w);
    expect_model(&w, &wanted);
    gguf_free(&w);
}

/* No tensors: the architecture says what the blocks are made of. */
static void vocabulary_alone(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"deepseek-v3", "deepseek2"}, {"phi3-mini", "phi3"}, {"qwen3-coder-30b-a3b", "qwen3moe"},
        {"gemma3-1b", "gemma3"},      {"gptj-6b", "gptj"},   {"gpt-neox-20b", "gptneox"}};
    char path[256];
    struct ulb_model model;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct ulb_model *wanted = ulb_model_find(cases[i][0]);
        struct gguf_writer w;
        gguf_open(&w, 3, false);
        gguf_metadata(&w, wanted, cases[i][1]);
        gguf_close(&w);
        gguf_save(&w, folder, "vocabulary.gguf", path);
        if (ulb_model_load(path, &model, &err) != ULB_OK)
            fail_msg("%s: %s", wanted->name, err.message);
        assert_int_equal(model.tied_head, wanted->tied_head);
        assert_int_equal(model.parallel_block, wanted->parallel_block);
        assert_non_null(strstr(model.derived, "no tensors"));
        expect_same_shapes(&model, wanted, ULB_FORM_STORED);
        ulb_model_free(&model);
        gguf_free(&w);
    }
    struct gguf_writer w;
    gguf_open(&w, 3, false);
    gguf_metadata(&w, ulb_model_find("llama2-7b"), "never-heard-of");
    gguf_close(&w);
    expect_refused(&w, "never-heard-of");
    gguf_free(&w);
}

/* Newer files split kv_b by heads; older ones hold each expert by itself. */
static void other_ways_to_store(void **state)
{
    (void)state;
    struct ulb_model latent = *ulb_model_find("deepseek-v3"), mixture = *ulb_model_find("mixtral-8x7b");
    struct gguf_writer w, part;
    char from[] = "attn_kv_b", name[96];
    latent.layers = 4;
    gguf_open(&w, 3, false);
    gguf_metadata(&w, &latent, "deepseek2");
    for (unsigned i = 0; i < latent.layers; i++) {
        size_t at = w.n;
        gguf_block(&w, &latent, i);
        uint8_t *found = memmem(w.bytes + at, w.n - at, from, strlen(from));
        assert_non_null(found);
        found[strlen("attn_")] = 'x'; /* "attn_xv_b": made a vector below */
        found += strlen("attn_kv_b.weight");
        memset(found, 0, 4);
        found[0] = 2;
        found[4] = 32, found[5] = 0; /* 32 x 1 */
        memset(found + 12, 0, 8);
        found[12] = 1;
        snprintf(name, sizeof name, "blk.%u.attn_k_b.weight", i);
        gguf_tensor(&w, name, 1, 128, 512, 128);
        snprintf(name, sizeof name, "blk.%u.attn_v_b.weight", i);
        gguf_tensor(&w, name, 1, 512, 128, 128);
    }
    gguf_outside(&w, &latent);
    gguf_close(&w);
    expect_model(&w, &latent);
    gguf_free(&w);

    mixture.layers = 2;
    gguf_open(&part, 2, false);
    gguf_metadata(&part, &mixture, "llama");
    for (unsigned i = 0; i < mixture.layers; i++) {
        struct ulb_model dense = mixture;
        dense.experts = 0;
        dense.intermediate = mixture.expert_intermediate;
        gguf_open(&w, 2, false);
        gguf_block(&w, &dense, i); /* for its attention: everything up to ffn_gate */
        uint8_t *end = memmem(w.bytes, w.n, ".ffn_gate", 9);
        size_t begin = 24, length = (size_t)(end - w.bytes) - 8 - strlen("blk.0") - begin;
        for (size_t b = 0; b < length; b++)
            gguf_raw(&part, w.bytes[begin + b], 1);
        part.tensors += 5;
        gguf_free(&w);
        snprintf(name, sizeof name, "blk.%u.ffn_gate_inp.weight", i);
        gguf_tensor(&part, name, 0, 4096, 8, 1);
        for (unsigned e = 0; e < 8; e++) {
            snprintf(name, sizeof name, "blk.%u.ffn_gate.%u.weight", i, e);
            gguf_tensor(&part, name, 1, 4096, 14336, 1);
            snprintf(name, sizeof name, "blk.%u.ffn_up.%u.weight", i, e);
            gguf_tensor(&part, name, 1, 4096, 14336, 1);
            snprintf(name, sizeof name, "blk.%u.ffn_down.%u.weight", i, e);
            gguf_tensor(&part, name, 1, 14336, 4096, 1);
        }
    }
    gguf_outside(&part, &mixture);
    gguf_close(&part);
    expect_model(&part, &mixture);
    gguf_free(&part);
}

/* Blocks of different sizes, and an architecture that nobody knows: the tensors tell. */
static void blocks_that_differ(void **state)
{
    (void)state;
    struct ulb_model first = *ulb_model_find("bitnet-125m"), second = first;
    struct ulb_model model;
    struct ulb_shape_list list;
    struct gguf_writer w;
    char path[256];
    first.layers = second.layers = 3;
    second.intermediate = 2048;
    gguf_open(&w, 3, false);
    gguf_metadata(&w, &first, "novel");
    gguf_block(&w, &first, 0);
    gguf_block(&w, &second, 1);
    gguf_block(&w, &first, 2);
    gguf_tensor(&w, "blk.1.ssm_in.weight", 1, 768, 100, 1);
    gguf_outside(&w, &first);
    gguf_close(&w);
    gguf_save(&w, folder, "novel.gguf", path);
    assert_int_equal(ulb_model_load(path, &model, &err), ULB_OK);
    assert_non_null(model.stored);
    assert_non_null(strstr(model.derived, "novel"));
    assert_int_equal(ulb_model_shapes(&model, ULB_FORM_FUSED, &list, &err), ULB_OK);
    size_t of_down = 0, of_ssm = 0;
    for (size_t i = 0; i < list.n; i++) {
        const struct ulb_layer_shape *shape = &list.items[i];
        if (strcmp(shape->layer, "down") == 0) {
            assert_int_equal(shape->count, shape->k == 2048 ? 1 : 2);
            of_down++;
        }
        of_ssm += strcmp(shape->layer, "ssm_in") == 0 && shape->m == 100 && shape->count == 1;
    }
    assert_true(of_down == 2 && of_ssm == 1);
    free(list.items);
    ulb_model_free(&model);
    gguf_free(&w);
}

static void save_part(const struct ulb_model *model, unsigned part, unsigned claimed, unsigned tensors)
{
    struct gguf_writer w;
    char path[256], name[64];
    gguf_open(&w, 3, false);
    if (part == 0)
        gguf_metadata(&w, model, "llama");
    gguf_u32(&w, "split.no", part);
    gguf_u32(&w, "split.count", claimed);
    gguf_u32(&w, "split.tensors.count", tensors);
    for (unsigned i = part * 12; i < (part + 1) * 12 && i < model->layers; i++)
        gguf_block(&w, model, i);
    if (part == 1)
        gguf_outside(&w, model);
    gguf_close(&w);
    snprintf(name, sizeof name, "big-%05u-of-00002.gguf", part + 1);
    gguf_save(&w, folder, name, path);
    gguf_free(&w);
}

static void parts(void **state)
{
    (void)state;
    const struct ulb_model *wanted = ulb_model_find("bitnet-large");
    unsigned tensors = 24 * 8 + 2;
    char path[2][256];
    struct ulb_model model;
    for (unsigned p = 0; p < 2; p++) {
        save_part(wanted, p, 2, tensors);
        snprintf(path[p], sizeof path[p], "%s/big-%05u-of-00002.gguf", folder, p + 1);
    }
    for (unsigned p = 0; p < 2; p++) { /* whichever part is named */
        if (ulb_model_load(path[p], &model, &err) != ULB_OK)
            fail_msg("%s", err.message);
        assert_string_equal(model.name, "big");
        expect_same_shapes(&model, wanted, ULB_FORM_FUSED);
        ulb_model_free(&model);
    }
    save_part(wanted, 1, 2, tensors + 1);
    save_part(wanted, 0, 2, tensors + 1);
    assert_int_equal(ulb_model_load(path[0], &model, &err), ULB_BAD_INPUT);
    assert_non_null(strstr(err.message, "split.tensors.count"));
    save_part(wanted, 0, 2, tensors);
    save_part(wanted, 1, 3, tensors);
    assert_int_equal(ulb_model_load(path[0], &model, &err), ULB_BAD_INPUT);
    assert_non_null(strstr(err.message, "part 2 of 2"));
    unlink(path[1]);
    assert_int_equal(ulb_model_load(path[0], &model, &err), ULB_BAD_INPUT);
    assert_non_null(strstr(err.message, "put all parts into one folder"));
    char renamed[256];
    snprintf(renamed, sizeof renamed, "%s/renamed.gguf", folder);
    assert_int_equal(rename(path[0], renamed), 0);
    assert_int_equal(ulb_model_load(renamed, &model, &err), ULB_BAD_INPUT);
    assert_non_null(strstr(err.message, "must keep its name"));
}

/* 100 GB of data behind the header are not looked at: by the time of this process, which others do not use.
 */
static void header_of_a_large_file(void **state)
{
    (void)state;
    const struct ulb_model *wanted = ulb_model_find("llama3-8b");
    struct gguf_writer w;
    struct ulb_model model;
    char path[256];
    gguf_open(&w, 3, false);
    gguf_model(&w, wanted, "llama");
    gguf_save(&w, folder, "large.gguf", path);
    gguf_free(&w);
    assert_int_equal(truncate(path, (off_t)100e9), 0);
    double best = 1;
    for (int i = 0; i < 5; i++) {
        clock_t begin = clock();
        assert_int_equal(ulb_model_load(path, &model, &err), ULB_OK);
        best = fmin(best, (double)(clock() - begin) / CLOCKS_PER_SEC);
        ulb_model_free(&model);
    }
    unlink(path);
    if (best >= 0.1)
        fail_msg("a header behind which 100 GB lie takes %.3f s", best);
}

/* --- damage --- */

static const struct ulb_model *small(void)
{
    static struct ulb_model model;
    model = *ulb_model_find("bitnet-125m");
    model.layers = 2;
    return &model;
}

/* Metadata of a small model, one more key of that type, then the value. */
static void refuse_value(enum ulb_gguf_type type, const uint64_t (*raw)[2], size_t n, const char *text)
{
    struct gguf_writer w;
    gguf_open(&w, 3, false);
    gguf_metadata(&w, small(), "llama");
    gguf_key(&w, "tokenizer.ggml.scores", type);
    for (size_t i = 0; i < n; i++)
        gguf_raw(&w, raw[i][0], (size_t)raw[i][1]);
    gguf_close(&w);
    for (int i = 0; i < 64; i++)
        gguf_raw(&w, 0, 8);
    expect_refused(&w, text);
    gguf_free(&w);
}

static void values_that_cannot_be(void **state)
{
    (void)state;
    const uint64_t huge = 1000000000000000000u;
    refuse_value(ULB_GGUF_STRING, (const uint64_t[][2]){{huge, 8}}, 1, "leaves the file");
    refuse_value(ULB_GGUF_STRING, (const uint64_t[][2]){{UINT64_MAX, 8}}, 1, "leaves the file");
    refuse_value(ULB_GGUF_ARRAY, (const uint64_t[][2]){{ULB_GGUF_F32, 4}, {huge, 8}}, 2, "leaves the file");
    refuse_value(ULB_GGUF_ARRAY, (const uint64_t[][2]){{ULB_GGUF_U64, 4}, {UINT64_MAX / 4, 8}}, 2,
                 "leaves the file");
    refuse_value(ULB_GGUF_ARRAY, (const uint64_t[][2]){{ULB_GGUF_STRING, 4}, {400, 8}}, 2, "leaves the file");
    refuse_value(ULB_GGUF_ARRAY, (const uint64_t[][2]){{99, 4}, {1, 8}}, 2, "type 99");
    refuse_value((enum ulb_gguf_type)77, (const uint64_t[][2]){{1, 8}}, 1, "type 77");
    static const uint64_t nested[][2] = {{ULB_GGUF_ARRAY, 4}, {1, 8}, {ULB_GGUF_ARRAY, 4}, {1, 8},
                                         {ULB_GGUF_ARRAY, 4}, {1, 8}, {ULB_GGUF_ARRAY, 4}, {1, 8},
                                         {ULB_GGUF_ARRAY, 4}, {1, 8}, {ULB_GGUF_ARRAY, 4}, {1, 8}};
    refuse_value(ULB_GGUF_ARRAY, nested, 12, "arrays in arrays");
}

/* The metadata of a small model with one number in another way. */
static void refuse_number(const char *key, double value, enum ulb_gguf_type type, const char *text)
{
    struct gguf_writer w;
    char replaced[96];
    gguf_open(&w, 3, false);
    gguf_metadata(&w, small(), "llama");
    gguf_block(&w, small(), 0);
    gguf_block(&w, small(), 1);
    gguf_outside(&w, small());
    snprintf(replaced, sizeof replaced, "llama.%s", key);
    uint8_t *found = memmem(w.bytes, w.n, replaced, strlen(replaced));
    assert_non_null(found);
    found += strlen(replaced);
    float narrow = (float)value;
    int32_t whole = type == ULB_GGUF_F32 ? 0 : (int32_t)value;
    uint32_t type_word = type;
    memcpy(found, &type_word, 4);
    memcpy(found + 4, type == ULB_GGUF_F32 ? (void *)&narrow : (void *)&whole, 4);
    gguf_close(&w);
    expect_refused(&w, text);
    gguf_free(&w);
}

static void numbers_that_cannot_be(void **state)
{
    (void)state;
    refuse_number("embedding_length", 0, ULB_GGUF_U32, "embedding_length is 0");
    refuse_number("embedding_length", -768, ULB_GGUF_I32, "embedding_length is -768");
    refuse_number("embedding_length", 1e9, ULB_GGUF_U32, "embedding_length is 1000000000");
    refuse_number("embedding_length", 769, ULB_GGUF_U32, "embedding_length is 769");
    refuse_number("embedding_length", NAN, ULB_GGUF_F32, "embedding_length is nan");
    refuse_number("rope.freq_base", NAN, ULB_GGUF_F32, "rope.freq_base is nan");
    refuse_number("rope.freq_base", INFINITY, ULB_GGUF_F32, "rope.freq_base is inf");
    refuse_number("block_count", 0, ULB_GGUF_U32, "block_count is 0");
    refuse_number("block_count", 1, ULB_GGUF_U32, "behind the last of 1 blocks");
    refuse_number("block_count", 3, ULB_GGUF_U32, "block 2 of 3 has no matrices");
    refuse_number("block_count", 2e9, ULB_GGUF_U32, "block_count is 2000000000");
    refuse_number("block_count", 2.5, ULB_GGUF_F32, "whole number");
}

static void refuse_tensor(const char *name, unsigned type, size_t k, size_t m, size_t stack, const char *text)
{
    struct gguf_writer w;
    gguf_open(&w, 3, false);
    gguf_metadata(&w, small(), "llama");
    gguf_block(&w, small(), 0);
    gguf_block(&w, small(), 1);
    gguf_outside(&w, small());
    gguf_tensor(&w, name, type, k, m, stack);
    gguf_close(&w);
    expect_refused(&w, text);
    gguf_free(&w);
}

static void tensors_that_cannot_be(void **state)
{
    (void)state;
    refuse_tensor("blk.0.attn_q.weight", UINT32_MAX, 768, 768, 1, "type 4294967295");
    refuse_tensor("blk.0.attn_q.weight", 2, 48, 768, 1, "cannot have rows of 48"); /* q4_0: blocks of 32 */
    refuse_tensor("blk.0.attn_q.weight", 1, 512, 768, 1, "embedding_length is 768");
    refuse_tensor("blk.0.ffn_down.weight", 1, 512, 700, 1, "embedding_length is 768");
    refuse_tensor("blk.0.attn_q.weight", 1, 768, 768, 4, "a stack of 4");
    refuse_tensor("blk.0.attn_q.weight", 1, 768, (size_t)1 << 40, 1, "a side of 1099511627776");
    refuse_tensor("blk.0.attn_q.weight", 1, 0, 768, 1, "a side of 0");
    refuse_tensor("blk.7.attn_q.weight", 1, 768, 768, 1, "behind the last of 2 blocks");
    refuse_tensor("blk.99999999999.attn_q.weight", 1, 768, 768, 1, "behind the last");
    refuse_tensor("blk.0.ffn_up_exps.weight", 1, 768, 768, 4, "experts");
    refuse_tensor("output.weight", 1, 512, 32002, 1, "embedding_length is 768");
    refuse_tensor("", 1, 768, 768, 1, "a name of 0 bytes");
    refuse_tensor("blk.0.\n\x1b[31m.weight", 99999, 768, 768, 1, "blk.0.??[31m");
}

static void headers_that_cannot_be(void **state)
{
    (void)state;
    static const struct {
        unsigned version;
        bool big_endian;
        uint64_t tensors, pairs;
        const char *text;
    } cases[] = {
        {1, false, 1, 1, "version 1"},
        {1, true, 1, 1, "version 1"},
        {4, false, 1, 1, "version 4"},
        {0, false, 1, 1, "version 0"},
        {3, false, 1000000000000000000u, 1, "1000000000000000000 tensors"},
        {3, true, 1, UINT64_MAX, "18446744073709551615 metadata keys"},
        {3, false, 0, 0, "general.architecture is missing"},
        {3, false, 0, 1, "leaves the file"},
        {3, false, 2, 0, "claims 2 tensors"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct gguf_writer w;
        gguf_open(&w, cases[i].version, cases[i].big_endian);
        w.tensors = cases[i].tensors;
        w.pairs = cases[i].pairs;
        gguf_close(&w);
        gguf_raw(&w, UINT64_MAX, cases[i].pairs == 1 ? 8 : 4);
        gguf_raw(&w, UINT64_MAX, 8);
        expect_refused(&w, cases[i].text);
        gguf_free(&w);
    }
}

/* Wherever a file is cut off, it is refused, or it was whole but for padding. */
static void cut_off_anywhere(void **state)
{
    (void)state;
    struct gguf_writer w;
    gguf_open(&w, 3, false);
    gguf_model(&w, small(), "llama");
    size_t whole = w.n;
    for (w.n = 0; w.n < whole; w.n += w.n < 300 ? 1 : 37) {
        char path[256];
        struct ulb_model model;
        gguf_save(&w, folder, "cut.gguf", path);
        if (ulb_model_load(path, &model, &err) != ULB_BAD_INPUT)
            fail_msg("%zu of %zu bytes were taken", w.n, whole);
    }
    gguf_free(&w);
}

/* Each size is possible, and their product is a multiple of 2^64. */
static void stacks_that_cannot_be(void **state)
{
    (void)state;
    struct gguf_writer w;
    gguf_open(&w, 3, false);
    gguf_metadata(&w, small(), "llama");
    gguf_tensor_of(&w, "blk.0.attn_k_b.weight", 0, (const size_t[]){1 << 20, 32, 1 << 22, 1 << 22}, 4);
    gguf_close(&w);
    expect_refused(&w, "rows, columns or matrices");
    gguf_free(&w);
}

static void keys_that_stand_there_twice(void **state)
{
    (void)state;
    struct gguf_writer w;
    gguf_open(&w, 3, false);
    gguf_metadata(&w, small(), "llama");
    gguf_u32(&w, "llama.block_count", 5);
    gguf_close(&w);
    expect_refused(&w, "block_count stands there twice");
    gguf_free(&w);
}

static void numbers_a_layer(void **state)
{
    (void)state;
    static const unsigned same[] = {12, 12}, differ[] = {12, 6}, none[] = {0};
    struct ulb_model reduced = *small();
    struct ulb_model model;
    reduced.heads = 0;
    for (int i = 0; i < 3; i++) {
        struct gguf_writer w;
        char path[256];
        gguf_open(&w, 3, false);
        gguf_metadata(&w, &reduced, "llama");
        gguf_list(&w, "llama.attention.head_count", i == 0 ? same : i == 1 ? differ : none, i == 2 ? 0 : 2);
        gguf_block(&w, small(), 0);
        gguf_block(&w, small(), 1);
        gguf_outside(&w, small());
        gguf_close(&w);
        if (i == 2) {
            expect_refused(&w, "attention.head_count is no number");
        } else {
            gguf_save(&w, folder, "list.gguf", path);
            assert_int_equal(ulb_model_load(path, &model, &err), ULB_OK);
            assert_true((model.stored != NULL) == (i == 1)); /* what differs is left to the tensors */
            ulb_model_free(&model);
        }
        gguf_free(&w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_model_and_back),
        cmocka_unit_test(half_precision_is_two_bytes_a_weight),
        cmocka_unit_test(numbers_that_are_left_out),
        cmocka_unit_test(vocabulary_alone),
        cmocka_unit_test(other_ways_to_store),
        cmocka_unit_test(blocks_that_differ),
        cmocka_unit_test(parts),
        cmocka_unit_test(header_of_a_large_file),
        cmocka_unit_test(values_that_cannot_be),
        cmocka_unit_test(numbers_that_cannot_be),
        cmocka_unit_test(tensors_that_cannot_be),
        cmocka_unit_test(headers_that_cannot_be),
        cmocka_unit_test(cut_off_anywhere),
        cmocka_unit_test(keys_that_stand_there_twice),
        cmocka_unit_test(stacks_that_cannot_be),
        cmocka_unit_test(numbers_a_layer),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
