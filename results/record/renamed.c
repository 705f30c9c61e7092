#include "results/record/renamed.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* The file, which ulb_embed() ends with a zero byte. */
extern const unsigned char ulb_renamed_csv[];

/* A field of a line of the table. */
struct field {
    const char *text;
    size_t length;
};

enum { KIND, OLD, NEW, N_FIELDS };

/* Reads the line at *at and moves on to the next; false at the end. What is no alias has a first field that
 * is no kind. */
static bool next_line(const char **at, struct field fields[N_FIELDS])
{
    const char *text = *at;
    if (*text == '\0')
        return false;
    for (size_t i = 0; i < N_FIELDS; i++) {
        size_t length = strcspn(text, i + 1 < N_FIELDS ? ",\n" : "\n");
        fields[i] = (struct field){text, length};
        text += length + (text[length] == ',');
    }
    *at = text + (*text == '\n');
    return true;
}

static bool equals(const struct field *field, const char *text, size_t length)
{
    return field->length == length && memcmp(field->text, text, length) == 0;
}

static bool is_kind(const struct field *field, const char *kind)
{
    return equals(field, kind, strlen(kind));
}

/* The present name of the first length bytes of name; NULL: it is the same. Records ask for each of their
 * texts: a line is taken apart only where the old name stands in it. */
static const char *find(enum ulb_name_kind kind, const char *name, size_t length, char out[ULB_NAME_BYTES])
{
    const char *word = kind == ULB_NAME_KERNEL ? "kernel," : "layout,";
    size_t behind = strlen(word);
    struct field fields[N_FIELDS];
    for (const char *at = (const char *)ulb_renamed_csv; *at; at = strchrnul(at, '\n'), at += *at == '\n') {
        const char *line = at;
        if (strncmp(line, word, behind) != 0 || strncmp(line + behind, name, length) != 0 ||
            line[behind + length] != ',')
            continue;
        next_line(&line, fields);
        snprintf(out, ULB_NAME_BYTES, "%.*s", (int)fields[NEW].length, fields[NEW].text);
        return out;
    }
    return NULL;
}

const char *ulb_current_name(enum ulb_name_kind kind, const char *name, char out[ULB_NAME_BYTES])
{
    const char *current = find(kind, name, strlen(name), out);
    return current ? current : name;
}

static size_t count_words(const char *text)
{
    size_t words = 1;
    for (; *text; text++)
        words += *text == ' ';
    return words;
}

char *ulb_current_key(const char *key, char *out, size_t bytes)
{
    enum { WORDS_WITH_LAYOUT = 9 };
    char kernel[ULB_NAME_BYTES], layout[ULB_NAME_BYTES];
    size_t first = strcspn(key, " ");
    const char *second = key + first + (key[first] == ' ');
    size_t second_length = count_words(key) >= WORDS_WITH_LAYOUT ? strcspn(second, " ") : 0;
    const char *kernel_now = find(ULB_NAME_KERNEL, key, first, kernel);
    const char *layout_now = find(ULB_NAME_LAYOUT, second, second_length, layout);
    snprintf(out, bytes, "%.*s%s%.*s%s", kernel_now ? ULB_NAME_BYTES : (int)first,
             kernel_now ? kernel_now : key, key[first] == ' ' ? " " : "",
             layout_now ? ULB_NAME_BYTES : (int)second_length, layout_now ? layout_now : second,
             second + second_length);
    return out;
}

/* --- a record --- */

static bool move_key(json_t *object, const char *old, const char *current)
{
    json_t *value = json_object_get(object, old);
    return !value || (json_object_set(object, current, value) == 0 && json_object_del(object, old) == 0);
}

/* Renames the key at a place, and its reason, below json, in each item of an array. */
static bool rename_key(json_t *json, const char *place, const char *current)
{
    char old[2 * ULB_NAME_BYTES], old_reason[sizeof old + 8], current_reason[ULB_NAME_BYTES + 8];
    size_t i, length = strcspn(place, ".");
    json_t *item;
    bool done = true;
    json_array_foreach(json, i, item)
    {
        done = done && rename_key(item, place, current);
    }
    snprintf(old, sizeof old, "%.*s", (int)length, place);
    if (!json_is_object(json))
        return done;
    if (place[length] == '.')
        return rename_key(json_object_get(json, old), place + length + 1, current);
    snprintf(old_reason, sizeof old_reason, "%s_reason", old);
    snprintf(current_reason, sizeof current_reason, "%s_reason", current);
    return move_key(json, old, current) && move_key(json, old_reason, current_reason);
}

/* Renames keys below json, which stands at a place of the record: "" or "cells.". */
static bool rename_keys(json_t *json, const char *at_place)
{
    struct field fields[N_FIELDS];
    bool done = true;
    for (const char *at = (const char *)ulb_renamed_csv; done && next_line(&at, fields);) {
        char place[2 * ULB_NAME_BYTES], current[ULB_NAME_BYTES];
        size_t above = strlen(at_place);
        if (!is_kind(&fields[KIND], "key") || strncmp(fields[OLD].text, at_place, above) != 0)
            continue;
        snprintf(place, sizeof place, "%.*s", (int)fields[OLD].length, fields[OLD].text);
        snprintf(current, sizeof current, "%.*s", (int)fields[NEW].length, fields[NEW].text);
        done = rename_key(json, place + above, current);
    }
    return done;
}

/* A text that is an old kernel's name means that kernel, whatever its key; layouts have a key of their own.
 */
static bool rename_text(const char *key, json_t *text)
{
    char name[ULB_NAME_BYTES];
    const char *old = json_string_value(text);
    const char *current =
        ulb_current_name(strcmp(key, "layout") == 0 ? ULB_NAME_LAYOUT : ULB_NAME_KERNEL, old, name);
    return current == old || json_string_set(text, current) == 0;
}

static bool rename_texts(const char *key, json_t *json)
{
    const char *inner;
    json_t *item;
    size_t i;
    bool done = !json_is_string(json) || rename_text(key, json);
    json_array_foreach(json, i, item)
    {
        done = done && rename_texts(key, item);
    }
    json_object_foreach(json, inner, item)
    {
        done = done && rename_texts(inner, item);
    }
    return done;
}

static enum ulb_status rename_below(json_t *json, const char *place, struct ulb_error *err)
{
    return rename_keys(json, place) && rename_texts("", json)
               ? ULB_OK
               : ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for its names");
}

enum ulb_status ulb_rename_record(json_t *root, struct ulb_error *err)
{
    return rename_below(root, "", err);
}

enum ulb_status ulb_rename_cell(json_t *cell, struct ulb_error *err)
{
    return rename_below(cell, "cells.", err);
}
