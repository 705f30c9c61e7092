/* A model from the tensors of safetensors files: exact without knowing its family. A config.json beside them
 * says how many experts are active and how weights are packed. */
#include "shapes/config_keys.h"
#include "shapes/load.h"
#include "shapes/matrix_rows.h"
#include "shapes/safetensors.h"
#include "shapes/shapes.h"
#include "shapes/tensor_names.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BLOCKS_MAX = 1 << 16 };

/* How an element of a packed tensor holds several weights. */
enum packing {
    PACKED_UNKNOWN,
    PACKED_COLUMNS,      /* rows as they are, columns of bits in 32-bit words: compressed-tensors, MLX */
    PACKED_GPTQ,         /* transposed, columns in words */
    PACKED_AWQ,          /* transposed, rows in words */
    PACKED_BITNET,       /* four rows a byte */
    PACKED_MXFP4_BLOCKS, /* experts x rows x blocks x bytes */
    PACKED_FP4_BYTES,    /* two columns a byte */
};

struct collector {
    struct ulb_config config; /* beside the files; root NULL: none */
    enum packing packing;
    unsigned bits;
    unsigned layers;  /* of config.json; 0: not said */
    unsigned blocks;  /* with tensors */
    unsigned experts; /* of a block */
    uint64_t hidden, vocab;
    bool first_pass, head, joins; /* joins: a matrix that only blocks for further tokens have */
    unsigned cached;              /* blocks with keys of their own */
    double embedding_bytes, other_bytes, other_parameters, towers, further;
    struct ulb_matrix_rows rows;
};

/* --- config.json beside the files --- */

/* compressed-tensors: bits in the first group of config_groups. */
static unsigned group_bits(const json_t *quantization)
{
    const char *name;
    json_t *group;
    json_object_foreach(json_object_get(quantization, "config_groups"), name, group)
    {
        const json_t *bits = json_object_get(json_object_get(group, "weights"), "num_bits");
        if (json_is_integer(bits))
            return (unsigned)json_integer_value(bits);
    }
    return 0;
}

static void read_packing(struct collector *c)
{
    static const struct {
        const char *method;
        enum packing packing;
    } methods[] = {{"gptq", PACKED_GPTQ},          {"awq", PACKED_AWQ},
                   {"bitnet", PACKED_BITNET},      {"mxfp4", PACKED_MXFP4_BLOCKS},
                   {"modelopt", PACKED_FP4_BYTES}, {"compressed-tensors", PACKED_COLUMNS}};
    const json_t *object = json_object_get(c->config.root, "quantization_config");
    const json_t *plain = json_object_get(c->config.root, "quantization"); /* of MLX */
    object = object ? object : json_object_get(c->config.model, "quantization_config");
    const char *method = json_string_value(json_object_get(object, "quant_method"));
    const char *format = json_string_value(json_object_get(object, "format"));
    const json_t *bits = json_object_get(object ? object : plain, "bits");
    for (size_t i = 0; method && i < sizeof methods / sizeof *methods; i++) {
        if (strcmp(method, methods[i].method) == 0)
            c->packing = methods[i].packing;
    }
    if (!object && json_is_object(plain))
        c->packing = PACKED_COLUMNS;
    if (format && strstr(format, "nvfp4"))
        c->packing = PACKED_FP4_BYTES;
    c->bits = json_is_integer(bits) ? (unsigned)json_integer_value(bits) : group_bits(object);
    if (c->bits == 0 || c->bits > 8)
        c->bits = 0;
}

static void read_config(struct collector *c, const char *folder, struct ulb_model *model)
{
    char path[ULB_PATH_BYTES], *text;
    size_t bytes;
    struct ulb_error why;
    bool found;
    if (!ulb_path_join(path, folder, "config.json") || access(path, F_OK) != 0)
        return;
    enum ulb_status status = ulb_file_text(path, &text, &bytes, &why);
    if (status == ULB_OK) {
        status = ulb_config_open(&c->config, text, bytes, &why);
        free(text);
    }
    if (status != ULB_OK) {
        ulb_model_note(model, "config.json not read: %.*s", (int)strcspn(why.message, ";"), why.message);
        ulb_config_close(&c->config);
        return;
    }
    read_packing(c);
    if (ulb_config_count(&c->config, ULB_KEY_LAYERS, &c->layers, &found, &why) != ULB_OK)
        c->layers = 0;
}

