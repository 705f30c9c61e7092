/* ulb-bench model --check-paper */
#include "harness/cli/cli.h"
#include "harness/cli/commands/model.h"
#include "harness/cli/table.h"
#include "harness/analysis/check_paper.h"

#include <math.h>
#include <stdio.h>

static json_t *row_json(const struct ulb_paper_row *row)
{
    json_t *object = json_pack("{s:s, s:s, s:s, s:s, s:s, s:f, s:f, s:f, s:b, s:b}", "id", row->id, "section",
                               row->section, "platform", row->platform, "quantity", row->quantity, "unit",
                               row->unit, "published", row->published, "lo", row->lo, "hi", row->hi, "inside",
                               row->inside, "as_printed", row->as_printed);
    if (isfinite(row->modelled)) {
        json_object_set_new(object, "modelled", json_real(row->modelled));
    } else {
        json_object_set_new(object, "modelled", json_null());
        json_object_set_new(object, "modelled_reason",
                            json_string(row->kind == ULB_PAPER_INPUT ? "no model here takes it"
                                                                     : "outside the domain of its model"));
    }
    if (row->reading)
        json_object_set_new(object, "reading", json_string(row->reading));
    return object;
}

static json_t *rows_of(const struct ulb_paper_check *check, enum ulb_paper_kind kind)
{
    json_t *rows = json_array();
    for (size_t i = 0; i < check->n; i++) {
        if (check->rows[i].kind == kind)
            json_array_append_new(rows, row_json(&check->rows[i]));
    }
    return rows;
}

static json_t *as_json(const struct ulb_paper_check *check)
{
    return json_pack("{s:o, s:o, s:o, s:I, s:I, s:I}", "rows", rows_of(check, ULB_PAPER_DERIVED), "inputs",
                     rows_of(check, ULB_PAPER_INPUT), "open", rows_of(check, ULB_PAPER_OPEN), "other_values",
                     (json_int_t)check->n_other, "repeats", (json_int_t)check->n_repeats, "outside",
                     (json_int_t)check->n_outside);
}

static void print_answer(const struct ulb_paper_check *check)
{
    size_t outside = check->n_outside;
    ulb_print_wrapped_as(
        stdout, "answer: ",
        "%zu published value%s from the models, %zu as printed; %zu %s outside the intervals "
        "that allow for figures rounded on the way; %zu more do not follow from what is "
        "published beside them",
        check->n_derived, check->n_derived == 1 ? " follows" : "s follow", check->n_as_printed, outside,
        outside == 1 ? "is" : "are", check->n_open);
}

/* What is published and does not follow from what is published beside it. */
static void print_open(const struct ulb_paper_check *check)
{
    if (check->n_open > 0)
        puts("\nDo not follow: published, by the models, and how");
    for (size_t i = 0; i < check->n; i++) {
        const struct ulb_paper_row *row = &check->rows[i];
        char head[96];
        if (row->kind != ULB_PAPER_OPEN)
            continue;
        snprintf(head, sizeof head, "  %s  ", row->id);
        ulb_print_wrapped_as(stdout, head, "%s: %g %s, %.3g: %s", row->quantity, row->published, row->unit,
                             row->modelled, row->reading);
    }
}

static void print_notes(const struct ulb_paper_check *check)
{
    putchar('\n');
    ulb_print_wrapped_as(
        stdout, "",
        "Not in the tables: %zu inputs of the models or of the measurements, %zu values that "
        "were measured or specified, %zu that restate another.",
        check->n_inputs, check->n_other, check->n_repeats);
    ulb_print_wrapped(stdout, "",
                      "The paper prints GB/s and means GiB/s: its figures only follow from each other with "
                      "2^30 bytes.");
    for (size_t i = 0; i < check->n; i++) {
        const struct ulb_paper_row *row = &check->rows[i];
        if (row->kind == ULB_PAPER_INPUT && row->inside &&
            fabs(row->modelled - row->published) > 1e-9 * row->published)
            ulb_print_wrapped_as(stdout, "",
                                 "%s: %.4f is used, which is printed as %g and gives both Amdahl bounds.",
                                 row->id, row->modelled, row->published);
        else if (row->kind == ULB_PAPER_INPUT && isfinite(row->modelled) && !row->inside)
            ulb_print_wrapped_as(stdout, "", "%s: %g is used, but %g is published.", row->id, row->modelled,
                                 row->published);
    }
}

static void print_text(const json_t *document, const struct ulb_paper_check *check)
{
    static const struct ulb_column columns[] = {
        {"id", "id", 0},
        {"quantity", "quantity", 0},
        {"published", "paper", -1},
        {"modelled", "model", 3},
        {"lo", "lo", -1},
        {"hi", "hi", -1},
        {"unit", "unit", 0},
        {"inside", "inside", 0},
    };
    print_answer(check);
    ulb_print_table(json_object_get(document, "rows"), columns, sizeof columns / sizeof *columns);
    print_open(check);
    print_notes(check);
}

enum ulb_status ulb_print_paper_check(const char *platform, bool json, struct ulb_error *err)
{
    static struct ulb_paper_check check;
    size_t bytes;
    const char *csv = ulb_paper_values(&bytes);
    enum ulb_status status = ulb_paper_parse(csv, bytes, "paper-values.csv", &check, err);
    if (status == ULB_OK)
        status = ulb_paper_check(&check, platform, err);
    if (status != ULB_OK)
        return status;
    json_t *document = as_json(&check);
    if (json || !document) {
        status = ulb_print_json(document, err);
    } else {
        print_text(document, &check);
        json_decref(document);
    }
    if (status == ULB_OK && check.n_outside > 0)
        status =
            ulb_fail(err, ULB_FINDING, "%zu published values are outside their interval", check.n_outside);
    return status;
}
