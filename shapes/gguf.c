/* A GGUF header: from its metadata and tensors to a model's numbers. The tensors have the last word. */
#include "shapes/family.h"
#include "shapes/gguf_tensors.h"
#include "shapes/load.h"
#include "shapes/shapes.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PARTS_MAX = 1000, BLOCKS_MAX = 1 << 16 };

/* Keys "ARCHITECTURE.…" that hold a number, then those without the architecture in front. */
enum field {
    HIDDEN,
    INTERMEDIATE,
    BLOCKS,
    HEADS,
    KV_HEADS,
    KEY_LENGTH,
    VALUE_LENGTH,
    KEY_LENGTH_LATENT,
    VALUE_LENGTH_LATENT,
    Q_RANK,
    KV_RANK,
    ROPE_DIMS,
    ROPE_BASE,
    RMS_EPSILON,
    NORM_EPSILON,
    EXPERTS,
    EXPERTS_USED,
    EXPERTS_SHARED,
    EXPERT_INTERMEDIATE,
    SHARED_INTERMEDIATE,
    DENSE_BLOCKS,
    NEXTN,
    WINDOW,
    WINDOW_PATTERN,
    SHARED_CACHE,
    VOCAB,
    PARALLEL,
    OF_ARCHITECTURE,
    TOKENS = OF_ARCHITECTURE,
    PART,
    PARTS,
    PARTS_TENSORS,
    DATA_ALIGNMENT,
    FIELDS
};

static const char *const names[FIELDS] = {
    [HIDDEN] = "embedding_length",
    [INTERMEDIATE] = "feed_forward_length",
    [BLOCKS] = "block_count",
    [HEADS] = "attention.head_count",
    [KV_HEADS] = "attention.head_count_kv",
    [KEY_LENGTH] = "attention.key_length",
    [VALUE_LENGTH] = "attention.value_length",
    [KEY_LENGTH_LATENT] = "attention.key_length_mla",
    [VALUE_LENGTH_LATENT] = "attention.value_length_mla",
    [Q_RANK] = "attention.q_lora_rank",
    [KV_RANK] = "attention.kv_lora_rank",
    [ROPE_DIMS] = "rope.dimension_count",
    [ROPE_BASE] = "rope.freq_base",
    [RMS_EPSILON] = "attention.layer_norm_rms_epsilon",
    [NORM_EPSILON] = "attention.layer_norm_epsilon",
    [EXPERTS] = "expert_count",
    [EXPERTS_USED] = "expert_used_count",
    [EXPERTS_SHARED] = "expert_shared_count",
    [EXPERT_INTERMEDIATE] = "expert_feed_forward_length",
    [SHARED_INTERMEDIATE] = "expert_shared_feed_forward_length",
    [DENSE_BLOCKS] = "leading_dense_block_count",
    [NEXTN] = "nextn_predict_layers",
    [WINDOW] = "attention.sliding_window",
    [WINDOW_PATTERN] = "attention.sliding_window_pattern",
    [SHARED_CACHE] = "attention.shared_kv_layers",
    [VOCAB] = "vocab_size",
    [PARALLEL] = "use_parallel_residual",
    [TOKENS] = "tokenizer.ggml.tokens",
    [PART] = "split.no",
    [PARTS] = "split.count",
    [PARTS_TENSORS] = "split.tensors.count",
    [DATA_ALIGNMENT] = "general.alignment",
};

struct reader {
    struct ulb_gguf_stream *stream;
    char architecture[ULB_GGUF_STRING_MAX], type[ULB_GGUF_STRING_MAX];
    double values[FIELDS]; /* NAN: not there; of a list the largest */
    bool varies;           /* one of them differs between blocks */
    bool windows_listed;   /* the pattern is a list: its value is how many layers have a window */
    struct ulb_gguf_tensors tensors;
    struct ulb_model *model;
};

/* --- metadata --- */

static enum field field_of(const struct reader *r, const char *key)
{
    size_t length = strlen(r->architecture);
    bool own = length > 0 && strncmp(key, r->architecture, length) == 0 && key[length] == '.';
    const char *name = own ? key + length + 1 : key;
    for (int f = own ? 0 : OF_ARCHITECTURE; f < (own ? OF_ARCHITECTURE : FIELDS); f++) {
        if (strcmp(names[f], name) == 0)
            return (enum field)f;
    }
    return FIELDS;
}

