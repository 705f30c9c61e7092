/* The whole step of the decoder against its scalar reference, on a small model. */
#ifndef ULB_HARNESS_DECODE_CHECK_DECODER_H
#define ULB_HARNESS_DECODE_CHECK_DECODER_H

#include "harness/decode/choose.h"
#include "harness/decode/decoder.h"
#include "harness/session/settings.h"

/* Decodes some tokens of a small model of the same form with the same kernels, team and split. ULB_FINDING
 * when its logits are not those of ulb_decode_reference(): with single-precision activations up to rounding;
 * with quantised ones a value that falls between two steps may be rounded to either, which moves logits by
 * less than a hundredth. */
enum ulb_status ulb_decode_check(struct ulb_team *team, const struct ulb_settings *settings,
                                 const struct ulb_decoder_shape *shape,
                                 const struct ulb_kernel_choice choices[ULB_LINEARS],
                                 const struct ulb_decoder_options *options, struct ulb_error *err);

#endif
