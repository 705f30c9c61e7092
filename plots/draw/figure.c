#include "plots/draw/figure.h"

#include "common/file.h"
#include "common/text.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* In the order of `list figures`; drawing functions stand at the same index. */
const struct ulb_figure ulb_figures[] = {
    {"roofline", "4", "effective bandwidth over beta, with this machine's beta, the paper's, and GEMVs"},
    {"bars", "5-8, 10", "GEMV bandwidth of the fastest kernel of each format over the shapes"},
    {"kernels", "", "every kernel at every shape as a fraction of the yardstick"},
    {"gemm", "9, 11", "throughput over the number of tokens, beside the compute limit"},
    {"times", "17", "devices: time of each product with 16 and 2 bits, and their quotient"},
    {"tokens", "12-14", "decoding: tokens/s by model and format, with Amdahl's bound and the roofline"},
    {"speedup", "12-14", "modelled platforms: speed-up over 16 bits, with Amdahl's bound"},
    {"beta", "", "memory bandwidth by number of cores"},
    {"devices", "", "read bandwidth of a device by size and reader"},
    {"gamma", "", "compute cost of each kernel beside the limit of the core's ports"},
    {"prediction", "", "observed over predicted time of every cell, with the band of 5 %"},
    {"groups", "", "what scales for groups of columns cost"},
    {"errors", "", "what scales for groups of columns keep: error and bits"},
    {"split", "", "where the time of a token goes"},
    {"prefill", "", "where the time of a prompt goes"},
    {"prompts", "", "tokens/s over the length of the prompt, with what memory and the compute limit allow"},
    {"energy", "", "energy of a token by model and format"},
    {"trend", "", "one cell of the history, with its levels and where they change"},
};
enum { FIGURES = sizeof ulb_figures / sizeof *ulb_figures };
const size_t ulb_figure_count = FIGURES;

enum kind { RECORD, MODEL, TREND, KINDS };
static const char *const kind_names[KINDS] = {"record", "modelled platform", "trend"};

/* NULL: a figure of other kinds of document alone. */
static ulb_draw_fn *const drawers[][KINDS] = {
    {ulb_draw_roofline, ulb_draw_model, NULL},
    {ulb_draw_bars, ulb_draw_model_bars, NULL},
    {ulb_draw_kernels, NULL, NULL},
    {ulb_draw_gemm, ulb_draw_model_gemm, NULL},
    {ulb_draw_device_times, ulb_draw_model_times, NULL},
    {ulb_draw_tokens, ulb_draw_model_tokens, NULL},
    {NULL, ulb_draw_model_speedup, NULL},
    {ulb_draw_beta, NULL, NULL},
    {ulb_draw_devices, NULL, NULL},
    {ulb_draw_gamma, NULL, NULL},
    {ulb_draw_prediction, NULL, NULL},
    {ulb_draw_groups, NULL, NULL},
    {ulb_draw_errors, NULL, NULL},
    {ulb_draw_split, NULL, NULL},
    {ulb_draw_prefill, NULL, NULL},
    {ulb_draw_prompts, NULL, NULL},
    {ulb_draw_energy, NULL, NULL},
    {NULL, NULL, ulb_draw_trend},
};
_Static_assert(FIGURES == sizeof drawers / sizeof *drawers, "one drawing function for each figure");

const char *const ulb_figure_formats[] = {"svg", "png", "pdf", "txt", NULL};

bool ulb_figure_is_crowded(const struct ulb_record *record, const char *figure)
{
    static const char *const with_a_mark_a_cell[] = {"roofline", "bars", "kernels", "prediction", "groups"};
    bool marks = false;
    for (size_t i = 0; i < sizeof with_a_mark_a_cell / sizeof *with_a_mark_a_cell; i++)
        marks |= strcmp(figure, with_a_mark_a_cell[i]) == 0;
    return marks && json_array_size(json_object_get(record->root, "cells")) > ULB_FIGURE_CELLS;
}

