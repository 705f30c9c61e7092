/* What the models say of a described platform, as one JSON document. It has the gammas of the platform's
 * file, the port bounds of its real cores, and a measured 1-bit kernel instead of the paper's. */
#ifndef ULB_HARNESS_CLI_COMMANDS_MODEL_JSON_H
#define ULB_HARNESS_CLI_COMMANDS_MODEL_JSON_H

#include "harness/analysis/platform_gammas.h"
#include "shapes/model.h"

#include <jansson.h>

/* Where the ratio of the two 1-bit kernels was measured. */
struct ulb_gamma_ratio_source {
    const struct ulb_gamma_ratio *ratio; /* NULL: none, for this reason */
    char reason[256];
    const char *record;              /* file it was read from; NULL: measured now */
    const char *cpu_model, *created; /* of the measurement; NULL when unknown */
};

/* from says where the file's gammas come from: "paper" or "platform file"; models are those whose
 * GEMVs are listed. *out is NULL on failure. */
enum ulb_status ulb_model_json(const struct ulb_platform *platform, const char *from,
                               const struct ulb_gamma_ratio_source *source,
                               const struct ulb_model_list *models, json_t **out, struct ulb_error *err);

#endif
