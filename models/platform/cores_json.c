#include "models/platform/cores.h"

#include "common/json.h"
#include "models/platform/json_read.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_CORES = 64, MAX_ROWS = 32 };

static const struct ulb_range slots_range = {0, 64, false, "a number from 0 to 64"};
static const struct ulb_range cycles_range = {0.01, 64, false, "a number from 0.01 to 64"};
static const struct ulb_range bytes_range = {1, 1024, false, "a number from 1 to 1024"};
static const struct ulb_range width_range = {1, 64, false, "a number from 1 to 64"};
static const struct ulb_range family_range = {0, 0x10E, true, "a whole number from 0 to 270"};

static const char *const width_keys[ULB_WIDTHS] = {"256", "512", "128"};

/* Copies the next word of a text in which blanks divide; returns what is behind it, NULL at the end. */
static const char *next_word(const char *text, char *word, size_t bytes)
{
    text += strspn(text, " ");
    size_t length = strcspn(text, " ");
    if (length == 0)
        return NULL;
    snprintf(word, bytes, "%.*s", (int)length, text);
    return text + length;
}

/* --- ports --- */

/* Bit of a pipe; a name not met before gets the next one. Fails when the core has no room for it. */
static bool pipe_bit(struct ulb_core *core, const char *name, uint32_t *bit)
{
    size_t p = 0;
    while (p < core->n_pipes && strcmp(core->pipe_names[p], name) != 0)
        p++;
    if (p == ULB_MAX_PIPES || strlen(name) >= sizeof core->pipe_names[0])
        return false;
    if (p == core->n_pipes)
        snprintf(core->pipe_names[core->n_pipes++], sizeof core->pipe_names[0], "%s", name);
    *bit = (uint32_t)1 << p;
    return true;
}

static enum ulb_status parse_pipes(const struct ulb_place *place, const char *words, struct ulb_core *core,
                                   uint32_t *pipes, struct ulb_error *err)
{
    char word[32];
    uint32_t bit;
    *pipes = 0;
    for (const char *rest = words; (rest = next_word(rest, word, sizeof word));) {
        if (!pipe_bit(core, word, &bit))
            return ulb_fail(err, ULB_BAD_INPUT,
                            "%s: %s pipe '%s': a core has at most %d pipes, with names of 1 to 7 characters",
                            place->origin, place->path, word, ULB_MAX_PIPES);
        *pipes |= bit;
    }
    if (*pipes == 0)
        return ulb_fail(err, ULB_BAD_INPUT, "%s: %s names no pipe; give words such as \"p0 p1\"",
                        place->origin, place->path);
    return ULB_OK;
}

static enum ulb_status parse_work(const struct ulb_place *row, struct ulb_core *core,
                                  struct ulb_op_cost *cost, struct ulb_error *err)
{
    static const char wanted[] = "an object of 1 to 3 pipe sets with their cycles";
    const json_t *on;
    enum ulb_status status = ulb_json_require(row, "on", wanted, &on, err);
    if (status != ULB_OK)
        return status;
    if (json_object_size(on) < 1 || json_object_size(on) > ULB_MAX_WORK)
        return ulb_json_refuse(row, "on", wanted, on, err);
    struct ulb_place place = {.origin = row->origin, .object = on};
    snprintf(place.path, sizeof place.path, "%.60son.", row->path);
    json_t *object = (json_t *)on; /* jansson iterates over non-const objects only */
    for (void *at = json_object_iter(object); at && status == ULB_OK;
         at = json_object_iter_next(object, at)) {
        struct ulb_pipe_work *work = &cost->work[cost->n_work++];
        status = parse_pipes(&place, json_object_iter_key(at), core, &work->pipes, err);
        if (status == ULB_OK)
            status = ulb_json_number(&place, json_object_iter_key(at), &cycles_range, &work->cycles, err);
    }
    return status;
}