static void read_field(struct reader *r, enum field field, uint32_t type)
{
    struct ulb_gguf_stream *s = r->stream;
    double value;
    if (!isnan(r->values[field]))
        ulb_gguf_fail(s, "the key %s stands there twice; the file is damaged", names[field]);
    if (type == ULB_GGUF_ARRAY) {
        struct ulb_gguf_list list = ulb_gguf_list(s);
        if (field != TOKENS && (!list.numbers || list.n == 0))
            ulb_gguf_fail(s, "%s is no number", names[field]);
        value = field == TOKENS ? (double)list.n : (field == WINDOW_PATTERN ? list.sum : list.largest);
        r->varies |= field != TOKENS && field != WINDOW_PATTERN && !list.same;
        r->windows_listed |= field == WINDOW_PATTERN;
    } else {
        value = ulb_gguf_number(s, type);
    }
    bool real = field == ROPE_BASE || field == RMS_EPSILON || field == NORM_EPSILON;
    if (!(value >= 0 && value <= (real ? 1e12 : INT32_MAX)) || (!real && value != floor(value)))
        ulb_gguf_fail(s, "%s is %g; it must be a %s from 0 on", names[field], value,
                      real ? "number" : "whole number");
    r->values[field] = value;
}

/* Passes over all metadata; keeps the architecture and the fields that are known without it, or, in a second
 * pass, all of them. */
static void read_pairs(struct reader *r)
{
    struct ulb_gguf_stream *s = r->stream;
    for (uint64_t i = 0; i < s->pairs && s->status == ULB_OK; i++) {
        char key[ULB_GGUF_STRING_MAX];
        ulb_gguf_string(s, key);
        uint32_t type = ulb_gguf_u32(s);
        bool architecture = strcmp(key, "general.architecture") == 0 && type == ULB_GGUF_STRING;
        bool kind = strcmp(key, "general.type") == 0 && type == ULB_GGUF_STRING;
        enum field field = field_of(r, key);
        if (s->status != ULB_OK)
            return;
        if (architecture && !r->architecture[0])
            ulb_gguf_string(s, r->architecture);
        else if (kind)
            ulb_gguf_string(s, r->type);
        else if (field < FIELDS)
            read_field(r, field, type);
        else
            ulb_gguf_skip(s, type);
    }
}

static void forget(struct reader *r)
{
    for (int f = 0; f < FIELDS; f++)
        r->values[f] = NAN;
    r->varies = r->windows_listed = false;
}

static void read_metadata(struct reader *r)
{
    uint64_t begin = r->stream->at;
    r->architecture[0] = r->type[0] = '\0';
    forget(r);
    read_pairs(r);
    forget(r);
    r->stream->at = begin;
    read_pairs(r);
}

static unsigned count(const struct reader *r, enum field field, unsigned by_default)
{
    return isnan(r->values[field]) ? by_default : (unsigned)r->values[field];
}

/* Files that hold no language model, by general.type and by general.architecture. */
static enum ulb_status refuse_others(const struct reader *r, struct ulb_error *err)
{
    static const struct {
        const char *words, *what;
    } types[] = {{" adapter ", "a LoRA adapter; give its base model"},
                 {" mmproj ", "a vision or audio projector (mmproj); give the language model beside it"},
                 {" imatrix ", "an importance matrix; give the model"}},
      architectures[] = {
          {" clip ", "a vision or audio projector (mmproj); give the language model beside it"},
          {" t5 t5encoder ", "an encoder-decoder model, whose layers are not known here"},
          {" wan flux sd1 sd3 sdxl aura hidream cosmos ltxv hyvid lumina2 qwen_image pig ",
           "a diffusion model, no language model"},
          {" wavtokenizer-dec ", "an audio decoder, no language model"},
      };
    char word[ULB_GGUF_STRING_MAX + 2];
    const char *what = NULL;
    snprintf(word, sizeof word, " %s ", r->architecture);
    for (size_t i = 0; i < sizeof architectures / sizeof *architectures && r->architecture[0]; i++)
        what = strstr(architectures[i].words, word) ? architectures[i].what : what;
    snprintf(word, sizeof word, " %s ", r->type);
    for (size_t i = 0; i < sizeof types / sizeof *types && r->type[0]; i++)
        what = strstr(types[i].words, word) ? types[i].what : what;
    return what ? ulb_fail(err, ULB_BAD_INPUT, "is %s", what) : ULB_OK;
}

