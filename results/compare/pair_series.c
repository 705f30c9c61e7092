/* Which figures of two records are the same one. */
#include "results/compare/compare_private.h"

#include <stdlib.h>
#include <string.h>

static int by_key(const void *a, const void *b)
{
    const struct ulb_series *const *x = a, *const *y = b;
    int order = strcmp((*x)->key, (*y)->key);
    return order ? order : (*x > *y) - (*x < *y);
}

static const struct ulb_series **sorted(const struct ulb_series *series, size_t n)
{
    const struct ulb_series **order = malloc((n + 1) * sizeof *order);
    for (size_t i = 0; order && i < n; i++)
        order[i] = &series[i];
    if (order)
        qsort(order, n, sizeof *order, by_key);
    return order;
}

/* Merges two sorted lists by key; returns how many pairs. */
static size_t match(const struct ulb_series **base, size_t m, const struct ulb_series **fresh, size_t n,
                    struct ulb_series_pair *pairs)
{
    size_t count = 0, i = 0, j = 0;
    while (i < m || j < n) {
        int order = i == m ? 1 : j == n ? -1 : strcmp(base[i]->key, fresh[j]->key);
        pairs[count++] = (struct ulb_series_pair){.base = order <= 0 ? base[i] : NULL,
                                                  .fresh = order >= 0 ? fresh[j] : NULL};
        i += order <= 0;
        j += order >= 0;
    }
    return count;
}

/* The layout in the key of a cell, the second of nine words; NULL in keys of other figures. */
static char *layout_in(char *key)
{
    size_t words = 1;
    for (const char *at = key; *at; at++)
        words += *at == ' ';
    return words >= 9 ? strchr(key, ' ') + 1 : NULL;
}

bool ulb_keys_know_layouts(const struct ulb_series *series, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        char key[ULB_CELL_KEY_MAX];
        const char *layout = layout_in(strcpy(key, series[i].key));
        if (layout && layout[0] == '?')
            return false;
    }
    return true;
}

static void forget_layouts(struct ulb_series *series, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        char *layout = layout_in(series[i].key);
        if (!layout)
            continue;
        char *rest = strchr(layout, ' ');
        memmove(layout + 1, rest, strlen(rest) + 1);
        layout[0] = '?';
    }
}

/* The source of cycles, the last word of keys of cells and of three words. */
static void forget_cycles(struct ulb_series *series, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        char *first = strchr(series[i].key, ' '), *last = strrchr(series[i].key, ' ');
        bool three = first && last != first && strchr(first + 1, ' ') == last;
        if (three || layout_in(series[i].key))
            strcpy(last + 1, "?");
    }
}

void ulb_relax_keys(struct ulb_series *series, size_t n, bool force)
{
    forget_layouts(series, n);
    if (force)
        forget_cycles(series, n);
}

struct ulb_series_pair *ulb_pair_series(const struct ulb_series *base, size_t m,
                                        const struct ulb_series *fresh, size_t n, size_t *n_pairs)
{
    const struct ulb_series **before = sorted(base, m), **after = sorted(fresh, n);
    struct ulb_series_pair *pairs = calloc(m + n + 1, sizeof *pairs);
    if (before && after && pairs)
        *n_pairs = match(before, m, after, n, pairs);
    free(before);
    free(after);
    if (before && after)
        return pairs;
    free(pairs);
    return NULL;
}