static enum ulb_status find_op(const struct ulb_place *place, const char *word, enum ulb_op *op,
                               struct ulb_error *err)
{
    char known[256] = "";
    for (*op = 0; *op < ULB_OP_COUNT; (*op)++) {
        size_t used = strlen(known);
        if (strcmp(ulb_op_name(*op), word) == 0)
            return ULB_OK;
        snprintf(known + used, sizeof known - used, "%s%s", used ? ", " : "", ulb_op_name(*op));
    }
    return ulb_fail(err, ULB_BAD_INPUT, "%s: %sops: unknown kind of instruction '%s'; known are %s",
                    place->origin, place->path, word, known);
}

static enum ulb_status set_cost(const struct ulb_place *place, const char *word, size_t width,
                                const struct ulb_op_cost *cost, struct ulb_core *core, struct ulb_error *err)
{
    enum ulb_op op;
    enum ulb_status status = find_op(place, word, &op, err);
    if (status != ULB_OK)
        return status;
    if (core->costs[width][op].known)
        return ulb_fail(err, ULB_BAD_INPUT, "%s: %sops: %s occurs twice at this width; remove one",
                        place->origin, place->path, word);
    if ((op == ULB_OP_dot_products || op == ULB_OP_fmas) && isnan(cost->latency))
        return ulb_fail(err, ULB_BAD_INPUT, "%s: %slatency is missing; chains of %s need it", place->origin,
                        place->path, word);
    core->costs[width][op] = *cost;
    return ULB_OK;
}

static enum ulb_status parse_row(const struct ulb_place *place, size_t width, struct ulb_core *core,
                                 struct ulb_error *err)
{
    static const char *const keys[] = {"ops", "uops", "latency", "on"};
    struct ulb_op_cost cost = {.known = true, .latency = NAN};
    char ops[160], word[32];
    enum ulb_status status = ulb_json_known_keys(place, keys, sizeof keys / sizeof *keys, err);
    if (status == ULB_OK)
        status = ulb_json_string(place, "ops", ops, sizeof ops, err);
    if (status == ULB_OK)
        status = ulb_json_number(place, "uops", &slots_range, &cost.uops, err);
    if (status == ULB_OK && json_object_get(place->object, "latency"))
        status = ulb_json_number(place, "latency", &cycles_range, &cost.latency, err);
    if (status == ULB_OK)
        status = parse_work(place, core, &cost, err);
    const char *rest = ops;
    while (status == ULB_OK && (rest = next_word(rest, word, sizeof word)))
        status = set_cost(place, word, width, &cost, core, err);
    return status;
}

static enum ulb_status parse_width(const struct ulb_place *ports, size_t width, struct ulb_core *core,
                                   struct ulb_error *err)
{
    const json_t *rows;
    enum ulb_status status = ulb_json_list(ports, width_keys[width], 1, MAX_ROWS, &rows, err);
    for (size_t i = 0; status == ULB_OK && i < json_array_size(rows); i++) {
        struct ulb_place row;
        ulb_json_enter(&row, ports, width_keys[width], i, json_array_get(rows, i));
        status = parse_row(&row, width, core, err);
    }
    return status;
}

/* Takes over one port table, as far as the core has vectors of its widths. */
static enum ulb_status parse_ports(const struct ulb_place *ports, struct ulb_core *core,
                                   struct ulb_error *err)
{
    static const char *const keys[] = {"name", "load_pipes", "inferred", "source", "256", "512", "128"};
    char load_pipes[64];
    const json_t *inferred;
    enum ulb_status status = ulb_json_known_keys(ports, keys, sizeof keys / sizeof *keys, err);
    if (status == ULB_OK)
        status = ulb_json_string(ports, "source", core->source, sizeof core->source, err);
    if (status == ULB_OK)
        status = ulb_json_string(ports, "load_pipes", load_pipes, sizeof load_pipes, err);
    if (status == ULB_OK)
        status = parse_pipes(ports, load_pipes, core, &core->load_pipes, err);
    if (status == ULB_OK)
        status = ulb_json_require(ports, "inferred", "true or false", &inferred, err);
    if (status == ULB_OK && !json_is_boolean(inferred))
        status = ulb_json_refuse(ports, "inferred", "true or false", inferred, err);
    if (status == ULB_OK)
        core->inferred = json_is_true(inferred);
    for (size_t w = 0; w < ULB_WIDTHS && status == ULB_OK; w++) {
        if (core->load_bytes[w] > 0)
            status = parse_width(ports, w, core, err);
    }
    return status;
}

