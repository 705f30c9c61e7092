/* Simulated GEMVs of described platforms as JSON rows. */
#ifndef ULB_HARNESS_CLI_COMMANDS_SIMULATE_ROWS_H
#define ULB_HARNESS_CLI_COMMANDS_SIMULATE_ROWS_H

#include "harness/threads/split_simulation.h"
#include "results/reference/paper_values.h"

#include <jansson.h>

struct ulb_simulate_request {
    const char *platform;                  /* name or file; NULL: every built-in one */
    const char *models, *shapes, *formats; /* comma lists; NULL: the default shapes, all formats */
    enum ulb_split split;                  /* of predicted_us */
    enum ulb_sim_sharing sharing;
    size_t tile, chunk; /* tile 0: of the suite's own kernel */
    double take_s;
    double fork_join_s; /* NAN: the platform's own */
};

extern const char *const ulb_sim_sharing_names[2]; /* "equal", "fair" */

/* {"totals", "gemv", ...} of all platforms; *out is NULL on failure. */
enum ulb_status ulb_simulate_json(const struct ulb_simulate_request *request, json_t **out,
                                  struct ulb_error *err);

/* The published values that the simulator must give: {"rows": [{"id", "published", "lo", "hi", "simulated",
 * "inside"}], "outside"}. */
enum ulb_status ulb_simulate_paper_json(json_t **out, size_t *outside, struct ulb_error *err);

#endif
