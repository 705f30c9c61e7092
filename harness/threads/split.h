/* How rows are shared out among the threads of a team. */
#ifndef ULB_HARNESS_THREADS_SPLIT_H
#define ULB_HARNESS_THREADS_SPLIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ulb_split { ULB_SPLIT_STATIC, ULB_SPLIT_DYNAMIC, ULB_SPLIT_WEIGHTED, ULB_SPLITS };

const char *ulb_split_name(enum ulb_split split);
/* The split of that name; false: there is none. */
bool ulb_split_parse(const char *word, enum ulb_split *split);

/* One thread's tiles, or parts of tiles, [front, back), both halves of one word so that owner and thief agree
 * by one compare-and-swap. */
struct ulb_tile_range {
    _Alignas(64) _Atomic uint64_t range;
};

struct ulb_row_split {
    enum ulb_split kind;
    size_t m, grain;             /* rows; rows per tile */
    size_t threads, chunk;       /* chunk: least tiles that the dynamic split takes at once */
    const double *thread_shares; /* weighted: relative rate of each thread */
    struct ulb_tile_range *ranges;
    size_t parts; /* of each tile's tokens, so that a tile need not be one thread's; 0 or 1: it is */
};

/* Rows and parts of their tokens: some whole tiles, or some parts of one tile. */
struct ulb_split_piece {
    size_t m0, m1;
    size_t part0, part1;
};

/* A split of m rows in tiles of grain rows; ranges has one for each thread, thread_shares are the weighted
 * split's.
 */
struct ulb_row_split ulb_split_of(enum ulb_split kind, size_t m, size_t grain, size_t threads,
                                  const double *thread_shares, struct ulb_tile_range *ranges);

/* Gives every thread its contiguous part again; to be called before each run. Static and dynamic: equal parts
 * of whole tiles. Weighted: parts in proportion to the shares. */
void ulb_split_reset(struct ulb_row_split *split);

/* Next rows of a thread: its own part from the front. In the dynamic split, when that is used up, the back of
 * the part of whoever has the most left. On hybrid chips all fast cores are done at once. If each took from
 * its neighbour, another slow core would be left with a large piece at the end. false: nothing is left. A
 * contiguous part keeps the address streams of the kernel whole, which a shared chunk counter would break.
 * For splits whose tiles have no parts. */
bool ulb_split_next(struct ulb_row_split *split, size_t thread, size_t *m0, size_t *m1);

/* The same where tiles have parts, by which ranges count then. */
bool ulb_split_next_piece(struct ulb_row_split *split, size_t thread, struct ulb_split_piece *piece);

/* ulb_split_next() in the form of struct ulb_gemm's more; rows: a struct ulb_split_rows. */
struct ulb_split_rows {
    struct ulb_row_split *split;
    size_t thread;
};
bool ulb_split_more(void *rows, size_t *m0, size_t *m1);

/* Largest share of the rows that one thread gets when nobody steals. */
double ulb_split_slowest(const struct ulb_row_split *split);

#endif
