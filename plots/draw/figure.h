/* Figures from a record alone, drawn by the program gnuplot. */
#ifndef ULB_PLOTS_DRAW_FIGURE_H
#define ULB_PLOTS_DRAW_FIGURE_H

#include "common/status.h"
#include "results/record/record.h"
#include "results/summary/chosen_cells.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct ulb_figure {
    const char *name;    /* "roofline" */
    const char *paper;   /* number of the paper's figure of that form, "" for none */
    const char *summary; /* one line */
};

extern const struct ulb_figure ulb_figures[];

/* Whether the figure has a mark for each cell and the record more cells than anyone can tell apart. */
enum { ULB_FIGURE_CELLS = 4000 };
bool ulb_figure_is_crowded(const struct ulb_record *record, const char *figure);

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

/* ---- Internal to plots/: what the drawing functions share. ----
 *
 * A drawing function writes gnuplot commands. figure.c puts terminal and output in front of them. */

struct ulb_canvas {
    FILE *script;
    unsigned width, height; /* pixels; may be made larger */
    bool text;              /* drawn with characters: no colours, little room */
    bool hover;             /* values are shown on pointing at them */
};

typedef enum ulb_status ulb_draw_fn(const struct ulb_record *record, struct ulb_canvas *canvas,
                                    struct ulb_error *err);

/* Of records. Each is ULB_BAD_INPUT when the record lacks what it shows. */
ulb_draw_fn ulb_draw_roofline, ulb_draw_bars, ulb_draw_kernels, ulb_draw_beta, ulb_draw_gamma,
    ulb_draw_prediction, ulb_draw_gemm, ulb_draw_groups, ulb_draw_errors, ulb_draw_tokens, ulb_draw_split,
    ulb_draw_prefill, ulb_draw_prompts, ulb_draw_energy, ulb_draw_devices, ulb_draw_model_gemm,
    ulb_draw_model_times, ulb_draw_device_times;
/* Of the documents of modelled platforms. */
ulb_draw_fn ulb_draw_model, ulb_draw_model_bars, ulb_draw_model_tokens, ulb_draw_model_speedup;
/* Of the document of a cell of the history. */
ulb_draw_fn ulb_draw_trend;

/* Writes text for use inside a gnuplot string in double quotes. Records may come from strangers: what could
 * end the string or start a command is replaced. */
void ulb_put_text(FILE *script, const char *text);
/* The same, cut to room (at least 2) bytes and closed with a full stop where it is longer. */
void ulb_put_short_text(FILE *script, const char *text, size_t room);
/* The same of a tic's label, which gnuplot takes for a number's format: a percent sign is written as one. */
void ulb_put_tic_text(FILE *script, const char *text, size_t room);

/* Title of two lines: what is shown; on which machine, with the yardstick of the set of cores. */
void ulb_put_title(const struct ulb_canvas *canvas, const struct ulb_record *record, const char *what,
                   const char *set);

/* What a reader sees on pointing at a place, in figures that can do that. One row a place stands between
 * begin and end, all before the plot command. plot adds them to that command and is called last. The text is
 * "\\n"-separated, in ulb_put_text's care. */
void ulb_hover_begin(const struct ulb_canvas *canvas);
void ulb_hover(const struct ulb_canvas *canvas, double x, double y, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
void ulb_hover_cell(const struct ulb_canvas *canvas, double x, double y, const struct ulb_cell *cell);
void ulb_hover_end(const struct ulb_canvas *canvas);
void ulb_hover_plot(const struct ulb_canvas *canvas);

/* Legend of so many entries, the longest so many characters; makes room for it. It stands below axes whose x
 * tics have tic_lines lines. More than ULB_UPRIGHT_TIC_LINES lie. Also the grid. */
enum { ULB_UPRIGHT_TIC_LINES = 3 };
void ulb_put_frame(struct ulb_canvas *canvas, size_t entries, size_t longest, unsigned tic_lines);

/* What a roofline's two logarithmic axes cover, bytes/cycle: everything added, in whole powers of two. */
struct ulb_extent {
    double lowest, highest;
};
struct ulb_extent ulb_extent_empty(void);
void ulb_extent_add(struct ulb_extent *extent, double value); /* what is not positive and finite counts not */
void ulb_extent_close(struct ulb_extent *extent);

/* The beta of one core class; NAN when unknown. */
struct ulb_beta_line {
    const char *cls;
    double beta;
};

/* Colours of vertical lines. Lines of other dashes take a colour next to it. gnuplot joins arrows of one
 * colour in an SVG to one path, with the dashes of one of them. */
enum { ULB_BETA_RGB = 0x882255, ULB_PAPER_BETAS_RGB = 0x777777 };

/* Axes of a roofline with the betas of so many classes. */
void ulb_put_roof_axes(FILE *script, const struct ulb_extent *extent, size_t n_classes);

/* Vertical lines. Their labels stand above the frame, where no curve runs through them. They stand left and
 * right of each other, since the betas of a machine lie close together. */
void ulb_put_betas(FILE *script, const struct ulb_beta_line *classes, size_t n);

/* The betas that the paper gives for its three platforms, as thin lines. Their names are inside the frame and
 * above the slope, where no curve runs. The range must hold them; characters have no room for them. */
void ulb_extent_add_paper_betas(const struct ulb_canvas *canvas, struct ulb_extent *extent);
void ulb_put_paper_betas(const struct ulb_canvas *canvas);
#define ULB_PAPER_BETAS_TITLE "published betas of ARL, ARLH, LNL: P solid, E dashed"

/* The lowest and the highest of the yardsticks measured beside them, GB/s; NAN when there is none. */
void ulb_decode_yardsticks(const struct ulb_record *record, double *low, double *high);

/* The yardstick of a set of cores, GB/s; NAN when the record has none. */
double ulb_yardstick_gbps(const struct ulb_record *record, const char *set);

/* Colour of a weight format, "#0072B2". All eyes tell these colours apart: those of Okabe and Ito 2008, their
 * yellow replaced by Tol's brown, which shows on white. */
const char *ulb_format_colour(const char *format);
/* Colour number i for things that are not formats. */
const char *ulb_series_colour(size_t i);

/* Columns of a figure over shapes: one of the n cells for each (model, layer, M, K), in their order. columns
 * has room for n; returns how many there are. */
size_t ulb_shape_columns(const struct ulb_cell *const *cells, size_t n, const struct ulb_cell **columns);

/* Tics of layer and M x K under the columns 0, 1, ..., which lie if the columns are many. Above them stand
 * the models' names, each on a colour of its own. */
unsigned ulb_shape_tic_lines(const struct ulb_canvas *canvas, size_t columns);
unsigned ulb_shape_column_width(const struct ulb_canvas *canvas, size_t columns);
void ulb_put_shape_axis(const struct ulb_canvas *canvas, const struct ulb_cell *const *columns, size_t n);

#endif
