/* The grids: every wanted kernel over the shapes of the models, one token (GEMV) or many (GEMM), cold or
 * warm. Both limits stand beside each cell, and for one token the prediction. */
#ifndef ULB_HARNESS_GRID_GRID_H
#define ULB_HARNESS_GRID_GRID_H

#include "harness/compute/core_class_rates.h"
#include "harness/compute/parallel_gemm.h"
#include "harness/compute/peak.h"
#include "harness/compute/prefetch_tuning.h"
#include "harness/session/machine.h"
#include "harness/session/settings.h"
#include "harness/threads/split.h"
#include "harness/compute/gamma_all_cores.h"
#include "harness/threads/team.h"
#include "kernels/activations.h"
#include "models/models.h"
#include "shapes/model.h"
#include "shapes/shapes.h"

struct ulb_session; /* harness/session/session.h */

struct ulb_grid_cell {
    const struct ulb_kernel *kernel;
    size_t kernel_index; /* in the list the grid was opened with */
    const char *model,
        *layer; /* names; layer NULL: the shape's own size is its name; model NULL: calibrates */
    size_t m, k, n;
    size_t bytes, packed_bytes; /* of the packed matrix: that a call reads, that it takes */
    size_t batch;
    double candidate_ratios[ULB_PREFETCH_CANDIDATES]; /* struct ulb_prefetch_times's; NAN: not measured */
    struct ulb_prefetch prefetch;                     /* as chosen before the first sample */
    double *us;                                       /* samples */
    size_t n_samples;
    double *disturbed; /* places of those that were taken although a core was not free of interference */
    size_t n_disturbed;
    double *round_yardstick; /* bytes/s: the yardstick around each round's samples */
    double *round_peak;      /* 1e9 operations/s: the compute limit right after them; NAN: there is none */
    double *read_us;         /* of each round: a plain read of as many bytes; NAN with warm weights */
    double *loop_s;          /* [round][class]: of the kernel's gamma sample right before them; 0 without */
    size_t n_rounds, per_round;
};

enum ulb_product { ULB_GEMV, ULB_GEMM };

/* What a grid is made of. */
struct ulb_grid_plan {
    const struct ulb_machine *machine; /* the caller's, as are the settings */
    const struct ulb_settings *settings;
    const char *models, *shapes, *tokens; /* comma lists; models or shapes may be NULL, not both */
    size_t rounds, per_round;
    double budget; /* seconds after which no further round begins, when there were some */
    bool predicts; /* beside the models: needs gammas and cells that calibrate */
};

/* What the settings ask for, with the defaults of the product; machine is the caller's to set. */
struct ulb_grid_plan ulb_grid_plan_of(const struct ulb_settings *settings, enum ulb_product product);

struct ulb_grid {
    struct ulb_grid_plan plan;
    struct ulb_model_list models;
    struct ulb_shape_list *shapes;        /* of each model, fused */
    struct ulb_grid_cell *cells;          /* those judged: by model, shape, format, kernel, n; then those that
                                             calibrate: ULB_OVERLAP_SHAPES of each kernel; none with warm weights */
    size_t judged, n, n_kernels, classes; /* classes: of the machine */
    struct ulb_overlap *overlaps;         /* of each kernel; NAN until ulb_overlap_measure() */
    size_t largest;                       /* bytes of the largest packed matrix */
    size_t *order;                        /* n, for shuffling */
    double *samples;                      /* storage of the cells' arrays */
    double *yardstick;                    /* bytes/s: one before each round and one after each cell */
    bool *yardstick_disturbed;            /* of each: taken although a core was not free of interference */
    size_t n_yardstick;
    double *round_medians; /* its median in each round, GB/s */
    double *round_hz;      /* core frequency in each round */
    size_t n_rounds;
    double *cell_hz; /* n: after each cell of the present round */
    struct ulb_noise_retry retry;
    double begin;                 /* of the timing: less what was spent by processes before this one */
    struct ulb_team_gamma *gamma; /* of the kernels the grid was opened with; closed with the grid */
    struct ulb_core_rate *rates;  /* [kernel][class], after ulb_grid_finalise() */
    double *round_loops;          /* storage of the cells' loop_s */
    struct ulb_peak_meter *peak;  /* closed with the grid */
    size_t tokens;                /* the largest N */
    float *y;                     /* room for the largest M and N, and a cache line */
    struct ulb_pages tokens_storage;
    struct ulb_activations x[ULB_ACTIVATIONS]; /* those of the kernels' formats, for the largest K and N */
    struct ulb_tile_range *ranges;             /* one per thread */
    double *thread_shares; /* of the weighted split, by thread: of the cell that ulb_grid_split() saw last */
    double class_beta[ULB_MAX_CLASSES]; /* bytes/s; these two once ulb_grid_measure_shares() measured them */
    struct ulb_class_gamma *class_gammas; /* of each kernel; NULL: all threads are equal */
};

