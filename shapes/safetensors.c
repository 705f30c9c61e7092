#include "shapes/safetensors.h"

#include "shapes/config_keys.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LENGTH_BYTES = 8, FILES_MAX = 4096 };
/* No tensor has more elements: products of sizes stay exact in a double. */
static const double ELEMENTS_MAX = 1e15;

static const struct ulb_st_type types[] = {
    {"F64", 64, true},     {"F32", 32, true},    {"F16", 16, true},     {"BF16", 16, true},
    {"F8_E4M3", 8, true},  {"F8_E5M2", 8, true}, {"F8_E8M0", 8, false}, {"F6_E2M3", 6, false},
    {"F6_E3M2", 6, false}, {"F4", 4, false},     {"I64", 64, false},    {"U64", 64, false},
    {"I32", 32, false},    {"U32", 32, false},   {"I16", 16, false},    {"U16", 16, false},
    {"I8", 8, false},      {"U8", 8, false},     {"BOOL", 8, false},    {"C64", 64, false},
};

static const struct ulb_st_type *type_of(const char *name)
{
    for (size_t i = 0; name && i < sizeof types / sizeof *types; i++) {
        if (strcmp(types[i].name, name) == 0)
            return &types[i];
    }
    return NULL;
}

/* --- one tensor --- */

/* Where a tensor's data lie. */
struct span {
    uint64_t begin, end;
};

/* A whole number from 0 that fits; false for anything else. */
static bool take_count(const json_t *value, uint64_t *out)
{
    if (!json_is_integer(value) || json_integer_value(value) < 0)
        return false;
    *out = (uint64_t)json_integer_value(value);
    return true;
}

static enum ulb_status read_shape(const json_t *shape, struct ulb_st_tensor *tensor, struct ulb_error *err)
{
    tensor->n_dims = (unsigned)json_array_size(shape);
    tensor->elements = 1;
    if (!json_is_array(shape) || json_array_size(shape) > ULB_ST_DIMS)
        return ulb_fail(err, ULB_BAD_INPUT, "tensor %.80s has no shape of at most %d sizes", tensor->name,
                        ULB_ST_DIMS);
    for (unsigned i = 0; i < ULB_ST_DIMS; i++) {
        tensor->dims[i] = 1;
        if (i < tensor->n_dims && !take_count(json_array_get(shape, i), &tensor->dims[i]))
            return ulb_fail(err, ULB_BAD_INPUT, "tensor %.80s has a size that is no number", tensor->name);
        tensor->elements *= (double)tensor->dims[i];
        if (tensor->elements > ELEMENTS_MAX)
            return ulb_fail(err, ULB_BAD_INPUT,
                            "tensor %.80s has more than %.0e elements; the file is damaged", tensor->name,
                            ELEMENTS_MAX);
    }
    return ULB_OK;
}

static enum ulb_status read_tensor(const char *name, const json_t *value, struct ulb_st_tensor *tensor,
                                   struct span *span, struct ulb_error *err)
{
    const json_t *offsets = json_object_get(value, "data_offsets");
    const char *type = json_string_value(json_object_get(value, "dtype"));
    *tensor = (struct ulb_st_tensor){.name = name, .type = type_of(type)};
    if (!tensor->type)
        return ulb_fail(err, ULB_BAD_INPUT, "tensor %.80s has the dtype %.20s, which is not known", name,
                        type ? type : "?");
    enum ulb_status status = read_shape(json_object_get(value, "shape"), tensor, err);
    if (status != ULB_OK)
        return status;
    if (json_array_size(offsets) != 2 || !take_count(json_array_get(offsets, 0), &span->begin) ||
        !take_count(json_array_get(offsets, 1), &span->end) || span->end < span->begin)
        return ulb_fail(err, ULB_BAD_INPUT, "tensor %.80s has no data_offsets; the file is damaged", name);
    tensor->bytes = (double)(span->end - span->begin);
    if (tensor->bytes * 8 != tensor->elements * tensor->type->bits)
        return ulb_fail(err, ULB_BAD_INPUT,
                        "tensor %.80s: %.0f elements of %s do not fill its %.0f bytes; the file is damaged",
                        name, tensor->elements, tensor->type->name, tensor->bytes);
    return ULB_OK;
}

/* --- the header --- */