/* --- one tensor --- */

static enum ulb_status refuse_packed(const struct ulb_st_tensor *tensor, struct ulb_error *err)
{
    return ulb_fail(
        err, ULB_BAD_INPUT,
        "tensor %.80s of %s is packed, and no quantization_config beside it says how it is unpacked; give "
        "the unpacked model or its GGUF file",
        tensor->name, tensor->type->name);
}

/* Rows, columns and matrices of a tensor. */
struct matrix {
    uint64_t m, k, count;
};

static bool is_type(const struct ulb_st_tensor *tensor, const char *one, const char *other)
{
    return strcmp(tensor->type->name, one) == 0 || strcmp(tensor->type->name, other) == 0;
}

static enum ulb_status unpack(const struct collector *c, const struct ulb_st_tensor *tensor,
                              const struct ulb_tensor_name *name, struct matrix *out, struct ulb_error *err)
{
    const uint64_t *dims = tensor->dims;
    uint64_t in_word = c->bits > 0 ? 32 / c->bits : 0;
    bool word = is_type(tensor, "I32", "U32"), byte = is_type(tensor, "U8", "U8");
    *out = tensor->n_dims == 3 ? (struct matrix){dims[1], dims[2], dims[0]}
                               : (struct matrix){dims[0], dims[1], 1};
    if (!name->packed && (tensor->type->floating || is_type(tensor, "I8", "I8")))
        return tensor->n_dims <= 3 ? ULB_OK : refuse_packed(tensor, err);
    if (c->packing == PACKED_MXFP4_BLOCKS && byte && tensor->n_dims == 4)
        *out = (struct matrix){dims[1], 2 * dims[2] * dims[3], dims[0]};
    else if (c->packing == PACKED_BITNET && byte && tensor->n_dims == 2)
        out->m = 4 * dims[0];
    else if (c->packing == PACKED_FP4_BYTES && byte)
        out->k *= 2;
    else if (c->packing == PACKED_GPTQ && word && in_word > 0 && tensor->n_dims == 2)
        *out = (struct matrix){dims[1], dims[0] * 32 / c->bits, 1};
    else if (c->packing == PACKED_AWQ && word && in_word > 0 && tensor->n_dims == 2)
        *out = (struct matrix){dims[1] * in_word, dims[0], 1};
    else if (c->packing == PACKED_COLUMNS && word && in_word > 0)
        out->k = out->k * 32 / c->bits;
    else
        return refuse_packed(tensor, err);
    return ULB_OK;
}

/* Checkpoints hold some matrices transposed: the side that the hidden state passes through tells. */
static void turn(const struct collector *c, const struct ulb_tensor_name *name, struct matrix *matrix)
{
    const char *dot = strrchr(name->layer, '.'), *last = dot ? dot + 1 : name->layer;
    bool writes = strcmp(last, "down") == 0 || strcmp(last, "c_proj") == 0 || strcmp(last, "o") == 0;
    bool reads = strcmp(last, "gate") == 0 || strcmp(last, "up") == 0 || strcmp(last, "gate_up") == 0 ||
                 strcmp(last, "qkv") == 0;
    uint64_t m = matrix->m, k = matrix->k;
    if ((writes && m != c->hidden && k == c->hidden) || (reads && k != c->hidden && m == c->hidden)) {
        matrix->m = k;
        matrix->k = m;
    }
}