static bool is_encoder(const struct reader *r)
{
    static const char words[] =
        " bert nomic-bert nomic-bert-moe jina-bert-v2 jina-bert-v3 modern-bert neo-bert eurobert "
        "gemma-embedding ";
    char word[ULB_GGUF_STRING_MAX + 2];
    snprintf(word, sizeof word, " %s ", r->architecture);
    return r->architecture[0] && strstr(words, word);
}

/* The numbers that the tensors are sorted by. */
static enum ulb_status open_tensors(struct reader *r, struct ulb_error *err)
{
    unsigned blocks = count(r, BLOCKS, 0), nextn = count(r, NEXTN, 0), hidden = count(r, HIDDEN, 0);
    if (refuse_others(r, err) != ULB_OK)
        return ULB_BAD_INPUT;
    if (!r->architecture[0])
        return ulb_fail(err, ULB_BAD_INPUT, "general.architecture is missing; is it a language model?");
    if (blocks == 0 || blocks > BLOCKS_MAX || nextn >= blocks)
        return ulb_fail(err, ULB_BAD_INPUT,
                        "%.40s.block_count is %u, of which %u predict further tokens; "
                        "is it a language model?",
                        r->architecture, blocks, nextn);
    if (hidden == 0 || hidden > ULB_SIZE_MAX)
        return ulb_fail(err, ULB_BAD_INPUT, "%.40s.embedding_length is %u; is it a language model?",
                        r->architecture, hidden);
    enum ulb_status status = ulb_gguf_tensors_open(&r->tensors, blocks, nextn, hidden, err);
    r->tensors.alignment = count(r, DATA_ALIGNMENT, 0);
    r->tensors.headless = is_encoder(r);
    return status;
}

/* --- a model in several files --- */

/* PATH-00001-of-00003.gguf: the path of another part; false for another name. */
static bool part_path(const char *path, unsigned part, unsigned parts, char *out, size_t bytes)
{
    static const char pattern[] = "-00000-of-00000.gguf";
    size_t length = strlen(path), tail = sizeof pattern - 1;
    if (length < tail || length - tail > INT32_MAX)
        return false;
    for (size_t i = 0; i < tail; i++) {
        char c = path[length - tail + i];
        if (pattern[i] == '0' ? c < '0' || c > '9' : c != pattern[i])
            return false;
    }
    int used = snprintf(out, bytes, "%.*s-%05u-of-%05u.gguf", (int)(length - tail), path, part, parts);
    return used > 0 && (size_t)used < bytes;
}

/* Opens a part and reads its header's fixed part. */
static enum ulb_status open_part(struct reader *r, const char *path, unsigned part, unsigned parts, int *fd,
                                 struct ulb_error *err)
{
    char name[4096];
    struct stat info;
    if (!part_path(path, part, parts, name, sizeof name))
        return ulb_fail(
            err, ULB_BAD_INPUT,
            "is one of %u files of a model; it must keep its name (MODEL-00001-of-%05u.gguf), by which "
            "the others are found",
            parts, parts);
    *fd = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (*fd < 0 || fstat(*fd, &info) != 0 || !S_ISREG(info.st_mode))
        return ulb_fail(err, ULB_BAD_INPUT,
                        "part %u of %u, %.200s, cannot be read (%s); put all parts into one folder", part,
                        parts, name, *fd < 0 ? strerror(errno) : "no regular file");
    return ulb_gguf_open(r->stream, *fd, err);
}

/* The tensors of one part behind its metadata. The first part's metadata is the model's. */
static enum ulb_status read_part(struct reader *r, const char *path, unsigned part, unsigned parts,
                                 struct ulb_error *err)
{
    int fd = -1;
    struct reader other = {.stream = r->stream};
    enum ulb_status status = open_part(r, path, part, parts, &fd, err);
    if (status == ULB_OK) {
        read_metadata(part == 1 ? r : &other);
        const struct reader *of = part == 1 ? r : &other;
        if (count(of, PARTS, 0) != parts || count(of, PART, parts) != part - 1)
            ulb_gguf_fail(r->stream, "part %u of %u says that it is part %u of %u", part, parts,
                          count(of, PART, 0) + 1, count(of, PARTS, 0));
        status = r->stream->status;
    }
    if (status == ULB_OK && part == 1)
        status = open_tensors(r, err);
    if (status == ULB_OK) {
        ulb_gguf_tensors_read(&r->tensors, r->stream);
        status = r->stream->status;
    }
    if (fd >= 0)
        close(fd);
    return status;
}

