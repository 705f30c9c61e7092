#include "harness/analysis/explain.h"

#include "harness/bandwidth/beta.h"
#include "harness/session/json_number.h"
#include "models/platform/platform.h"
#include "models/models.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char no_chains[] = "no chain of accumulators limits it";

/* --- the mix --- */

static json_t *mix_json(const struct ulb_mix *mix)
{
    json_t *object = json_object();
    for (enum ulb_op op = 0; op < ULB_OP_COUNT; op++)
        json_object_set_new(object, ulb_op_name(op), json_real(ulb_mix_count(mix, op)));
    return object;
}

static void set_count(json_t *row, const char *key, unsigned value, const char *reason)
{
    if (value > 0)
        json_object_set_new(row, key, json_integer(value));
    else
        ulb_set_figure(row, key, NAN, reason);
}

static void set_mix(json_t *document, const struct ulb_mix *mix)
{
    static const char no_mix[] = "the kernel states no instruction mix";
    bool known = mix->vector_bits > 0;
    json_object_set_new(document, "mix", known ? mix_json(mix) : json_null());
    if (!known)
        json_object_set_new(document, "mix_reason", json_string(no_mix));
    set_count(document, "vector_bits", mix->vector_bits, no_mix);
    set_count(document, "chains", mix->chains, known ? no_chains : no_mix);
}

/* --- bounds of the known cores --- */

static json_t *bound_row(const struct ulb_core *core, const struct ulb_mix *mix, ulb_isa_set needs)
{
    static const char *const keys[ULB_LIMITS] = {
        [ULB_LIMIT_VECTOR] = "vector_ports_cycles",
        [ULB_LIMIT_LOADS] = "loads_cycles",
        [ULB_LIMIT_FRONT_END] = "front_end_cycles",
        [ULB_LIMIT_LATENCY] = "latency_cycles",
    };
    struct ulb_port_bound bound;
    char reason[ULB_CORE_REASON_BYTES];
    bool known = ulb_core_bound(core, mix, needs, &bound, reason);
    json_t *row = json_pack("{s:s, s:s, s:b, s:s}", "core", core->name, "chips", core->chips,
                            "pipes_inferred", core->inferred, "source", core->source);
    if (core->inferred)
        json_object_set_new(row, "note", json_string("pipes inferred from throughput"));
    ulb_set_figure(row, "bound_cycles", known ? bound.cycles : NAN, reason);
    ulb_set_text(row, "decided_by", known ? ulb_limit_name(bound.decides) : NULL, reason);
    for (size_t i = 0; i < ULB_LIMITS; i++) {
        bool limits = known && (i != ULB_LIMIT_LATENCY || mix->chains > 0);
        ulb_set_figure(row, keys[i], limits ? bound.limits[i] : NAN, known ? no_chains : reason);
    }
    return row;
}

static json_t *bound_rows(const struct ulb_explain *explain, const struct ulb_kernel *kernel,
                          const struct ulb_mix *mix)
{
    const ulb_isa_set arm = ULB_ISA_NEON | ULB_ISA_SVE;
    const bool for_arm = (kernel->needs ? kernel->needs : explain->isa) & arm;
    json_t *rows = json_array();
    for (size_t i = 0; i < explain->cores->n; i++) {
        const struct ulb_core *core = &explain->cores->items[i];
        if (for_arm == ((core->isa & arm) != 0)) /* those of the other architecture say nothing */
            json_array_append_new(rows, bound_row(core, mix, kernel->needs));
    }
    return rows;
}

/* What a register tile's products alone take, as the compute limit makes them (kernels/peak). Without
 * vector_bits if the kernel makes them otherwise. */
