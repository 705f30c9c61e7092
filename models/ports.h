/* Described cores and the lower limit that their ports set to a loop: numbers in, numbers out.
 *
 * Method: the four limits of a steady loop in L1, each of which holds whatever the scheduler does: the vector
 * ports and the load ports under the best possible assignment of micro-operations to ports, allocation of all
 * micro-operations, and the latency of the accumulators' chains. Their maximum is a lower limit of gamma. */
#ifndef ULB_MODELS_PORTS_H
#define ULB_MODELS_PORTS_H

#include "common/isa.h"
#include "common/mix.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    ULB_WIDTHS = 3, /* of vectors: 256, 512 and, on AArch64, 128 bits */
    ULB_MAX_PIPES = 32,
    ULB_MAX_WORK = 3,
    ULB_MAX_CORE_MODELS = 12,
};

/* So many pipe-cycles of an instruction that any pipe of the set may take. */
struct ulb_pipe_work {
    uint32_t pipes;
    double cycles;
};

struct ulb_op_cost {
    bool known;
    double uops;    /* slots of the front end */
    double latency; /* cycles; NAN where no chain runs through it */
    size_t n_work;
    struct ulb_pipe_work work[ULB_MAX_WORK];
};

/* Models of a CPU family (CPUID leaf 1, extended model included; of MIDR_EL1 part numbers) in which this core
 * is the one of a class; classes "any": of whatever class, for part numbers name cores and not chips. */
struct ulb_core_models {
    char vendor[16]; /* "GenuineIntel" */
    unsigned family, first, last;
    char classes[16]; /* words: "P", "E LP-E", "core" for a chip of one kind */
};

struct ulb_core {
    char name[24];    /* "golden-cove" */
    char chips[64];   /* where it is found */
    char source[320]; /* of the port table */
    bool inferred;    /* nobody publishes its pipes: taken from measured throughput */
    ulb_isa_set isa;
    double issue_width;                                 /* uops allocated per cycle */
    double load_bytes[ULB_WIDTHS];                      /* per cycle from L1 */
    uint32_t load_pipes;                                /* the others are vector pipes */
    struct ulb_op_cost costs[ULB_WIDTHS][ULB_OP_COUNT]; /* by vector width and kind */
    char pipe_names[ULB_MAX_PIPES][8];                  /* "p0", "L1" */
    struct ulb_core_models models[ULB_MAX_CORE_MODELS];
    size_t n_pipes, n_models;
};

enum ulb_limit { ULB_LIMIT_VECTOR, ULB_LIMIT_LOADS, ULB_LIMIT_FRONT_END, ULB_LIMIT_LATENCY, ULB_LIMITS };

/* "vector ports", "loads", "front end", "latency" */
const char *ulb_limit_name(enum ulb_limit limit);

struct ulb_port_bound {
    double limits[ULB_LIMITS]; /* core cycles per 32 weights; 0: does not limit */
    double cycles;             /* the largest of them */
    enum ulb_limit decides;    /* which; of equals the first */
};

/* Index of a vector width in the arrays above; ULB_WIDTHS for one that they do not hold. */
size_t ulb_width_index(unsigned vector_bits);

/* Least number of cycles in which pipes can do the work, every piece on any pipe of its set: the linear
 * program's value, which is the maximum over sets S of pipes of (work that only S can do) / |S|. */
double ulb_pipe_cycles(const struct ulb_pipe_work *work, size_t n);

/* The lower limit of a loop with this mix. All NAN for a mix that is empty, of a width that the core's table
 * does not hold, or with a kind of instruction that it does not know (the first is *missing, which may be
 * NULL; else it is ULB_OP_COUNT). */
struct ulb_port_bound ulb_port_bound(const struct ulb_core *core, const struct ulb_mix *mix,
                                     enum ulb_op *missing);

#endif
