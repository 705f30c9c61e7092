#include "common/json_reader.h"

#include "common/json.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* jansson takes a KiB at a time and gives back what lies behind the value: that much of the window stays. */
enum { WINDOW = 1 << 18, STAYS = 1 << 12 };

enum ulb_status ulb_json_open(struct ulb_json_reader *reader, const char *path, size_t most,
                              struct ulb_error *err)
{
    *reader = (struct ulb_json_reader){.name = path, .most = most, .line = 1};
    reader->file = strcmp(path, "-") == 0 ? stdin : fopen(path, "re");
    if (!reader->file)
        return ulb_fail(err, errno == ENOMEM ? ULB_ENVIRONMENT : ULB_BAD_INPUT,
                        "%.300s could not be opened: %s", path, strerror(errno));
    reader->window = reader->room = malloc(WINDOW);
    if (reader->room)
        return ULB_OK;
    ulb_json_close(reader);
    return ulb_fail(err, ULB_ENVIRONMENT, "not enough memory to read %.300s", path);
}

void ulb_json_open_text(struct ulb_json_reader *reader, const char *text, size_t bytes, const char *name)
{
    *reader = (struct ulb_json_reader){
        .name = name, .window = text, .end = bytes, .most = bytes, .line = 1, .ended = true};
}

void ulb_json_close(struct ulb_json_reader *reader)
{
    free(reader->room);
    if (reader->file && reader->file != stdin)
        fclose(reader->file);
    *reader = (struct ulb_json_reader){0};
}

/* Moves on to a place in the window, with line and column. */
static void move_to(struct ulb_json_reader *reader, size_t to)
{
    const char *at = reader->window + reader->at, *end = reader->window + to, *newline;
    while (at < end && (newline = memchr(at, '\n', (size_t)(end - at)))) {
        reader->line++;
        reader->column = 0;
        at = newline + 1;
    }
    for (; at < end; at++)
        reader->column += ((unsigned char)*at & 0xC0) != 0x80; /* first of its character */
    reader->at = to;
}

/* Reads on; the last bytes before the end stay in the window. false: there is no more. */
static bool refill(struct ulb_json_reader *reader)
{
    if (reader->ended)
        return false;
    size_t stays = reader->end < STAYS ? reader->end : STAYS, gone = reader->end - stays;
    if (reader->at < gone)
        move_to(reader, gone);
    memmove(reader->room, reader->room + gone, stays);
    reader->at -= gone;
    reader->passed += gone;
    errno = 0;
    size_t got = fread(reader->room + stays, 1, WINDOW - stays, reader->file);
    reader->error = errno;
    reader->end = stays + got;
    reader->failed = ferror(reader->file) != 0;
    reader->ended = got == 0 || reader->passed + reader->end > reader->most;
    return !reader->ended;
}

int ulb_json_next(struct ulb_json_reader *reader)
{
    do {
        size_t at = reader->at;
        while (at < reader->end && memchr(" \t\r\n", reader->window[at], 4))
            at++;
        move_to(reader, at);
    } while (reader->at == reader->end && refill(reader));
    return reader->at < reader->end ? (unsigned char)reader->window[reader->at] : EOF;
}

bool ulb_json_take(struct ulb_json_reader *reader, char byte)
{
    if (ulb_json_next(reader) != (unsigned char)byte)
        return false;
    move_to(reader, reader->at + 1);
    return true;
}

/* What the file itself is to blame for; ULB_OK: nothing. */
static enum ulb_status check_file(const struct ulb_json_reader *reader, struct ulb_error *err)
{
    if (reader->failed)
        return ulb_fail(err, ULB_BAD_INPUT, "%.300s could not be read: %s", reader->name,
                        strerror(reader->error));
    if (reader->passed + reader->end > reader->most)
        return ulb_fail(err, ULB_BAD_INPUT, "%.300s is larger than %zu MiB, more than any file of its kind",
                        reader->name, reader->most >> 20);
    return ULB_OK;
}

/* A value on its way to jansson. */
struct feed {
    struct ulb_json_reader *reader;
    size_t given; /* place in the document */
};

static size_t give(void *buffer, size_t bytes, void *data)
{
    struct feed *feed = data;
    struct ulb_json_reader *reader = feed->reader;
    if (feed->given == reader->passed + reader->end && !refill(reader))
        return 0;
    size_t from = feed->given - reader->passed, left = reader->end - from;
    size_t n = bytes < left ? bytes : left;
    memcpy(buffer, reader->window + from, n);
    feed->given += n;
    return n;
}

enum ulb_status ulb_json_value(struct ulb_json_reader *reader, size_t flags, json_t **value,
                               struct ulb_error *err)
{
    ulb_json_next(reader);
    size_t begin = reader->passed + reader->at;
    int line = reader->line, column = reader->column;
    struct feed feed = {reader, begin};
    json_error_t why;
    *value = json_load_callback(give, &feed, flags | JSON_DISABLE_EOF_CHECK, &why);
    if (*value) {
        move_to(reader, begin + (size_t)why.position - reader->passed);
        return ULB_OK;
    }
    if (ulb_json_lacks_memory(&why))
        return ulb_fail(err, ULB_ENVIRONMENT,
                        "%.200s: not enough memory to read it; free memory or raise ulimit -v", reader->name);
    enum ulb_status status = check_file(reader, err);
    if (status != ULB_OK)
        return status;
    return ulb_fail(err, ULB_BAD_INPUT, "%.200s: line %d, column %d: %s", reader->name, line + why.line - 1,
                    why.line == 1 ? column + why.column : why.column, why.text);
}

enum ulb_status ulb_json_unexpected(struct ulb_json_reader *reader, const char *wanted, struct ulb_error *err)
{
    int next = ulb_json_next(reader);
    enum ulb_status status = check_file(reader, err);
    if (status != ULB_OK)
        return status;
    char near[32] = "end of file";
    if (next != EOF && isprint(next))
        snprintf(near, sizeof near, "'%c'", next);
    else if (next != EOF)
        snprintf(near, sizeof near, "byte 0x%02x", (unsigned)next);
    return ulb_fail(err, ULB_BAD_INPUT, "%.200s: line %d, column %d: %s expected near %s", reader->name,
                    reader->line, reader->column + (next != EOF), wanted, near);
}

enum ulb_status ulb_json_end(struct ulb_json_reader *reader, struct ulb_error *err)
{
    return ulb_json_next(reader) == EOF ? check_file(reader, err)
                                        : ulb_json_unexpected(reader, "end of file", err);
}
