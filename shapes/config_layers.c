/* Layers of a config.json that are not attention and network alike: which kinds there are, and the matrices
 * of those with a recurrent state, of short convolutions and of Gemma 3n. */
#include "shapes/config_reader.h"
#include "shapes/load.h"
#include "shapes/shapes.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* --- mixers: what stands in the place of attention, or beside it --- */

/* Sizes that a mixer's matrices are made of. */
enum size { HIDDEN, INNER, STATE, GROUPED_STATE, HEADS, RANK, KEY, VALUE, VALUE_HEADS, SIZES };

/* A side of a matrix: the sum of so many times each size. */
struct side {
    unsigned char times[SIZES];
};

/* clang-format off */
#define SIDE(...) {{__VA_ARGS__}}
static const struct mixer {
    const char *word; /* in "layer_types" */
    struct {
        const char *layer;
        struct side m, k;
    } matrices[5];
    struct side filter; /* rows of the depthwise filter, which is no GEMV */
    struct side table;  /* rows of a table of STATE columns, which is none either */
} mixers[] = {
    [ULB_MIXER_NONE] = {"", {{0}}, {{0}}, {{0}}},
    [ULB_MIXER_MAMBA] = {"mamba",
        {{"ssm.in", SIDE([INNER] = 2), SIDE([HIDDEN] = 1)},
         {"ssm.x", SIDE([RANK] = 1, [STATE] = 2), SIDE([INNER] = 1)},
         {"ssm.dt", SIDE([INNER] = 1), SIDE([RANK] = 1)},
         {"ssm.out", SIDE([HIDDEN] = 1), SIDE([INNER] = 1)}},
        SIDE([INNER] = 1), SIDE([INNER] = 1)},
    [ULB_MIXER_MAMBA2] = {"mamba",
        {{"ssm.in", SIDE([INNER] = 2, [GROUPED_STATE] = 2, [HEADS] = 1), SIDE([HIDDEN] = 1)},
         {"ssm.out", SIDE([HIDDEN] = 1), SIDE([INNER] = 1)}},
        SIDE([INNER] = 1, [GROUPED_STATE] = 2), {{0}}},
    [ULB_MIXER_DELTA_NET] = {"linear_attention",
        {{"delta.qkvz", SIDE([KEY] = 2, [VALUE] = 2), SIDE([HIDDEN] = 1)},
         {"delta.ba", SIDE([VALUE_HEADS] = 2), SIDE([HIDDEN] = 1)},
         {"delta.out", SIDE([HIDDEN] = 1), SIDE([VALUE] = 1)}},
        SIDE([KEY] = 2, [VALUE] = 1), {{0}}},
    [ULB_MIXER_DELTA_NET_SPLIT] = {"linear_attention",
        {{"delta.qkv", SIDE([KEY] = 2, [VALUE] = 1), SIDE([HIDDEN] = 1)},
         {"delta.z", SIDE([VALUE] = 1), SIDE([HIDDEN] = 1)},
         {"delta.b", SIDE([VALUE_HEADS] = 1), SIDE([HIDDEN] = 1)},
         {"delta.a", SIDE([VALUE_HEADS] = 1), SIDE([HIDDEN] = 1)},
         {"delta.out", SIDE([HIDDEN] = 1), SIDE([VALUE] = 1)}},
        SIDE([KEY] = 2, [VALUE] = 1), {{0}}},
    [ULB_MIXER_CONV] = {"conv",
        {{"conv.in", SIDE([HIDDEN] = 3), SIDE([HIDDEN] = 1)},
         {"conv.out", SIDE([HIDDEN] = 1), SIDE([HIDDEN] = 1)}},
        SIDE([HIDDEN] = 1), {{0}}},
};
/* clang-format on */

static double side_of(const struct side *side, const double sizes[SIZES])
{
    double sum = 0;
    for (int i = 0; i < SIZES; i++)
        sum += side->times[i] * sizes[i];
    return sum;
}

