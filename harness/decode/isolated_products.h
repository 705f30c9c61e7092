/* The products of a step of tokens one by one, on weights that no cache holds: what the token's products are
 * compared with. Sampled between tokens, so that both see the same spells of the machine. */
#ifndef ULB_HARNESS_DECODE_ISOLATED_PRODUCTS_H
#define ULB_HARNESS_DECODE_ISOLATED_PRODUCTS_H

#include "harness/decode/decoder.h"
#include "harness/threads/split.h"

struct ulb_cold_grid;

/* Of steps of `tokens` tokens, for samples samples with the team; rates are the weighted split's. The weights
 * must outlive the grid. ULB_ENVIRONMENT when memory is short. */
enum ulb_status ulb_cold_grid_open(struct ulb_cold_grid **out, struct ulb_team *team,
                                   const struct ulb_decoder_shape *shape,
                                   const struct ulb_decoder_weights *weights, size_t tokens,
                                   enum ulb_split split, const double *rates, size_t samples,
                                   struct ulb_error *err);
void ulb_cold_grid_close(struct ulb_cold_grid *grid); /* NULL is allowed */

/* Times one product of each kind, of layer number nth, counted round and round: no two calls in a row read
 * the same where there are layers enough. Led in to by others (harness/memory/cold_ring.h). To be called
 * after a token, whose last reads are the head's: what is read was last read one pass over all weights ago.
 */
void ulb_cold_grid_sample(struct ulb_cold_grid *grid, size_t nth);

/* Median time of one product of each kind, seconds; NAN for kinds that the model has not. */
void ulb_cold_grid_seconds(const struct ulb_cold_grid *grid, double seconds[ULB_LINEARS]);

#endif
