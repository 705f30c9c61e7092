/* beta(n): memory read bandwidth over the number of cores that read. */
#include "plots/draw/figure.h"
#include "common/units.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_SETS = 16 };

/* A set and its first n cores ("all:3") belong to one curve. */
static size_t base_length(const char *set)
{
    return strcspn(set, ":");
}

static bool same_base(const char *a, const char *b)
{
    return base_length(a) == base_length(b) && strncmp(a, b, base_length(a)) == 0;
}

static int by_threads(const void *a, const void *b)
{
    const struct ulb_beta_cell *left = a, *right = b;
    return (left->threads > right->threads) - (left->threads < right->threads);
}

/* Whether a cell is the first of memory level of its set. */
static bool is_first(const struct ulb_beta_cell *cells, size_t i)
{
    bool first = strcmp(cells[i].level, "mem") == 0;
    for (size_t j = 0; j < i && first; j++)
        first = strcmp(cells[j].level, "mem") != 0 || !same_base(cells[j].set, cells[i].set);
    return first;
}

/* The sets in the order of the record, which has the whole set and the classes first. Also how many more
 * there are than have room. Returns how many have it. */
static size_t find_sets(const struct ulb_beta_cell *cells, size_t n, char sets[MAX_SETS][ULB_SET_BYTES],
                        size_t *further)
{
    size_t used = 0;
    *further = 0;
    for (size_t i = 0; i < n; i++) {
        if (!is_first(cells, i))
            continue;
        if (used < MAX_SETS)
            snprintf(sets[used++], ULB_SET_BYTES, "%.*s", (int)base_length(cells[i].set), cells[i].set);
        else
            ++*further;
    }
    return used;
}

/* Data of set number s; returns how many points it has. */
static size_t put_set(FILE *script, const struct ulb_beta_cell *cells, size_t n, const char *set, size_t s)
{
    size_t points = 0;
    fprintf(script, "$set%zu << END\n", s);
    for (size_t i = 0; i < n; i++) {
        if (strcmp(cells[i].level, "mem") != 0 || !same_base(cells[i].set, set))
            continue;
        fprintf(script, "%u %g\n", cells[i].threads, cells[i].gbps);
        points++;
    }
    fprintf(script, "END\n");
    return points;
}

static void put_hover(const struct ulb_canvas *canvas, const struct ulb_beta_cell *cells, size_t n)
{
    ulb_hover_begin(canvas);
    for (size_t i = 0; i < n; i++) {
        if (strcmp(cells[i].level, "mem") == 0)
            ulb_hover(canvas, cells[i].threads, cells[i].gbps,
                      "set %s, %u thread%s\n%.1f GB/s, %.2f B/cycle a core\nreader %s", cells[i].set,
                      cells[i].threads, ULB_S(cells[i].threads), cells[i].gbps, cells[i].bytes_per_cycle,
                      cells[i].variant);
    }
    ulb_hover_end(canvas);
}

enum ulb_status ulb_draw_beta(const struct ulb_record *record, struct ulb_canvas *canvas,
                              struct ulb_error *err)
{
    FILE *script = canvas->script;
    struct ulb_beta_cell *cells;
    char sets[MAX_SETS][ULB_SET_BYTES];
    size_t points[MAX_SETS], n, further;
    enum ulb_status status = ulb_record_beta_cells(record, &cells, &n, err);
    if (status != ULB_OK)
        return status;
    size_t n_sets = find_sets(cells, n, sets, &further);
    qsort(cells, n, sizeof *cells, by_threads);
    if (n_sets == 0) {
        status = ulb_fail(err, ULB_BAD_INPUT, "the record has no memory bandwidth to draw");
        goto done;
    }
    unsigned most = cells[n - 1].threads;
    double highest = 0;
    for (size_t i = 0; i < n; i++)
        highest = strcmp(cells[i].level, "mem") == 0 && cells[i].gbps > highest ? cells[i].gbps : highest;
    ulb_put_title(canvas, record, "Memory read bandwidth by number of cores", "all");
    ulb_put_frame(canvas, n_sets + (further > 0), 30, 1);
    fprintf(script, "set xrange [0.5:%g]\nset yrange [0:%g]\nset xtics %u\nset xlabel \"cores reading\"\n",
            most + 0.5, 1.1 * highest, most / 16 + 1);
    fprintf(script, "set ylabel \"GB/s (1e9 bytes/s)\"\n");
    for (size_t s = 0; s < n_sets; s++)
        points[s] = put_set(script, cells, n, sets[s], s);
    put_hover(canvas, cells, n);
    for (size_t s = 0; s < n_sets; s++) {
        /* Two points are no curve: nothing was measured between one core of a class and all. */
        fprintf(script,
                "%s$set%zu with %s linecolor rgb '%s' linewidth 2 pointtype %zu pointsize 1.2 title \"set ",
                s ? ", " : "plot ", s, points[s] > 2 ? "linespoints" : "points", ulb_series_colour(s), s + 4);
        ulb_put_text(script, sets[s]);
        fprintf(script, "\"");
    }
    if (further > 0)
        fprintf(script,
                ", keyentry with points pointtype 0 linecolor rgb '#000000' title \"%zu further set%s\"",
                further, ULB_S(further));
    ulb_hover_plot(canvas);
done:
    ulb_beta_cells_free(cells, n);
    return status;
}
