/* Which model gives which published figure. Inputs have rules too. They show that the platform files carry
 * the published figures: nothing was tuned to make the derived ones fit. */
#include "harness/analysis/check_paper.h"

#include "common/units.h"
#include "harness/analysis/check_paper_private.h"
#include "models/platform/platform.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct rule;

struct context {
    const struct ulb_platform *platform;
    const struct ulb_platform_gamma *gamma; /* of rule->format; NULL without */
    size_t c;                               /* index of rule->class */
    const struct ulb_paper_check *check;
    const struct rule *rule;
};

/* A figure in the unit of its row. */
struct rule {
    const char *id;
    double (*value)(const struct context *context);
    const char *platform; /* built-in platform it is computed for */
    const char *class;    /* core class, or NULL */
    const char *format;   /* weight format, or NULL */
    const char *model;    /* Amdahl: "1b" or "8b" */
    double x;             /* Amdahl: speed-up of the GEMVs */
};

static double cores(const struct context *at)
{
    return at->platform->classes[at->c].cores;
}

static double clock_ghz(const struct context *at)
{
    return at->platform->classes[at->c].hz / 1e9;
}

static double bandwidth_gib(const struct context *at)
{
    return at->platform->bandwidth / ULB_GIB;
}

static double fork_join_us(const struct context *at)
{
    return at->platform->fork_join_s * 1e6;
}

static double gamma_cycles(const struct context *at)
{
    return at->gamma->cycles[at->c];
}

static double step_bytes(const struct context *at)
{
    return at->gamma->bytes_per_step;
}

static double beta(const struct context *at)
{
    return ulb_platform_beta(at->platform, at->c);
}

/* What a core may draw: beta times its clock, the same for every class. */
static double per_core_gib(const struct context *at)
{
    return beta(at) * at->platform->classes[at->c].hz / ULB_GIB;
}

static double ceiling(const struct context *at)
{
    return ulb_compute_ceiling(at->gamma->bytes_per_step, at->gamma->cycles[at->c]);
}

static double core_gemv_gib(const struct context *at)
{
    return ulb_platform_core_bandwidth(at->platform, at->gamma, at->c) / ULB_GIB;
}

static double chip_gemv_gib(const struct context *at)
{
    return ulb_platform_bandwidth(at->platform, at->gamma) / ULB_GIB;
}

static double small_gemv_us(const struct context *at)
{
    return ulb_platform_gemv_seconds(at->platform, at->gamma, 1600.0 * 1600.0) * 1e6;
}

/* Narrows [*lo, *hi] to the alphas whose bound for x is printed as the row says; s grows with alpha. */
static void narrow(const struct context *at, double x, double *lo, double *hi)
{
    char id[32];
    snprintf(id, sizeof id, "%s.amdahl.%s.x%.0f", at->rule->platform, at->rule->model, x);
    const struct ulb_paper_row *row = ulb_paper_find(at->check, id);
    *lo = row ? fmax(*lo, ulb_amdahl_alpha(row->lo, x)) : NAN;
    *hi = row ? fmin(*hi, ulb_amdahl_alpha(row->hi, x)) : NAN;
}

/* The middle of the alphas that are printed as the published one and meet both bounds of the model. If there
 * is none, the published alpha itself, so that the bounds show how far they are off. */
static double alpha(const struct context *at)
{
    char id[32];
    snprintf(id, sizeof id, "%s.alpha.%s", at->rule->platform, at->rule->model);
    const struct ulb_paper_row *row = ulb_paper_find(at->check, id);
    if (!row)
        return NAN;
    double lo = row->lo, hi = row->hi;
    narrow(at, 8, &lo, &hi);
    narrow(at, 16, &lo, &hi);
    return lo <= hi ? (lo + hi) / 2 : row->published;
}

static double amdahl(const struct context *at)
{
    return ulb_amdahl(alpha(at), at->rule->x);
}

