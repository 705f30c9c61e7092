/* Whether two records, or two parts of one, may be set beside each other. */
#include "common/build_id.h"
#include "common/text.h"
#include "results/compare/compare_private.h"

#include <stdlib.h>
#include <string.h>

/* What must be equal, by its place in the record. The commit may differ: that is what is compared. */
static const char *const conditions[] = {
    "machine.cpu_model", "machine.cores",           "machine.isa",         "machine.hypervisor",
    "machine.governor",  "machine.huge_pages.mode", "build.compiler",      "build.flags",
    "build.build_type",  "clock.cycles_source",     "settings.ring_bytes", NULL,
};
/* And of two parts of one record. */
static const char *const part_conditions[] = {
    "machine.cpu_model", "machine.cores", "machine.isa",      "machine.hypervisor", "build.commit",
    "build.compiler",    "build.flags",   "build.build_type", "build.id",           NULL,
};
/* A build counts the same on every machine. */
static const char *const count_conditions[] = {"build.compiler", "build.flags", "build.build_type", NULL};

/* Told, and no hindrance. */
static const char *const noted_fields[] = {
    "machine.microcode", "machine.kernel_release", "build.commit", "build.kernels_left_out", NULL,
};

/* For a message: the values in short. */
static void show(const json_t *before, const json_t *after, char one[96], char other[96])
{
    enum { FLAGS = JSON_ENCODE_ANY | JSON_COMPACT | JSON_REAL_PRECISION(9) };
    char *was = before ? json_dumps(before, FLAGS) : NULL;
    char *is = after ? json_dumps(after, FLAGS) : NULL;
    ulb_text_differing(was ? was : "absent", is ? is : "absent", one, other);
    free(was);
    free(is);
}

/* The first of the places at which two records differ, and what is there; NULL: none. */
static const char *first_difference(const struct ulb_record *base, const struct ulb_record *fresh,
                                    const char *const *places, char one[96], char other[96])
{
    for (; *places; places++) {
        const json_t *before = ulb_record_at(base, *places);
        const json_t *after = ulb_record_at(fresh, *places);
        if (before == after || (before && after && json_equal(before, after)))
            continue;
        show(before, after, one, other);
        return *places;
    }
    return NULL;
}

enum ulb_status ulb_check_comparable(const struct ulb_record *base, const struct ulb_record *fresh,
                                     const struct ulb_compare_settings *settings, struct ulb_error *err)
{
    char one[96], other[96];
    bool counts = settings->metric == ULB_METRIC_INSTRUCTIONS;
    const char *place =
        settings->force ? NULL
                        : first_difference(base, fresh, counts ? count_conditions : conditions, one, other);
    return !place ? ULB_OK
                  : ulb_fail(err, ULB_ENVIRONMENT,
                             "not comparable: %s is %s in the base and %s in the new record; --force "
                             "compares all the same",
                             place, one, other);
}

enum ulb_status ulb_check_part(const struct ulb_record *whole, const struct ulb_record *part,
                               struct ulb_error *err)
{
    char one[96], other[96];
    const char *place = first_difference(whole, part, part_conditions, one, other);
    return !place ? ULB_OK
                  : ulb_fail(err, ULB_ENVIRONMENT,
                             "--record: %s is %s in the record and %s here; one record is of one build on "
                             "one machine: --out DIR writes another",
                             place, one, other);
}

enum ulb_status ulb_check_pooled(const struct ulb_record *first, const struct ulb_record *another,
                                 struct ulb_error *err)
{
    char one[96], other[96];
    const char *place = first_difference(first, another, part_conditions, one, other);
    return !place ? ULB_OK
                  : ulb_fail(err, ULB_ENVIRONMENT,
                             "several new records are pooled and must be of one build on one machine, but %s "
                             "is %s and %s: compare each by itself",
                             place, one, other);
}

/* The commit of a build; NULL for what builds of different sources may call themselves: "unknown", or the
 * commit that changes came upon. */
static const char *commit_of(const struct ulb_record *record)
{
    const char *commit = ulb_record_text(record, "build.commit");
    bool known = commit && *commit && strcmp(commit, "unknown") != 0;
    return known && commit[ulb_commit_length(commit)] == '\0' ? commit : NULL;
}

enum ulb_status ulb_check_same_build(const struct ulb_record *fresh, const struct ulb_record *again,
                                     struct ulb_error *err)
{
    const char *there = commit_of(fresh), *here = commit_of(again);
    const char *id_there = ulb_record_text(fresh, "build.id"), *id_here = ulb_record_text(again, "build.id");
    if ((id_there && id_here && strcmp(id_there, id_here) == 0) ||
        (there && here && strcmp(there, here) == 0))
        return ULB_OK;
    if (there && here)
        return ulb_fail(err, ULB_ENVIRONMENT,
                        "--confirm measures with this build, commit %s; the new record is of commit %s: "
                        "build that",
                        here, there);
    return ulb_fail(err, ULB_ENVIRONMENT,
                    "--confirm runs the build of the new record, and %s names no commit to tell it by, or "
                    "one with changes: measure the new record anew with this program",
                    here ? "the new record" : "this program");
}

json_t *ulb_changed_fields(const struct ulb_record *base, const struct ulb_record *fresh)
{
    json_t *fields = json_array();
    for (const char *const *place = noted_fields; fields && *place; place++) {
        const char *const only[] = {*place, NULL};
        char one[96], other[96];
        if (!first_difference(base, fresh, only, one, other))
            continue;
        if (json_array_append_new(
                fields, json_pack("{s:s, s:s, s:s}", "field", *place, "base", one, "new", other)) != 0) {
            json_decref(fields);
            return NULL;
        }
    }
    return fields;
}