enum ulb_status ulb_config_add_extra(struct ulb_model *model, const char *layer, double m, double k,
                                     unsigned count, struct ulb_error *err)
{
    if (model->n_extra == ULB_EXTRAS || !(m >= 1 && m <= ULB_SIZE_MAX && k >= 1 && k <= ULB_SIZE_MAX))
        return ulb_fail(err, ULB_BAD_INPUT, "matrices %s of %.0fx%.0f cannot be", layer, m, k);
    struct ulb_extra *extra = &model->extra[model->n_extra++];
    *extra = (struct ulb_extra){.m = (unsigned)m, .k = (unsigned)k, .count = count};
    snprintf(extra->layer, sizeof extra->layer, "%s", layer);
    return ULB_OK;
}

/* A size of the mixer; 0 where it is left out. */
static enum ulb_status size_of(struct ulb_config_reader *r, enum ulb_config_key key, double *out,
                               struct ulb_error *err)
{
    unsigned value = 0;
    bool found;
    enum ulb_status status = ulb_config_count(&r->config, key, &value, &found, err);
    *out = value;
    return status;
}

static enum ulb_status read_delta_sizes(struct ulb_config_reader *r, double sizes[SIZES],
                                        struct ulb_error *err)
{
    double k_heads, v_heads, k_dim, v_dim;
    enum ulb_status status = size_of(r, ULB_KEY_DELTA_K_HEADS, &k_heads, err);
    if (status == ULB_OK)
        status = size_of(r, ULB_KEY_DELTA_V_HEADS, &v_heads, err);
    if (status == ULB_OK)
        status = size_of(r, ULB_KEY_DELTA_K_DIM, &k_dim, err);
    if (status == ULB_OK)
        status = size_of(r, ULB_KEY_DELTA_V_DIM, &v_dim, err);
    if (status != ULB_OK)
        return status;
    sizes[KEY] = k_heads * k_dim;
    sizes[VALUE] = v_heads * v_dim;
    sizes[VALUE_HEADS] = v_heads;
    return ULB_OK;
}

/* The inner size of a Mamba layer: by itself, by its heads, or (Mamba 1) by the intermediate size. */
static enum ulb_status read_mamba_sizes(struct ulb_config_reader *r, double sizes[SIZES],
                                        struct ulb_error *err)
{
    double groups, dim, expand;
    bool alone = r->family->attentionless;
    enum ulb_status status = size_of(r, ULB_KEY_SSM_INNER, &sizes[INNER], err);
    if (status == ULB_OK)
        status = size_of(r, alone ? ULB_KEY_HEADS : ULB_KEY_SSM_HEADS, &sizes[HEADS], err);
    if (status == ULB_OK)
        status = size_of(r, alone ? ULB_KEY_HEAD_DIM : ULB_KEY_SSM_HEAD_DIM, &dim, err);
    if (status == ULB_OK)
        status = size_of(r, ULB_KEY_SSM_STATE, &sizes[STATE], err);
    if (status == ULB_OK)
        status = size_of(r, ULB_KEY_SSM_GROUPS, &groups, err);
    if (status == ULB_OK)
        status = size_of(r, ULB_KEY_SSM_EXPAND, &expand, err);
    r->config.read[ULB_KEY_SSM_RANK] = true; /* of Mamba 1 alone; others write "auto" */
    if (status == ULB_OK && r->family->mixer == ULB_MIXER_MAMBA)
        status = size_of(r, ULB_KEY_SSM_RANK, &sizes[RANK], err);
    if (status != ULB_OK)
        return status;
    if (sizes[INNER] == 0 && dim > 0)
        sizes[INNER] = sizes[HEADS] * dim;
    if (sizes[INNER] == 0)
        sizes[INNER] =
            alone && r->model->intermediate > 0 ? r->model->intermediate : expand * r->model->hidden;
    sizes[GROUPED_STATE] = fmax(groups, 1) * sizes[STATE];
    return ULB_OK;
}

/* LFM2 writes the hidden size under three more names. */
static enum ulb_status check_conv(struct ulb_config_reader *r, struct ulb_error *err)
{
    double size;
    enum ulb_status status = size_of(r, ULB_KEY_CONV_DIM, &size, err);
    if (status == ULB_OK && size > 0 && size != r->model->hidden)
        return ulb_fail(err, ULB_BAD_INPUT,
                        "conv_dim is %.0f and hidden_size %u: what lies between is not known", size,
                        r->model->hidden);
    return status;
}

