/* Internal to shapes/: headers of safetensors files and index files. */
#ifndef ULB_SHAPES_SAFETENSORS_H
#define ULB_SHAPES_SAFETENSORS_H

#include "common/status.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ULB_ST_DIMS = 8 };

struct ulb_st_type {
    const char *name; /* "BF16" */
    unsigned bits;
    bool floating; /* an element is a weight; others may hold several */
};

struct ulb_st_tensor {
    const char *name;
    const struct ulb_st_type *type;
    uint64_t dims[ULB_ST_DIMS]; /* 1 beyond the last */
    unsigned n_dims;
    double elements, bytes;
};

typedef enum ulb_status (*ulb_st_tensor_fn)(void *arg, const struct ulb_st_tensor *tensor,
                                            struct ulb_error *err);

/* Reads the header of a file and calls fn for each tensor. ULB_BAD_INPUT for a header that leaves the file or
 * is longer than ULB_JSON_BYTES_MAX, for sizes that do not fit their offsets, and for offsets that overlap.
 */
enum ulb_status ulb_st_read(int fd, ulb_st_tensor_fn fn, void *arg, struct ulb_error *err);

/* The files that an index names, each once: an array of strings of the caller's. */
enum ulb_status ulb_st_index_files(const json_t *index, json_t **files, struct ulb_error *err);

#endif