static enum ulb_status add_matrix(struct collector *c, const struct ulb_st_tensor *tensor,
                                  const struct ulb_tensor_name *name, struct ulb_error *err)
{
    struct matrix matrix;
    enum ulb_status status = unpack(c, tensor, name, &matrix, err);
    if (status != ULB_OK)
        return status;
    turn(c, name, &matrix);
    if (matrix.m == 1 || matrix.k == 1 || tensor->n_dims < 2) {
        c->other_bytes += tensor->bytes;
        c->other_parameters += tensor->n_dims < 2 ? 0 : tensor->elements;
        return ULB_OK;
    }
    if (!ulb_matrix_rows_add(&c->rows, name->layer, matrix.m, matrix.k, matrix.count, name->of_expert,
                             tensor->bytes))
        return ulb_fail(err, ULB_BAD_INPUT, "tensor %.80s: more or larger matrices than a model has",
                        tensor->name);
    c->cached +=
        strcmp(name->layer, "k") == 0 || strcmp(name->layer, "qkv") == 0 || strcmp(name->layer, "kv_a") == 0;
    uint64_t experts = name->expert >= 0 ? (uint64_t)name->expert + 1 : matrix.count;
    if (name->of_expert && experts > c->experts)
        c->experts = (unsigned)experts;
    return ULB_OK;
}

static enum ulb_status add_embedding(struct collector *c, const struct ulb_st_tensor *tensor,
                                     const struct ulb_tensor_name *name, struct ulb_error *err)
{
    struct matrix matrix;
    enum ulb_status status = unpack(c, tensor, name, &matrix, err);
    if (status != ULB_OK)
        return status;
    if (tensor->n_dims != 2 || matrix.m > ULB_SIZE_MAX || matrix.k > ULB_SIZE_MAX || matrix.m == 0 ||
        matrix.k == 0)
        return ulb_fail(err, ULB_BAD_INPUT, "tensor %.80s is no table of a vocabulary", tensor->name);
    c->vocab = matrix.m;
    c->hidden = matrix.k;
    c->embedding_bytes = tensor->bytes;
    return ULB_OK;
}

static enum ulb_status add_tensor(void *arg, const struct ulb_st_tensor *tensor, struct ulb_error *err)
{
    struct collector *c = arg;
    struct ulb_tensor_name name;
    ulb_tensor_name_read(tensor->name, &name);
    if (c->layers > 0 && name.block >= (long)c->layers && name.use != ULB_TENSOR_TOWER)
        name.use = ULB_TENSOR_FURTHER;
    if (c->first_pass)
        return name.use == ULB_TENSOR_EMBEDDING ? add_embedding(c, tensor, &name, err) : ULB_OK;
    if (name.block >= BLOCKS_MAX)
        return ulb_fail(err, ULB_BAD_INPUT, "tensor %.80s: more than %d blocks", tensor->name, BLOCKS_MAX);
    bool own = name.use != ULB_TENSOR_TOWER && name.use != ULB_TENSOR_FURTHER;
    if (own && name.block >= (long)c->blocks)
        c->blocks = (unsigned)name.block + 1;
    c->joins |= own && strstr(tensor->name, "eh_proj");
    switch (name.use) {
    case ULB_TENSOR_MATRIX:
        return add_matrix(c, tensor, &name, err);
    case ULB_TENSOR_HEAD:
        c->head = true;
        snprintf(name.layer, sizeof name.layer, "lm_head");
        return add_matrix(c, tensor, &name, err);
    case ULB_TENSOR_TOWER:
        c->towers += tensor->elements;
        return ULB_OK;
    case ULB_TENSOR_FURTHER:
        c->further += tensor->elements;
        return ULB_OK;
    case ULB_TENSOR_EMBEDDING:
        return ULB_OK;
    case ULB_TENSOR_TABLE:
        c->other_parameters += tensor->n_dims >= 2 ? tensor->elements : 0;
        break;
    case ULB_TENSOR_VECTOR:
    case ULB_TENSOR_SCALE:
        break;
    }
    c->other_bytes += tensor->bytes;
    return ULB_OK;
}

/* --- files --- */

