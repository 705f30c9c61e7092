/* The decoder against its scalar reference in double precision: every form of block, every format, any team,
 * split and way of feeding the tokens. */
#include "harness/decode/decoder.h"
#include "harness/decode/reference.h"
#include "harness/decode/weights.h"
#include "harness/session/session.h"

#include "common/rng.h"
#include "kernels/activations.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { TOKENS = 6 };

/* Sizes that no tile, group or piece divides. */
static const struct ulb_decoder_shape llama = {.layers = 2,
                                               .hidden = 200,
                                               .heads = 6,
                                               .kv_heads = 2,
                                               .head_dim = 40,
                                               .intermediate = 340,
                                               .vocab = 500,
                                               .experts = 1,
                                               .active = 1,
                                               .rope_dims = 40,
                                               .rope_base = 10000,
                                               .gated = true};
static const uint32_t prompt[TOKENS] = {3, 141, 59, 26, 499, 3};

struct bench {
    struct ulb_kernel_choice choices[ULB_LINEARS];
    struct ulb_weight_store store;
};

/* All tests': to open one takes longer than most of them. */
static struct ulb_session session;
static struct ulb_record record;

static int open_session(void **state)
{
    struct ulb_error err;
    (void)state;
    session.settings.seed = 7;
    return ulb_record_new(&record, &err) != ULB_OK || ulb_session_open(&session, &record, &err) != ULB_OK;
}

static int close_session(void **state)
{
    (void)state;
    ulb_session_close(&session);
    ulb_record_free(&record);
    return 0;
}

/* The first fast kernel of a format, or its reference. */
static const struct ulb_kernel *kernel_of(const char *format)
{
    const struct ulb_kernel *found = NULL;
    for (size_t i = 0; i < ulb_kernel_count; i++) {
        bool fits = strcmp(ulb_kernels[i]->layout->format->name, format) == 0 &&
                    ulb_selection_can_run(&session.selection, ulb_kernels[i]->needs);
        if (fits && (!found || strcmp(found->isa, "ref") == 0))
            found = ulb_kernels[i];
    }
    return found;
}

static void open_bench(struct bench *bench, const struct ulb_decoder_shape *shape, const char *format)
{
    struct ulb_error err;
    memset(bench, 0, sizeof *bench);
    for (int linear = 0; linear < ULB_LINEARS; linear++)
        bench->choices[linear].kernel = kernel_of(linear < ULB_QUANTISED_LINEARS ? format : "bf16");
    if (ulb_weights_open(&bench->store, shape, bench->choices, session.machine.team, session.settings.seed,
                         &err) != ULB_OK ||
        ulb_weights_fill(&bench->store, shape, bench->choices, session.machine.team, &session.settings, NULL,
                         &err) != ULB_OK)
        fail_msg("%s", err.message);
}

static void close_bench(struct bench *bench)
{
    ulb_weights_close(&bench->store);
}

static struct ulb_decoder *open_decoder(struct bench *bench, const struct ulb_decoder_shape *shape,
                                        const struct ulb_decoder_options *wanted)
{
    struct ulb_decoder *decoder;
    struct ulb_error err;
    struct ulb_decoder_options options = *wanted;
    options.team = options.team ? options.team : session.machine.team;
    options.ops = options.ops ? options.ops : ulb_vector_ops(session.selection.isa);
    options.attention = options.attention ? options.attention : ulb_attention_ops(session.selection.isa);
    options.positions = options.positions ? options.positions : TOKENS + 4;
    options.batch = options.batch ? options.batch : 1;
    if (ulb_decoder_open(&decoder, shape, &bench->store.weights, &options, &err) != ULB_OK)
        fail_msg("%s", err.message);
    return decoder;
}

/* Feeds so much of the prompt, one token at a time. */
static uint32_t feed(struct ulb_decoder *decoder, size_t tokens)
{
    uint32_t next = 0;
    for (size_t i = 0; i < tokens; i++)
        next = ulb_decoder_forward(decoder, &prompt[i], 1, i);
    return next;
}

static double distance_with(struct bench *bench, const struct ulb_decoder_shape *shape,
                            const struct ulb_decoder_shape *as, enum ulb_kv_type type,
                            const struct ulb_decoder_options *options, size_t tokens)
{
    struct ulb_error err;
    double *reference = calloc(shape->vocab, sizeof *reference);
    struct ulb_decoder *decoder = open_decoder(bench, shape, options);
    feed(decoder, tokens);
    assert_int_equal(ulb_decode_reference(as, &bench->store.weights, type, prompt, tokens, reference, &err),
                     ULB_OK);
    double distance = ulb_decode_distance(ulb_decoder_logits(decoder), reference, shape->vocab);
    ulb_decoder_close(decoder);
    free(reference);
    return distance;
}

