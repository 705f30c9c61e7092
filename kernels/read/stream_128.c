/* 128-bit readers. */
#include <arm_neon.h>
#include <stdint.h>

#define ULB_VECTOR       uint64x2_t
#define ULB_VECTOR_BYTES 16

static inline uint64x2_t vector_zero(void)
{
    return vdupq_n_u64(0);
}

static inline uint64x2_t vector_add(uint64x2_t sum, const char *p)
{
    return vaddq_u64(sum, vreinterpretq_u64_u8(vld1q_u8((const uint8_t *)p)));
}

static inline uint64_t vector_total(uint64x2_t sums[8])
{
    for (int i = 1; i < 8; i++)
        sums[0] = vaddq_u64(sums[0], sums[i]);
    return vaddvq_u64(sums[0]);
}

#include "kernels/read/stream.h"

ULB_READER(one_stream, 1, 0, 0)
ULB_READER(two_streams, 2, 0, 0)
ULB_READER(two_streams_near, 2, 1024, 0)
ULB_READER(two_streams_far, 2, 0, 2048)
ULB_READER(four_streams, 4, 0, 0)
ULB_READER(four_streams_near, 4, 1024, 0)
ULB_READER(four_streams_both, 4, 1024, 4096)

static const struct ulb_reader readers[] = {
    {"neon-1s", ULB_KERNEL_NEEDS, false, one_stream},
    {"neon-2s", ULB_KERNEL_NEEDS, false, two_streams},
    {"neon-2s-t0-1024", ULB_KERNEL_NEEDS, true, two_streams_near},
    {"neon-2s-t1-2048", ULB_KERNEL_NEEDS, true, two_streams_far},
    {"neon-4s", ULB_KERNEL_NEEDS, false, four_streams},
    {"neon-4s-t0-1024", ULB_KERNEL_NEEDS, true, four_streams_near},
    {"neon-4s-t0-1024-t1-4096", ULB_KERNEL_NEEDS, true, four_streams_both},
};

const struct ulb_reader_set ULB_KERNEL = {readers, sizeof readers / sizeof *readers};
