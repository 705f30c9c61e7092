/* Performance models: numbers in, numbers out; no I/O, no clock, no allocation.
 *
 * Source of the formulas: Georganas, Kalamkar, Heinecke, arXiv 2508.06753 ("the paper"), section III-F
 * (effective-bandwidth roofline), IV-B (hybrid aggregate, fork/join overhead) and IV-D (Amdahl).
 * Units: beta and e_bw in bytes per core cycle, gamma in core cycles per step of 32 weights, B in weight
 * bytes per step, frequencies in Hz, bandwidths in bytes per second, times in seconds.
 *
 * Nothing is guessed: an argument that is NAN, infinite, or not positive where only a positive one has a
 * meaning makes the result NAN. */
#ifndef ULB_MODELS_MODELS_H
#define ULB_MODELS_MODELS_H

#include <stdbool.h>
#include <stddef.h>

enum { ULB_MAX_CLASSES = 4, ULB_MAX_GAMMAS = 16, ULB_STEP_WEIGHTS = 32 };

/* gamma of one kernel sequence on each class of a platform, in the order of its classes. */
struct ulb_platform_gamma {
    char format[16];   /* "int2" */
    char sequence[32]; /* "pshufb" */
    double bytes_per_step;
    double cycles[ULB_MAX_CLASSES];
};

struct ulb_platform_class {
    char name[8]; /* "P", "E", "LP-E", "core" */
    unsigned cores;
    double hz;     /* under load; NAN when unknown */
    char core[24]; /* a name of the table of cores: "lion-cove"; "" when unknown */
};

/* A described machine: the paper's ARL, ARLH, LNL, or one that was measured. */
struct ulb_platform {
    char name[32];
    char title[96];
    char source[160];
    size_t n_classes;
    struct ulb_platform_class classes[ULB_MAX_CLASSES];
    size_t n_unused;
    struct ulb_platform_class unused[ULB_MAX_CLASSES]; /* cores that the source leaves idle */
    double bandwidth;                                  /* read bandwidth of all cores together, bytes/s */
    double fork_join_s;                                /* NAN when unknown */
    size_t n_gammas;
    struct ulb_platform_gamma gammas[ULB_MAX_GAMMAS];
};

enum ulb_bound { ULB_BOUND_MEMORY, ULB_BOUND_COMPUTE, ULB_BOUND_OVERHEAD };

const char *ulb_bound_name(enum ulb_bound bound); /* "memory", "compute", "overhead" */

/* Ceiling B/gamma that the arithmetic allows, bytes/cycle (the paper's eq. 2). */
double ulb_compute_ceiling(double bytes_per_step, double gamma);

/* e_bw = min(beta, B/gamma), bytes/cycle (the paper's eq. 3). */
double ulb_effective_bandwidth(double beta, double bytes_per_step, double gamma);

/* Which term of e_bw is the smaller: MEMORY while beta <= B/gamma (the slanted part of the roofline).
 * Only for arguments whose e_bw is not NAN. */
enum ulb_bound ulb_roofline_bound(double beta, double bytes_per_step, double gamma);

/* beta of class c in bytes/cycle when the bandwidth is shared equally by all cores (IV-B). */
double ulb_platform_beta(const struct ulb_platform *platform, size_t c);

/* Bandwidth in bytes/s of one core of class c under gamma (IV-B: "6.5 GB/s per P core"). */
double ulb_platform_core_bandwidth(const struct ulb_platform *platform,
                                   const struct ulb_platform_gamma *gamma, size_t c);

/* Sum over classes of cores * hz * e_bw: the modelled bandwidth of the chip, bytes/s (IV-B: 55 and 37). */
double ulb_platform_bandwidth(const struct ulb_platform *platform, const struct ulb_platform_gamma *gamma);

/* Seconds that a GEMV with so many weights takes when every core gets rows in proportion to its own
 * bandwidth, so that all end together; fork/join comes on top (IV-B: 6 us for 1600x1600). */
double ulb_platform_gemv_seconds(const struct ulb_platform *platform, const struct ulb_platform_gamma *gamma,
                                 double weights);

/* Finds a gamma row by format and sequence (sequence NULL: the first of that format). NULL when absent. */
const struct ulb_platform_gamma *ulb_platform_gamma_find(const struct ulb_platform *platform,
                                                         const char *format, const char *sequence);

/* Amdahl: s = 1 / (1 - alpha + alpha/x), alpha = share of the accelerated part, x = its speed-up (IV-D). */
double ulb_amdahl(double alpha, double x);

/* alpha for which ulb_amdahl(alpha, x) == s; NAN when no alpha in [0, 1], or every one (x = 1), gives s. */
double ulb_amdahl_alpha(double s, double x);

/* Tokens per second that reading so many bytes for each allows: the roofline of decoding. */
double ulb_decode_roofline(double bandwidth, double bytes_per_token);

/* Seconds of a token with all layers, from one with layers_run of them: once_s of it do not depend on layers
 * (the head's product). */
double ulb_decode_extrapolate(double token_s, double once_s, double layers_run, double layers);

