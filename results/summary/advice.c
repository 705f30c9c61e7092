#include "results/summary/advice.h"

#include "results/summary/chosen_cells.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static json_t *document_of(const struct ulb_choice_input *input, const struct ulb_wants *wants)
{
    json_t *document = ulb_choices_json(input, wants);
    if (document && (ulb_summary_set(document, "memory_gbps", input->memory_gbps, "not measured") |
                     ulb_summary_set(document, "available_bytes", wants->available_bytes,
                                     "the system does not tell")) != 0) {
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
    enum ulb_status status = ulb_record_cells(record, &cells, &n, err);
    if (status == ULB_OK)
        status = ulb_choose_cells(record, cells, n, &chosen, &n_chosen, err);
    if (status == ULB_BAD_INPUT)
        ulb_fail(err, status, "the record has no products of one token; make one with 'ulb-bench run'");
    if (status == ULB_OK && strcmp(chosen[0]->mode, "cold") != 0)
        status =
            ulb_fail(err, ULB_BAD_INPUT,
                     "the record has products of warm weights alone; a model's are cold: measure without "
                     "--warm");
    struct ulb_resolved_beta beta = {0};
    if (status == ULB_OK)
        beta = ulb_record_resolved_beta(record, chosen[0]->set);
    if (status == ULB_OK && !(beta.gbps > 0))
        status = ulb_fail(err, ULB_BAD_INPUT, "the record does not say how fast memory is; measure it anew");
    double head_share;
    if (status == ULB_OK)
        status = ulb_head_share((const struct ulb_cell *const *)chosen, n_chosen, &head_share, err);
    if (status == ULB_OK) {
        const struct ulb_choice_input input = {
            record, (const struct ulb_cell *const *)chosen, n_chosen, beta.gbps, beta.other_gbps, head_share,
            model};
        *out = document_of(&input, wants);
        if (!*out)
            status = ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for the advice");
    }
    free(chosen);
    ulb_cells_free(cells, n);
    return status;
}
