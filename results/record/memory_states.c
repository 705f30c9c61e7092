/* Memory of guests goes to and fro between two speeds, in spells of seconds to minutes. */
#include "common/stats.h"
#include "results/record/record.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLES_LEAST = 60 };
static const double APART = 0.15, SHARE_LEAST = 0.10, BETWEEN_MOST = 0.10;

static int ascending(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

/* How many of the sorted samples are in the lower state: the cut with the least sum of squares around the two
 * means. */
static size_t find_cut(const double *sorted, size_t n)
{
    double total = 0, below = 0, best = -1;
    size_t cut = 0;
    for (size_t i = 0; i < n; i++)
        total += sorted[i];
    for (size_t i = 1; i < n; i++) {
        below += sorted[i - 1];
        double low = below / (double)i, high = (total - below) / (double)(n - i);
        double between = (double)i * (double)(n - i) * (high - low) * (high - low);
        if (between > best) {
            best = between;
            cut = i;
        }
    }
    return cut;
}

/* Any samples can be cut in two. Those of two states leave the middle between them empty: of a normal
 * distribution a fifth lies in the middle third between its halves' medians, of an even one a sixth. */
static bool are_apart(const double *sorted, size_t n, double low, double high)
{
    size_t between = 0;
    for (size_t i = 0; i < n; i++)
        between += sorted[i] > low + (high - low) / 3 && sorted[i] < high - (high - low) / 3;
    return high > (1 + APART) * low && (double)between <= BETWEEN_MOST * (double)n;
}

struct ulb_memory_states ulb_memory_states_of(double *gbps, size_t n)
{
    struct ulb_memory_states one = {0};
    if (n == 0)
        return one;
    qsort(gbps, n, sizeof *gbps, ascending);
    one = (struct ulb_memory_states){1, {ulb_median_of(gbps, n), NAN}, {1, 0}};
    if (n < SAMPLES_LEAST)
        return one;
    size_t cut = find_cut(gbps, n);
    double low = ulb_median_of(gbps, cut), high = ulb_median_of(gbps + cut, n - cut);
    double share = (double)cut / (double)n;
    if (share < SHARE_LEAST || share > 1 - SHARE_LEAST || !are_apart(gbps, n, low, high))
        return one;
    if (share > 0.5)
        return (struct ulb_memory_states){2, {low, high}, {share, 1 - share}};
    return (struct ulb_memory_states){2, {high, low}, {1 - share, share}};
}

enum ulb_status ulb_record_set_memory_states(struct ulb_record *record, const char *set, double *gbps,
                                             size_t n, struct ulb_error *err)
{
    struct ulb_memory_states states = ulb_memory_states_of(gbps, n);
    json_t *rows = json_array();
    int bad = !rows;
    for (size_t i = 0; i < states.n; i++)
        bad |= json_array_append_new(
            rows, json_pack("{s:f, s:f}", "gbps", states.gbps[i], "share", states.share[i]));
    json_t *section = json_pack("{s:s, s:I, s:o}", "set", set, "n_samples", (json_int_t)n, "states", rows);
    if (bad || json_object_set_new(json_object_get(record->root, "beta"), "memory", section) != 0)
        return ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for the states of memory");
    return ULB_OK;
}

enum ulb_status ulb_record_set_earlier_memory(struct ulb_record *record, const char *set, double gbps,
                                              const char *created, struct ulb_error *err)
{
    double now = ulb_record_resolved_beta(record, set).gbps;
    json_t *section = json_object_get(json_object_get(record->root, "beta"), "memory");
    if (!json_is_object(section) || !(fmax(now, gbps) > (1 + APART) * fmin(now, gbps)))
        return ULB_OK;
    json_t *earlier = json_pack("{s:f, s:s}", "gbps", gbps, "created", created);
    if (!earlier || json_object_set_new(section, "earlier", earlier) != 0)
        return ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for the earlier speed of memory");
    return ULB_OK;
}

struct ulb_memory_states ulb_record_memory_states(const struct ulb_record *record, const char *set)
{
    struct ulb_memory_states states = {0};
    const char *of = ulb_record_text(record, "beta.memory.set");
    const json_t *rows = ulb_record_at(record, "beta.memory.states"), *row;
    size_t i;
    if (!of || strcmp(of, set) != 0)
        return states;
    json_array_foreach(rows, i, row)
    {
        double gbps = ulb_row_number(row, "gbps");
        if (states.n == ULB_MEMORY_STATES || !(gbps > 0))
            continue;
        states.gbps[states.n] = gbps;
        states.share[states.n++] = ulb_row_number(row, "share");
    }
    return states;
}
