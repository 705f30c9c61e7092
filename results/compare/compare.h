/* Two records, figure by figure: what became slower, and how sure that is. */
#ifndef ULB_RESULTS_COMPARE_COMPARE_H
#define ULB_RESULTS_COMPARE_COMPARE_H

#include "results/compare/series.h"
#include "results/record/tracked_values.h"

#include <stdint.h>

enum ulb_verdict {
    ULB_REGRESSED,
    ULB_IMPROVED,
    ULB_INCONCLUSIVE, /* too noisy to say */
    ULB_SAME,
    ULB_MISSING, /* the base has it alone */
    ULB_NEW,     /* the new record has it alone */
    ULB_VERDICTS,
};

/* "regressed", ... */
const char *ulb_verdict_name(enum ulb_verdict verdict);

/* One figure. What could not be had is NAN. */
struct ulb_compared {
    char key[ULB_CELL_KEY_MAX];
    char kernel[64];      /* "" where the figure has none */
    double base, fresh;   /* as the two records state them, in the metric's unit */
    double ratio;         /* new / base at one state of the machine: Hodges-Lehmann */
    double ci_lo, ci_hi;  /* its 95 % interval */
    double p_adjusted;    /* Mann-Whitney, after Holm's correction for all figures compared */
    double threshold;     /* relative change from which on it counts */
    double noise_floor;   /* A/A of both records, the larger */
    double machine;       /* new / base that the machine's own change of state explains */
    size_t rounds;        /* of the record with fewer */
    size_t rounds_needed; /* to be sure; 0: more would not help, or not unsure */
    enum ulb_verdict verdict;
    char reason[128]; /* of unsure; "" else */
};

/* A kernel over all its cells that both records have. Changes are new / base - 1. */
struct ulb_kernel_change {
    char kernel[64];
    double change, ci_lo, ci_hi; /* in the metric's direction, the median kernel's taken off */
    double smallest_detectable; /* the smallest slowdown that this pair of runs shows in eight of ten cases */
    size_t cells;
    double fresh;             /* the new record's figure, median over the cells; NAN */
    enum ulb_verdict verdict; /* unsure: suspect, or a change of must_see would have been missed */
    double suspect; /* a slowdown beyond what kernels of the pair differ by, within what two runs may; or 0 */
    bool open;      /* measured in turn: more sessions are wanted */
};

struct ulb_compare_settings {
    enum ulb_metric metric;
    double threshold; /* NAN: the larger of ULB_THRESHOLD and twice the noise floor of both records */
    bool force;       /* compare what is not comparable */
    const char *cell, *kernel;    /* regular expressions of keys and kernels; NULL: all */
    double must_see, allow_blind; /* relative slowdowns; a kernel blind beyond both cannot be judged, nor can
                                     one suspect beyond allow_blind */
    const char *allow_missing;    /* regular expression of keys; "" all, NULL none */
};

#define ULB_MUST_SEE 0.5 /* of two records */

#define ULB_THRESHOLD        0.05
#define ULB_THRESHOLD_COUNTS 0.01 /* counts have no noise */

struct ulb_comparison {
    enum ulb_metric metric;
    struct ulb_compared *cells; /* by verdict, the worst first */
    size_t n;
    size_t count[ULB_VERDICTS];
    double base_gbps, fresh_gbps;      /* the yardstick of the two runs, median over the cells; NAN */
    struct ulb_kernel_change *kernels; /* by verdict, the worst first; of metrics of cells */
    size_t n_kernels;
    double common;           /* relative change of the median kernel */
    double kernel_threshold; /* relative slowdown from which on a kernel counts */
    size_t sessions;         /* of builds measured in turn; 0: two records */
    bool identical;          /* one measurement, twice */
    size_t wrong;            /* cells of the new record with wrong results */
    char wrong_kernel[64];   /* of the first */
    size_t missing;          /* cells that nobody allowed to be missing */
    char unchosen[64];       /* a kernel that may have lost the new run's choice because it became slow */
    size_t blind;            /* kernels that cannot be judged */
    json_t
        *changed_fields; /* [{"field", "base", "new"}]: conditions that differ and do not forbid comparing */
};

/* ULB_ENVIRONMENT when the records were made under conditions that cannot be compared, and force is not set:
 * the message names the field and both values. For counts it is the build alone that must be equal. */