static const struct rule rules[] = {
    {"arl.cores.p", cores, "arl", .class = "P"},
    {"arl.cores.e", cores, "arl", .class = "E"},
    {"arl.bw", bandwidth_gib, "arl", .class = NULL},
    {"arl.f.p", clock_ghz, "arl", .class = "P"},
    {"arl.f.e", clock_ghz, "arl", .class = "E"},
    {"arl.omp", fork_join_us, "arl", .class = NULL},
    {"arl.beta.p", beta, "arl", .class = "P"},
    {"arl.beta.e", beta, "arl", .class = "E"},
    {"arl.small.ideal", small_gemv_us, "arl", .format = "int2"},
    {"arlh.cores.p", cores, "arlh", .class = "P"},
    {"arlh.cores.e", cores, "arlh", .class = "E"},
    {"arlh.bw", bandwidth_gib, "arlh", .class = NULL},
    {"arlh.f.p", clock_ghz, "arlh", .class = "P"},
    {"arlh.f.e", clock_ghz, "arlh", .class = "E"},
    {"arlh.percore", per_core_gib, "arlh", .class = "P"},
    {"arlh.beta.p", beta, "arlh", .class = "P"},
    {"arlh.beta.e", beta, "arlh", .class = "E"},
    {"arlh.int1.e", core_gemv_gib, "arlh", .class = "E", .format = "int1"},
    {"arlh.int1.total", chip_gemv_gib, "arlh", .format = "int1"},
    {"lnl.cores.p", cores, "lnl", .class = "P"},
    {"lnl.cores.e", cores, "lnl", .class = "E"},
    {"lnl.bw", bandwidth_gib, "lnl", .class = NULL},
    {"lnl.f.p", clock_ghz, "lnl", .class = "P"},
    {"lnl.f.e", clock_ghz, "lnl", .class = "E"},
    {"lnl.percore", per_core_gib, "lnl", .class = "P"},
    {"lnl.beta.p", beta, "lnl", .class = "P"},
    {"lnl.beta.e", beta, "lnl", .class = "E"},
    {"lnl.int1.p", core_gemv_gib, "lnl", .class = "P", .format = "int1"},
    {"lnl.int1.e", core_gemv_gib, "lnl", .class = "E", .format = "int1"},
    {"lnl.int1.total", chip_gemv_gib, "lnl", .format = "int1"},
    {"int2.gamma.p", gamma_cycles, "arl", .class = "P", .format = "int2"},
    {"int2.gamma.e", gamma_cycles, "arl", .class = "E", .format = "int2"},
    {"int2.B", step_bytes, "arl", .format = "int2"},
    {"int2.ebw.p", ceiling, "arl", .class = "P", .format = "int2"},
    {"int2.ebw.e", ceiling, "arl", .class = "E", .format = "int2"},
    {"int1.gamma.p", gamma_cycles, "arl", .class = "P", .format = "int1"},
    {"int1.gamma.e", gamma_cycles, "arl", .class = "E", .format = "int1"},
    {"int1.B", step_bytes, "arl", .format = "int1"},
    {"int1.ebw.p", ceiling, "arl", .class = "P", .format = "int1"},
    {"int1.ebw.e", ceiling, "arl", .class = "E", .format = "int1"},
    {"arl.alpha.1b", alpha, "arl", .model = "1b"},
    {"arl.alpha.8b", alpha, "arl", .model = "8b"},
    {"arl.amdahl.1b.x8", amdahl, "arl", .model = "1b", .x = 8},
    {"arl.amdahl.1b.x16", amdahl, "arl", .model = "1b", .x = 16},
    {"arl.amdahl.8b.x8", amdahl, "arl", .model = "8b", .x = 8},
    {"arl.amdahl.8b.x16", amdahl, "arl", .model = "8b", .x = 16},
};
enum { N_RULES = sizeof rules / sizeof *rules };

/* Finds the class and the gamma row that the rule speaks of; false when the platform lacks one. */
static bool resolve(struct context *at)
{
    const struct rule *rule = at->rule;
    while (rule->class && at->c < at->platform->n_classes &&
           strcmp(at->platform->classes[at->c].name, rule->class) != 0)
        at->c++;
    if (rule->format)
        at->gamma = ulb_platform_gamma_find(at->platform, rule->format, NULL);
    return at->c < at->platform->n_classes && (!rule->format || at->gamma);
}

static enum ulb_status apply(const struct rule *rule, struct ulb_paper_check *check, struct ulb_error *err)
{
    /* The row is looked up again, because rules read other rows through a const pointer. */
    size_t i = 0;
    while (i < check->n && strcmp(check->rows[i].id, rule->id) != 0)
        i++;
    if (i == check->n)
        return ulb_fail(err, ULB_BAD_INPUT, "published values: row %s is missing; restore it", rule->id);
    struct ulb_platform platform;
    enum ulb_status status = ulb_platform_load(rule->platform, &platform, err);
    if (status != ULB_OK)
        return status;
    struct context context = {.platform = &platform, .check = check, .rule = rule};
    struct ulb_paper_row *row = &check->rows[i];
    row->modelled = resolve(&context) ? rule->value(&context) : NAN;
    row->inside = row->modelled >= row->lo && row->modelled <= row->hi;
    row->as_printed = fabs(row->modelled - row->published) <= row->half_digit;
    return ULB_OK;
}