static enum ulb_status find_drawer(const struct ulb_record *record, const char *figure, ulb_draw_fn **draw,
                                   struct ulb_error *err)
{
    enum kind kind = ulb_is_model(record) ? MODEL : ulb_is_trend(record) ? TREND : RECORD;
    char known[256] = "";
    for (size_t i = 0; i < FIGURES; i++) {
        ulb_draw_fn *own = drawers[i][kind];
        if (strcmp(ulb_figures[i].name, figure) == 0 && own) {
            *draw = own;
            return !ulb_figure_is_crowded(record, figure)
                       ? ULB_OK
                       : ulb_fail(err, ULB_BAD_INPUT,
                                  "the record has more than the %d cells that the figure '%s' can show; draw "
                                  "a record of fewer kernels or models",
                                  ULB_FIGURE_CELLS, figure);
        }
        size_t used = strlen(known);
        if (own)
            snprintf(known + used, sizeof known - used, "%s%s", used ? ", " : "", ulb_figures[i].name);
    }
    return ulb_fail(err, ULB_BAD_INPUT, "unknown figure '%s' of a %s; figures are %s", figure,
                    kind_names[kind], known);
}

static bool is_kind(const struct ulb_record *record, const char *wanted)
{
    const char *kind = ulb_record_text(record, "kind");
    return kind && strcmp(kind, wanted) == 0;
}

bool ulb_is_model(const struct ulb_record *record)
{
    return is_kind(record, "model");
}

bool ulb_is_trend(const struct ulb_record *record)
{
    return is_kind(record, "trend");
}

static enum ulb_status check_format(const char *format, struct ulb_error *err)
{
    for (size_t i = 0; ulb_figure_formats[i]; i++) {
        if (strcmp(ulb_figure_formats[i], format) == 0)
            return ULB_OK;
    }
    return ulb_fail(err, ULB_BAD_INPUT, "unknown format '%s' of figures; formats are svg, png, pdf, txt",
                    format);
}

/* Terminal line. noenhanced: the underscores of names are themselves, no subscripts. */
static void put_terminal(FILE *script, const char *format, const struct ulb_canvas *canvas)
{
    fprintf(script, "set encoding utf8\nset decimalsign '.'\nset terminal ");
    if (strcmp(format, "svg") == 0)
        fprintf(script,
                "svg name 'figure' size %u,%u fixed noenhanced font 'sans-serif,13' background '#FFFFFF'\n",
                canvas->width, canvas->height);
    else if (strcmp(format, "png") == 0)
        fprintf(script, "pngcairo size %u,%u noenhanced font 'Sans,10' background '#FFFFFF'\n", canvas->width,
                canvas->height);
    else if (strcmp(format, "pdf") == 0)
        fprintf(script, "pdfcairo size %gin,%gin noenhanced font 'Sans,9'\n", canvas->width / 96.0,
                canvas->height / 96.0);
    else
        fprintf(script, "dumb size %u,%u noenhanced mono\n", canvas->width / 9, canvas->height / 18);
}

/* The whole script in memory, to be freed. */
static enum ulb_status make_script(const struct ulb_record *record, ulb_draw_fn *draw, const char *format,
                                   char **script, size_t *bytes, struct ulb_error *err)
{
    bool text = strcmp(format, "txt") == 0;
    struct ulb_canvas canvas = {
        .width = text ? 900 : 800, .height = 500, .text = text, .hover = strcmp(format, "svg") == 0};
    struct ulb_text body, whole = {NULL, NULL, 0, 0, true};
    *script = NULL;
    if (!ulb_text_open(&body))
        return ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for the figure");
    canvas.script = body.out;
    enum ulb_status status = draw(record, &canvas, err);
    if (ulb_text_close(&body) && status == ULB_OK && ulb_text_open(&whole)) {
        put_terminal(whole.out, format, &canvas);
        fwrite(body.data, 1, body.bytes, whole.out);
        ulb_text_close(&whole);
    }
    if (status == ULB_OK && whole.failed)
        status = ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for the figure");
    free(body.data);
    *script = whole.data;
    *bytes = whole.bytes;
    return status;
}