static double distance_of(struct bench *bench, const struct ulb_decoder_shape *shape,
                          const struct ulb_decoder_shape *as, size_t tokens)
{
    const struct ulb_decoder_options options = {.kv_type = ULB_KV_FP32};
    return distance_with(bench, shape, as, ULB_KV_FP32, &options, tokens);
}

/* Without quantised activations and a rounded cache only rounding of floats is left. */
static void forms_agree(void **state)
{
    (void)state;
    struct ulb_decoder_shape forms[7] = {llama, llama, llama, llama, llama, llama, llama};
    forms[1].gated = false;
    forms[1].parallel = forms[1].layer_norm = true;
    forms[1].function = ULB_FFN_GELU;
    forms[1].rope_dims = 16;
    forms[2].experts = 5;
    forms[2].active = 2;
    forms[3].function = ULB_FFN_RELU2;
    forms[4].function = ULB_FFN_RELU;
    forms[4].kv_heads = 6;
    forms[5].head_dim = forms[5].rope_dims = 64;
    forms[6].qk_norm = forms[6].sub_norms = true;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        struct bench bench;
        open_bench(&bench, &forms[i], "bf16");
        double distance = distance_of(&bench, &forms[i], &forms[i], TOKENS);
        if (!(distance < 1e-3))
            fail_msg("form %zu is %g away from its reference", i, distance);
        close_bench(&bench);
    }
}

/* The cache in each type by each table: beside a reference that rounds alike only rounding is left, now and
 * then of a code, and of what bf16 is multiplied with; beside one in single precision what the type loses is
 * within its bound. */
static void cache_types_agree(void **state)
{
    static const double alike[ULB_KV_TYPES] = {1e-2, 5e-3, 2e-2, 1e-4};
    static const double loses[ULB_KV_TYPES] = {2e-2, 4e-2, 4e-1, 1e-4};
    (void)state;
    ulb_isa_set isa = ulb_isa_detect();
    const ulb_isa_set sets[] = {0, isa & (ULB_ISA_AVX2 | ULB_ISA_FMA | ULB_ISA_F16C), isa};
    struct bench bench;
    open_bench(&bench, &llama, "bf16");
    for (int i = 0; i < 3 * ULB_KV_TYPES; i++) {
        enum ulb_kv_type type = (enum ulb_kv_type)(i / 3);
        const struct ulb_decoder_options options = {.kv_type = type,
                                                    .attention = ulb_attention_ops(sets[i % 3])};
        double same = distance_with(&bench, &llama, &llama, type, &options, TOKENS);
        double exact = distance_with(&bench, &llama, &llama, ULB_KV_FP32, &options, TOKENS);
        if (!(same < alike[type] && exact < loses[type]))
            fail_msg("%s by %s is %g away from its reference, %g from that in fp32", ulb_kv_type_name(type),
                     options.attention->isa, same, exact);
    }
    close_bench(&bench);
}

/* A window hides what is before it, and a reference without one is far away. */
static void windows_hide(void **state)
{
    (void)state;
    struct ulb_decoder_shape window = llama;
    struct bench bench;
    window.windowed = 1;
    window.window = 3;
    open_bench(&bench, &llama, "bf16");
    double with = distance_of(&bench, &window, &window, TOKENS);
    double without = distance_of(&bench, &window, &llama, TOKENS);
    if (!(with < 1e-3 && without > 4e-3))
        fail_msg("a window is %g away from its reference, %g from that without one", with, without);
    close_bench(&bench);
}

/* Whether the kernel is the first of its format in the table, where those of several formats take turns. */
static bool names_format_first(size_t row)
{
    for (size_t i = 0; i < row; i++) {
        if (ulb_kernels[i]->layout->format == ulb_kernels[row]->layout->format)
            return false;
    }
    return true;
}

/* Every format that the suite has, once, by a kernel that runs here; block formats want whole blocks. A value
 * that falls between two steps of the activations may be rounded to either; weights of few bits with a zero
 * point pass that on enlarged, and the next layer's scale moves with it: seen up to 0.015. */
