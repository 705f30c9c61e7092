/* The loops that gamma is measured by: one kernel, weights in L1, at two sizes. The sizes are two lengths of
 * K for one tile of rows, so that call and tile overhead cancel. For a kernel that builds tables from the
 * activations they are two numbers of rows. All rows of a real matrix share the tables, so that these cancel
 * too.
 *
 * If the shortest K of a kernel is long, twice that may not fit into L1. Then gamma is of the brief size
 * alone. Subtracted are what a call without rows takes, and what the end of a tile takes. The end is two
 * tiles of half the length against one of the whole, as many bytes from the same cache. */
#ifndef ULB_HARNESS_COMPUTE_GAMMA_LOOP_H
#define ULB_HARNESS_COMPUTE_GAMMA_LOOP_H

#include "harness/timing/clock.h"
#include "harness/verify/test_case.h"
#include "kernels/embedding.h"

struct ulb_gamma_loop {
    const struct ulb_kernel *kernel;
    struct ulb_gemm gemm;
    const struct ulb_embedding *embedding; /* runs look_up; NULL: the kernel runs gemm */
    struct ulb_embedding_call look_up;
    size_t calls; /* per timed run */
    struct ulb_test_case test_case;
    struct ulb_pages pages; /* packed weights, ULB_GAMMA_ASKED_BEHIND bytes, results by thread */
    size_t y_stride;        /* floats from one thread's results to the next: room for those of all turns */
};

/* Bytes behind weights, more than any kernel prefetches, whose pages are there and that nobody writes. In a
 * model other matrices lie there. A prefetch into a page that is not there walks the page tables each time. A
 * prefetch into another thread's results takes their lines away. Either can be most of a brief call's time
 * (docs/measurements/gamma.md). */
enum { ULB_GAMMA_ASKED_BEHIND = 16 << 10, ULB_GAMMA_RESULTS_APART = 4096 /* bytes from thread to thread */ };

enum { ULB_GAMMA_BRIEF, ULB_GAMMA_FULL, ULB_GAMMA_NO_TILE, ULB_GAMMA_TWO_TILES, ULB_GAMMA_LOOPS };

struct ulb_gamma_sizes {
    struct ulb_gamma_loop loops[ULB_GAMMA_LOOPS];
    size_t n;     /* loops there are: 2, or ULB_GAMMA_LOOPS where the full size does not fit into L1 */
    double steps; /* of 32 weights between the brief and the full size */
};

/* Makes the loops and checks the kernel against its scalar reference on them; ULB_FINDING: it differs. Sets
 * the calls so that a run lasts some 40 us. threads: how many will run the loops at the same time. */
enum ulb_status ulb_gamma_sizes_open(struct ulb_gamma_sizes *sizes, const struct ulb_kernel *kernel,
                                     size_t l1_bytes, size_t threads, uint64_t seed, struct ulb_error *err);
/* The brief and the full size alone, for what no cache changes. */
enum ulb_status ulb_gamma_sizes_open_counted(struct ulb_gamma_sizes *sizes, const struct ulb_kernel *kernel,
                                             size_t l1_bytes, uint64_t seed, struct ulb_error *err);
/* The brief and the full size of an embedding look-up. One row of the kernel's block format has two lengths,
 * at which its blocks and floats stay in L1. The operator is checked first: ULB_FINDING when a float differs
 * from the scalar reference's in any bit. */
enum ulb_status ulb_gamma_sizes_open_look_up(struct ulb_gamma_sizes *sizes,
                                             const struct ulb_embedding *embedding,
                                             const struct ulb_kernel *kernel, size_t l1_bytes, uint64_t seed,
                                             struct ulb_error *err);
void ulb_gamma_sizes_close(struct ulb_gamma_sizes *sizes);

/* gamma, of the cycles of one call of each loop. */
double ulb_gamma_of_sizes(const struct ulb_gamma_sizes *sizes, const double cycles[ULB_GAMMA_LOOPS]);

/* One timed run's work, for one thread: calls of the kernel or of the look-up. Each turn has its results, and
 * the kernel's stack, at other places of a page. A core may settle in a slower way of running brief calls for
 * as long as nothing moves (docs/measurements/gamma.md). */
void ulb_gamma_loop_run(const struct ulb_gamma_loop *loop, size_t thread, size_t turn);

/* One call, which brings weights and activations back into L1 after other work. */
void ulb_gamma_loop_warm(const struct ulb_gamma_loop *loop, size_t thread);

#endif
