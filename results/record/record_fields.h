/* Internal to results/: the arrays of a record as tables of fields, so that a key is spelled once for writing
 * and for reading. */
#ifndef ULB_RESULTS_RECORD_RECORD_FIELDS_H
#define ULB_RESULTS_RECORD_RECORD_FIELDS_H

#include "common/status.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* Why a figure is absent: more than one source may say why not, and what would help. */
enum { ULB_REASON_BYTES = 384 };

enum ulb_field_kind {
    ULB_FIELD_TEXT,   /* char[size] */
    ULB_FIELD_WORD,   /* char[size], one of words; null when "" and a reason is given for that */
    ULB_FIELD_COUNT,  /* size_t */
    ULB_FIELD_SMALL,  /* unsigned */
    ULB_FIELD_FLAG,   /* bool */
    ULB_FIELD_NUMBER, /* double, finite; NAN is null when a reason is given for that */
};

struct ulb_field {
    const char *key; /* "split_ms.gemv": gemv of the object split_ms */
    enum ulb_field_kind kind;
    size_t offset, size;
    const char *const *words; /* NULL-terminated */
    size_t reason;       /* offset of the reason's char[ULB_REASON_BYTES]; 0: none (no struct begins with its
                            reason) */
    const char *because; /* the reason where it is always the same */
    int since;           /* schema version that brought it; older records may lack it */
    bool optional;       /* records of any version may lack it: came without a new version */
    bool whole;          /* a number without a fraction, as which it is written */
};

/* A list of numbers in each item of an array. */
struct ulb_list {
    const char *key;  /* NULL: there is none */
    size_t values, n; /* offsets of the double * and of its size_t */
    int since;        /* as of a field */
    bool optional;
};

/* One array of a record. */
struct ulb_section {
    const char *parent; /* "beta", or NULL at the top level */
    const char *key;    /* "cells" */
    const struct ulb_field *fields;
    size_t n_fields;
    size_t struct_bytes;
    struct ulb_list samples, more;
    bool optional; /* a record may lack the array, or its parent may be null: then it has no items */
};

extern const struct ulb_section ulb_section_beta, ulb_section_yardstick, ulb_section_gamma,
    ulb_section_overlap, ulb_section_peak, ulb_section_cells, ulb_section_counts, ulb_section_decode;

/* All of them in the order of the file, NULL-terminated. */
extern const struct ulb_section *const ulb_sections[];

/* A field's value in the object that stands for an item; NULL when it is absent. */
json_t *ulb_field_of(const json_t *object, const struct ulb_field *field);

/* "beta.cells" */
const char *ulb_section_name(const struct ulb_section *section, char out[32]);

/* The array inside root; NULL when it is absent or no array. */
json_t *ulb_section_array(const json_t *root, const struct ulb_section *section);

/* Appends the struct at item to the array; at the top level it is made where it is absent. */
enum ulb_status ulb_section_append(json_t *root, const struct ulb_section *section, const void *item,
                                   struct ulb_error *err);

/* Reads the whole array into a new one of structs. */
enum ulb_status ulb_section_read(const json_t *root, const struct ulb_section *section, void **out, size_t *n,
                                 struct ulb_error *err);
void ulb_section_free(const struct ulb_section *section, void *items, size_t n);

#endif
