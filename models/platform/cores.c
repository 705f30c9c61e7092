#include "models/platform/cores.h"

#include "models/platform/embedded.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum ulb_status ulb_core_list_load(struct ulb_core_list *list, struct ulb_error *err)
{
    const char *text = (const char *)ulb_cores_json;
    return ulb_core_list_parse(text, strlen(text), "cores.json", list, err);
}

void ulb_core_list_free(struct ulb_core_list *list)
{
    free(list->items);
    *list = (struct ulb_core_list){0};
}

const struct ulb_core *ulb_core_find(const struct ulb_core_list *list, const char *name)
{
    for (size_t i = 0; i < list->n; i++) {
        if (strcmp(list->items[i].name, name) == 0)
            return &list->items[i];
    }
    return NULL;
}

/* --- which core is it --- */

static bool has_word(const char *words, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = words; *at; at += strcspn(at, " "), at += *at == ' ') {
        if (strcspn(at, " ") == length && strncmp(at, word, length) == 0)
            return true;
    }
    return false;
}

static bool is_model(const struct ulb_core_models *models, const struct ulb_cpu_signature *cpu)
{
    return strcmp(models->vendor, cpu->vendor) == 0 && models->family == cpu->family &&
           models->first <= cpu->model && cpu->model <= models->last;
}

const struct ulb_core *ulb_core_identify(const struct ulb_core_list *list,
                                         const struct ulb_cpu_signature *cpu, ulb_isa_set isa,
                                         const char *class_name, char reason[ULB_CORE_REASON_BYTES])
{
    char names[96];
    bool known_chip = false;
    for (size_t i = 0; i < list->n; i++) {
        const struct ulb_core *core = &list->items[i];
        for (size_t m = 0; m < core->n_models; m++) {
            if (!is_model(&core->models[m], cpu))
                continue;
            known_chip = true;
            if (!has_word(core->models[m].classes, class_name) && !has_word(core->models[m].classes, "any"))
                continue;
            if ((isa & ~core->isa) == 0)
                return core;
            snprintf(reason, ULB_CORE_REASON_BYTES, "CPUID names %s, but the CPU has %s, which that lacks",
                     core->name, ulb_isa_names(isa & ~core->isa, names, sizeof names));
            return NULL;
        }
    }
    if (known_chip)
        snprintf(reason, ULB_CORE_REASON_BYTES,
                 "the chip holds several kinds of core, and nothing tells which of them class %s is",
                 class_name);
    else
        snprintf(reason, ULB_CORE_REASON_BYTES, "%s family %u model %u is not in the table of cores",
                 cpu->vendor[0] ? cpu->vendor : "a CPU without CPUID,", cpu->family, cpu->model);
    return NULL;
}

/* --- bounds --- */

bool ulb_core_bound(const struct ulb_core *core, const struct ulb_mix *mix, ulb_isa_set needs,
                    struct ulb_port_bound *bound, char reason[ULB_CORE_REASON_BYTES])
{
    enum ulb_op missing;
    ulb_isa_set lacks = needs & ~core->isa;
    char first[32];
    int others = __builtin_popcountll(lacks) - 1;
    *bound = ulb_port_bound(core, mix, &missing);
    ulb_isa_names(lacks & -lacks, first, sizeof first);
    if (others == 0)
        snprintf(reason, ULB_CORE_REASON_BYTES, "lacks %s", first);
    else if (others > 0)
        snprintf(reason, ULB_CORE_REASON_BYTES, "lacks %s and %d more", first, others);
    else if (missing < ULB_OP_COUNT)
        snprintf(reason, ULB_CORE_REASON_BYTES, "no %s of %u bits in its port table", ulb_op_name(missing),
                 mix->vector_bits);
    else if (isnan(bound->cycles))
        snprintf(reason, ULB_CORE_REASON_BYTES, "the kernel states no instruction mix");
    else
        reason[0] = '\0';
    return reason[0] == '\0';
}

/* --- JSON --- */

static json_t *word_list(const char *comma_list)
{
    json_t *list = json_array();
    for (const char *at = comma_list; *at; at += strcspn(at, ","), at += *at == ',')
        json_array_append_new(list, json_stringn(at, strcspn(at, ",")));
    return list;
}

static json_t *work_json(const struct ulb_core *core, const struct ulb_op_cost *cost)
{
    json_t *on = json_object();
    for (size_t w = 0; w < cost->n_work; w++) {
        char pipes[ULB_MAX_PIPES * 9] = "";
        for (size_t p = 0; p < core->n_pipes; p++) {
            size_t used = strlen(pipes);
            if (cost->work[w].pipes >> p & 1)
                snprintf(pipes + used, sizeof pipes - used, "%s%s", used ? " " : "", core->pipe_names[p]);
        }
        json_object_set_new(on, pipes, json_real(cost->work[w].cycles));
    }
    return on;
}

static json_t *costs_json(const struct ulb_core *core, size_t width)
{
    json_t *costs = json_object();
    for (enum ulb_op op = 0; op < ULB_OP_COUNT; op++) {
        const struct ulb_op_cost *cost = &core->costs[width][op];
        if (!cost->known)
            continue;
        json_t *row = json_pack("{s:f, s:o}", "uops", cost->uops, "on", work_json(core, cost));
        if (!isnan(cost->latency))
            json_object_set_new(row, "latency", json_real(cost->latency));
        json_object_set_new(costs, ulb_op_name(op), row);
    }
    return costs;
}

json_t *ulb_core_json(const struct ulb_core *core)
{
    static const char *const widths[ULB_WIDTHS] = {"256", "512", "128"};
    char isa[256];
    json_t *bytes = json_object(), *ports = json_object();
    for (size_t w = 0; w < ULB_WIDTHS; w++) {
        if (!(core->load_bytes[w] > 0))
            continue;
        json_object_set_new(bytes, widths[w], json_real(core->load_bytes[w]));
        json_object_set_new(ports, widths[w], costs_json(core, w));
    }
    return json_pack("{s:s, s:s, s:f, s:o, s:o, s:b, s:s, s:o}", "name", core->name, "chips", core->chips,
                     "issue_width", core->issue_width, "load_bytes_per_cycle", bytes, "isa",
                     word_list(ulb_isa_names(core->isa, isa, sizeof isa)), "pipes_inferred", core->inferred,
                     "source", core->source, "ports", ports);
}
