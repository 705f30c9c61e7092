/* A reader for any CPU: 64-bit words, four sums. */
#include "kernels/read/stream.h"

#include <string.h>

static uint64_t run(const void *data, size_t bytes)
{
    const uint64_t *words = data;
    uint64_t sums[4] = {0};
    for (size_t i = 0; i < bytes / sizeof *words; i += 4) {
        for (size_t j = 0; j < 4; j++)
            sums[j] += words[i + j];
    }
    return sums[0] + sums[1] + sums[2] + sums[3];
}

static const struct ulb_reader readers[] = {{"scalar-1s", ULB_KERNEL_NEEDS, false, run}};

const struct ulb_reader_set ULB_KERNEL = {readers, 1};