static enum ulb_status read_parts(struct reader *r, const char *path, struct ulb_error *err)
{
    unsigned parts = count(r, PARTS, 1);
    enum ulb_status status = ULB_OK;
    if (parts > PARTS_MAX)
        return ulb_fail(err, ULB_BAD_INPUT, "split.count is %u; the file is damaged", parts);
    for (unsigned part = 1; part <= parts && status == ULB_OK; part++)
        status = read_part(r, path, part, parts, err);
    double tensors = r->values[PARTS_TENSORS];
    if (status == ULB_OK && !isnan(tensors) && tensors != (double)r->tensors.n_tensors)
        return ulb_fail(err, ULB_BAD_INPUT,
                        "its %u parts hold %" PRIu64 " tensors, split.tensors.count is %.0f", parts,
                        r->tensors.n_tensors, tensors);
    return status;
}

/* --- the model --- */

static size_t rows_of(const struct reader *r, const char *layer)
{
    const struct ulb_matrix_row *row = ulb_matrix_rows_find(&r->tensors.rows, layer);
    return row ? row->shape.m : 0;
}

static size_t columns_of(const struct reader *r, const char *layer)
{
    const struct ulb_matrix_row *row = ulb_matrix_rows_find(&r->tensors.rows, layer);
    return row ? row->shape.k : 0;
}

/* Elements of a head: by the key, by the rows of q or of qkv, by the hidden size. */
static unsigned head_dim(struct reader *r)
{
    struct ulb_model *model = r->model;
    size_t q = rows_of(r, "q"), all = rows_of(r, "qkv");
    if (!isnan(r->values[KEY_LENGTH]))
        return count(r, KEY_LENGTH, 0);
    if (model->heads == 0)
        return 0;
    if (q > 0) {
        ulb_model_note(model, "size of a head by attn_q");
        return (unsigned)(q / model->heads);
    }
    if (all > 0 && model->kv_heads <= ULB_SIZE_MAX && model->heads <= ULB_SIZE_MAX) {
        ulb_model_note(model, "size of a head by attn_qkv");
        return (unsigned)(all / (model->heads + 2 * model->kv_heads));
    }
    ulb_model_note(model, "size of a head = embedding_length / head_count");
    return model->hidden / model->heads;
}

static void fill_attention(struct reader *r, const struct ulb_family *family)
{
    struct ulb_model *model = r->model;
    model->heads = count(r, HEADS, 0);
    model->kv_heads = count(r, KV_HEADS, model->heads);
    if (isnan(r->values[KV_HEADS]) && model->heads > 0)
        ulb_model_note(model, "head_count_kv = head_count");
    model->mla_kv_rank = count(r, KV_RANK, 0);
    if (model->mla_kv_rank > 0) {
        model->mla_q_rank = count(r, Q_RANK, 0);
        model->mla_rope = count(r, ROPE_DIMS, 0);
        model->kv_heads = model->heads;
        model->head_dim = count(r, KEY_LENGTH_LATENT, count(r, KEY_LENGTH, 0));
        model->v_head_dim = count(r, VALUE_LENGTH_LATENT, count(r, VALUE_LENGTH, 0));
    } else {
        model->head_dim = head_dim(r);
        model->v_head_dim = count(r, VALUE_LENGTH, model->head_dim);
    }
    if (family && family->unrotated)
        return;
    model->rope_base = isnan(r->values[ROPE_BASE]) ? 10000 : r->values[ROPE_BASE];
    model->rope_dims = count(r, ROPE_DIMS, model->head_dim);
}