static void formats_agree(void **state)
{
    (void)state;
    struct ulb_decoder_shape shape = llama;
    shape.layers = 1;
    shape.hidden = 256;
    shape.heads = 4;
    shape.head_dim = shape.rope_dims = 64;
    shape.intermediate = 256;
    shape.vocab = 64;
    for (size_t i = 0; i < ulb_kernel_count; i++) {
        const struct ulb_format *format = ulb_kernels[i]->layout->format;
        if (!names_format_first(i))
            continue;
        struct bench bench;
        open_bench(&bench, &shape, format->name);
        double distance = distance_of(&bench, &shape, &shape, 2);
        if (!(distance < 5e-2))
            fail_msg("%s is %g away from its reference", format->name, distance);
        close_bench(&bench);
    }
}

/* The reference of another model is far away: what the bounds above would let pass is seen. */
static void differences_show(void **state)
{
    (void)state;
    struct ulb_decoder_shape planted[5] = {llama, llama, llama, llama, llama};
    planted[0].rope_base = 7000;
    planted[1].layer_norm = true;
    planted[2].function = ULB_FFN_GELU;
    planted[3].parallel = true;
    planted[4].rope_dims = 36;
    for (size_t i = 0; i < sizeof planted / sizeof *planted; i++) {
        struct bench bench;
        open_bench(&bench, &llama, "bf16");
        double distance = distance_of(&bench, &llama, &planted[i], TOKENS);
        if (distance < 4e-3)
            fail_msg("planted difference %zu is only %g away", i, distance);
        close_bench(&bench);
    }
}

/* Logits after the prompt, bit for bit the same in other circumstances. */
static void expect_same(struct bench *bench, const struct ulb_decoder_shape *shape,
                        const struct ulb_decoder_options *options, const float *expected, const char *what)
{
    struct ulb_decoder *decoder = open_decoder(bench, shape, options);
    if (options->batch > 1)
        ulb_decoder_forward(decoder, prompt, TOKENS, 0);
    else
        feed(decoder, TOKENS);
    if (memcmp(ulb_decoder_logits(decoder), expected, shape->vocab * sizeof *expected) != 0)
        fail_msg("other logits: %s", what);
    ulb_decoder_close(decoder);
}

static void circumstances(const struct ulb_decoder_shape *shape, const char *format)
{
    static const unsigned pus[3] = {0, 0, 0}; /* three threads that take turns on one core */
    static const double rates[3] = {5, 1, 2};
    struct bench bench;
    struct ulb_team *team;
    struct ulb_error err;
    open_bench(&bench, shape, format);
    struct ulb_decoder *decoder = open_decoder(&bench, shape, &(struct ulb_decoder_options){0});
    feed(decoder, TOKENS);
    float *expected = calloc(shape->vocab, sizeof *expected);
    memcpy(expected, ulb_decoder_logits(decoder), shape->vocab * sizeof *expected);
    expect_same(&bench, shape, &(struct ulb_decoder_options){.batch = TOKENS}, expected,
                "all tokens at once");
    assert_int_equal(ulb_team_start(&team, pus, 3, &err), ULB_OK);
    for (int split = ULB_SPLIT_STATIC; split <= ULB_SPLIT_WEIGHTED; split++) {
        const struct ulb_decoder_options options = {
            .team = team, .split = (enum ulb_split)split, .rates = rates, .slow_thread = 1, .slow_times = 2};
        expect_same(&bench, shape, &options, expected, ulb_split_name((enum ulb_split)split));
    }
    const struct ulb_decoder_options together = {.team = team, .split = ULB_SPLIT_DYNAMIC, .batch = TOKENS};
    expect_same(&bench, shape, &together, expected, "all tokens at once, dynamic");
    ulb_team_stop(team);
    ulb_decoder_close(decoder);
    free(expected);
    close_bench(&bench);
}

static void circumstances_do_not_matter(void **state)
{
    (void)state;
    struct ulb_decoder_shape experts = llama, gptj = llama;
    experts.experts = 5;
    experts.active = 2;
    gptj.gated = false;
    gptj.parallel = gptj.layer_norm = true;
    gptj.function = ULB_FFN_GELU;
    circumstances(&llama, "int8");
    circumstances(&llama, "bf16");
    circumstances(&experts, "int4");
    circumstances(&gptj, "int2");
}

static void expect_logits(const struct ulb_decoder *decoder, const struct ulb_decoder_shape *shape,
                          const float *expected, const char *what, enum ulb_kv_type type)
{
    if (memcmp(ulb_decoder_logits(decoder), expected, shape->vocab * sizeof *expected) != 0)
        fail_msg("other logits: %s, cache in %s", what, ulb_kv_type_name(type));
}