enum ulb_status ulb_figure_check(const struct ulb_record *record, const char *figure, struct ulb_error *err)
{
    ulb_draw_fn *draw = NULL;
    char *script = NULL;
    size_t bytes;
    enum ulb_status status = find_drawer(record, figure, &draw, err);
    if (status == ULB_OK)
        status = make_script(record, draw, "svg", &script, &bytes, err);
    free(script);
    return status;
}

/* ---- the program gnuplot ---- */

extern char **environ;

/* A file without a name that holds the script: unlike a pipe it cannot block or break. */
static int script_file(const char *script, size_t bytes)
{
    int fd = memfd_create("gnuplot-script", MFD_CLOEXEC);
    while (fd >= 0 && bytes > 0) {
        ssize_t written = write(fd, script, bytes);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0) {
            close(fd);
            return -1;
        }
        script += written;
        bytes -= (size_t)written;
    }
    if (fd >= 0)
        lseek(fd, 0, SEEK_SET);
    return fd;
}

/* The last line with text that gnuplot wrote to its standard error. */
static void last_words(int fd, char *out, size_t out_bytes)
{
    char text[4096];
    off_t end = lseek(fd, 0, SEEK_END);
    off_t from = end > (off_t)sizeof text - 1 ? end - (off_t)sizeof text + 1 : 0;
    ssize_t got = pread(fd, text, sizeof text - 1, from);
    text[got > 0 ? got : 0] = '\0';
    const char *last = text;
    char *rest = NULL;
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        if (line[strspn(line, " \t^")])
            last = line;
    }
    last += strspn(last, " \t");
    size_t length = strlen(last) < out_bytes ? strlen(last) : out_bytes - 1;
    memcpy(out, last, length);
    out[length] = '\0';
}

static int spawn(int script, int out, int messages, pid_t *child)
{
    /* -d: the user's own start-up files do not count. Of a script that it opens itself gnuplot reads blocks,
     * of standard input one byte at a time. */
    char *const arguments[] = {"gnuplot", "-d", "/dev/stdin", NULL};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t group;
    int code = posix_spawn_file_actions_init(&actions);
    if (code != 0)
        return code;
    code = posix_spawnattr_init(&group);
    if (code != 0) {
        posix_spawn_file_actions_destroy(&actions);
        return code;
    }
    /* A group of its own, so that all of it can be ended. */
    code = posix_spawnattr_setflags(&group, POSIX_SPAWN_SETPGROUP);
    if (code == 0)
        code = posix_spawn_file_actions_adddup2(&actions, script, STDIN_FILENO);
    if (code == 0)
        code = posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
    if (code == 0)
        code = posix_spawn_file_actions_adddup2(&actions, messages, STDERR_FILENO);
    if (code == 0)
        code = posix_spawnp(child, arguments[0], &actions, &group, arguments, environ);
    posix_spawnattr_destroy(&group);
    posix_spawn_file_actions_destroy(&actions);
    return code;
}

/* A figure takes a second and some 100 KB. */
static const double MOST_SECONDS = 60;
static const off_t MOST_BYTES = (off_t)64 << 20;

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static bool is_beyond(int file, off_t most)
{
    struct stat is;
    return fstat(file, &is) == 0 && is.st_size > most;
}

/* What goes beyond a limit; NULL: gnuplot has ended, with result, or waiting for it failed, with errno. */
static const char *watch(pid_t child, int out, int messages, int *result)
{
    const struct timespec pause = {0, 5000000};
    const double begin = now();
    for (;;) {
        pid_t ended = waitpid(child, result, WNOHANG);
        if (ended == child || (ended < 0 && errno != EINTR)) {
            errno = ended == child ? 0 : errno;
            return NULL;
        }
        if (now() - begin > MOST_SECONDS)
            return "it draws for more than a minute";
        if (is_beyond(out, MOST_BYTES) || is_beyond(messages, MOST_BYTES))
            return "it writes more than 64 MiB";
        nanosleep(&pause, NULL);
    }
}

