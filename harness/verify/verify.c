#include "harness/verify/verify.h"

#include "harness/verify/stranger.h"
#include "kernels/gguf_block.h"
#include "kernels/plugin_loader.h"

/* Around every tile edge, real shapes small enough to be quick, and K = 5460 (no divisor of 8). Also the
 * largest K for which the layouts' overflow bounds are stated. */
static const struct {
    size_t m, k;
} shapes[] = {{1, 1},    {1, 4},    {7, 3},     {31, 31},    {32, 4},    {33, 5},    {63, 64},   {64, 127},
              {65, 129}, {96, 256}, {129, 513}, {200, 1600}, {320, 896}, {48, 5460}, {40, 8640}, {32, 65536}};

enum ulb_status ulb_verify_kernel(const struct ulb_kernel *kernel, uint64_t seed, double timeout_s,
                                  size_t *cases, struct ulb_error *err)
{
    *cases = 0;
    if (ulb_kernel_is_foreign(kernel))
        return ulb_stranger_check(kernel, seed, timeout_s, cases, err);
    const struct ulb_block *block = kernel->layout->format->block;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        size_t k = block ? ulb_round_up(shapes[i].k, block->columns) : shapes[i].k;
        for (int fill = ULB_FILL_RANDOM; fill <= ULB_FILL_ALTERNATING; fill++) {
            struct ulb_test_case test_case;
            enum ulb_status status =
                ulb_test_case_open(&test_case, kernel, shapes[i].m, k, (enum ulb_fill)fill, seed, NULL, err);
            if (status == ULB_OK)
                status = ulb_test_case_verify(&test_case, kernel, err);
            ulb_test_case_close(&test_case);
            if (status != ULB_OK)
                return status;
            ++*cases;
        }
    }
    return ULB_OK;
}