static enum ulb_status add_mixer(struct ulb_config_reader *r, unsigned layers, struct ulb_error *err)
{
    struct ulb_model *model = r->model;
    const struct mixer *mixer = &mixers[r->family->mixer];
    bool delta = r->family->mixer == ULB_MIXER_DELTA_NET || r->family->mixer == ULB_MIXER_DELTA_NET_SPLIT;
    double sizes[SIZES] = {[HIDDEN] = model->hidden}, taps = 0;
    enum ulb_status status = size_of(r, ULB_KEY_CONV, &taps, err);
    if (status == ULB_OK && delta)
        status = read_delta_sizes(r, sizes, err);
    else if (status == ULB_OK && r->family->mixer != ULB_MIXER_CONV)
        status = read_mamba_sizes(r, sizes, err);
    if (status == ULB_OK && r->family->mixer == ULB_MIXER_CONV)
        status = check_conv(r, err);
    for (size_t i = 0; i < 5 && mixer->matrices[i].layer && status == ULB_OK && layers > 0; i++)
        status = ulb_config_add_extra(model, mixer->matrices[i].layer, side_of(&mixer->matrices[i].m, sizes),
                                      side_of(&mixer->matrices[i].k, sizes), layers, err);
    model->other_parameters +=
        layers * (side_of(&mixer->filter, sizes) * taps + side_of(&mixer->table, sizes) * sizes[STATE]);
    return status;
}

/* --- which layers are what --- */

struct kinds {
    unsigned attention, windowed, mixer, network, experts;
    bool said; /* the file says it */
};

static enum ulb_status count_types(struct ulb_config_reader *r, const json_t *list, struct kinds *kinds,
                                   struct ulb_error *err)
{
    static const char *const whole[] = {"full_attention", "attention"}, *const windowed[] = {
                                                                            "sliding_attention",
                                                                            "chunked_attention"};
    size_t i;
    const json_t *item;
    const char *word = mixers[r->family->mixer].word;
    if (json_array_size(list) != r->model->layers)
        return ulb_fail(err, ULB_BAD_INPUT, "layer_types names %zu layers, num_hidden_layers is %u",
                        json_array_size(list), r->model->layers);
    json_array_foreach((json_t *)list, i, item)
    {
        const char *type = json_string_value(item);
        bool full = type && (strcmp(type, whole[0]) == 0 || strcmp(type, whole[1]) == 0);
        bool window = type && (strcmp(type, windowed[0]) == 0 || strcmp(type, windowed[1]) == 0);
        if (!full && !window && (!type || !word[0] || strcmp(type, word) != 0))
            return ulb_fail(
                err, ULB_BAD_INPUT,
                "layer_types: layers \"%.40s\" are not known in this model_type; give the model's GGUF "
                "or safetensors file",
                type ? type : "?");
        kinds->attention += full || window;
        kinds->windowed += window;
        kinds->mixer += !full && !window;
    }
    kinds->said = true;
    return ULB_OK;
}

/* Nemotron-H: a letter or a word for each layer, which is one thing. */
static char letter_of(const json_t *value, size_t layer)
{
    static const struct {
        const char *word;
        char letter;
    } words[] = {{"mamba", 'M'}, {"attention", '*'}, {"mlp", '-'}, {"moe", 'E'}};
    if (json_is_string(value))
        return json_string_value(value)[layer];
    const char *word = json_string_value(json_array_get(value, layer));
    for (size_t i = 0; word && i < sizeof words / sizeof *words; i++) {
        if (strcmp(words[i].word, word) == 0)
            return words[i].letter;
    }
    return '?';
}

static enum ulb_status count_letters(struct ulb_config_reader *r, const json_t *value, struct kinds *kinds,
                                     struct ulb_error *err)
{
    size_t n = json_is_string(value) ? json_string_length(value) : json_array_size(value);
    *kinds = (struct kinds){.said = true};
    if (n != r->model->layers)
        return ulb_fail(err, ULB_BAD_INPUT, "hybrid_override_pattern has %zu layers, num_hidden_layers is %u",
                        n, r->model->layers);
    for (size_t i = 0; i < n; i++) {
        char letter = letter_of(value, i);
        if (!letter || !strchr("M*-E", letter))
            return ulb_fail(err, ULB_BAD_INPUT, "hybrid_override_pattern: layer %zu is none of M, *, - and E",
                            i);
        kinds->mixer += letter == 'M';
        kinds->attention += letter == '*';
        kinds->network += letter == '-' || letter == 'E';
        kinds->experts += letter == 'E';
    }
    r->model->dense_layers = kinds->network - kinds->experts;
    return ULB_OK;
}