static enum ulb_status wait_for(pid_t child, int out, int messages, struct ulb_error *err)
{
    int result;
    const char *beyond = watch(child, out, messages, &result);
    if (beyond) {
        kill(-child, SIGKILL); /* and what it has started itself, which may be what writes */
        while (waitpid(child, &result, 0) < 0 && errno == EINTR)
            ;
        return ulb_fail(err, ULB_ENVIRONMENT, "gnuplot was ended: %s; is the gnuplot in PATH sound?", beyond);
    }
    if (errno != 0)
        return ulb_fail(err, ULB_ENVIRONMENT, "gnuplot could not be waited for: %s", strerror(errno));
    if (WIFEXITED(result) && WEXITSTATUS(result) == 0)
        return ULB_OK;
    char words[256];
    last_words(messages, words, sizeof words);
    if (WIFSIGNALED(result))
        return ulb_fail(err, ULB_ENVIRONMENT, "gnuplot was killed by signal %d", WTERMSIG(result));
    return ulb_fail(err, ULB_ENVIRONMENT, "gnuplot failed: %s", words[0] ? words : "it did not say why");
}

/* Runs gnuplot on a script; what it draws goes to the open file out. ULB_ENVIRONMENT: gnuplot is not there,
 * or it failed, with the last line it said. */
static enum ulb_status run_gnuplot(const char *script, size_t bytes, int out, struct ulb_error *err)
{
    enum ulb_status status = ULB_OK;
    pid_t child;
    int input = script_file(script, bytes);
    int messages = memfd_create("gnuplot-messages", MFD_CLOEXEC);
    if (input < 0 || messages < 0) {
        status = ulb_fail(err, ULB_ENVIRONMENT, "gnuplot's script could not be stored: %s", strerror(errno));
        goto done;
    }
    int code = spawn(input, out, messages, &child);
    if (code == ENOENT || code == EACCES)
        status =
            ulb_fail(err, ULB_ENVIRONMENT,
                     "figures need the program gnuplot, which is not in PATH; apt-get install gnuplot-nox");
    else if (code != 0)
        status = ulb_fail(err, ULB_ENVIRONMENT, "gnuplot could not be started: %s", strerror(code));
    else
        status = wait_for(child, out, messages, err);
done:
    if (input >= 0)
        close(input);
    if (messages >= 0)
        close(messages);
    return status;
}

/* The whole of a file without a name, to be freed. */
static enum ulb_status read_back(int file, char **text, size_t *bytes, struct ulb_error *err)
{
    off_t size = lseek(file, 0, SEEK_END);
    *text = NULL;
    *bytes = size > 0 ? (size_t)size : 0;
    if (*bytes == 0)
        return ulb_fail(err, ULB_ENVIRONMENT, "gnuplot drew nothing");
    *text = malloc(*bytes);
    if (!*text)
        return ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for the figure");
    for (size_t done = 0; done < *bytes;) {
        ssize_t got = pread(file, *text + done, *bytes - done, (off_t)done);
        if (got <= 0)
            return ulb_fail(err, ULB_ENVIRONMENT, "what gnuplot drew could not be read: %s", strerror(errno));
        done += (size_t)got;
    }
    return ULB_OK;
}

/* ---- SVG that stands alone and inside of a page ---- */

struct cursor {
    const char *at, *end;
};

static bool begins(const struct cursor *cursor, const char *word)
{
    size_t length = strlen(word);
    return (size_t)(cursor->end - cursor->at) >= length && memcmp(cursor->at, word, length) == 0;
}

/* Moves behind the next occurrence of word; false, and no move, when there is none. */
static bool skip_past(struct cursor *cursor, const char *word)
{
    const char *found = memmem(cursor->at, (size_t)(cursor->end - cursor->at), word, strlen(word));
    if (!found)
        return false;
    cursor->at = found + strlen(word);
    return true;
}

