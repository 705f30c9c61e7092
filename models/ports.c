#include "models/ports.h"

#include "models/valid_argument.h"

#include <math.h>

enum { MAX_WORK = ULB_OP_COUNT * ULB_MAX_WORK, MAX_SETS = 12 };

/* All work of a loop on one kind of pipes. */
struct workload {
    struct ulb_pipe_work items[MAX_WORK];
    size_t n;
};

const char *ulb_limit_name(enum ulb_limit limit)
{
    static const char *const names[] = {[ULB_LIMIT_VECTOR] = "vector ports",
                                        [ULB_LIMIT_LOADS] = "loads",
                                        [ULB_LIMIT_FRONT_END] = "front end",
                                        [ULB_LIMIT_LATENCY] = "latency"};
    return names[limit];
}

size_t ulb_width_index(unsigned vector_bits)
{
    return vector_bits == 256 ? 0 : vector_bits == 512 ? 1 : vector_bits == 128 ? 2 : ULB_WIDTHS;
}

/* The sets of pipes that occur, each once; false when there are more than MAX_SETS. */
static bool distinct_sets(const struct ulb_pipe_work *work, size_t n, uint32_t sets[MAX_SETS], size_t *n_sets)
{
    *n_sets = 0;
    for (size_t i = 0; i < n; i++) {
        size_t s = 0;
        while (s < *n_sets && sets[s] != work[i].pipes)
            s++;
        if (s == MAX_SETS)
            return false;
        if (s == *n_sets)
            sets[(*n_sets)++] = work[i].pipes;
    }
    return true;
}

/* The set S of the maximum is a union of sets that occur: another pipe would add to |S| alone. */
double ulb_pipe_cycles(const struct ulb_pipe_work *work, size_t n)
{
    uint32_t sets[MAX_SETS];
    size_t n_sets;
    double longest = 0;
    if (!distinct_sets(work, n, sets, &n_sets))
        return NAN;
    for (uint32_t chosen = 1; chosen < (uint32_t)1 << n_sets; chosen++) {
        uint32_t pipes = 0;
        double cycles = 0;
        for (size_t s = 0; s < n_sets; s++)
            pipes |= chosen >> s & 1 ? sets[s] : 0;
        for (size_t i = 0; i < n; i++)
            cycles += (work[i].pipes & ~pipes) == 0 ? work[i].cycles : 0;
        longest = fmax(longest, cycles / __builtin_popcount(pipes));
    }
    return longest;
}

static void add_work(struct workload *load, const struct ulb_pipe_work *work, double count)
{
    load->items[load->n++] = (struct ulb_pipe_work){work->pipes, work->cycles * count};
}

/* Cycles between two instructions of a chain, times the instructions of each chain. */
static double chain_cycles(const struct ulb_op_cost *costs, const struct ulb_mix *mix)
{
    double cycles = 0;
    if (mix->chains == 0)
        return 0;
    if (mix->dot_products > 0)
        cycles += mix->dot_products * costs[ULB_OP_dot_products].latency / mix->chains;
    if (mix->matrix_products > 0)
        cycles += mix->matrix_products * costs[ULB_OP_matrix_products].latency / mix->chains;
    if (mix->fmas > 0)
        cycles += mix->fmas * costs[ULB_OP_fmas].latency / mix->chains;
    return cycles;
}

static const struct ulb_port_bound no_bound = {{NAN, NAN, NAN, NAN}, NAN, ULB_LIMIT_VECTOR};

static struct ulb_port_bound longest_of(const double limits[ULB_LIMITS])
{
    struct ulb_port_bound bound = {.cycles = limits[0]};
    for (size_t i = 0; i < ULB_LIMITS; i++) {
        bound.limits[i] = limits[i];
        if (isnan(limits[i]))
            return no_bound;
        if (limits[i] > bound.cycles) {
            bound.cycles = limits[i];
            bound.decides = (enum ulb_limit)i;
        }
    }
    return bound;
}

struct ulb_port_bound ulb_port_bound(const struct ulb_core *core, const struct ulb_mix *mix,
                                     enum ulb_op *missing)
{
    struct workload vector = {.n = 0}, loads = {.n = 0};
    size_t width = ulb_width_index(mix->vector_bits);
    double uops = 0;
    if (missing)
        *missing = ULB_OP_COUNT;
    if (width == ULB_WIDTHS)
        return no_bound;
    for (enum ulb_op op = 0; op < ULB_OP_COUNT; op++) {
        const struct ulb_op_cost *cost = &core->costs[width][op];
        double count = ulb_mix_count(mix, op);
        if (count == 0)
            continue;
        if (!cost->known || !ulb_is_positive(count)) {
            if (missing)
                *missing = op;
            return no_bound;
        }
        uops += count * cost->uops;
        for (size_t i = 0; i < cost->n_work; i++)
            add_work((cost->work[i].pipes & ~core->load_pipes) == 0 ? &loads : &vector, &cost->work[i],
                     count);
    }
    if (uops == 0)
        return no_bound;
    double bytes = mix->loads * mix->vector_bits / 8 / core->load_bytes[width];
    const double limits[ULB_LIMITS] = {
        [ULB_LIMIT_VECTOR] = ulb_pipe_cycles(vector.items, vector.n),
        [ULB_LIMIT_LOADS] = fmax(ulb_pipe_cycles(loads.items, loads.n), bytes),
        [ULB_LIMIT_FRONT_END] = uops / core->issue_width,
        [ULB_LIMIT_LATENCY] = chain_cycles(core->costs[width], mix),
    };
    return longest_of(limits);
}