/* The text of the header: 8 bytes of its length, then JSON. *data: bytes behind it. */
static enum ulb_status read_text(int fd, char **text, size_t *bytes, uint64_t *data, struct ulb_error *err)
{
    struct stat info;
    unsigned char raw[LENGTH_BYTES];
    uint64_t length = 0;
    if (fstat(fd, &info) != 0 || pread(fd, raw, sizeof raw, 0) != (ssize_t)sizeof raw)
        return ulb_fail(err, ULB_BAD_INPUT, "is shorter than the header of a safetensors file");
    for (int i = LENGTH_BYTES - 1; i >= 0; i--)
        length = length << 8 | raw[i];
    uint64_t rest = (uint64_t)info.st_size - LENGTH_BYTES;
    if (length == 0 || length > rest)
        return ulb_fail(err, ULB_BAD_INPUT,
                        "claims a header of %" PRIu64 " bytes and has %" PRIu64 "; it is cut off or damaged",
                        length, rest);
    if (length > ULB_JSON_BYTES_MAX)
        return ulb_fail(err, ULB_BAD_INPUT, "has a header of %" PRIu64 " bytes; at most %d are read", length,
                        ULB_JSON_BYTES_MAX);
    *bytes = (size_t)length;
    *data = rest - length;
    *text = malloc(*bytes);
    if (!*text)
        return ulb_fail(err, ULB_ENVIRONMENT, "not enough memory to read it");
    if (pread(fd, *text, *bytes, LENGTH_BYTES) == (ssize_t)*bytes)
        return ULB_OK;
    free(*text);
    return ulb_fail(err, ULB_BAD_INPUT, "cannot be read: %s", strerror(errno));
}

static int compare_spans(const void *a, const void *b)
{
    const struct span *x = a, *y = b;
    return (x->begin > y->begin) - (x->begin < y->begin);
}

/* No two tensors share a byte, and none leaves the file, unless the file is its header alone. */
static enum ulb_status check_spans(struct span *spans, size_t n, uint64_t data, struct ulb_error *err)
{
    qsort(spans, n, sizeof *spans, compare_spans);
    for (size_t i = 0; i < n; i++) {
        if (i > 0 && spans[i].begin < spans[i - 1].end)
            return ulb_fail(err, ULB_BAD_INPUT,
                            "two tensors overlap at byte %" PRIu64 "; the file is damaged", spans[i].begin);
        if (data > 0 && spans[i].end > data)
            return ulb_fail(err, ULB_BAD_INPUT,
                            "a tensor ends at byte %" PRIu64 " of %" PRIu64 "; the file is cut off",
                            spans[i].end, data);
    }
    return ULB_OK;
}

static enum ulb_status read_all(const json_t *header, uint64_t data, ulb_st_tensor_fn fn, void *arg,
                                struct ulb_error *err)
{
    const char *name;
    json_t *value;
    size_t n = 0;
    struct ulb_st_tensor tensor;
    struct span *spans = calloc(json_object_size(header) + 1, sizeof *spans);
    enum ulb_status status =
        spans ? ULB_OK : ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for its tensors");
    json_object_foreach((json_t *)header, name, value)
    {
        if (status != ULB_OK || strcmp(name, "__metadata__") == 0)
            continue;
        status = read_tensor(name, value, &tensor, &spans[n++], err);
    }
    if (status == ULB_OK)
        status = check_spans(spans, n, data, err);
    free(spans);
    json_object_foreach((json_t *)header, name, value)
    {
        struct span unused;
        if (status != ULB_OK || strcmp(name, "__metadata__") == 0)
            continue;
        status = read_tensor(name, value, &tensor, &unused, err);
        if (status == ULB_OK)
            status = fn(arg, &tensor, err);
    }
    return status;
}

enum ulb_status ulb_st_read(int fd, ulb_st_tensor_fn fn, void *arg, struct ulb_error *err)
{
    char *text = NULL;
    size_t bytes = 0;
    uint64_t data = 0;
    bool repeated;
    json_t *header = NULL;
    enum ulb_status status = read_text(fd, &text, &bytes, &data, err);
    if (status != ULB_OK)
        return status;
    status = ulb_json_parse(text, bytes, JSON_REJECT_DUPLICATES, &header, &repeated, err);
    free(text);
    if (status == ULB_OK && !json_is_object(header))
        status = ulb_fail(err, ULB_BAD_INPUT, "has a header that is no object; it is damaged");
    if (status == ULB_OK)
        status = read_all(header, data, fn, arg, err);
    json_decref(header);
    return status;
}

/* --- the index --- */

enum ulb_status ulb_st_index_files(const json_t *index, json_t **files, struct ulb_error *err)
{
    const json_t *map = json_object_get(index, "weight_map");
    const char *name;
    json_t *value, *seen = json_object();
    enum ulb_status status = ULB_OK;
    *files = json_array();
    json_object_foreach((json_t *)map, name, value)
    {
        const char *file = json_string_value(value);
        bool plain = file && file[0] && file[0] != '.' && !strchr(file, '/');
        if (status == ULB_OK && !plain)
            status =
                ulb_fail(err, ULB_BAD_INPUT, "weight_map names no file of its own folder for %.80s", name);
        if (status != ULB_OK || json_object_get(seen, file))
            continue;
        json_object_set_new(seen, file, json_true());
        json_array_append(*files, value);
        if (json_array_size(*files) > FILES_MAX)
            status = ulb_fail(err, ULB_BAD_INPUT, "weight_map names more than %d files", FILES_MAX);
    }
    if (status == ULB_OK && json_array_size(*files) == 0)
        status = ulb_fail(err, ULB_BAD_INPUT, "has no weight_map; is it the index of a safetensors model?");
    json_decref(seen);
    return status;
}
