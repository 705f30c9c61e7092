/* Decoding on a described platform, and what is published of it: parts of the document of a model. */
#ifndef ULB_HARNESS_CLI_COMMANDS_MODEL_DECODE_H
#define ULB_HARNESS_CLI_COMMANDS_MODEL_DECODE_H

#include "models/models.h"
#include "shapes/model.h"

#include <jansson.h>

/* One row for each model with bf16 and each format of the platform's gammas; NULL without memory. It has what
 * its GEMVs allow. It has the same with the rest of the token, from the published share alpha of the GEMVs
 * (ARL's, of two models). */
json_t *ulb_model_decode_json(const struct ulb_platform *platform, const struct ulb_model_list *models);

/* The rows of the table of published values that are of this platform; empty for one that nobody published.
 */
json_t *ulb_model_published_json(const char *platform);

#endif
