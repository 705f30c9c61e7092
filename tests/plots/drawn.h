/* Figures drawn into a scratch folder, and what their text has. */
#ifndef ULB_TESTS_PLOTS_DRAWN_H
#define ULB_TESTS_PLOTS_DRAWN_H

#include "plots/draw/figure.h"
#include "tests/results/sample_record.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
/* cmocka last: it needs the headers above. */
#include <cmocka.h>

static struct ulb_error err;
static char folder[64], prefix[80];

static inline int make_folder(void **state)
{
    (void)state;
    sample_folder(folder);
    snprintf(prefix, sizeof prefix, "%s/run", folder);
    return 0;
}

static inline int remove_folder(void **state)
{
    (void)state;
    return rmdir(folder); /* fails when a file was left behind */
}

static inline void need_gnuplot(void)
{
    if (system("gnuplot --version >/dev/null 2>&1") != 0)
        skip();
}

/* Draws, reads the file into a new text and removes it. */
static inline char *draw(const struct ulb_record *record, const char *figure, const char *format,
                         size_t *bytes)
{
    char path[256], expected[256];
    if (ulb_figure_draw(record, figure, format, prefix, path, sizeof path, &err) != ULB_OK)
        fail_msg("%s.%s: %s", figure, format, err.message);
    snprintf(expected, sizeof expected, "%s-%s.%s", prefix, figure, format);
    assert_string_equal(path, expected);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    struct stat info;
    assert_int_equal(fstat(fileno(file), &info), 0);
    char *text = calloc(1, (size_t)info.st_size + 1);
    assert_non_null(text);
    assert_int_equal(fread(text, 1, (size_t)info.st_size, file), info.st_size);
    fclose(file);
    assert_int_equal(unlink(path), 0);
    *bytes = (size_t)info.st_size;
    return text;
}

static inline char *draw_kind(enum sample_kind kind, const char *figure, const char *format, size_t *bytes)
{
    struct ulb_record record;
    if (sample_record(&record, kind, &err) != ULB_OK)
        fail_msg("%s", err.message);
    char *text = draw(&record, figure, format, bytes);
    ulb_record_free(&record);
    return text;
}

/* Of the record that holds everything. */
static inline char *draw_rest(const char *figure, const char *format, size_t *bytes)
{
    struct ulb_record record;
    if (sample_record(&record, SAMPLE_SERVER, &err) != ULB_OK || sample_add_rest(&record, &err) != ULB_OK)
        fail_msg("%s", err.message);
    char *text = draw(&record, figure, format, bytes);
    ulb_record_free(&record);
    return text;
}

static inline void assert_has(const char *text, const char *const *words)
{
    for (; *words; words++) {
        if (!strstr(text, *words))
            fail_msg("'%s' is not in the figure", *words);
    }
}

static inline size_t count(const char *text, const char *word)
{
    size_t n = 0;
    while ((text = strstr(text, word))) {
        text++;
        n++;
    }
    return n;
}

#endif
