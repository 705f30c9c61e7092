/* Formats side by side: what each keeps of a weight, what it takes, and how fast this machine multiplies by
 * it. */
#ifndef ULB_HARNESS_COMPUTE_FORMAT_TABLE_H
#define ULB_HARNESS_COMPUTE_FORMAT_TABLE_H

#include "harness/session/session.h"

/* Adds "formats" to the record, {"rows", "groups", "error_of", "outliers"}. The record's gamma and beta cells
 * come first.
 *
 * rows: one for every weight and activation format of the session's kernels. It has the errors over weights
 * from a standard normal distribution, and the time of repacking. It has the errors of products of int8
 * activations with outliers (harness/compute/outlier_error.h). By the record's cells it has the fastest
 * kernel and the fastest in place, of the first class of cores.
 *
 * groups: error and bits of int8, int4, int3 and int2 by the number of columns that share a scale. */
enum ulb_status ulb_formats_measure(struct ulb_session *session, const struct ulb_kernel *const *kernels,
                                    size_t n, struct ulb_error *err);

/* Adds "format_errors" to the record: bits and root mean square error of each weight format of the kernels.
 */
enum ulb_status ulb_format_errors_record(struct ulb_session *session, const struct ulb_kernel *const *kernels,
                                         size_t n, struct ulb_error *err);

/* Errors over so many rows and columns of normal weights, in standard deviations. ULB_ENVIRONMENT without
 * memory. */
struct ulb_format_error {
    double rmse, largest;
};
enum ulb_status ulb_format_error(const struct ulb_format *format, size_t rows, size_t k, uint64_t seed,
                                 struct ulb_format_error *error, struct ulb_error *err);

#endif