static enum ulb_status read_file(struct collector *c, const char *path, struct ulb_error *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return ulb_fail(err, ULB_BAD_INPUT, "%.200s cannot be opened (%s); put all files into one folder",
                        path, strerror(errno));
    enum ulb_status status = ulb_st_read(fd, add_tensor, c, err);
    close(fd);
    return status;
}

static enum ulb_status read_files(struct collector *c, const char *folder, const json_t *files,
                                  struct ulb_error *err)
{
    size_t i;
    const json_t *file;
    enum ulb_status status = ULB_OK;
    json_array_foreach((json_t *)files, i, file)
    {
        char path[ULB_PATH_BYTES];
        if (status == ULB_OK && !ulb_path_join(path, folder, json_string_value(file)))
            status = ulb_fail(err, ULB_BAD_INPUT, "the path of one of its files is too long");
        if (status == ULB_OK)
            status = read_file(c, path, err);
    }
    return status;
}

/* model-00001-of-00003.safetensors: a part, of which the index names the others. */
static bool is_part(const char *path)
{
    const char *tail = strlen(path) > 27 ? path + strlen(path) - 27 : "";
    return tail[0] == '-' && strncmp(tail + 6, "-of-", 4) == 0 && strspn(tail + 1, "0123456789") == 5 &&
           strspn(tail + 10, "0123456789") == 5;
}

/* The files of a model: those of an index, or the one file. */
static enum ulb_status list_files(const char *path, bool index, json_t **files, struct ulb_error *err)
{
    char *text;
    size_t bytes;
    bool repeated;
    json_t *root = NULL;
    const char *slash = strrchr(path, '/');
    *files = NULL;
    if (!index && is_part(path))
        return ulb_fail(err, ULB_BAD_INPUT,
                        "is one part of a model; give its folder or its model.safetensors.index.json");
    if (!index) {
        *files = json_pack("[s]", slash ? slash + 1 : path);
        return *files ? ULB_OK : ulb_fail(err, ULB_BAD_INPUT, "its name is no text");
    }
    enum ulb_status status = ulb_file_text(path, &text, &bytes, err);
    if (status != ULB_OK)
        return status;
    status = ulb_json_parse(text, bytes, 0, &root, &repeated, err);
    free(text);
    if (status == ULB_OK)
        status = ulb_st_index_files(root, files, err);
    json_decref(root);
    return status;
}

/* --- the model --- */

/* A count of the configuration beside; 0: not said. */
static unsigned said(struct collector *c, enum ulb_config_key key)
{
    unsigned value = 0;
    bool found;
    struct ulb_error unused;
    if (c->config.root && ulb_config_count(&c->config, key, &value, &found, &unused) != ULB_OK)
        return 0;
    return value;
}

static void fill_attention(struct collector *c, struct ulb_model *model)
{
    model->heads = said(c, ULB_KEY_HEADS);
    model->kv_heads = said(c, ULB_KEY_KV_HEADS);
    model->head_dim = said(c, ULB_KEY_HEAD_DIM);
    model->mla_kv_rank = said(c, ULB_KEY_KV_RANK);
    model->mla_rope = said(c, ULB_KEY_ROPE_DIM);
    if (model->kv_heads == 0)
        model->kv_heads = model->heads;
    if (model->head_dim == 0 && model->heads > 0)
        model->head_dim = model->hidden / model->heads;
    if (model->mla_kv_rank > 0)
        model->head_dim = said(c, ULB_KEY_NOPE_DIM) + model->mla_rope;
    model->v_head_dim = model->mla_kv_rank > 0 ? said(c, ULB_KEY_V_DIM) : model->head_dim;
    model->without_attention = c->cached < model->layers ? model->layers - c->cached : 0;
}