static struct ulb_mix products_of(const struct ulb_kernel *kernel)
{
    struct ulb_mix products = {.vector_bits = kernel->tile_mix.vector_bits};
    const double weights = 32.0 * kernel->nr / fmax(1, products.vector_bits);
    if (kernel->activation == ULB_ACT_F32)
        products.fmas = 32 * weights;
    else if (kernel->tile_mix.dot_products > 0)
        products.dot_products = (kernel->activation == ULB_ACT_BF16 ? 16 : 8) * weights;
    else
        products.vector_bits = 0;
    return products;
}

/* Of a bound of the kernel's register tile: cycles of a token, and the share of the compute limit that it
 * allows. */
static void set_tile_figures(json_t *row, const struct ulb_explain *explain, const struct ulb_kernel *kernel)
{
    const json_t *cycles = json_object_get(row, "bound_cycles");
    const char *why = json_string_value(json_object_get(row, "bound_cycles_reason"));
    const struct ulb_mix products = products_of(kernel);
    const struct ulb_core *core =
        ulb_core_find(explain->cores, json_string_value(json_object_get(row, "core")));
    double bound = json_is_number(cycles) ? json_number_value(cycles) : NAN, alone = NAN;
    struct ulb_port_bound limit;
    char reason[ULB_CORE_REASON_BYTES];
    if (products.vector_bits > 0 && core && ulb_core_bound(core, &products, kernel->needs, &limit, reason))
        alone = limit.cycles;
    ulb_set_figure(row, "bound_cycles_per_token", bound / kernel->nr, why);
    ulb_set_figure(row, "peak_share", alone / bound,
                   why ? why : "its products are not those of the compute limit");
}

/* The same for the tokens of the kernel's register tile at once, where these are several. */
static void set_tile(json_t *document, const struct ulb_explain *explain, const struct ulb_kernel *kernel)
{
    if (kernel->nr < 2) {
        ulb_set_text(document, "tile", NULL, "the kernel takes one token at a time");
        return;
    }
    json_t *tile = json_pack("{s:i, s:o}", "tokens", (int)kernel->nr, "bounds",
                             bound_rows(explain, kernel, &kernel->tile_mix)),
           *row;
    size_t i;
    set_mix(tile, &kernel->tile_mix);
    json_array_foreach(json_object_get(tile, "bounds"), i, row) set_tile_figures(row, explain, kernel);
    json_object_set_new(document, "tile", tile);
}

/* NAN with the reason. */
static double core_bound(const struct ulb_core *core, const struct ulb_kernel *kernel,
                         char reason[ULB_CORE_REASON_BYTES])
{
    struct ulb_port_bound bound;
    char why[ULB_CORE_REASON_BYTES];
    if (ulb_core_bound(core, &kernel->mix, kernel->needs, &bound, why))
        return bound.cycles;
    snprintf(reason, ULB_CORE_REASON_BYTES, "%.23s: %.130s", core->name, why);
    return NAN;
}

/* --- what was measured --- */

/* gamma of the kernel on a class, from the record; NAN with the reason. */
static double measured_gamma(const struct ulb_explain *explain, const struct ulb_kernel *kernel,
                             const char *class_name, char reason[ULB_CORE_REASON_BYTES])
{
    const json_t *cells = json_object_get(json_object_get(explain->record->root, "gamma"), "cells"), *cell;
    char name[ULB_KERNEL_NAME_MAX], missing[96];
    ulb_isa_set lacks = kernel->needs & ~(explain->isa & ~explain->masked);
    size_t i;
    ulb_kernel_name(kernel, name);
    snprintf(reason, ULB_CORE_REASON_BYTES, "not measured on class %s", class_name);
    if (lacks)
        snprintf(reason, ULB_CORE_REASON_BYTES, "cannot run here: missing %s",
                 ulb_isa_names(lacks, missing, sizeof missing));
    json_array_foreach(cells, i, cell)
    {
        const json_t *gamma = json_object_get(cell, "gamma_cycles");
        if (strcmp(json_string_value(json_object_get(cell, "kernel")), name) == 0 &&
            strcmp(json_string_value(json_object_get(cell, "class")), class_name) == 0 &&
            json_is_number(gamma))
            return json_number_value(gamma);
    }
    return NAN;
}

