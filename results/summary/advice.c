#include "results/summary/advice.h"

#include "results/summary/chosen_cells.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static json_t *document_of(const struct ulb_choice_input *input, const struct ulb_wants *wants,
                           struct ulb_format_choice *choices)
{
    char reason[ULB_CHOICE_REASON];
    size_t n = ulb_format_choices(input, wants, choices);
    const struct ulb_format_choice *suggested = ulb_suggest_format(choices, n, wants, reason);
    json_t *formats = json_array();
    int bad = 0;
    for (size_t i = 0; i < n; i++)
        bad |= json_array_append_new(formats, ulb_choice_json(&choices[i]));
    json_t *document =
        json_pack("{s:s, s:f, s:O?, s:s?, s:s, s:s, s:o}", "model", ulb_row_text(input->model, "model"),
                  "memory_gbps", input->memory_gbps, "context", json_object_get(input->model, "context"),
                  "suggested", suggested ? suggested->format : NULL, "reason", reason, "basis",
                  ulb_choice_basis(input), "formats", formats);
    if (!document)
        return NULL;
    bad |= ulb_summary_set(document, "available_bytes", wants->available_bytes, "the system does not tell");
    if (bad) {
        json_decref(document);
        return NULL;
    }
    return document;
}

enum ulb_status ulb_advice_of(const struct ulb_record *record, const json_t *model,
                              const struct ulb_wants *wants, json_t **out, struct ulb_error *err)
{
    struct ulb_cell *cells = NULL;
    const struct ulb_cell **chosen = NULL;
    size_t n = 0, n_chosen = 0;
    struct ulb_format_choice *choices = calloc(ULB_FORMAT_CHOICES, sizeof *choices);
    enum ulb_status status = choices ? ulb_record_cells(record, &cells, &n, err)
                                     : ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for the advice");
    if (status == ULB_OK)
        status = ulb_choose_cells(record, cells, n, &chosen, &n_chosen, err);
    if (status == ULB_OK && strcmp(chosen[0]->mode, "cold") != 0)
        status =
            ulb_fail(err, ULB_BAD_INPUT,
                     "the record has products of warm weights alone; a model's are cold: measure without "
                     "--warm");
    double gbps = status == ULB_OK ? ulb_record_resolved_beta(record, chosen[0]->set).gbps : NAN;
    if (status == ULB_OK && !(gbps > 0))
        status = ulb_fail(err, ULB_BAD_INPUT, "the record does not say how fast memory is; measure it anew");
    if (status == ULB_OK) {
        const struct ulb_choice_input input = {record, (const struct ulb_cell *const *)chosen, n_chosen, gbps,
                                               model};
        *out = document_of(&input, wants, choices);
        if (!*out)
            status = ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for the advice");
    }
    free(chosen);
    ulb_cells_free(cells, n);
    free(choices);
    return status;
}
