/* Figures from a record alone, drawn by the program gnuplot. */
#ifndef ULB_PLOTS_DRAW_FIGURE_H
#define ULB_PLOTS_DRAW_FIGURE_H

#include "common/status.h"
#include "results/record/record.h"

#include <stdbool.h>
#include <stddef.h>

struct ulb_figure {
    const char *name;    /* "roofline" */
    const char *paper;   /* number of the paper's figure of that form, "" for none */
    const char *summary; /* one line */
};

extern const struct ulb_figure ulb_figures[];
extern const size_t ulb_figure_count;

/* The names of formats, NULL-terminated: "svg", "png", "pdf", "txt". */
extern const char *const ulb_figure_formats[];

/* Whether this is no record but the document that `ulb-bench model` prints of a platform ("kind": "model"),
 * of which some figures can be drawn too. */
bool ulb_is_model(const struct ulb_record *record);

/* Whether this is the document of one cell of the history ("kind": "trend"). */
bool ulb_is_trend(const struct ulb_record *record);

/* Whether a document has what a figure shows; runs no other program. ULB_BAD_INPUT: unknown figure, or what
 * is missing. */
enum ulb_status ulb_figure_check(const struct ulb_record *record, const char *figure, struct ulb_error *err);

/* Draws one figure into a new text, to be freed; it is NULL on failure. Ids of an SVG begin with name. */
enum ulb_status ulb_figure_text(const struct ulb_record *record, const char *figure, const char *format,
                                const char *name, char **text, size_t *bytes, struct ulb_error *err);

/* Draws one figure into PREFIX-FIGURE.FORMAT ("results/run-roofline.svg") and writes that path into path.
 * ULB_BAD_INPUT: unknown figure or format, or the record lacks what the figure shows. ULB_ENVIRONMENT: no
 * gnuplot, or the file cannot be written. On failure a file of that name is as it was before. */
enum ulb_status ulb_figure_draw(const struct ulb_record *record, const char *figure, const char *format,
                                const char *prefix, char *path, size_t path_bytes, struct ulb_error *err);

/* Whether ulb_figure_draw() would write where nothing is, or over what it drew itself. ULB_BAD_INPUT names
 * what is there, and the remedy. */
enum ulb_status ulb_figure_may_replace(const char *figure, const char *format, const char *prefix,
                                       const char *remedy, struct ulb_error *err);

#endif