/* Every so-manieth layer has attention (Qwen3-Next), or those of a list (LFM2). */
static enum ulb_status count_by_rule(struct ulb_config_reader *r, struct kinds *kinds, struct ulb_error *err)
{
    unsigned interval = 0;
    bool every, listed;
    const json_t *list;
    enum ulb_status status = ulb_config_count(&r->config, ULB_KEY_FULL_INTERVAL, &interval, &every, err);
    if (status == ULB_OK)
        status = ulb_config_list(&r->config, ULB_KEY_FULL_LAYERS, &list, &listed, err);
    if (status != ULB_OK || kinds->said || (!every && !listed))
        return status;
    size_t attention = listed ? json_array_size(list) : r->model->layers / (interval > 0 ? interval : 1);
    if (attention > r->model->layers || (every && interval == 0))
        return ulb_fail(err, ULB_BAD_INPUT, "%zu of %u layers with attention cannot be", attention,
                        r->model->layers);
    kinds->attention = (unsigned)attention;
    kinds->mixer = r->model->layers - kinds->attention;
    kinds->said = true;
    return ULB_OK;
}

static enum ulb_status count_kinds(struct ulb_config_reader *r, struct kinds *kinds, struct ulb_error *err)
{
    const struct ulb_family *family = r->family;
    unsigned layers = r->model->layers;
    const json_t *types, *letters = NULL;
    bool found;
    *kinds = (struct kinds){.network = family->one_part_a_layer ? 0 : layers};
    enum ulb_status status = ulb_config_list(&r->config, ULB_KEY_LAYER_TYPES, &types, &found, err);
    if (status == ULB_OK && found)
        status = count_types(r, types, kinds, err);
    if (status == ULB_OK && family->mixer != ULB_MIXER_NONE)
        status = count_by_rule(r, kinds, err);
    if (status == ULB_OK && family->one_part_a_layer)
        status = ulb_config_value(&r->config, ULB_KEY_HYBRID_PATTERN, &letters, NULL, err);
    if (status == ULB_OK && letters)
        status = count_letters(r, letters, kinds, err);
    if (status != ULB_OK || kinds->said)
        return status;
    if (family->one_part_a_layer && !family->attentionless)
        return ulb_config_missing(ULB_KEY_HYBRID_PATTERN, err);
    kinds->attention = family->attentionless ? 0 : layers;
    kinds->mixer = family->mixer_everywhere ? layers : 0;
    if (family->mixer != ULB_MIXER_NONE && !family->mixer_everywhere)
        return ulb_config_missing(ULB_KEY_LAYER_TYPES, err);
    return ULB_OK;
}

/* --- Gemma 3n --- */

/* Four streams of the hidden state, a low-rank path beside each layer, and an embedding for each layer. */
static enum ulb_status read_gemma3n(struct ulb_config_reader *r, struct ulb_error *err)
{
    struct ulb_model *model = r->model;
    unsigned streams = 0, laurel = 0, side = 0, vocab = model->vocab, shared = 0, layers = model->layers;
    bool found;
    enum ulb_status status = ulb_config_take(r, ULB_KEY_ALTUP, 0, &streams, err);
    if (status == ULB_OK)
        status = ulb_config_take(r, ULB_KEY_LAUREL, 0, &laurel, err);
    if (status == ULB_OK)
        status = ulb_config_take(r, ULB_KEY_PER_LAYER_DIM, 0, &side, err);
    if (status == ULB_OK)
        status = ulb_config_count(&r->config, ULB_KEY_PER_LAYER_VOCAB, &vocab, &found, err);
    if (status == ULB_OK)
        status = ulb_config_count(&r->config, ULB_KEY_SHARED_CACHE, &shared, &found, err);
    if (status != ULB_OK)
        return status;
    double hidden = model->hidden, all = (double)layers * side, s = streams;
    if (streams < 2 || streams > 16 || shared > layers)
        return ulb_fail(err, ULB_BAD_INPUT, "%u streams, %u of %u layers without a cache cannot be", streams,
                        shared, layers);
    const struct {
        const char *layer;
        double m, k;
        unsigned count;
    } matrices[] = {
        {"altup.proj", hidden, hidden, 2 * (streams - 1)},
        {"altup.router", s, hidden, layers},
        {"altup.correct", s, s, layers},
        {"altup.predict", s * s, s, layers},
        {"laurel.left", laurel, hidden, layers},
        {"laurel.right", hidden, laurel, layers},
        {"per_layer.model", all, hidden, 1},
        {"per_layer.gate", side, hidden, layers},
        {"per_layer.proj", hidden, side, layers},
    };
    for (size_t i = 0; i < sizeof matrices / sizeof *matrices && status == ULB_OK; i++)
        status = ulb_config_add_extra(model, matrices[i].layer, matrices[i].m, matrices[i].k,
                                      matrices[i].count, err);
    model->other_parameters += (double)vocab * all; /* the embedding for each layer */
    model->without_cache = shared;
    return status;
}