/* Layers whose cache holds a window, and those that read another layer's. */
static void fill_cache(struct reader *r, const struct ulb_family *family)
{
    struct ulb_model *model = r->model;
    unsigned attention = model->layers - model->without_attention;
    unsigned shared = count(r, SHARED_CACHE, 0), every = family ? family->full_every : 1;
    model->without_cache = model->headless ? attention : (shared < attention ? shared : 0);
    unsigned cached = attention - model->without_cache;
    model->window = count(r, WINDOW, 0);
    if (model->window == 0)
        return;
    if (r->windows_listed && attention > 0)
        model->windowed = (unsigned)(fmin(r->values[WINDOW_PATTERN], attention) * cached / attention);
    else
        every = count(r, WINDOW_PATTERN, every);
    if (!r->windows_listed)
        model->windowed = every == 0 ? cached : cached - cached / every;
}

static void fill_network(struct reader *r)
{
    struct ulb_model *model = r->model;
    const struct ulb_matrix_row *down = ulb_matrix_rows_find(&r->tensors.rows, "down");
    bool tensors = r->tensors.n_tensors > 0;
    unsigned given = count(r, INTERMEDIATE, 0);
    model->intermediate = down ? (unsigned)down->shape.k : given;
    model->experts = count(r, EXPERTS, 0);
    if (model->experts == 0)
        return;
    model->experts_active = count(r, EXPERTS_USED, 0);
    model->dense_layers = tensors ? (down ? down->shape.count : 0) : count(r, DENSE_BLOCKS, 0);
    if (tensors) {
        model->expert_intermediate = (unsigned)columns_of(r, "expert.down");
        model->shared_intermediate = (unsigned)columns_of(r, "shared.down");
    } else {
        model->expert_intermediate = count(r, EXPERT_INTERMEDIATE, given);
        double shared = (double)count(r, EXPERTS_SHARED, 0) * model->expert_intermediate;
        model->shared_intermediate =
            count(r, SHARED_INTERMEDIATE, shared <= ULB_SIZE_MAX ? (unsigned)shared : UINT32_MAX);
    }
}

/* What the tensors show of the block, over what the family says. */
static void fill_block(struct reader *r, const struct ulb_family *family)
{
    struct ulb_model *model = r->model;
    const struct ulb_gguf_tensors *t = &r->tensors;
    if (family)
        ulb_family_apply(family, model);
    model->headless = t->headless;
    if (t->headless)
        ulb_model_note(model, "an encoder: no head");
    if (r->tensors.nextn > 0)
        ulb_model_note(model, "%u block%s that predict further tokens left out", r->tensors.nextn,
                       r->tensors.nextn == 1 ? "" : "s");
    if (!isnan(r->values[PARALLEL]))
        model->parallel_block = r->values[PARALLEL] > 0;
    if (!isnan(r->values[RMS_EPSILON]) || !isnan(r->values[NORM_EPSILON]))
        model->norm = isnan(r->values[RMS_EPSILON]) ? ULB_NORM_LAYER : ULB_NORM_RMS;
    if (t->n_tensors == 0)
        return;
    model->stored_gate_up = rows_of(r, "gate_up") > 0 || rows_of(r, "expert.gate_up") > 0;
    model->gated = model->stored_gate_up || rows_of(r, "gate") > 0 || rows_of(r, "expert.gate") > 0;
    model->stored_qkv = rows_of(r, "qkv") > 0;
    model->qk_norm = t->qk_norm;
    model->sub_norms = t->sub_norms;
    model->post_norms = t->post_norms;
    model->tied_head = !t->head;
    model->other_parameters = t->other_parameters;
    if (!family) {
        model->function = model->gated ? ULB_FFN_SILU : ULB_FFN_GELU;
        ulb_model_note(model, "architecture %s is not known: form of its blocks by its tensors",
                       r->architecture);
    }
}

static enum ulb_status fill_vocabulary(struct reader *r, const struct ulb_family *family,
                                       struct ulb_error *err)
{
    struct ulb_model *model = r->model;
    model->vocab = (unsigned)r->tensors.vocab;
    if (model->vocab == 0)
        model->vocab = count(r, VOCAB, count(r, TOKENS, 0));
    if (model->vocab == 0)
        return ulb_fail(err, ULB_BAD_INPUT, "nothing says how large the vocabulary is");
    if (r->tensors.n_tensors > 0)
        return ULB_OK;
    if (!family || family->tied == ULB_TIED_SAID)
        return ulb_fail(err, ULB_BAD_INPUT,
                        "holds no tensors, and architecture \"%.40s\" alone does not give the shapes",
                        r->architecture);
    model->tied_head = family->tied == ULB_TIED_YES;
    ulb_model_note(model, "no tensors: shapes by the metadata, tied head %s by the architecture",
                   model->tied_head ? "yes" : "no");
    return ULB_OK;
}