/* --- cores --- */

/* "97" or "20-5f", hexadecimal. */
static bool parse_span(const char *word, unsigned *first, unsigned *last)
{
    char *end;
    if (!isxdigit((unsigned char)word[0]))
        return false;
    unsigned long low = strtoul(word, &end, 16), high = low;
    if (*end == '-' && isxdigit((unsigned char)end[1]))
        high = strtoul(end + 1, &end, 16);
    *first = (unsigned)low;
    *last = (unsigned)high;
    return *end == '\0' && low <= high && high <= 0xFFF;
}

static enum ulb_status parse_models(const struct ulb_place *place, struct ulb_core *core,
                                    struct ulb_error *err)
{
    static const char *const keys[] = {"vendor", "family", "models", "classes"};
    struct ulb_core_models models;
    char spans[64], word[32];
    double family;
    enum ulb_status status = ulb_json_known_keys(place, keys, sizeof keys / sizeof *keys, err);
    if (status == ULB_OK)
        status = ulb_json_string(place, "vendor", models.vendor, sizeof models.vendor, err);
    if (status == ULB_OK)
        status = ulb_json_number(place, "family", &family_range, &family, err);
    if (status == ULB_OK)
        status = ulb_json_string(place, "classes", models.classes, sizeof models.classes, err);
    if (status == ULB_OK)
        status = ulb_json_string(place, "models", spans, sizeof spans, err);
    if (status != ULB_OK)
        return status;
    models.family = (unsigned)family;
    for (const char *rest = spans; (rest = next_word(rest, word, sizeof word));) {
        if (!parse_span(word, &models.first, &models.last) || core->n_models == ULB_MAX_CORE_MODELS)
            return ulb_fail(
                err, ULB_BAD_INPUT,
                "%s: %smodels: '%s' must be a model or a range of them in hexadecimal, at most %d "
                "for a core",
                place->origin, place->path, word, ULB_MAX_CORE_MODELS);
        core->models[core->n_models++] = models;
    }
    return ULB_OK;
}

static enum ulb_status parse_load_bytes(const struct ulb_place *place, struct ulb_core *core,
                                        struct ulb_error *err)
{
    static const char wanted[] =
        "an object with the numbers 256 and, where there are such vectors, 512, or the number 128";
    const json_t *value;
    enum ulb_status status = ulb_json_require(place, "load_bytes_per_cycle", wanted, &value, err);
    if (status != ULB_OK)
        return status;
    if (!json_is_object(value))
        return ulb_json_refuse(place, "load_bytes_per_cycle", wanted, value, err);
    struct ulb_place bytes = {.origin = place->origin, .object = value};
    snprintf(bytes.path, sizeof bytes.path, "%.40sload_bytes_per_cycle.", place->path);
    status = ulb_json_known_keys(&bytes, width_keys, ULB_WIDTHS, err);
    for (size_t w = 0; w < ULB_WIDTHS && status == ULB_OK; w++) {
        if ((w == 0 && !json_object_get(value, "128")) || json_object_get(value, width_keys[w]))
            status = ulb_json_number(&bytes, width_keys[w], &bytes_range, &core->load_bytes[w], err);
    }
    return status;
}

static enum ulb_status parse_isa(const struct ulb_place *place, struct ulb_core *core, struct ulb_error *err)
{
    char isa[256];
    enum ulb_status status = ulb_json_string(place, "isa", isa, sizeof isa, err);
    if (status == ULB_OK && ulb_isa_parse(isa, &core->isa, err) != ULB_OK)
        status = ulb_fail_prefix(err, ULB_BAD_INPUT, "%s: %sisa", place->origin, place->path);
    return status;
}