/* A context of several pieces, and tiles of several parts, with a window and in any type: the last token
 * alone, all positions at once and in steps of other sizes, to the last bit. */
static void pieces_add_up(void **state)
{
    (void)state;
    enum { LONG = 2 * ULB_KV_PIECE + 9 };
    struct ulb_decoder_shape shape = llama;
    struct bench bench;
    uint32_t tokens[LONG];
    for (size_t i = 0; i < LONG; i++)
        tokens[i] = (uint32_t)(i * 37 % llama.vocab);
    shape.windowed = 1;
    shape.window = ULB_KV_PIECE + 20;
    open_bench(&bench, &shape, "int8");
    ulb_isa_set isa = ulb_isa_detect();
    const ulb_isa_set sets[] = {0, isa & (ULB_ISA_AVX2 | ULB_ISA_FMA | ULB_ISA_F16C), isa};
    for (int i = 0; i < 3 * ULB_KV_TYPES; i++) {
        static const size_t steps[] = {61, 1, 128};
        enum ulb_kv_type type = (enum ulb_kv_type)(i / 3);
        const struct ulb_decoder_options options = {.positions = LONG,
                                                    .batch = LONG,
                                                    .kv_type = type,
                                                    .split = i % 2 ? ULB_SPLIT_DYNAMIC : ULB_SPLIT_STATIC,
                                                    .attention = ulb_attention_ops(sets[i % 3])};
        struct ulb_decoder *decoder = open_decoder(&bench, &shape, &options);
        float *expected = calloc(shape.vocab, sizeof *expected);
        ulb_decoder_forward(decoder, tokens, LONG, 0);
        memcpy(expected, ulb_decoder_logits(decoder), shape.vocab * sizeof *expected);
        ulb_decoder_forward(decoder, tokens + LONG - 1, 1, LONG - 1);
        expect_logits(decoder, &shape, expected, "the last token alone", type);
        ulb_decoder_close(decoder);
        decoder = open_decoder(&bench, &shape, &options);
        for (size_t at = 0, step = 0; at < LONG; at += steps[step++ % 3])
            ulb_decoder_forward(decoder, tokens + at,
                                steps[step % 3] < LONG - at ? steps[step % 3] : LONG - at, at);
        expect_logits(decoder, &shape, expected, "in steps", type);
        ulb_decoder_close(decoder);
        free(expected);
    }
    close_bench(&bench);
}

enum { SEQUENCES = 3, CONTEXT = ULB_KV_PIECE + 6, STEPS = 4 };

/* Tokens and logits of a sequence that begins with its own token behind its own context, [STEPS][..]. */
struct decoded {
    uint32_t tokens[STEPS];
    float *logits;
};

static void begin(struct ulb_decoder *decoder, uint64_t seed)
{
    struct ulb_error err;
    if (ulb_decoder_fill_cache(decoder, CONTEXT, seed, &err) != ULB_OK)
        fail_msg("%s", err.message);
}

static void decode_alone(struct bench *bench, const struct ulb_decoder_shape *shape,
                         const struct ulb_decoder_options *options, size_t sequence, struct decoded *out)
{
    struct ulb_decoder *decoder = open_decoder(bench, shape, options);
    uint32_t token = 5 + (uint32_t)sequence;
    begin(decoder, 40 + sequence);
    out->logits = calloc(STEPS * shape->vocab, sizeof *out->logits);
    for (size_t i = 0; i < STEPS; i++) {
        out->tokens[i] = token = ulb_decoder_forward(decoder, &token, 1, CONTEXT + i);
        memcpy(out->logits + i * shape->vocab, ulb_decoder_logits(decoder),
               shape->vocab * sizeof *out->logits);
    }
    ulb_decoder_close(decoder);
}