/* <g onmousemove="gnuplot_svg.showHypertext(evt,'TEXT')" ...><title> </title> becomes
 * <g class="value"><title>TEXT</title>; TEXT is escaped already, its line ends are \n. */
static bool copy_hypertext(struct cursor *cursor, FILE *out)
{
    struct cursor text = *cursor, rest = *cursor;
    if (!begins(cursor, "<g onmousemove=") || !skip_past(&text, "(evt,'") || !skip_past(&rest, "</title>"))
        return false;
    fprintf(out, "<g class=\"value\"><title>");
    for (; text.at < rest.at && *text.at != '\''; text.at++) {
        if (begins(&text, "\\n")) {
            putc('\n', out);
            text.at++;
        } else {
            putc(*text.at, out);
        }
    }
    fprintf(out, "</title>");
    *cursor = rest;
    return true;
}

/* <g ...>, white space, </g> */
static bool skip_empty_group(struct cursor *cursor)
{
    struct cursor next = *cursor;
    if (!begins(cursor, "<g fill=") || !skip_past(&next, ">"))
        return false;
    while (next.at < next.end && isspace((unsigned char)*next.at))
        next.at++;
    if (!begins(&next, "</g>"))
        return false;
    cursor->at = next.at + 4;
    return true;
}

/* <title>gnuplot_plot_3</title> and the filters for boxes behind text, which no figure has. */
static bool skip_useless(struct cursor *cursor)
{
    struct cursor next = *cursor;
    if (begins(cursor, "<filter id="))
        return skip_past(cursor, "</filter>");
    if (!begins(cursor, "<title>"))
        return false;
    next.at += strlen("<title>");
    const char *close = memmem(next.at, (size_t)(next.end - next.at), "</title>", 8);
    const char *plot = close ? memmem(next.at, (size_t)(close - next.at), "_plot_", 6) : NULL;
    if (!plot && !begins(&next, "Gnuplot"))
        return false;
    return skip_past(cursor, "</title>");
}

static bool copy_id(struct cursor *cursor, const char *name, FILE *out)
{
    static const struct {
        const char *word;
        size_t kept; /* bytes in front of the id */
    } ids[] = {{"id='gp", 4}, {"'#gp", 2}, {"id=\"gnuplot_", 4}, {"id=\"figure_plot", 4}};
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
        if (!begins(cursor, ids[i].word))
            continue;
        fprintf(out, "%.*s%s-", (int)ids[i].kept, ids[i].word, name);
        cursor->at += ids[i].kept;
        return true;
    }
    return false;
}

/* Copies an SVG of gnuplot to out. Values that are shown on pointing become <title> elements, which need no
 * script. Every id begins with name, so that figures of one page do not share them. Groups that hold nothing
 * and titles that say nothing are left out. */
static void copy_svg(const char *svg, size_t bytes, const char *name, FILE *out)
{
    struct cursor cursor = {svg, svg + bytes};
    while (cursor.at < cursor.end) {
        if (copy_hypertext(&cursor, out) || skip_empty_group(&cursor) || skip_useless(&cursor) ||
            copy_id(&cursor, name, out))
            continue;
        /* Lines that the above left empty are not kept. */
        if (*cursor.at == '\n') {
            while (cursor.at + 1 < cursor.end && isspace((unsigned char)cursor.at[1]))
                cursor.at++;
            putc('\n', out);
        } else {
            putc(*cursor.at, out);
        }
        cursor.at++;
    }
}

/* Replaces gnuplot's SVG by one that can stand in a page. */
static enum ulb_status settle_svg(const char *name, char **text, size_t *bytes, struct ulb_error *err)
{
    struct ulb_text settled;
    bool whole = ulb_text_open(&settled);
    if (whole) {
        copy_svg(*text, *bytes, name, settled.out);
        whole = ulb_text_close(&settled);
    }
    if (!whole)
        return ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for the figure");
    free(*text);
    *text = settled.data;
    *bytes = settled.bytes;
    return ULB_OK;
}