/* The core of a class of this machine's topology, by what its first PU says of itself; NULL with the reason.
 */
static const struct ulb_core *core_of_class(const struct ulb_explain *explain, const json_t *cls,
                                            char reason[ULB_CORE_REASON_BYTES])
{
    const json_t *pu = json_array_get(json_object_get(cls, "pus"), 0);
    const struct ulb_cpu_signature cpu = ulb_cpu_signature_of((unsigned)json_integer_value(pu));
    return ulb_core_identify(explain->cores, &cpu, explain->isa,
                             json_string_value(json_object_get(cls, "name")), reason);
}

static json_t *measured_row(const struct ulb_explain *explain, const struct ulb_kernel *kernel,
                            const json_t *cls)
{
    char no_gamma[ULB_CORE_REASON_BYTES], no_core[ULB_CORE_REASON_BYTES] = "";
    const char *class_name = json_string_value(json_object_get(cls, "name"));
    double gamma = measured_gamma(explain, kernel, class_name, no_gamma), bound = NAN;
    const struct ulb_core *core = core_of_class(explain, cls, no_core);
    json_t *row = json_pack("{s:s}", "class", class_name);
    ulb_set_text(row, "core", core ? core->name : NULL, no_core);
    if (core)
        bound = core_bound(core, kernel, no_core);
    ulb_set_figure(row, "gamma_cycles", gamma, no_gamma);
    ulb_set_figure(row, "bound_cycles", bound, no_core);
    ulb_set_figure(row, "ratio", gamma / bound, isfinite(bound) ? no_gamma : no_core);
    ulb_set_figure(row, "ceiling_bytes_per_cycle", ulb_compute_ceiling(kernel->bytes_per_step, gamma),
                   no_gamma);
    return row;
}

/* --- where memory takes over --- */

/* One class of a platform, or of this machine. */
struct place {
    const char *where, *class_name;
    const struct ulb_core *core;
    double beta;
    char no_core[ULB_CORE_REASON_BYTES]; /* why core is NULL */
    const char *no_beta;
};

/* Where the compute ceiling B/gamma meets the slope, with one gamma. */
static json_t *turning_row(const struct place *place, const struct ulb_kernel *kernel, const char *from,
                           double gamma, const char *no_gamma)
{
    double turn = ulb_compute_ceiling(kernel->bytes_per_step, gamma);
    bool known = isfinite(turn) && isfinite(place->beta);
    json_t *row =
        json_pack("{s:s, s:s, s:s}", "where", place->where, "class", place->class_name, "gamma_from", from);
    ulb_set_text(row, "core", place->core ? place->core->name : NULL, place->no_core);
    ulb_set_figure(row, "beta_bytes_per_cycle", place->beta, place->no_beta);
    ulb_set_figure(row, "gamma_cycles", gamma, no_gamma);
    ulb_set_figure(row, "turn_beta_bytes_per_cycle", turn, no_gamma);
    ulb_set_text(row, "bound",
                 known ? ulb_bound_name(ulb_roofline_bound(place->beta, kernel->bytes_per_step, gamma))
                       : NULL,
                 isfinite(turn) ? place->no_beta : no_gamma);
    return row;
}

/* The class measured here whose gamma stands for a class of another machine: the one of its name, else the
 * first. */
static const char *class_like(const struct ulb_explain *explain, const char *class_name)
{
    const json_t *classes = json_object_get(json_object_get(explain->record->root, "topology"), "classes"),
                 *c;
    size_t i;
    json_array_foreach(classes, i, c)
    {
        const char *name = json_string_value(json_object_get(c, "name"));
        if (strcmp(name, class_name) == 0)
            return name;
    }
    const char *first = json_string_value(json_object_get(json_array_get(classes, 0), "name"));
    return first ? first : class_name;
}

/* The two rows of a place: with gamma as measured here, and with the port bound of the place's own core. A
 * kernel that the core cannot run turns nowhere. */