/* All sequences together, whose tokens and logits are to the last bit those that each has alone. */
static void expect_alone(struct bench *bench, const struct ulb_decoder_shape *shape,
                         const struct ulb_decoder_options *options, const struct decoded *alone,
                         const char *what)
{
    struct ulb_decoder_options together = *options;
    together.batch = together.sequences = SEQUENCES;
    struct ulb_decoder *decoder = open_decoder(bench, shape, &together);
    uint32_t tokens[SEQUENCES] = {5, 6, 7};
    begin(decoder, 40);
    for (size_t i = 0; i < STEPS; i++) {
        ulb_decoder_step(decoder, tokens, SEQUENCES, CONTEXT + i, tokens);
        for (size_t s = 0; s < SEQUENCES; s++) {
            if (tokens[s] != alone[s].tokens[i] ||
                memcmp(ulb_decoder_logits(decoder) + s * shape->vocab, alone[s].logits + i * shape->vocab,
                       shape->vocab * sizeof *alone->logits) != 0)
                fail_msg("%s: sequence %zu differs from itself alone at token %zu: %u, %u", what, s, i,
                         tokens[s], alone[s].tokens[i]);
        }
    }
    ulb_decoder_close(decoder);
}

static void decode_together(const struct ulb_decoder_shape *shape, const char *format, enum ulb_kv_type type)
{
    static const unsigned pus[3] = {0, 0, 0};
    static const double rates[3] = {5, 1, 2};
    struct decoded alone[SEQUENCES];
    struct ulb_decoder_options options = {.positions = CONTEXT + STEPS, .kv_type = type};
    struct bench bench;
    struct ulb_error err;
    open_bench(&bench, shape, format);
    for (size_t s = 0; s < SEQUENCES; s++)
        decode_alone(&bench, shape, &options, s, &alone[s]);
    assert_true(memcmp(alone[0].logits, alone[1].logits, shape->vocab * sizeof *alone->logits) != 0);
    expect_alone(&bench, shape, &options, alone, format);
    options.rates = rates;
    assert_int_equal(ulb_team_start(&options.team, pus, 3, &err), ULB_OK);
    for (int split = ULB_SPLIT_STATIC; split <= ULB_SPLIT_WEIGHTED; split++) {
        options.split = (enum ulb_split)split;
        expect_alone(&bench, shape, &options, alone, ulb_split_name(options.split));
    }
    ulb_team_stop(options.team);
    for (size_t s = 0; s < SEQUENCES; s++)
        free(alone[s].logits);
    close_bench(&bench);
}

/* Sequences decoded together give what each gives alone, for any threads and split; contexts of several
 * pieces, experts, windows. */
static void sequences_are_alone(void **state)
{
    (void)state;
    struct ulb_decoder_shape experts = llama, window = llama;
    experts.experts = 5;
    experts.active = 2;
    window.windowed = 1;
    window.window = ULB_KV_PIECE - 20;
    decode_together(&llama, "int8", ULB_KV_BF16);
    decode_together(&llama, "bf16", ULB_KV_Q8_0);
    decode_together(&experts, "int4", ULB_KV_BF16);
    decode_together(&window, "int2", ULB_KV_FP32);
}

/* A step takes the kernels of the first size that is not below its own, or the last. */
static void steps_have_kernels(void **state)
{
    (void)state;
    const struct ulb_step_kernels steps[] = {{.tokens = 4}, {.tokens = 16}};
    struct ulb_decoder_weights weights = {.steps = steps, .n_steps = 2};
    assert_null(ulb_step_kernels_of(&weights, 1));
    assert_ptr_equal(ulb_step_kernels_of(&weights, 2), &steps[0]);
    assert_ptr_equal(ulb_step_kernels_of(&weights, 4), &steps[0]);
    assert_ptr_equal(ulb_step_kernels_of(&weights, 5), &steps[1]);
    assert_ptr_equal(ulb_step_kernels_of(&weights, 17), &steps[1]);
    weights.n_steps = 0;
    assert_null(ulb_step_kernels_of(&weights, 5));
}

/* The parts of every thread add up to the same time. */
static void time_adds_up(void **state)
{
    (void)state;
    struct bench bench;
    open_bench(&bench, &llama, "int8");
    struct ulb_decoder *decoder = open_decoder(&bench, &llama, &(struct ulb_decoder_options){0});
    feed(decoder, TOKENS);
    double first = 0;
    for (size_t t = 0; t < ulb_team_size(session.machine.team); t++) {
        double sum = 0;
        for (size_t part = 0; part < ULB_DECODE_PARTS; part++) {
            assert_true(ulb_decoder_seconds(decoder, t)[part] >= 0);
            sum += ulb_decoder_seconds(decoder, t)[part];
        }
        first = t == 0 ? sum : first;
        assert_true(sum > 0 && fabs(sum - first) < 1e-9);
    }
    ulb_decoder_close(decoder);
    close_bench(&bench);
}

/* Of kernels as fast the same is chosen in whatever order and by whatever noise they come; one that is slower
 * than the tie is not. */
