#include "results/history/t_test.h"

#include <math.h>

static const double pi = 3.14159265358979323846;

struct ulb_moments ulb_moments_of(const double *values, size_t n)
{
    struct ulb_moments moments = {.n = n};
    for (size_t i = 0; i < n; i++)
        moments.mean += values[i] / (double)n;
    for (size_t i = 0; i < n; i++)
        moments.squares += (values[i] - moments.mean) * (values[i] - moments.mean);
    return moments;
}

/* P(|T| > t), by the finite series for whole degrees of freedom (Abramowitz and Stegun, 26.7.3, 26.7.4). */
static double two_sided(double t, size_t freedom)
{
    double angle = atan(t / sqrt((double)freedom)), cosine = cos(angle), sine = sin(angle);
    size_t first = freedom % 2 ? 3 : 2;
    double term = freedom % 2 ? cosine : 1, sum = freedom == 1 ? 0 : term;
    for (size_t i = first; i + 2 <= freedom; i += 2) {
        term *= cosine * cosine * (double)(i - 1) / (double)i;
        sum += term;
    }
    double inside = freedom % 2 ? 2 / pi * (angle + sine * sum) : sine * sum;
    return fmax(0, 1 - inside);
}

double ulb_t_test(const struct ulb_moments *a, const struct ulb_moments *b)
{
    if (a->n == 0 || b->n == 0 || a->n + b->n < 3)
        return 1;
    size_t freedom = a->n + b->n - 2;
    double variance = (a->squares + b->squares) / (double)freedom;
    double difference = fabs(a->mean - b->mean);
    if (difference == 0)
        return 1;
    return two_sided(difference / sqrt(variance * (1 / (double)a->n + 1 / (double)b->n)), freedom);
}
