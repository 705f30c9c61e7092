/* The header of a plug-in, a shared object with kernels of a third party. It has the interface of kernels,
 * the parts that their loops share, the parts of block formats and packed layouts, and the formats and
 * layouts of the suite. docs/ADDING_A_KERNEL.md has an example. */
#ifndef ULB_KERNELS_PLUGIN_H
#define ULB_KERNELS_PLUGIN_H

#include "kernels/activations.h"
#include "kernels/gguf_block.h"
#include "kernels/kernel.h"
#include "kernels/microkernel.h"
#include "kernels/pack/block_interleave.h"

#include "kernels/formats/affine/format.h"
#include "kernels/formats/bf16/format.h"
#include "kernels/formats/fp16/format.h"
#include "kernels/formats/fp32/format.h"
#include "kernels/formats/i2_s/format.h"
#include "kernels/formats/int1/format.h"
#include "kernels/formats/int2/format.h"
#include "kernels/formats/int3/format.h"
#include "kernels/formats/int4/format.h"
#include "kernels/formats/int8/format.h"
#include "kernels/formats/iq4_nl/format.h"
#include "kernels/formats/mxfp4/format.h"
#include "kernels/formats/q2_k/format.h"
#include "kernels/formats/q3_k/format.h"
#include "kernels/formats/q4_0/format.h"
#include "kernels/formats/q4_1/format.h"
#include "kernels/formats/q4_k/format.h"
#include "kernels/formats/q5_0/format.h"
#include "kernels/formats/q5_1/format.h"
#include "kernels/formats/q5_k/format.h"
#include "kernels/formats/q6_k/format.h"
#include "kernels/formats/q8_0/format.h"
#include "kernels/formats/table4/format.h"
#include "kernels/formats/tern1_6/format.h"
#include "kernels/formats/tern2/format.h"
#include "kernels/formats/tl1/format.h"
#include "kernels/formats/tl2/format.h"
#include "kernels/formats/tq1_0/format.h"
#include "kernels/formats/tq2_0/format.h"
#include "kernels/formats/woq/format.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The symbol that the shared object exports. Its kernels may use formats and layouts of the suite, whose
 * references are in the program. They may also bring their own, with a scalar kernel each (isa "ref"). They
 * are listed, verified against the scalar reference and timed like any other kernel. */
extern const struct ulb_kernel_library ulb_kernel_library __attribute__((visibility("default")));

#ifdef __cplusplus
}
#endif

#endif
