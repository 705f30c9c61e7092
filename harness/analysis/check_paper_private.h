/* Published values of devices and of formats: what the models make of each. */
#ifndef ULB_HARNESS_ANALYSIS_CHECK_PAPER_PRIVATE_H
#define ULB_HARNESS_ANALYSIS_CHECK_PAPER_PRIVATE_H

#include "models/models.h"
#include "models/platform/device_platform.h"
#include "results/reference/paper_values.h"

/* The built-in platforms that these rows speak of, and weights of two models. */
struct ulb_paper_machines {
    struct ulb_platform arl, arlh, lnl;
    struct ulb_device_platform lnl_gpu, bmg, a100;
    double llama_weights;                   /* of Llama3-8B with embedding and head */
    double mobilellm_us_16, mobilellm_us_2; /* the GEMVs of a token of MobileLLM-1.5B on BMG */
};

enum ulb_status ulb_paper_machines_load(struct ulb_paper_machines *machines, struct ulb_error *err);

struct ulb_device_rule {
    const char *id;
    double (*value)(const struct ulb_paper_machines *machines, const struct ulb_paper_check *check);
    const char *reading; /* of rows that do not close: the arithmetic, in words */
};

/* NULL: no model gives the row. */
const struct ulb_device_rule *ulb_device_rule_find(const char *id);

#endif
