/* The orders in which a comparison is shown. */
#include "results/compare/compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The larger first, what is not known last. */
static int larger_first(double a, double b)
{
    double left = isnan(a) ? -1 : a, right = isnan(b) ? -1 : b;
    return (left < right) - (left > right);
}

static int smaller_first(double a, double b)
{
    double left = isnan(a) ? INFINITY : a, right = isnan(b) ? INFINITY : b;
    return (left > right) - (left < right);
}

static int cell_by_key(const void *a, const void *b)
{
    const struct ulb_compared *x = a, *y = b;
    return strcmp(x->key, y->key);
}

static int cell_by_change(const void *a, const void *b)
{
    const struct ulb_compared *x = a, *y = b;
    int order = larger_first(fabs(log(x->ratio)), fabs(log(y->ratio)));
    return order ? order : cell_by_key(a, b);
}

static int cell_by_verdict(const void *a, const void *b)
{
    const struct ulb_compared *x = a, *y = b;
    return x->verdict != y->verdict ? (x->verdict < y->verdict ? -1 : 1) : cell_by_change(a, b);
}

static int cell_by_share(const void *a, const void *b)
{
    const struct ulb_compared *x = a, *y = b;
    int order = smaller_first(x->fresh, y->fresh);
    return order ? order : cell_by_key(a, b);
}

static int kernel_by_key(const void *a, const void *b)
{
    const struct ulb_kernel_change *x = a, *y = b;
    return strcmp(x->kernel, y->kernel);
}

static int kernel_by_change(const void *a, const void *b)
{
    const struct ulb_kernel_change *x = a, *y = b;
    int order = larger_first(fabs(x->change), fabs(y->change));
    return order ? order : kernel_by_key(a, b);
}

static int kernel_by_verdict(const void *a, const void *b)
{
    const struct ulb_kernel_change *x = a, *y = b;
    return x->verdict != y->verdict ? (x->verdict < y->verdict ? -1 : 1) : kernel_by_change(a, b);
}

static int kernel_by_share(const void *a, const void *b)
{
    const struct ulb_kernel_change *x = a, *y = b;
    int order = smaller_first(x->fresh, y->fresh);
    return order ? order : kernel_by_key(a, b);
}

void ulb_sort_compared(struct ulb_comparison *comparison, enum ulb_compared_order order)
{
    static const struct {
        int (*cells)(const void *, const void *), (*kernels)(const void *, const void *);
    } by[] = {
        [ULB_ORDER_VERDICT] = {cell_by_verdict, kernel_by_verdict},
        [ULB_ORDER_CHANGE] = {cell_by_change, kernel_by_change},
        [ULB_ORDER_SHARE] = {cell_by_share, kernel_by_share},
        [ULB_ORDER_KEY] = {cell_by_key, kernel_by_key},
    };
    if (comparison->n > 0)
        qsort(comparison->cells, comparison->n, sizeof *comparison->cells, by[order].cells);
    if (comparison->n_kernels > 0)
        qsort(comparison->kernels, comparison->n_kernels, sizeof *comparison->kernels, by[order].kernels);
}