/* Lists the cells alone: kernels x shapes x numbers of tokens. ULB_BAD_INPUT for an unknown model and for
 * what is no shape or number. The grid may be closed after a failure too. */
enum ulb_status ulb_grid_list(struct ulb_grid *grid, const struct ulb_grid_plan *plan,
                              const struct ulb_kernel *const *kernels, size_t n, struct ulb_error *err);
/* The same with all that measuring them needs; warns of shapes that a format cannot have. */
enum ulb_status ulb_grid_open(struct ulb_grid *grid, struct ulb_record *record,
                              const struct ulb_grid_plan *plan, const struct ulb_kernel *const *kernels,
                              size_t n, struct ulb_error *err);
void ulb_grid_close(struct ulb_grid *grid);

/* For the weighted split on several classes. Measures what each of them gets done while the whole team works,
 * and says so in the record's section "class_shares". The session's yardstick must have been chosen. */
enum ulb_status ulb_grid_measure_shares(struct ulb_session *session, struct ulb_grid *grid,
                                        const struct ulb_kernel *const *kernels, struct ulb_error *err);

/* Fills the grid's thread_shares for one cell. */
void ulb_grid_set_thread_shares(struct ulb_grid *grid, const struct ulb_grid_cell *cell);

/* The split of the settings for one cell; uses the grid's ranges and thread_shares, so that the next call
 * ends its use. */
struct ulb_row_split ulb_grid_split(struct ulb_grid *grid, const struct ulb_grid_cell *cell);

/* Arguments of a timed call; w is still to be set. */
struct ulb_gemm ulb_grid_gemm(const struct ulb_grid *grid, const struct ulb_grid_cell *cell);

/* One timed GEMV or GEMM of a cell on the next copy of its weights. */
struct ulb_cell_sample {
    struct ulb_team *team;
    struct ulb_arena *arena;
    const struct ulb_reader *reader; /* of the yardstick */
    bool warm;
    struct ulb_grid_cell *cell;
    struct ulb_row_split split; /* the grid's: valid until the next cell is opened */
    struct ulb_team_gemm job;
};

/* In place: the job keeps a pointer to the split. */
void ulb_cell_sample_open(struct ulb_cell_sample *sample, struct ulb_session *session, struct ulb_grid *grid,
                          struct ulb_grid_cell *cell);

/* Seconds of one call, over batch of them on successive copies. Memory is warmed up for cold weights of calls
 * that are not long (harness/memory/cold_ring.h). */
double ulb_cell_sample_time(struct ulb_cell_sample *sample, size_t batch);

/* The same of a plain read of as many bytes, by the yardstick's reader. No more than a sample of the
 * yardstick is read, and the time is then scaled. */
double ulb_cell_sample_read(struct ulb_cell_sample *sample, size_t batch);