enum ulb_status ulb_figure_text(const struct ulb_record *record, const char *figure, const char *format,
                                const char *name, char **text, size_t *bytes, struct ulb_error *err)
{
    ulb_draw_fn *draw = NULL;
    char *script = NULL;
    size_t script_bytes = 0;
    int out = -1;
    *text = NULL;
    enum ulb_status status = find_drawer(record, figure, &draw, err);
    if (status == ULB_OK)
        status = check_format(format, err);
    if (status != ULB_OK)
        return status;
    status = make_script(record, draw, format, &script, &script_bytes, err);
    if (status != ULB_OK) {
        free(script);
        return ulb_fail_prefix(err, status, "figure %s", figure);
    }
    out = memfd_create("figure", MFD_CLOEXEC);
    if (out < 0)
        status = ulb_fail(err, ULB_ENVIRONMENT, "the figure could not be stored: %s", strerror(errno));
    else
        status = run_gnuplot(script, script_bytes, out, err);
    if (status == ULB_OK)
        status = read_back(out, text, bytes, err);
    if (status == ULB_OK && strcmp(format, "svg") == 0)
        status = settle_svg(name, text, bytes, err);
    if (status != ULB_OK) {
        free(*text);
        *text = NULL;
    }
    if (out >= 0)
        close(out);
    free(script);
    return status;
}

/* PNG: a chunk of text "Software" right behind the header chunk, with its checksum; others: a comment or a
 * line at their end. */
static const char png_mark[] = "\0\0\0\x1BtEXtSoftware\0" ULB_FILE_MARK "\x25\x5D\x15\xDE";
enum { PNG_HEADER = 33 };

static bool add_mark(const char *format, char **text, size_t *bytes)
{
    bool png = strcmp(format, "png") == 0;
    const char *mark = png                          ? png_mark
                       : strcmp(format, "svg") == 0 ? "<!-- " ULB_FILE_MARK " -->\n"
                       : strcmp(format, "pdf") == 0 ? "% " ULB_FILE_MARK "\n"
                                                    : ULB_FILE_MARK "\n";
    size_t length = png ? sizeof png_mark - 1 : strlen(mark), at = png ? PNG_HEADER : *bytes;
    char *more = at <= *bytes ? realloc(*text, *bytes + length) : NULL;
    if (!more)
        return false;
    memmove(more + at + length, more + at, *bytes - at);
    memcpy(more + at, mark, length);
    *text = more;
    *bytes += length;
    return true;
}

static enum ulb_status make_path(const char *prefix, const char *figure, const char *format, char *path,
                                 size_t path_bytes, struct ulb_error *err)
{
    int used = snprintf(path, path_bytes, "%s-%s.%s", prefix, figure, format);
    if (used < 0 || (size_t)used >= path_bytes)
        return ulb_fail(err, ULB_BAD_INPUT, "the name of the figure is too long: %.200s...", prefix);
    return ULB_OK;
}

enum ulb_status ulb_figure_may_replace(const char *figure, const char *format, const char *prefix,
                                       const char *remedy, struct ulb_error *err)
{
    char path[PATH_MAX];
    enum ulb_status status = make_path(prefix, figure, format, path, sizeof path, err);
    return status == ULB_OK ? ulb_file_may_replace(path, remedy, err) : status;
}

enum ulb_status ulb_figure_draw(const struct ulb_record *record, const char *figure, const char *format,
                                const char *prefix, char *path, size_t path_bytes, struct ulb_error *err)
{
    char *text = NULL;
    size_t bytes = 0;
    enum ulb_status status = make_path(prefix, figure, format, path, path_bytes, err);
    if (status == ULB_OK)
        status = ulb_figure_text(record, figure, format, figure, &text, &bytes, err);
    if (status == ULB_OK && !add_mark(format, &text, &bytes))
        status = ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for the figure");
    if (status == ULB_OK)
        status = ulb_write_file(path, text, bytes, err);
    free(text);
    return status;
}
