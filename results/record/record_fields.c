#include "results/record/record.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char not_measured[] = "not measured";

const char *ulb_section_name(const struct ulb_section *section, char out[32])
{
    snprintf(out, 32, "%s%s%s", section->parent ? section->parent : "", section->parent ? "." : "",
             section->key);
    return out;
}

json_t *ulb_section_array(const json_t *root, const struct ulb_section *section)
{
    const json_t *parent = section->parent ? json_object_get(root, section->parent) : root;
    json_t *array = json_object_get(parent, section->key);
    return json_is_array(array) ? array : NULL;
}

static bool is_nullable(const struct ulb_field *field)
{
    return field->reason || field->because;
}

static bool in_words(const char *const *words, const char *text)
{
    for (; *words; words++) {
        if (strcmp(*words, text) == 0)
            return true;
    }
    return false;
}

/* "cold, warm" */
static const char *list_words(const char *const *words, char out[64])
{
    size_t used = 0;
    out[0] = '\0';
    for (; *words && used < 64; words++)
        used += (size_t)snprintf(out + used, 64 - used, "%s%s", used ? ", " : "", *words);
    return out;
}

/* The object that a field stands in, by the dots of its key, and what it is called there. With make it is
 * made where it is absent, and NULL is want of memory. */
static json_t *object_of(json_t *object, const struct ulb_field *field, bool make, const char **leaf)
{
    const char *key = field->key;
    for (const char *dot = strchr(key, '.'); dot; key = dot + 1, dot = strchr(key, '.')) {
        char name[32];
        snprintf(name, sizeof name, "%.*s", (int)(dot - key), key);
        json_t *inner = json_object_get(object, name);
        if (!inner && make && json_object_set_new(object, name, inner = json_object()) != 0)
            return NULL;
        object = inner;
    }
    *leaf = key;
    return object;
}

json_t *ulb_field_of(const json_t *object, const struct ulb_field *field)
{
    const char *leaf;
    const json_t *inside = object_of((json_t *)(uintptr_t)object, field, false, &leaf); /* makes nothing */
    return json_object_get(inside, leaf);
}

/* --- writing --- */

static enum ulb_status no_memory(struct ulb_error *err)
{
    return ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for the record");
}

/* The value of one field; *absent says that it is null and needs its reason. NULL when it must not be so. */
static json_t *field_value(const struct ulb_field *field, const char *at, bool *absent, struct ulb_error *err)
{
    *absent = false;
    switch (field->kind) {
    case ULB_FIELD_TEXT:
        break;
    case ULB_FIELD_WORD:
        *absent = !*at && is_nullable(field);
        if (!*absent && !in_words(field->words, at)) {
            char known[64];
            ulb_fail(err, ULB_BAD_INPUT, "%s: '%s' is none of %s", field->key, at,
                     list_words(field->words, known));
            return NULL;
        }
        break;
    case ULB_FIELD_COUNT:
        return json_integer((json_int_t) * (const size_t *)(const void *)at);
    case ULB_FIELD_SMALL:
        *absent = *(const unsigned *)(const void *)at == 0 && is_nullable(field);
        return *absent ? json_null() : json_integer((json_int_t) * (const unsigned *)(const void *)at);
    case ULB_FIELD_FLAG:
        return json_boolean(*(const bool *)(const void *)at);
    case ULB_FIELD_NUMBER: {
        double number = *(const double *)(const void *)at;
        *absent = isnan(number) && is_nullable(field);
        if (*absent)
            return json_null();
        if (!isfinite(number))
            ulb_fail(err, ULB_BAD_INPUT, "%s is not finite", field->key);
        return field->whole ? json_integer((json_int_t)number) : json_real(number);
    }
    }
    json_t *text = *absent ? json_null() : json_string(at);
    if (!text)
        ulb_fail(err, ULB_BAD_INPUT, "%s: the text is not UTF-8, or memory is short", field->key);
    return text;
}

static bool is_left_out(const struct ulb_field *field, const char *at)
{
    if (!field->left_out)
        return false;
    return field->kind == ULB_FIELD_NUMBER ? !(*(const double *)(const void *)at > 0) : *at == '\0';
}