/* --- all together --- */

enum ulb_status ulb_config_read_layers(struct ulb_config_reader *r, struct ulb_error *err)
{
    struct ulb_model *model = r->model;
    const struct ulb_family *family = r->family;
    struct kinds kinds;
    bool found;
    enum ulb_status status = count_kinds(r, &kinds, err);
    if (status != ULB_OK)
        return status;
    model->without_attention = model->layers - kinds.attention;
    model->without_network = model->layers - kinds.network;
    model->windowed = kinds.windowed;
    if (family->mixer != ULB_MIXER_NONE)
        status = add_mixer(r, kinds.mixer, err);
    if (status == ULB_OK && family->gated_query)
        status = ulb_config_bool(&r->config, ULB_KEY_QUERY_GATE, &model->gated_query, &found, err);
    if (status == ULB_OK && family->per_layer_inputs)
        status = read_gemma3n(r, err);
    return status;
}

/* --- windows --- */

/* How many layers with a cache have a window of that size. */
static unsigned count_windowed(const struct ulb_config_reader *r, unsigned cached, unsigned every)
{
    const struct ulb_model *model = r->model;
    unsigned attention = model->layers - model->without_attention;
    if (model->windowed > 0) /* by layer_types; layers without a cache of their own are of either kind */
        return (unsigned)((double)model->windowed * cached / attention);
    return every == 0 ? cached : cached - cached / every;
}

enum ulb_status ulb_config_read_windows(struct ulb_config_reader *r, struct ulb_error *err)
{
    struct ulb_model *model = r->model;
    unsigned window = 0, every = r->family->full_every, whole = 0;
    unsigned cached = model->layers - model->without_attention - model->without_cache;
    const json_t *pattern;
    bool found, on = false, said;
    enum ulb_status status = ulb_config_count(&r->config, ULB_KEY_CHUNK, &window, &found, err);
    if (status == ULB_OK)
        status = ulb_config_count(&r->config, ULB_KEY_WINDOW, &window, &found, err);
    if (status == ULB_OK)
        status = ulb_config_value(&r->config, ULB_KEY_WINDOW_PATTERN, &pattern, NULL, err);
    if (status == ULB_OK && json_is_string(pattern)) /* "LLLG" */
        every = (unsigned)json_string_length(pattern);
    else if (status == ULB_OK)
        status = ulb_config_count(&r->config, ULB_KEY_WINDOW_PATTERN, &every, &found, err);
    if (status == ULB_OK)
        status = ulb_config_bool(&r->config, ULB_KEY_USE_WINDOW, &on, &said, err);
    if (status == ULB_OK)
        status = ulb_config_count(&r->config, ULB_KEY_WINDOW_LAYERS, &whole, &found, err);
    if (status != ULB_OK)
        return status;
    if (window == 0 || (said && !on))
        model->windowed = 0;
    else if (said && model->windowed == 0) /* Qwen: the first layers have none */
        model->windowed = cached - (whole < cached ? whole : cached);
    else
        model->windowed = count_windowed(r, cached, every);
    model->window = model->windowed > 0 ? window : 0;
    return ULB_OK;
}
