/* Models of described platforms: shared by `ulb-bench model` and `ulb-bench run --platform NAME`. */
#ifndef ULB_HARNESS_CLI_COMMANDS_MODEL_H
#define ULB_HARNESS_CLI_COMMANDS_MODEL_H

#include "harness/cli/measure_options.h"
#include "models/models.h"

#include <jansson.h>
#include <stdbool.h>

/* The paper's three, and BitNet's. */
#define ULB_MODELLED_MODELS "falcon3-1b,mobilellm-1.5b,llama3-8b,bitnet-2b-4t"

struct ulb_model_request {
    const char *platform; /* built-in, or a platform file */
    const char *models;   /* comma list; NULL: ULB_MODELLED_MODELS */
    const char *record;   /* file with the gammas of the two 1-bit kernels; NULL: none */
    bool measure;         /* without a record: measure them now */
    const char *out;      /* folder of the document and its figure; NULL: neither is written */
    bool json;
};

/* Models a platform, shows and writes what is said of it. measuring: how to measure. */
enum ulb_status ulb_model_run(const struct ulb_model_request *request, struct ulb_measure_options *measuring,
                              struct ulb_error *err);

/* Writes the document of a platform into the folder, and its figures beside it. */
enum ulb_status ulb_model_write(const char *folder, const char *platform, json_t *document,
                                struct ulb_error *err);

/* The document as text. */
void ulb_model_print(const struct ulb_platform *platform, const json_t *document);

/* Prints every published value that the models give, or those of one platform (NULL: of all), beside the
 * modelled one. ULB_FINDING, after printing, when one is outside its interval. */
enum ulb_status ulb_print_paper_check(const char *platform, bool json, struct ulb_error *err);

#endif
