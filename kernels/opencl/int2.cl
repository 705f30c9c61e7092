/* Weights of 2 bits, int2 and ternary: codes in two's complement, 16 columns a word. Matrix instructions that take
 * such operands get them as they are; others get bytes. */
#ifndef __OPENCL_C_VERSION__
#include "kernels/opencl/device_kernels.h"

#define PATHS (1 << ULB_PATH_DPAS_INT2 | 1 << ULB_PATH_DPAS_INT8 | 1 << ULB_PATH_DP4A | 1 << ULB_PATH_PLAIN)

ULB_DEVICE_FILE(int2, ULB_DEVICE_INTEGERS(ulb_int2_vnni16, PATHS), ULB_DEVICE_INTEGERS(ulb_tern2_vnni16, PATHS));
#else
#define ULB_COLUMNS 32
#define ULB_WORDS   2
typedef int ulb_sum;
typedef ulb_ints ulb_sums;

#if defined(ULB_PATH_DPAS_INT2) || defined(ULB_PATH_PLAIN)
typedef uint2 ulb_weights;
#define ulb_read ulb_read_words2
#define ulb_mad  ulb_mad_int2
#else
typedef uint8 ulb_weights;
#define ulb_read(at) ulb_widen(ulb_read_words2(at))
#define ulb_mad ulb_mad_int8
#endif
#endif
