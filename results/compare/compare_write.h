/* Comparisons in the forms that other programs and people read. */
#ifndef ULB_RESULTS_COMPARE_COMPARE_WRITE_H
#define ULB_RESULTS_COMPARE_COMPARE_WRITE_H

#include "results/compare/compare.h"

#include <jansson.h>
#include <stdio.h>

/* A comparison and the names of its two records. */
struct ulb_compared_files {
    const char *base, *fresh;
    const struct ulb_comparison *comparison;
};

enum { ULB_CHANGE_TEXT = 48 };

/* The change in words: "-7.2% [-7.9,-6.5]"; "-" where there is none. Returns out. */
char *ulb_change_text(const struct ulb_compared *cell, char out[ULB_CHANGE_TEXT]);

/* "1 regressed, 2 improved, ...": how many of each verdict there are, of n comparisons together. */
void ulb_verdict_text(const struct ulb_compared_files *files, size_t n, char out[128]);

/* {"metric", "base", "cells": [...], "regressions", ...} of n comparisons with one base; NULL without memory.
 */
json_t *ulb_comparison_json(const struct ulb_compared_files *files, size_t n);

/* A summary for a pull request, in GitHub's Markdown: what changed in tables, the rest in numbers. */
void ulb_comparison_markdown(const struct ulb_compared_files *files, size_t n, FILE *out);

/* JUnit XML: a figure is a test case; a regression and a figure that is gone are its failure; what could not
 * be judged is skipped. A test case "answer" fails for wrong results and is skipped where nothing can be
 * told. */
void ulb_comparison_junit(const struct ulb_compared_files *files, size_t n, FILE *out);

/* GitHub's workflow commands: an error for each regression, ten at most, what else makes it fail or
 * undecided, and a notice that sums up. */
void ulb_comparison_github(const struct ulb_compared_files *files, size_t n, FILE *out);

#endif