enum ulb_status ulb_check_comparable(const struct ulb_record *base, const struct ulb_record *fresh,
                                     const struct ulb_compare_settings *settings, struct ulb_error *err);

/* Whether what `part` has may stand in the record `whole`: ULB_ENVIRONMENT names what of machine or build
 * differs. */
enum ulb_status ulb_check_part(const struct ulb_record *whole, const struct ulb_record *part,
                               struct ulb_error *err);

/* For --confirm, whether a second run is of the new record's build: ULB_ENVIRONMENT unless both name one
 * binary or one commit; "unknown" is none, nor is one with changes that are not committed. */
enum ulb_status ulb_check_same_build(const struct ulb_record *fresh, const struct ulb_record *again,
                                     struct ulb_error *err);

/* What a comparison keeps of a record: of its cells the series of one metric, which are wrong, and whether
 * they are those of another record. */
struct ulb_compare_side {
    enum ulb_metric metric;
    struct ulb_record record; /* a file's without its cells */
    struct ulb_series *series;
    size_t n;
    uint64_t cells;        /* hash of all cells in their order; 0: there are none */
    size_t wrong;          /* cells with wrong results */
    char wrong_kernel[64]; /* of the first */
    size_t runs;           /* pooled into it */
};

/* Reads a file as ulb_record_read() does, or takes a record at hand, whose root it shares. Freed on failure.
 */
enum ulb_status ulb_compare_side_read(struct ulb_compare_side *side, const char *path, enum ulb_metric metric,
                                      struct ulb_error *err);
enum ulb_status ulb_compare_side_of(struct ulb_compare_side *side, const struct ulb_record *record,
                                    enum ulb_metric metric, struct ulb_error *err);
void ulb_compare_side_free(struct ulb_compare_side *side);

/* Adds the rounds of another run of the same build to a side; more is left without what it gave.
 * ULB_ENVIRONMENT names what of machine or build differs. */
enum ulb_status ulb_compare_side_pool(struct ulb_compare_side *side, struct ulb_compare_side *more,
                                      const struct ulb_compare_settings *settings, struct ulb_error *err);

/* ulb_compare() of two sides of the settings' metric. Their series become those that the settings ask for,
 * with noise floors; a side serves any number of comparisons with one cell and kernel. */
enum ulb_status ulb_compare_sides(struct ulb_compare_side *base, struct ulb_compare_side *fresh,
                                  const struct ulb_compare_settings *settings,
                                  struct ulb_comparison *comparison, struct ulb_error *err);

/* Compares. ULB_BAD_INPUT for a record without any such figure and for what cannot be read; ULB_ENVIRONMENT
 * as above, and without memory. A regression is no error here: see count. To be freed with the function below
 * whatever the status. */
enum ulb_status ulb_compare(const struct ulb_record *base, const struct ulb_record *fresh,
                            const struct ulb_compare_settings *settings, struct ulb_comparison *comparison,
                            struct ulb_error *err);
void ulb_comparison_free(struct ulb_comparison *comparison);

enum ulb_compared_order {
    ULB_ORDER_VERDICT, /* the worst first, of one verdict the largest change; as ulb_compare() leaves them */
    ULB_ORDER_CHANGE,  /* the largest first, either way */
    ULB_ORDER_SHARE,   /* the new record's smallest first */
    ULB_ORDER_KEY,
};

/* Orders kernels and cells. */
void ulb_sort_compared(struct ulb_comparison *comparison, enum ulb_compared_order order);

/* The kernel of which least could have been seen; NULL without kernels. */
const struct ulb_kernel_change *ulb_blindest(const struct ulb_comparison *comparison);

/* ULB_OK: nothing regressed, and what must be seen would have been; ULB_FINDING: a regression, wrong results
 * or missing cells; ULB_UNDECIDED: neither can be said. */
enum ulb_status ulb_comparison_status(const struct ulb_comparison *comparison, struct ulb_error *err);

/* For the second run's comparison: its few kernels do not show how far runs differ, the first one's did. */
struct ulb_compare_settings ulb_confirm_settings(const struct ulb_compare_settings *settings,
                                                 const struct ulb_comparison *comparison);

/* Takes back the regressions that a second run of the new build (compared with the same base) does not show
 * too: they become unsure. Figures that the second run does not have are left as they are. */
void ulb_comparison_confirm(struct ulb_comparison *comparison, const struct ulb_comparison *again);

#endif
