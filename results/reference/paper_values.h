/* What the models' source publishes: results/reference/paper-values.csv, which is part of the binary. */
#ifndef ULB_RESULTS_REFERENCE_PAPER_VALUES_H
#define ULB_RESULTS_REFERENCE_PAPER_VALUES_H

#include "common/status.h"

#include <stdbool.h>
#include <stddef.h>

enum ulb_paper_kind {
    ULB_PAPER_INPUT,   /* the models take it as given */
    ULB_PAPER_DERIVED, /* the models must give it */
    ULB_PAPER_OTHER,   /* measured or specified; no model yields it */
    ULB_PAPER_REPEAT,  /* restates another row */
    ULB_PAPER_OPEN,    /* does not follow from what is published beside it */
};

struct ulb_paper_row {
    char id[32], section[12], platform[16], quantity[40], unit[16];
    enum ulb_paper_kind kind;
    double published, lo, hi;
    double half_digit;   /* half a unit in the last place printed */
    double modelled;     /* of an input: the figure that the models were given; NAN where no model has one */
    bool inside;         /* lo <= modelled <= hi; false for NAN */
    bool as_printed;     /* modelled rounds to the digits published; false for NAN */
    const char *reading; /* of an open row: what the arithmetic gives; NULL */
};

enum { ULB_MAX_PAPER_ROWS = 256 };

struct ulb_paper_check {
    size_t n;
    struct ulb_paper_row rows[ULB_MAX_PAPER_ROWS];
    size_t n_inputs, n_derived, n_other, n_repeats, n_open;
    size_t n_outside;    /* inputs and derived rows that are not inside */
    size_t n_as_printed; /* derived rows that come out digit for digit */
};

/* The table that is part of the binary (results/reference/paper-values.csv). */
const char *ulb_paper_values(size_t *bytes);

/* Reads a table of published values; modelled is NAN in every row. ULB_BAD_INPUT names origin, line and
 * fault. */
enum ulb_status ulb_paper_parse(const char *csv, size_t bytes, const char *origin,
                                struct ulb_paper_check *check, struct ulb_error *err);

const struct ulb_paper_row *ulb_paper_find(const struct ulb_paper_check *check, const char *id);

/* The published figure of a row of the built-in table; NAN when there is no such row. */
double ulb_paper_value(const char *id);

#endif