/* What one GEMV is made of, for a team whose cores share the rows. */
struct ulb_gemv_work {
    double bytes; /* weight bytes that the whole team reads, scales and padding included */
    double steps; /* steps of 32 weights of the whole team (padding included) */
    unsigned threads;
    double slowest_share; /* share of the work that the most loaded thread has, 1/threads (even) to 1 */
    double hz;            /* core clock */
    double beta;          /* bytes/cycle per core while the whole team reads */
    double gamma;         /* cycles per step */
    double fork_join_s;   /* 0 for the time without it */
};

struct ulb_gemv_prediction {
    double seconds;
    double memory_s, compute_s; /* of the most loaded thread */
    double shorter_s;           /* the shorter of the two: what seconds takes to be hidden */
    enum ulb_bound bound;
};

/* seconds = fork_join + max(memory, compute) of the most loaded thread (eq. 1 plus IV-B's overhead term).
 * bound is OVERHEAD when the fork/join term is the largest of the three. bytes and steps may be 0; a
 * prediction that cannot be made has every time NAN. */
struct ulb_gemv_prediction ulb_predict_gemv(const struct ulb_gemv_work *work);

/* What one launch on a device is made of. */
struct ulb_device_work {
    double bytes;      /* read from the device's memory; 0: none */
    double operations; /* 0: none; a multiplication and an addition are two */
    double launch_s;   /* of a kernel that does nothing */
    double beta;       /* bytes/s: the best plain reader */
    double peak;       /* operations/s of the instructions used */
    double quantise;   /* vector operations that make int8 of the activations; 0: none */
    double vector;     /* operations/s of vector instructions */
};

struct ulb_device_prediction {
    double seconds;
    double memory_s, compute_s, quantise_s;
    enum ulb_bound bound;
};

/* seconds = launch + max(bytes / beta, operations / peak, quantise / vector) (the paper's IV-C: 6 us of
 * reading and 2 us of launch). bound is OVERHEAD when the launch is the largest, COMPUTE when operations or
 * quantising is. A prediction that cannot be made has every time NAN. */
struct ulb_device_prediction ulb_predict_device(const struct ulb_device_work *work);

/* A round of the loop over K of a device's kernel, counted from its disassembly. */
struct ulb_device_loop {
    double matrix;        /* matrix instructions */
    double matrix_tokens; /* that they multiply by, 1 to 8 each */
    double vector;        /* other instructions */
    double messages;      /* to memory */
    double registers;     /* that the messages move */
};

enum ulb_device_limit { ULB_DEVICE_MATRIX, ULB_DEVICE_VECTOR, ULB_DEVICE_MESSAGES, ULB_DEVICE_LIMITS };

/* Cycles of a round by each limit, and the longest. Issue rates are assumed: two cycles a token of a matrix
 * instruction, one a vector instruction, one a register of a message; the three overlap. */
struct ulb_device_loop_bound {
    double cycles[ULB_DEVICE_LIMITS];
    enum ulb_device_limit limit;
};
struct ulb_device_loop_bound ulb_device_loop_bound(const struct ulb_device_loop *loop);

const char *ulb_device_limit_name(enum ulb_device_limit limit); /* "matrix", "vector", "messages" */

/* What a GEMV of one kernel on one set of cores costs beyond fork/join and the longer of its two terms. */
struct ulb_overlap {
    double c;        /* share of the shorter term that the longer one does not hide */
    double tile_s;   /* per tile of rows of the most loaded thread */
    double call_s;   /* per call */
    double column_s; /* per call and input feature */
};

/* seconds = fork_join + max(memory, compute) + c * min(memory, compute)
 *           + tiles * tile_s + call_s + columns * column_s
 *
 * The roofline lets the shorter term disappear behind the longer one. Its two extremes are c = 0, everything
 * overlaps, and c = 1, nothing does: the sum. c above 1 says that loads are issued so late that they wait for
 * latency; slightly below 0, that the kernel reads faster than the yardstick. tile_s is what begins anew with
 * every tile of rows: address streams that must first fill the load queues, and sums that are stored. call_s
 * and column_s are what a call costs whatever its rows: the first misses, tables built from the activations.
 * Overlapping and non-overlapping time apart is the idea of the execution-cache-memory model (Treibig and
 * Hager, PPAM 2009); one share c per kernel and the costs of tiles and calls are this suite's. NAN where
 * plain or overlap is, and where a c far below 0, from times that were disturbed, would leave no time at all.
 */
double ulb_predict_overlap(const struct ulb_gemv_prediction *plain, double tiles, double columns,
                           const struct ulb_overlap *overlap);

/* One measured GEMV that an overlap is taken from: plain is what the roofline says of it. */
struct ulb_overlap_point {
    double seconds;
    struct ulb_gemv_prediction plain;
    double tiles, columns;
};

/* The overlap that leaves the least sum of squared relative errors, tile_s and the fixed cost not negative.
 * The fixed cost is column_s for a kernel that builds tables, else call_s; the other one is 0. Every field is
 * NAN for less than three points, or for one that is not positive and finite. Points of one shape alone, or
 * of one length of rows alone, do not tell the unknowns apart. */
struct ulb_overlap ulb_overlap_fit(const struct ulb_overlap_point *points, size_t n, bool tables);

/* c alone, by the same measure, with the costs of tiles and calls as given: how c scatters from one set of
 * samples to the next. */
double ulb_overlap_refit(const struct ulb_overlap_point *points, size_t n, const struct ulb_overlap *costs);

#endif
