#include "models/models.h"

#include "models/valid_argument.h"

#include <math.h>
#include <stdbool.h>

enum { UNKNOWNS = 3 }; /* c, the cost of a tile, the fixed cost of a call */

double ulb_predict_overlap(const struct ulb_gemv_prediction *plain, double tiles, double columns,
                           const struct ulb_overlap *overlap)
{
    if (!ulb_is_not_negative(tiles) || !ulb_is_not_negative(columns))
        return NAN;
    double seconds = plain->seconds + overlap->c * plain->shorter_s + tiles * overlap->tile_s +
                     overlap->call_s + columns * overlap->column_s;
    return ulb_is_positive(seconds) ? seconds : NAN;
}

/* What multiplies each unknown at a point. */
static void factors_of(const struct ulb_overlap_point *point, bool tables, double factors[UNKNOWNS])
{
    factors[0] = point->plain.shorter_s;
    factors[1] = point->tiles;
    factors[2] = tables ? point->columns : 1;
}

/* Gauss-Jordan on a symmetric positive definite system of n <= UNKNOWNS; false when it is singular. */
static bool solve(double a[UNKNOWNS][UNKNOWNS + 1], int n)
{
    for (int i = 0; i < n; i++) {
        if (!(fabs(a[i][i]) > 1e-9))
            return false;
        for (int row = 0; row < n; row++) {
            double factor = row == i ? 0 : a[row][i] / a[i][i];
            for (int column = i; column <= n; column++)
                a[row][column] -= factor * a[i][column];
        }
    }
    for (int i = 0; i < n; i++)
        a[i][n] /= a[i][i];
    return true;
}

/* Sum of the squared relative errors that x leaves. */
static double error_of(const struct ulb_overlap_point *points, size_t n, bool tables,
                       const double x[UNKNOWNS])
{
    double sum = 0;
    for (size_t p = 0; p < n; p++) {
        double factors[UNKNOWNS], seconds = points[p].plain.seconds;
        factors_of(&points[p], tables, factors);
        for (int i = 0; i < UNKNOWNS; i++)
            seconds += factors[i] * x[i];
        double error = seconds / points[p].seconds - 1;
        sum += error * error;
    }
    return sum;
}

/* Least squares with those unknowns alone whose bit is in used; the others are 0. Unknowns are scaled to
 * shares of the points' times, so that the system's size says whether it is singular. */
static bool fit_subset(const struct ulb_overlap_point *points, size_t n, bool tables, unsigned used,
                       double x[UNKNOWNS])
{
    double a[UNKNOWNS][UNKNOWNS + 1] = {0}, scale[UNKNOWNS] = {0};
    int index[UNKNOWNS], m = 0;
    for (int i = 0; i < UNKNOWNS; i++) {
        x[i] = 0;
        if (used >> i & 1)
            index[m++] = i;
        for (size_t p = 0; p < n; p++) {
            double factors[UNKNOWNS];
            factors_of(&points[p], tables, factors);
            scale[i] += factors[i] / points[p].seconds / (double)n;
        }
    }
    for (size_t p = 0; p < n; p++) {
        double factors[UNKNOWNS];
        factors_of(&points[p], tables, factors);
        for (int r = 0; r < m; r++) {
            double share = factors[index[r]] / points[p].seconds / scale[index[r]];
            for (int c = 0; c < m; c++)
                a[r][c] += share * factors[index[c]] / points[p].seconds / scale[index[c]];
            a[r][m] += share * (1 - points[p].plain.seconds / points[p].seconds);
        }
    }
    if (!solve(a, m))
        return false;
    for (int r = 0; r < m; r++)
        x[index[r]] = a[r][m] / scale[index[r]];
    return true;
}

static bool is_fit_for(const struct ulb_overlap_point *points, size_t n)
{
    for (size_t p = 0; p < n; p++) {
        if (!ulb_is_positive(points[p].seconds) || !ulb_is_positive(points[p].plain.seconds) ||
            !ulb_is_positive(points[p].plain.shorter_s) || !ulb_is_positive(points[p].tiles) ||
            !ulb_is_positive(points[p].columns))
            return false;
    }
    return n >= UNKNOWNS;
}

struct ulb_overlap ulb_overlap_fit(const struct ulb_overlap_point *points, size_t n, bool tables)
{
    struct ulb_overlap best = {NAN, NAN, NAN, NAN};
    double least = INFINITY;
    if (!is_fit_for(points, n))
        return best;
    /* c is always used; of the two costs, which are not negative, all four subsets are tried. */
    for (unsigned costs = 0; costs < 4; costs++) {
        double x[UNKNOWNS];
        if (!fit_subset(points, n, tables, 1 | costs << 1, x) || x[1] < 0 || x[2] < 0)
            continue;
        double error = error_of(points, n, tables, x);
        if (error < least) {
            least = error;
            best = (struct ulb_overlap){x[0], x[1], tables ? 0 : x[2], tables ? x[2] : 0};
        }
    }
    return best;
}

double ulb_overlap_refit(const struct ulb_overlap_point *points, size_t n, const struct ulb_overlap *costs)
{
    struct ulb_overlap without = *costs;
    double above = 0, below = 0;
    without.c = 0;
    for (size_t p = 0; p < n; p++) {
        double rest = points[p].seconds -
                      ulb_predict_overlap(&points[p].plain, points[p].tiles, points[p].columns, &without);
        double weight = points[p].plain.shorter_s / points[p].seconds / points[p].seconds;
        above += weight * rest;
        below += weight * points[p].plain.shorter_s;
    }
    return ulb_is_positive(below) ? above / below : NAN;
}