/* Rows of devices, of devices beside CPUs and of formats: those that follow and those that do not. */
static enum ulb_status apply_device_rules(struct ulb_paper_check *check, struct ulb_error *err)
{
    struct ulb_paper_machines machines;
    enum ulb_status status = ulb_paper_machines_load(&machines, err);
    for (size_t i = 0; i < check->n && status == ULB_OK; i++) {
        struct ulb_paper_row *row = &check->rows[i];
        const struct ulb_device_rule *rule = ulb_device_rule_find(row->id);
        if (!rule)
            continue;
        row->modelled = rule->value(&machines, check);
        row->inside = row->modelled >= row->lo && row->modelled <= row->hi;
        row->as_printed = fabs(row->modelled - row->published) <= row->half_digit;
        row->reading = rule->reading;
    }
    return status;
}

static bool has_rule(const char *id)
{
    for (size_t i = 0; i < N_RULES; i++) {
        if (strcmp(rules[i].id, id) == 0)
            return true;
    }
    return ulb_device_rule_find(id) != NULL;
}

/* Whether a row of that kind may, or must, come from a model. */
static bool kind_fits(const struct ulb_paper_row *row)
{
    bool modelled = has_rule(row->id);
    if (row->kind == ULB_PAPER_OPEN)
        return modelled && row->reading;
    return row->kind == ULB_PAPER_INPUT || modelled == (row->kind == ULB_PAPER_DERIVED);
}

static void count_row(const struct ulb_paper_row *row, struct ulb_paper_check *check)
{
    bool must_fit = row->kind == ULB_PAPER_DERIVED || (row->kind == ULB_PAPER_INPUT && has_rule(row->id));
    check->n_inputs += row->kind == ULB_PAPER_INPUT;
    check->n_derived += row->kind == ULB_PAPER_DERIVED;
    check->n_other += row->kind == ULB_PAPER_OTHER;
    check->n_repeats += row->kind == ULB_PAPER_REPEAT;
    check->n_open += row->kind == ULB_PAPER_OPEN;
    check->n_outside += must_fit && !row->inside;
    check->n_as_printed += row->kind == ULB_PAPER_DERIVED && row->as_printed;
}

static enum ulb_status keep_rows_of(const char *platform, struct ulb_paper_check *check,
                                    struct ulb_error *err)
{
    size_t kept = 0;
    bool known = false;
    for (size_t i = 0; i < check->n; i++) {
        bool its = strcmp(check->rows[i].platform, platform) == 0;
        known |= its;
        if (its || strcmp(check->rows[i].platform, "any") == 0)
            check->rows[kept++] = check->rows[i];
    }
    check->n = kept;
    return known ? ULB_OK
                 : ulb_fail(err, ULB_BAD_INPUT,
                            "nothing is published of platform '%s'; --check-paper alone shows all that is",
                            platform);
}

enum ulb_status ulb_paper_check(struct ulb_paper_check *check, const char *platform, struct ulb_error *err)
{
    enum ulb_status status = ULB_OK;
    for (size_t i = 0; i < N_RULES && status == ULB_OK; i++)
        status = apply(&rules[i], check, err);
    if (status == ULB_OK)
        status = apply_device_rules(check, err);
    if (status == ULB_OK && platform)
        status = keep_rows_of(platform, check, err);
    if (status != ULB_OK)
        return status;
    check->n_inputs = check->n_derived = check->n_other = check->n_repeats = check->n_open = 0;
    check->n_outside = check->n_as_printed = 0;
    for (size_t i = 0; i < check->n; i++) {
        const struct ulb_paper_row *row = &check->rows[i];
        if (!kind_fits(row))
            return ulb_fail(err, ULB_BAD_INPUT, "published values: row %s has the wrong kind; %s gives it",
                            row->id, has_rule(row->id) ? "a model" : "no model");
        count_row(row, check);
    }
    return ULB_OK;
}