/* Median of the samples' own ratios to the yardstick sampled around them. The machine's good and bad spells
 * last longer than a sample, so that they cancel. NAN when there is no memory for the ratios. */
double ulb_grid_efficiency(const struct ulb_grid_cell *cell);

/* Warms up every cell, verified before, and chooses where its prefetches go. That is one candidate for all
 * shapes of a kernel and number of tokens, by the median of the cells' candidate_ratios. Before the first
 * round. */
enum ulb_status ulb_grid_warm_up(struct ulb_session *session, struct ulb_grid *grid, struct ulb_error *err);

/* What a cell's warm-up, a round's limits and one cell's turn in it came to, for the journal
 * (harness/session/checkpoint.h). And back in their place; false: the values are not what these functions
 * write. */
json_t *ulb_grid_warm_up_to_json(const struct ulb_grid_cell *cell);
bool ulb_grid_warm_up_from_json(const struct ulb_grid *grid, struct ulb_grid_cell *cell, const json_t *saved);
json_t *ulb_grid_limits_to_json(const struct ulb_grid *grid);
bool ulb_grid_limits_from_json(struct ulb_grid *grid, const json_t *saved);
json_t *ulb_grid_cell_to_json(const struct ulb_grid *grid, const struct ulb_grid_cell *cell, double hz);
bool ulb_grid_cell_from_json(struct ulb_grid *grid, struct ulb_grid_cell *cell, const json_t *saved,
                             double *hz);

/* One cell's samples of one round, between two of the yardstick, of which the first was taken before.
 * *hz: NAN where it is not known. ULB_FINDING when the kernel writes behind its results. */
enum ulb_status ulb_grid_time_cell(struct ulb_session *session, struct ulb_grid *grid,
                                   struct ulb_grid_cell *cell, double *hz, struct ulb_error *err);
void ulb_grid_take_yardstick(struct ulb_session *session, struct ulb_grid *grid);

/* A sample of the yardstick, bytes/s. */
void ulb_grid_add_yardstick(struct ulb_grid *grid, double value, bool disturbed);
/* The yardstick around the samples that a cell got last, and the kernel's gamma taken with them. */
void ulb_grid_end_cell_round(struct ulb_grid *grid, struct ulb_grid_cell *cell);

/* Sums up what the team's gamma was sampled as; before any prediction. */
void ulb_grid_finalise(struct ulb_grid *grid);

/* Median of the yardstick over the whole run, bytes/s. */
double ulb_grid_yardstick(const struct ulb_grid *grid);

/* Statistics, efficiency, prediction, residual and verdict of a measured cell. Sample arrays stay the grid's.
 * ring_bytes: of the cold ring. */
void ulb_grid_result(struct ulb_grid *grid, size_t ring_bytes, struct ulb_grid_cell *from,
                     struct ulb_cell *cell);

/* Measures the grid and appends its cells to the record. Before any cell is timed, every kernel is verified
 * at every shape and number of tokens, with the team and the split that are timed. A kernel that differs is
 * ULB_FINDING. On ULB_INTERRUPTED the cells measured so far are in the record. */
enum ulb_status ulb_grid_measure(struct ulb_session *session, enum ulb_product product,
                                 const struct ulb_kernel *const *kernels, size_t n, struct ulb_error *err);

/* Bytes of the largest packed matrix of the grid, for ulb_session_arena(). ULB_BAD_INPUT for an unknown model
 * and for what is no shape or number of tokens. */
enum ulb_status ulb_grid_largest(const struct ulb_session *session, enum ulb_product product,
                                 const struct ulb_kernel *const *kernels, size_t n, size_t *bytes,
                                 struct ulb_error *err);

/* The first shape of the GEMV grid and the largest, as a list for --shapes; one where they are the same. */
enum ulb_status ulb_grid_two_shapes(const struct ulb_session *session,
                                    const struct ulb_kernel *const *kernels, size_t n, char *list,
                                    size_t bytes, struct ulb_error *err);

#endif