static enum ulb_status write_field(json_t *object, const struct ulb_field *field, const char *item,
                                   struct ulb_error *err)
{
    bool absent;
    if (is_left_out(field, item + field->offset))
        return ULB_OK;
    err->message[0] = '\0';
    json_t *value = field_value(field, item + field->offset, &absent, err);
    if (!value && err->message[0])
        return ULB_BAD_INPUT;
    const char *leaf;
    json_t *inside = object_of(object, field, true, &leaf);
    if (json_object_set_new(inside, leaf, value) != 0)
        return no_memory(err);
    if (!absent)
        return ULB_OK;
    const char *reason = field->because ? field->because : item + field->reason;
    char key[64];
    snprintf(key, sizeof key, "%s_reason", leaf);
    if (json_object_set_new(inside, key, json_string(*reason ? reason : not_measured)) != 0)
        return no_memory(err);
    return ULB_OK;
}

static enum ulb_status write_list(json_t *object, const struct ulb_list *list, const char *item,
                                  struct ulb_error *err)
{
    if (!list->key)
        return ULB_OK;
    const double *values = *(double *const *)(const void *)(item + list->values);
    size_t n = *(const size_t *)(const void *)(item + list->n);
    json_t *array = json_array();
    if (json_object_set_new(object, list->key, array) != 0)
        return no_memory(err);
    for (size_t i = 0; i < n; i++) {
        if (!isfinite(values[i]))
            return ulb_fail(err, ULB_BAD_INPUT, "%s[%zu] is not finite", list->key, i);
        if (json_array_append_new(array, json_real(values[i])) != 0)
            return no_memory(err);
    }
    return ULB_OK;
}

/* Structs of any type, whose pointer is read as bytes. */
static char *inner_items(const struct ulb_inner *inner, const char *item, size_t *n)
{
    char *items;
    memcpy(&items, item + inner->items, sizeof items);
    *n = *(const size_t *)(const void *)(item + inner->n);
    return items;
}

static enum ulb_status write_inner(json_t *object, const struct ulb_inner *inner, const char *item,
                                   struct ulb_error *err)
{
    enum ulb_status status = ULB_OK;
    size_t n = 0;
    const char *items = inner->section ? inner_items(inner, item, &n) : NULL;
    for (size_t i = 0; i < n && status == ULB_OK; i++)
        status = ulb_section_append(object, inner->section, items + i * inner->section->struct_bytes, err);
    return status;
}

enum ulb_status ulb_section_append(json_t *root, const struct ulb_section *section, const void *item,
                                   struct ulb_error *err)
{
    char name[32];
    if (section->optional && !section->parent && !json_object_get(root, section->key) &&
        json_object_set_new(root, section->key, json_array()) != 0)
        return no_memory(err);
    json_t *array = ulb_section_array(root, section);
    if (!array)
        return ulb_fail(err, ULB_BAD_INPUT, "the record has no array %s", ulb_section_name(section, name));
    json_t *object = json_object();
    enum ulb_status status = object ? ULB_OK : no_memory(err);
    for (size_t i = 0; i < section->n_fields && status == ULB_OK; i++)
        status = write_field(object, &section->fields[i], item, err);
    if (status == ULB_OK)
        status = write_list(object, &section->samples, item, err);
    if (status == ULB_OK)
        status = write_list(object, &section->more, item, err);
    if (status == ULB_OK)
        status = write_inner(object, &section->inner, item, err);
    if (status != ULB_OK) {
        json_decref(object);
        return ulb_fail_prefix(err, status, "%s[%zu]", ulb_section_name(section, name),
                               json_array_size(array));
    }
    return json_array_append_new(array, object) == 0 ? ULB_OK : no_memory(err);
}

/* --- reading --- */

static const char *type_name(const json_t *value)
{
    if (!value)
        return "nothing";
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        return "an object";
    case JSON_ARRAY:
        return "an array";
    case JSON_STRING:
        return "a text";
    case JSON_INTEGER:
    case JSON_REAL:
        return "a number";
    case JSON_TRUE:
    case JSON_FALSE:
        return "a boolean";
    case JSON_NULL:
        return "null";
    }
    return "something else";
}

static enum ulb_status wrong_type(const char *key, const char *wanted, const json_t *value,
                                  struct ulb_error *err)
{
    return ulb_fail(err, ULB_BAD_INPUT, "%s: %s is needed, %s is there", key, wanted, type_name(value));
}

static enum ulb_status read_text(const char *key, const json_t *value, char *out, size_t size,
                                 struct ulb_error *err)
{
    if (!json_is_string(value))
        return wrong_type(key, "a text", value, err);
    if (json_string_length(value) >= size)
        return ulb_fail(err, ULB_BAD_INPUT, "%s: the text is longer than %zu bytes", key, size - 1);
    memcpy(out, json_string_value(value), json_string_length(value) + 1);
    return ULB_OK;
}

