/* Internal to results/compare: the steps of ulb_compare(). */
#ifndef ULB_RESULTS_COMPARE_COMPARE_PRIVATE_H
#define ULB_RESULTS_COMPARE_COMPARE_PRIVATE_H

#include "results/compare/compare.h"
#include "results/compare/effect_size.h"

/* One figure of both records, and what came out. */
struct ulb_series_pair {
    const struct ulb_series *base, *fresh; /* either may be NULL */
    struct ulb_effect_size effect;
};

/* Whether two runs may be pooled. ULB_ENVIRONMENT names what of machine or build differs. */
enum ulb_status ulb_check_pooled(const struct ulb_record *first, const struct ulb_record *another,
                                 struct ulb_error *err);

/* Whether all cells name their layout, which records of version 1 do not. */
bool ulb_keys_know_layouts(const struct ulb_series *series, size_t n);

/* Forgets the parts of keys that two records need not have in common: the layout, which one may not know,
 * and, where the comparison is forced, the source of cycles. */
void ulb_relax_keys(struct ulb_series *series, size_t n, bool force);

/* Pairs by key, in the order of keys, which begin with the kernel; to be freed with free(). NULL without
 * memory. */
struct ulb_series_pair *ulb_pair_series(const struct ulb_series *base, size_t m,
                                        const struct ulb_series *fresh, size_t n, size_t *n_pairs);

/* Fills the comparison's kernels and marks its cells, which lie in the order of the pairs. ULB_ENVIRONMENT
 * without memory. */
enum ulb_status ulb_judge_kernels(const struct ulb_series_pair *pairs, size_t n,
                                  const struct ulb_compare_settings *settings,
                                  struct ulb_comparison *comparison, struct ulb_error *err);

/* Counts the cells of the base that the new build lacks and nobody allowed to be missing. The records say
 * what was not chosen; both NULL: nothing was. ULB_BAD_INPUT for a regular expression that is none. */
enum ulb_status ulb_count_missing(const struct ulb_record *base, const struct ulb_record *fresh,
                                  const struct ulb_compare_settings *settings,
                                  struct ulb_comparison *comparison, struct ulb_error *err);

/* [{"field", "base", "new"}] of conditions that differ and do not forbid comparing; NULL without memory. */
json_t *ulb_changed_fields(const struct ulb_record *base, const struct ulb_record *fresh);

/* Counts what is missing, wrong and blind. ULB_BAD_INPUT for a regular expression that is none. */
enum ulb_status ulb_compare_answer(const struct ulb_compare_side *base, const struct ulb_compare_side *fresh,
                                   const struct ulb_compare_settings *settings,
                                   struct ulb_comparison *comparison, struct ulb_error *err);

#endif
