/* The whole step of the decoder against its scalar reference, on a small model. */
#ifndef ULB_HARNESS_DECODE_CHECK_DECODER_H
#define ULB_HARNESS_DECODE_CHECK_DECODER_H

#include "harness/decode/choose.h"
#include "harness/decode/decoder.h"
#include "harness/session/settings.h"

/* Decodes some tokens of a small model of the same form with the same kernels, team and split, and as many
 * sequences as the options have. step: the kernels for them; NULL: those for one token. ULB_FINDING when the
 * logits of the first or the last sequence are not those of ulb_decode_reference(): with single-precision
 * activations up to rounding; with others a value that falls between two steps may be rounded to either,
 * which moves logits by less than a hundredth. */
enum ulb_status ulb_decode_check(struct ulb_team *team, const struct ulb_settings *settings,
                                 const struct ulb_decoder_shape *shape,
                                 const struct ulb_kernel_choice choices[ULB_LINEARS],
                                 const struct ulb_step_kernels *step,
                                 const struct ulb_decoder_options *options, struct ulb_error *err);

#endif