static enum ulb_status read_whole(const char *key, const json_t *value, uint64_t max, uint64_t *out,
                                  struct ulb_error *err)
{
    if (!json_is_integer(value))
        return wrong_type(key, "a whole number", value, err);
    json_int_t number = json_integer_value(value);
    if (number < 0 || (uint64_t)number > max)
        return ulb_fail(err, ULB_BAD_INPUT, "%s: %lld is out of range", key, (long long)number);
    *out = (uint64_t)number;
    return ULB_OK;
}

static enum ulb_status read_word(const struct ulb_field *field, const json_t *value, char *out,
                                 struct ulb_error *err)
{
    enum ulb_status status = read_text(field->key, value, out, field->size, err);
    if (status != ULB_OK || in_words(field->words, out))
        return status;
    char known[64];
    return ulb_fail(err, ULB_BAD_INPUT, "%s: '%s' is none of %s", field->key, out,
                    list_words(field->words, known));
}

/* A null: NAN or "", with its reason. */
static enum ulb_status read_absent(const struct ulb_field *field, const json_t *object, char *item,
                                   struct ulb_error *err)
{
    char key[64], fixed[ULB_REASON_BYTES];
    const char *leaf;
    const json_t *inside = object_of((json_t *)(uintptr_t)object, field, false, &leaf);
    snprintf(key, sizeof key, "%s_reason", leaf);
    if (field->kind == ULB_FIELD_NUMBER)
        *(double *)(void *)(item + field->offset) = NAN;
    return read_text(key, json_object_get(inside, key), field->reason ? item + field->reason : fixed,
                     ULB_REASON_BYTES, err);
}

/* Times, speeds and sizes, which are never below 0; the others are differences. */
static bool is_amount(const char *key)
{
    static const char *const keys[] = {
        "us",           "us_min",       "us_ci_lo",     "us_ci_hi",     "us_samples",    "gbps",
        "gbps_samples", "gops",         "efficiency",   "gamma_cycles", "hz_samples",    "bytes_per_step",
        "ms_samples",   "tokens_per_s", "ms_per_token", "predicted_us", "yardstick_gbps"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        if (strcmp(keys[i], key) == 0)
            return true;
    }
    return false;
}

/* No machine measures what is refused here, and no table or figure has room for it. */
static enum ulb_status check_number(const char *key, double value, struct ulb_error *err)
{
    static const double most = 1e18;
    if (fabs(value) > most)
        return ulb_fail(err, ULB_BAD_INPUT, "%s: %g is out of range, which ends at %g", key, value, most);
    if (value < 0 && is_amount(key))
        return ulb_fail(err, ULB_BAD_INPUT, "%s: %g is below 0, which it cannot be", key, value);
    return ULB_OK;
}

static enum ulb_status read_field(const struct ulb_field *field, const json_t *object, int version,
                                  char *item, struct ulb_error *err)
{
    const json_t *value = ulb_field_of(object, field);
    char *at = item + field->offset;
    uint64_t whole = 0;
    enum ulb_status status = ULB_OK;
    if (!value && (version < field->since || field->optional)) {
        if (field->kind == ULB_FIELD_NUMBER)
            *(double *)(void *)at = NAN;
        return ULB_OK; /* else as the zeroed struct has it */
    }
    if (json_is_null(value) && is_nullable(field))
        return read_absent(field, object, item, err);
    switch (field->kind) {
    case ULB_FIELD_TEXT:
        return read_text(field->key, value, at, field->size, err);
    case ULB_FIELD_WORD:
        return read_word(field, value, at, err);
    case ULB_FIELD_COUNT:
        status = read_whole(field->key, value, SIZE_MAX, &whole, err);
        *(size_t *)(void *)at = (size_t)whole;
        return status;
    case ULB_FIELD_SMALL:
        status = read_whole(field->key, value, UINT32_MAX, &whole, err);
        *(unsigned *)(void *)at = (unsigned)whole;
        return status;
    case ULB_FIELD_FLAG:
        if (!json_is_boolean(value))
            return wrong_type(field->key, "true or false", value, err);
        *(bool *)(void *)at = json_is_true(value);
        return ULB_OK;
    case ULB_FIELD_NUMBER:
        if (!json_is_number(value))
            return wrong_type(field->key, "a number", value, err);
        *(double *)(void *)at = json_number_value(value);
        return check_number(field->key, json_number_value(value), err);
    }
    return status;
}

