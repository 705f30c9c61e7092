#include "models/models.h"

#include "models/valid_argument.h"

#include <math.h>

/* amount / rate; 0 where there is nothing to do, NAN where the arguments have no meaning. */
static double term(double amount, double rate)
{
    if (amount == 0)
        return 0;
    return ulb_is_positive(amount) && ulb_is_positive(rate) ? amount / rate : (double)NAN;
}

struct ulb_device_prediction ulb_predict_device(const struct ulb_device_work *work)
{
    const double memory = term(work->bytes, work->beta), compute = term(work->operations, work->peak),
                 quantise = term(work->quantise, work->vector);
    if (!ulb_is_not_negative(work->launch_s) || isnan(memory) || isnan(compute) || isnan(quantise))
        return (struct ulb_device_prediction){NAN, NAN, NAN, NAN, ULB_BOUND_OVERHEAD};
    const double slowest = fmax(compute, quantise), longer = fmax(memory, slowest);
    return (struct ulb_device_prediction){
        .seconds = work->launch_s + longer,
        .memory_s = memory,
        .compute_s = compute,
        .quantise_s = quantise,
        .bound = work->launch_s > longer ? ULB_BOUND_OVERHEAD
                 : memory >= slowest     ? ULB_BOUND_MEMORY
                                         : ULB_BOUND_COMPUTE,
    };
}

/* One vector engine of Xe2 multiplies 16 lanes, 8 tokens and 32 bytes in 16 cycles at its published peak. */
static const double TOKEN_CYCLES = 2;

struct ulb_device_loop_bound ulb_device_loop_bound(const struct ulb_device_loop *loop)
{
    struct ulb_device_loop_bound bound = {{TOKEN_CYCLES * loop->matrix_tokens, loop->vector, loop->registers},
                                          ULB_DEVICE_MATRIX};
    for (int limit = 0; limit < ULB_DEVICE_LIMITS; limit++) {
        if (bound.cycles[limit] > bound.cycles[bound.limit])
            bound.limit = (enum ulb_device_limit)limit;
    }
    return bound;
}

const char *ulb_device_limit_name(enum ulb_device_limit limit)
{
    static const char *const names[] = {
        [ULB_DEVICE_MATRIX] = "matrix", [ULB_DEVICE_VECTOR] = "vector", [ULB_DEVICE_MESSAGES] = "messages"};
    return names[limit];
}