static void ties_go_by_order(void **state)
{
    (void)state;
    enum { RIVALS = 4 };
    struct ulb_kernel_choice rivals[RIVALS] = {0}, turned[RIVALS];
    for (size_t i = 0; i < RIVALS; i++) {
        rivals[i].kernel = ulb_kernels[i * (ulb_kernel_count - 1) / (RIVALS - 1)];
        rivals[i].ratio = 1 + 0.007 * (double)i;
    }
    const struct ulb_kernel *first = rivals[ulb_kernel_first(rivals, RIVALS, 0.03)].kernel;
    for (size_t by = 1; by < RIVALS; by++) {
        for (size_t i = 0; i < RIVALS; i++) {
            turned[i] = rivals[(i + by) % RIVALS];
            turned[i].ratio = 1 + 0.007 * (double)((3 * i + by) % RIVALS);
        }
        assert_ptr_equal(turned[ulb_kernel_first(turned, RIVALS, 0.03)].kernel, first);
    }
    for (size_t i = 0; i < RIVALS; i++)
        turned[i].ratio = turned[i].kernel == first ? 1.05 : 1;
    assert_ptr_not_equal(turned[ulb_kernel_first(turned, RIVALS, 0.03)].kernel, first);
    for (size_t i = 0; i < RIVALS; i++)
        turned[i].spread = 0.02;
    assert_ptr_equal(turned[ulb_kernel_first(turned, RIVALS, 0.03)].kernel, first);
}

/* Random ones of many magnitudes, half a step off the middle, or tiny. */
enum token { RANDOM, OFF_THE_MIDDLE, TINY, TOKEN_KINDS };

static void fill_token(enum token kind, float *x, size_t k)
{
    struct ulb_rng rng = {3};
    for (size_t i = 0; i < k; i++) {
        float value = i % 97 == 5 ? 0.0f : ldexpf(ulb_rng_float(&rng), (int)(i / 64));
        x[i] = kind == RANDOM ? value : kind == TINY ? ldexpf(value, -140) : i % 2 ? 126.5f : -127.5f;
    }
    if (kind == RANDOM)
        x[300] = -x[290]; /* equal magnitudes: the first decides */
}

/* All tables of vector operations convert activations to the same bits as the scalar code. */
static void activations_are_the_same(void **state)
{
    (void)state;
    enum { K = 777, COLUMNS = 1024, EACH = 2 };
    float x[K];
    ulb_isa_set isa = ulb_isa_detect();
    const ulb_isa_set sets[] = {0, isa & (ULB_ISA_AVX2 | ULB_ISA_FMA), isa};
    for (int turn = 0; turn < TOKEN_KINDS * ULB_ACTIVATIONS; turn++) {
        enum ulb_activation kind = (enum ulb_activation)(turn / TOKEN_KINDS);
        size_t bytes = ulb_activations_bytes(kind, EACH, COLUMNS);
        char *expected = aligned_alloc(64, bytes), *got = aligned_alloc(64, bytes);
        struct ulb_activations a;
        fill_token((enum token)(turn % TOKEN_KINDS), x, K);
        memset(expected, 0x55, bytes);
        ulb_activations_place(&a, kind, EACH, COLUMNS, expected);
        ulb_activations_set(&a, EACH - 1, x, K);
        for (size_t i = 0; i < 3; i++) {
            memset(got, 0x55, bytes);
            ulb_activations_place(&a, kind, EACH, COLUMNS, got);
            ulb_vector_ops(sets[i])->set_activations(&a, EACH - 1, x, K);
            if (memcmp(got, expected, bytes) != 0)
                fail_msg("%s by %s, token %d", ulb_activation_name(kind), ulb_vector_ops(sets[i])->isa,
                         turn % TOKEN_KINDS);
        }
        free(expected);
        free(got);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forms_agree),         cmocka_unit_test(formats_agree),
        cmocka_unit_test(cache_types_agree),   cmocka_unit_test(windows_hide),
        cmocka_unit_test(differences_show),    cmocka_unit_test(circumstances_do_not_matter),
        cmocka_unit_test(sequences_are_alone), cmocka_unit_test(steps_have_kernels),
        cmocka_unit_test(pieces_add_up),       cmocka_unit_test(time_adds_up),
        cmocka_unit_test(ties_go_by_order),    cmocka_unit_test(activations_are_the_same),
    };
    return cmocka_run_group_tests(tests, open_session, close_session);
}