static void add_turns(json_t *rows, const struct ulb_explain *explain, const struct ulb_kernel *kernel,
                      const struct place *place)
{
    const char *like = class_like(explain, place->class_name);
    char no_gamma[ULB_CORE_REASON_BYTES], no_bound[ULB_CORE_REASON_BYTES];
    double bound = NAN, gamma = measured_gamma(explain, kernel, like, no_gamma);
    snprintf(no_bound, sizeof no_bound, "%s", place->no_core);
    if (place->core)
        bound = core_bound(place->core, kernel, no_bound);
    if (place->core && (kernel->needs & ~place->core->isa)) {
        gamma = NAN;
        snprintf(no_gamma, sizeof no_gamma, "%s", no_bound);
    }
    json_t *measured = turning_row(place, kernel, "measured here", gamma, no_gamma);
    json_object_set_new(measured, "gamma_class", json_string(like));
    json_array_append_new(rows, measured);
    json_array_append_new(rows, turning_row(place, kernel, "port bound", bound, no_bound));
}

static void add_platform(json_t *rows, const struct ulb_explain *explain, const struct ulb_kernel *kernel,
                         const struct ulb_platform *platform)
{
    for (size_t i = 0; i < platform->n_classes + platform->n_unused; i++) {
        bool used = i < platform->n_classes;
        const struct ulb_platform_class *class =
            used ? &platform->classes[i] : &platform->unused[i - platform->n_classes];
        struct place place = {
            .where = platform->name,
            .class_name = class->name,
            .core = ulb_core_find(explain->cores, class->core),
            .beta = used ? ulb_platform_beta(platform, i) : NAN,
            .no_core = "the platform file names no core",
            .no_beta = "the platform's source leaves these cores idle",
        };
        add_turns(rows, explain, kernel, &place);
    }
}

static void add_this_machine(json_t *rows, const struct ulb_explain *explain, const struct ulb_kernel *kernel,
                             const json_t *cls)
{
    const char *class_name = json_string_value(json_object_get(cls, "name"));
    struct place place = {
        .where = "this machine",
        .class_name = class_name,
        .beta = ulb_beta_of_class(explain->record, class_name),
        .no_beta = "not measured",
    };
    place.core = core_of_class(explain, cls, place.no_core);
    add_turns(rows, explain, kernel, &place);
}

enum ulb_status ulb_explain_kernel(const struct ulb_explain *explain, const struct ulb_kernel *kernel,
                                   json_t **out, struct ulb_error *err)
{
    const json_t *classes = json_object_get(json_object_get(explain->record->root, "topology"), "classes"),
                 *c;
    char name[ULB_KERNEL_NAME_MAX];
    json_t *measured = json_array(), *turns = json_array();
    enum ulb_status status = ULB_OK;
    size_t i;
    json_array_foreach(classes, i, c)
    {
        json_array_append_new(measured, measured_row(explain, kernel, c));
        add_this_machine(turns, explain, kernel, c);
    }
    for (i = 0; ulb_platform_builtin(i) && status == ULB_OK; i++) {
        struct ulb_platform platform;
        status = ulb_platform_load(ulb_platform_builtin(i), &platform, err);
        if (status == ULB_OK)
            add_platform(turns, explain, kernel, &platform);
    }
    *out =
        json_pack("{s:s, s:s, s:f, s:o, s:o, s:o}", "kernel", ulb_kernel_name(kernel, name), "format",
                  kernel->layout->format->name, "bytes_per_step", kernel->bytes_per_step, "bounds",
                  bound_rows(explain, kernel, &kernel->mix), "measured", measured, "turning_points", turns);
    if (status == ULB_OK && *out) {
        set_mix(*out, &kernel->mix);
        set_tile(*out, explain, kernel);
    }
    if (status == ULB_OK && !json_object_get(*out, "tile"))
        status = ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for the explanation");
    return status;
}