static enum ulb_status read_list(const struct ulb_list *list, const json_t *object, int version, char *item,
                                 struct ulb_error *err)
{
    const char *key = list->key;
    const json_t *array = key ? json_object_get(object, key) : NULL;
    if (!key || (!array && (list->optional || version < list->since)))
        return ULB_OK; /* the struct is zeroed: none */
    if (!json_is_array(array))
        return wrong_type(key, "an array of numbers", array, err);
    size_t n = json_array_size(array);
    double *values = calloc(n ? n : 1, sizeof *values);
    if (!values)
        return no_memory(err);
    *(double **)(void *)(item + list->values) = values;
    *(size_t *)(void *)(item + list->n) = n;
    for (size_t i = 0; i < n; i++) {
        const json_t *value = json_array_get(array, i);
        if (!json_is_number(value))
            return wrong_type(key, "an array of numbers", value, err);
        values[i] = json_number_value(value);
        enum ulb_status status = check_number(key, values[i], err);
        if (status != ULB_OK)
            return status;
    }
    return ULB_OK;
}

static enum ulb_status read_inner(const struct ulb_inner *inner, const json_t *object, char *item,
                                  struct ulb_error *err)
{
    void *items;
    if (!inner->section)
        return ULB_OK;
    enum ulb_status status =
        ulb_section_read(object, inner->section, &items, (size_t *)(void *)(item + inner->n), err);
    memcpy(item + inner->items, &items, sizeof items);
    return status;
}

static enum ulb_status read_item(const struct ulb_section *section, const json_t *object, int version,
                                 char *item, struct ulb_error *err)
{
    if (!json_is_object(object))
        return ulb_fail(err, ULB_BAD_INPUT, "an object is needed, %s is there", type_name(object));
    enum ulb_status status = ULB_OK;
    for (size_t i = 0; i < section->n_fields && status == ULB_OK; i++)
        status = read_field(&section->fields[i], object, version, item, err);
    if (status == ULB_OK)
        status = read_list(&section->samples, object, version, item, err);
    if (status == ULB_OK)
        status = read_list(&section->more, object, version, item, err);
    if (status == ULB_OK)
        status = read_inner(&section->inner, object, item, err);
    return status;
}

static void free_list(const struct ulb_list *list, char *item)
{
    if (list->key)
        free(*(double **)(void *)(item + list->values));
}

static void free_item(const struct ulb_section *section, char *item)
{
    free_list(&section->samples, item);
    free_list(&section->more, item);
    size_t n = 0;
    if (section->inner.section)
        ulb_section_free(section->inner.section, inner_items(&section->inner, item, &n), n);
}

enum ulb_status ulb_section_read_item(const struct ulb_section *section, const json_t *object, size_t at,
                                      int version, void *item, struct ulb_error *err)
{
    char name[32];
    memset(item, 0, section->struct_bytes);
    enum ulb_status status = read_item(section, object, version, item, err);
    if (status == ULB_OK)
        return ULB_OK;
    free_item(section, item);
    return ulb_fail_prefix(err, status, "%s[%zu]", ulb_section_name(section, name), at);
}

enum ulb_status ulb_section_read(const json_t *root, const struct ulb_section *section, void **out, size_t *n,
                                 struct ulb_error *err)
{
    char name[32];
    const json_t *array = ulb_section_array(root, section);
    *out = NULL;
    *n = 0;
    const json_t *holder = json_object_get(root, section->parent ? section->parent : section->key);
    bool absent = section->optional && (!holder || json_is_null(holder));
    if (!array && !absent)
        return ulb_fail(err, ULB_BAD_INPUT, "%s: an array is needed", ulb_section_name(section, name));
    size_t size = json_array_size(array);
    int version = ulb_schema_version(root);
    char *items = calloc(size ? size : 1, section->struct_bytes);
    if (!items)
        return no_memory(err);
    for (size_t i = 0; i < size; i++) {
        enum ulb_status status = ulb_section_read_item(section, json_array_get(array, i), i, version,
                                                       items + i * section->struct_bytes, err);
        if (status != ULB_OK) {
            ulb_section_free(section, items, i);
            return status;
        }
    }
    *out = items;
    *n = size;
    return ULB_OK;
}

int ulb_schema_version(const json_t *root)
{
    return (int)json_integer_value(json_object_get(root, "schema_version"));
}

void ulb_section_free(const struct ulb_section *section, void *items, size_t n)
{
    char *item = items;
    for (size_t i = 0; items && i < n; i++, item += section->struct_bytes)
        free_item(section, item);
    free(items);
}