static bool holds(const struct ulb_shape_list *list, const struct ulb_layer_shape *wanted)
{
    for (size_t i = 0; i < list->n; i++) {
        const struct ulb_layer_shape *shape = &list->items[i];
        if (shape->m == wanted->m && shape->k == wanted->k && shape->count == wanted->count &&
            shape->active == wanted->active && strcmp(shape->layer, wanted->layer) == 0)
            return true;
    }
    return false;
}

/* Whether the model's numbers give exactly its tensors. */
static enum ulb_status judge_regular(const struct reader *r, bool *regular, struct ulb_error *err)
{
    struct ulb_shape_list list = {NULL, 0};
    const struct ulb_gguf_tensors *t = &r->tensors;
    struct ulb_error unused;
    *regular = !r->varies && ulb_model_check(r->model, &unused) == ULB_OK;
    if (!*regular)
        return ULB_OK;
    enum ulb_status status = ulb_model_shapes(r->model, ULB_FORM_STORED, &list, err);
    *regular = status == ULB_OK && list.n == t->rows.n;
    for (size_t i = 0; i < t->rows.n && *regular; i++)
        *regular = holds(&list, &t->rows.items[i].shape);
    free(list.items);
    return status;
}

static enum ulb_status store_tensors(struct reader *r, struct ulb_error *err)
{
    struct ulb_model *model = r->model;
    const struct ulb_gguf_tensors *t = &r->tensors;
    ulb_matrix_rows_sum(&t->rows, t->other_bytes + (t->head ? t->embedding_bytes : 0), model);
    bool regular;
    enum ulb_status status = judge_regular(r, &regular, err);
    if (status != ULB_OK || regular)
        return status;
    status = ulb_matrix_rows_store(&t->rows, model, err);
    if (status != ULB_OK)
        return status;
    model->without_attention = t->cached < model->layers ? model->layers - t->cached : 0;
    ulb_model_note(model, "blocks that differ or hold other layers: shapes as its tensors have them");
    return ULB_OK;
}

static enum ulb_status fill_model(struct reader *r, struct ulb_error *err)
{
    struct ulb_model *model = r->model;
    const struct ulb_family *family = ulb_family_of_gguf(r->architecture);
    enum ulb_status status = ULB_OK;
    model->hidden = r->tensors.hidden;
    model->layers = r->tensors.blocks - r->tensors.nextn;
    if (r->tensors.n_tensors > 0)
        status = ulb_gguf_tensors_finish(&r->tensors, count(r, EXPERTS, 0), count(r, EXPERTS_USED, 0), err);
    if (status == ULB_OK)
        status = fill_vocabulary(r, family, err);
    if (status != ULB_OK)
        return status;
    fill_block(r, family);
    fill_attention(r, family);
    fill_network(r);
    if (r->tensors.n_tensors > 0)
        status = store_tensors(r, err);
    fill_cache(r, family);
    return status;
}

enum ulb_status ulb_gguf_read(int fd, const char *path, struct ulb_model *model, struct ulb_error *err)
{
    struct reader r = {.stream = malloc(sizeof *r.stream), .model = model};
    if (!r.stream)
        return ulb_fail(err, ULB_ENVIRONMENT, "not enough memory to read it");
    enum ulb_status status = ulb_gguf_open(r.stream, fd, err);
    bool big_endian = r.stream->swapped;
    unsigned version = r.stream->version;
    if (status == ULB_OK) {
        read_metadata(&r);
        status = r.stream->status;
    }
    if (status == ULB_OK && count(&r, PARTS, 1) > 1) {
        status = read_parts(&r, path, err);
    } else if (status == ULB_OK) {
        status = open_tensors(&r, err);
        if (status == ULB_OK)
            ulb_gguf_tensors_read(&r.tensors, r.stream);
        status = status == ULB_OK ? r.stream->status : status;
    }
    if (status == ULB_OK)
        status = fill_model(&r, err);
    snprintf(model->source, sizeof model->source, "GGUF version %u%s, architecture %.40s", version,
             big_endian ? ", big-endian" : "", r.architecture);
    ulb_gguf_tensors_close(&r.tensors);
    free(r.stream);
    return status;
}