/* Without a tensor of its own the head is the embedding, unless the configuration says that there is none. */
static void fill_head(struct collector *c, struct ulb_model *model)
{
    bool tied = true, found;
    struct ulb_error unused;
    const char *class =
        json_string_value(json_array_get(json_object_get(c->config.model, "architectures"), 0));
    if (c->config.root && ulb_config_bool(&c->config, ULB_KEY_TIED, &tied, &found, &unused) != ULB_OK)
        tied = true;
    model->headless = !c->head && (!tied || (class && ulb_class_is_headless(class)));
    model->tied_head = !c->head && !model->headless;
    if (model->headless)
        ulb_model_note(model, "no lm_head among its tensors");
    if (model->tied_head)
        ulb_model_note(model, "no lm_head among its tensors: the embedding is the head");
}

static enum ulb_status fill_model(struct collector *c, struct ulb_model *model, struct ulb_error *err)
{
    unsigned active = said(c, ULB_KEY_EXPERTS_ACTIVE);
    if (c->joins)
        return ulb_fail(
            err, ULB_BAD_INPUT,
            "some blocks predict further tokens; which ones says the config.json that must lie beside it");
    if (c->blocks == 0 || c->hidden == 0)
        return ulb_fail(err, ULB_BAD_INPUT, "has no %s; is it a whole language model?",
                        c->blocks == 0 ? "blocks" : "embedding of a vocabulary");
    if (c->layers > 0 && c->blocks != c->layers)
        return ulb_fail(err, ULB_BAD_INPUT,
                        "holds %u blocks, and config.json beside it says %u; parts are missing", c->blocks,
                        c->layers);
    if (c->experts > 0 && active == 0)
        return ulb_fail(err, ULB_BAD_INPUT,
                        "has %u experts a block, and no config.json beside it says how many are active",
                        c->experts);
    model->hidden = (unsigned)c->hidden;
    model->vocab = (unsigned)c->vocab;
    model->layers = c->blocks;
    model->experts = c->experts;
    model->experts_active = c->experts > 0 ? active : 0;
    model->other_parameters = c->other_parameters;
    fill_attention(c, model);
    fill_head(c, model);
    if (model->tied_head &&
        !ulb_matrix_rows_add(&c->rows, "lm_head", c->vocab, c->hidden, 1, false, c->embedding_bytes))
        return ulb_fail(err, ULB_BAD_INPUT, "has more kinds of matrices than a model has");
    enum ulb_status status = ulb_matrix_rows_activate(&c->rows, c->experts, active, err);
    if (status != ULB_OK)
        return status;
    ulb_matrix_rows_sum(&c->rows, c->other_bytes + (model->tied_head ? 0 : c->embedding_bytes), model);
    if (c->towers > 0)
        ulb_model_note(model, "vision or audio tower left out (%.2fe9)", c->towers / 1e9);
    if (c->further > 0)
        ulb_model_note(model, "blocks that predict further tokens left out (%.2fe9)", c->further / 1e9);
    return ulb_matrix_rows_store(&c->rows, model, err);
}

enum ulb_status ulb_safetensors_model(const char *path, bool index, struct ulb_model *model,
                                      struct ulb_error *err)
{
    struct collector c = {.first_pass = true};
    char folder[ULB_PATH_BYTES];
    json_t *files = NULL;
    snprintf(folder, sizeof folder, "%s", path);
    char *slash = strrchr(folder, '/');
    if (slash)
        slash[slash == folder] = '\0';
    else
        snprintf(folder, sizeof folder, ".");
    enum ulb_status status = list_files(path, index, &files, err);
    if (status == ULB_OK && !ulb_matrix_rows_open(&c.rows))
        status = ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for its tensors");
    if (status == ULB_OK) {
        read_config(&c, folder, model);
        status = read_files(&c, folder, files, err);
    }
    c.first_pass = false;
    if (status == ULB_OK)
        status = read_files(&c, folder, files, err);
    if (status == ULB_OK)
        status = fill_model(&c, model, err);
    snprintf(model->source, sizeof model->source, "safetensors, %zu file%s", json_array_size(files),
             json_array_size(files) == 1 ? "" : "s");
    ulb_matrix_rows_close(&c.rows);
    ulb_config_close(&c.config);
    json_decref(files);
    return status;
}