static enum ulb_status attach_ports(const struct ulb_place *root, const struct ulb_place *place,
                                    struct ulb_core *core, struct ulb_error *err)
{
    char name[32];
    const json_t *tables;
    enum ulb_status status = ulb_json_string(place, "ports", name, sizeof name, err);
    if (status == ULB_OK)
        status = ulb_json_list(root, "ports", 1, MAX_CORES, &tables, err);
    if (status != ULB_OK)
        return status;
    for (size_t i = 0; i < json_array_size(tables); i++) {
        struct ulb_place ports;
        ulb_json_enter(&ports, root, "ports", i, json_array_get(tables, i));
        const char *found = json_string_value(json_object_get(ports.object, "name"));
        if (found && strcmp(found, name) == 0)
            return parse_ports(&ports, core, err);
    }
    return ulb_fail(err, ULB_BAD_INPUT, "%s: %sports: there is no port table '%s'", place->origin,
                    place->path, name);
}

static enum ulb_status parse_core(const struct ulb_place *root, const struct ulb_place *place,
                                  struct ulb_core *core, struct ulb_error *err)
{
    static const char *const keys[] = {"name", "chips", "ports", "issue_width", "load_bytes_per_cycle",
                                       "isa",  "models"};
    const json_t *models;
    enum ulb_status status = ulb_json_known_keys(place, keys, sizeof keys / sizeof *keys, err);
    if (status == ULB_OK)
        status = ulb_json_string(place, "name", core->name, sizeof core->name, err);
    if (status == ULB_OK)
        status = ulb_json_string(place, "chips", core->chips, sizeof core->chips, err);
    if (status == ULB_OK)
        status = ulb_json_number(place, "issue_width", &width_range, &core->issue_width, err);
    if (status == ULB_OK)
        status = parse_load_bytes(place, core, err);
    if (status == ULB_OK)
        status = parse_isa(place, core, err);
    if (status == ULB_OK)
        status = ulb_json_list(place, "models", 0, ULB_MAX_CORE_MODELS, &models, err);
    for (size_t i = 0; status == ULB_OK && i < json_array_size(models); i++) {
        struct ulb_place at;
        ulb_json_enter(&at, place, "models", i, json_array_get(models, i));
        status = parse_models(&at, core, err);
    }
    return status == ULB_OK ? attach_ports(root, place, core, err) : status;
}

static enum ulb_status parse_document(const struct ulb_place *root, struct ulb_core_list *list,
                                      struct ulb_error *err)
{
    static const char *const keys[] = {"cores", "ports"};
    const json_t *cores;
    enum ulb_status status = ulb_json_known_keys(root, keys, sizeof keys / sizeof *keys, err);
    if (status == ULB_OK)
        status = ulb_json_list(root, "cores", 1, MAX_CORES, &cores, err);
    if (status != ULB_OK)
        return status;
    list->items = calloc(json_array_size(cores), sizeof *list->items);
    if (!list->items)
        return ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for the table of cores");
    for (size_t i = 0; status == ULB_OK && i < json_array_size(cores); i++) {
        struct ulb_core *core = &list->items[i];
        struct ulb_place place;
        ulb_json_enter(&place, root, "cores", i, json_array_get(cores, i));
        status = parse_core(root, &place, core, err);
        if (status == ULB_OK && ulb_core_find(list, core->name))
            status = ulb_fail(err, ULB_BAD_INPUT, "%s: cores[%zu].name '%s' occurs twice; rename one",
                              root->origin, i, core->name);
        list->n = i + 1;
    }
    return status;
}

enum ulb_status ulb_core_list_parse(const char *text, size_t bytes, const char *origin,
                                    struct ulb_core_list *list, struct ulb_error *err)
{
    *list = (struct ulb_core_list){0};
    json_t *document;
    enum ulb_status status = ulb_json_load(&document, text, bytes, JSON_REJECT_DUPLICATES, origin, err);
    if (status != ULB_OK)
        return status;
    if (json_is_object(document)) {
        struct ulb_place root = {.origin = origin, .object = document};
        status = parse_document(&root, list, err);
    } else {
        status =
            ulb_fail(err, ULB_BAD_INPUT, "%s: holds no JSON object; give one with cores and ports", origin);
    }
    json_decref(document);
    return status;
}
