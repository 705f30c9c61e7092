/* A team on a described machine, simulated: the split's own code hands out the rows, virtual threads of
 * different speed take them.
 *
 * Each core computes at B/gamma * hz bytes of weights a second at most (the paper's eq. 2) and draws what the
 * memory gives it. There are two ways to share the memory. EQUAL: each core may draw one part in as many as
 * there are cores, and nobody else gets what one leaves (the paper's beta, section IV-B). FAIR: what one core
 * leaves goes to the others in equal parts. A core leaves some if its arithmetic is slower or its rows are
 * done. Real memory controllers lie between the two.
 *
 * Time is continuous: between two events every core's rate is constant. Events are pieces of rows that are
 * begun or done. */
#ifndef ULB_HARNESS_THREADS_SPLIT_SIMULATION_H
#define ULB_HARNESS_THREADS_SPLIT_SIMULATION_H

#include "common/status.h"
#include "harness/threads/split.h"
#include "models/models.h"

enum ulb_sim_sharing { ULB_SIM_EQUAL, ULB_SIM_FAIR };

/* What is simulated; gamma is one of the platform's, without NAN. */
struct ulb_sim_plan {
    const struct ulb_platform *platform;
    const struct ulb_platform_gamma *gamma;
    enum ulb_sim_sharing sharing;
    size_t tile;   /* rows that are never parted: mr of a kernel */
    size_t chunk;  /* tiles that the dynamic split takes at least */
    double take_s; /* what it costs a thread to take a piece, seconds */
};

struct ulb_simulated {
    double seconds;    /* until the last row is done, without fork/join */
    double idle_share; /* of the threads' time until then: waiting for the last one */
    size_t pieces;     /* taken by all threads together */
};

/* One GEMV of m x k by all cores of the platform. ULB_BAD_INPUT when the platform lacks a figure (a class
 * without clock or gamma, no bandwidth), ULB_ENVIRONMENT without memory. */
enum ulb_status ulb_simulate(const struct ulb_sim_plan *plan, enum ulb_split split, size_t m, size_t k,
                             struct ulb_simulated *out, struct ulb_error *err);

/* What parts by rate gain over equal parts by the rates of the classes: the mean of the cores' rates over the
 * least. Each rate is of a core by itself, with an equal share of the memory. */
double ulb_sim_implied_speedup(const struct ulb_sim_plan *plan);

#endif
