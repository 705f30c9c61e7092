#include "harness/session/journal.h"

#include "common/json.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* A full run is some MB. */
static const off_t LARGEST_FILE = (off_t)256 << 20;

struct ulb_journal {
    char *path;
    int fd;
    json_t *lines;  /* read back; the first is the header */
    size_t next;    /* of these */
    size_t entries; /* in the file */
};

/* Whether the file under the journal's name is the one that was locked. A process that ends its run removes
 * its journal, and may have done so between the two. */
static bool is_still_there(const struct ulb_journal *journal)
{
    struct stat named, locked;
    return stat(journal->path, &named) == 0 && fstat(journal->fd, &locked) == 0 &&
           named.st_dev == locked.st_dev && named.st_ino == locked.st_ino;
}

static enum ulb_status open_file(struct ulb_journal **out, const char *path, int flags, struct ulb_error *err)
{
    struct ulb_journal *journal = calloc(1, sizeof *journal);
    char *copy = strdup(path);
    *out = NULL;
    if (!journal || !copy) {
        free(journal);
        free(copy);
        return ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for the journal %s", path);
    }
    journal->path = copy;
    journal->fd = open(path, flags | O_APPEND | O_CLOEXEC, 0666);
    if (journal->fd < 0) {
        int code = errno;
        ulb_journal_close(journal);
        return ulb_fail(err, code == ENOENT ? ULB_BAD_INPUT : ULB_ENVIRONMENT,
                        "the journal %s cannot be opened: %s", path, strerror(code));
    }
    if (flock(journal->fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
        ulb_journal_close(journal);
        return ulb_fail(err, ULB_ENVIRONMENT, "another process is writing %s; wait for it or end it", path);
    }
    if (!is_still_there(journal)) {
        ulb_journal_close(journal);
        return ulb_fail(err, ULB_BAD_INPUT, "%s was removed by the process that has finished its run", path);
    }
    *out = journal;
    return ULB_OK;
}

/* All of the text, or an error; a part that was written is cut off by whoever reads the journal. */
static enum ulb_status append(struct ulb_journal *journal, const char *text, size_t bytes,
                              struct ulb_error *err)
{
    for (size_t done = 0; done < bytes;) {
        ssize_t n = write(journal->fd, text + done, bytes - done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return ulb_fail(err, ULB_ENVIRONMENT,
                            "%s could not be written: %s; what was measured until then is in it",
                            journal->path, n < 0 ? strerror(errno) : "nothing more fits");
        done += (size_t)n;
    }
    return ULB_OK;
}

static enum ulb_status append_line(struct ulb_journal *journal, const json_t *line, struct ulb_error *err)
{
    char *text = line ? json_dumps(line, JSON_COMPACT) : NULL;
    if (!text)
        return ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for a line of %s", journal->path);
    size_t length = strlen(text);
    text[length] = '\n'; /* in the place of the closing zero byte */
    enum ulb_status status = append(journal, text, length + 1, err);
    free(text);
    return status;
}

enum ulb_status ulb_journal_create(struct ulb_journal **out, const char *path, const json_t *header,
                                   struct ulb_error *err)
{
    enum ulb_status status = open_file(out, path, O_WRONLY | O_CREAT | O_EXCL, err);
    if (status == ULB_OK)
        status = append_line(*out, header, err);
    if (status != ULB_OK) {
        if (*out)
            unlink(path);
        ulb_journal_close(*out);
        *out = NULL;
    }
    return status;
}

/* --- reading back --- */

/* The file's text, closed by a zero byte. */
static enum ulb_status slurp(const struct ulb_journal *journal, char **text, size_t *bytes,
                             struct ulb_error *err)
{
    struct stat there;
    *text = NULL;
    if (fstat(journal->fd, &there) != 0 || !S_ISREG(there.st_mode) || there.st_size > LARGEST_FILE)
        return ulb_fail(err, ULB_BAD_INPUT, "%s is no journal of ulb-bench", journal->path);
    *text = malloc((size_t)there.st_size + 1);
    if (!*text)
        return ulb_fail(err, ULB_ENVIRONMENT, "not enough memory to read %s", journal->path);
    for (*bytes = 0; *bytes < (size_t)there.st_size;) {
        ssize_t n = pread(journal->fd, *text + *bytes, (size_t)there.st_size - *bytes, (off_t)*bytes);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return ulb_fail(err, ULB_ENVIRONMENT, "%s cannot be read: %s", journal->path, strerror(errno));
        if (n == 0)
            break;
        *bytes += (size_t)n;
    }
    (*text)[*bytes] = '\0';
    return ULB_OK;
}

/* Whole lines; *whole is where the last one ends. */
static enum ulb_status parse_lines(struct ulb_journal *journal, char *text, size_t bytes, size_t *whole,
                                   struct ulb_error *err)
{
    size_t number = 0;
    *whole = 0;
    for (char *end; (end = memchr(text + *whole, '\n', bytes - *whole)); *whole = (size_t)(end + 1 - text)) {
        json_error_t why;
        json_t *line = json_loadb(text + *whole, (size_t)(end - text) - *whole, 0, &why);
        number++;
        if (!line && !ulb_json_lacks_memory(&why))
            return ulb_fail(err, ULB_BAD_INPUT, "%s: line %zu is damaged (%.100s); measure anew",
                            journal->path, number, why.text);
        if ((line && !ulb_json_printable(line)) || json_array_append_new(journal->lines, line) != 0)
            return ulb_fail(err, ULB_ENVIRONMENT, "not enough memory to read %s", journal->path);
    }
    if (number == 0)
        return ulb_fail(err, ULB_BAD_INPUT, "%s holds no whole line; measure anew", journal->path);
    journal->entries = number - 1;
    return ULB_OK;
}

enum ulb_status ulb_journal_open(struct ulb_journal **out, const char *path, const json_t **header,
                                 struct ulb_error *err)
{
    char *text = NULL;
    size_t bytes = 0, whole = 0;
    enum ulb_status status = open_file(out, path, O_RDWR, err);
    struct ulb_journal *journal = *out;
    if (status != ULB_OK)
        return status;
    journal->lines = json_array();
    status = slurp(journal, &text, &bytes, err);
    if (status == ULB_OK)
        status = parse_lines(journal, text, bytes, &whole, err);
    if (status == ULB_OK && whole < bytes && ftruncate(journal->fd, (off_t)whole) != 0)
        status = ulb_fail(err, ULB_ENVIRONMENT, "%s cannot be written: %s", path, strerror(errno));
    free(text);
    if (status != ULB_OK) {
        ulb_journal_close(journal);
        *out = NULL;
        return status;
    }
    *header = json_array_get(journal->lines, 0);
    journal->next = 1;
    return ULB_OK;
}

/* --- units --- */

enum ulb_status ulb_journal_take(struct ulb_journal *journal, const char *entry, const json_t **value,
                                 struct ulb_error *err)
{
    *value = NULL;
    if (!journal || journal->next >= json_array_size(journal->lines))
        return ULB_OK;
    const json_t *line = json_array_get(journal->lines, journal->next++);
    const char *there = json_string_value(json_object_get(line, "entry"));
    *value = json_object_get(line, "value");
    if (there && *value && strcmp(there, entry) == 0)
        return ULB_OK;
    return ulb_fail(err, ULB_BAD_INPUT, "%s: line %zu is '%.60s' where '%.60s' comes next; measure anew",
                    journal->path, journal->next, there ? there : "no entry", entry);
}

enum ulb_status ulb_journal_put(struct ulb_journal *journal, const char *entry, json_t *value,
                                struct ulb_error *err)
{
    if (!journal) {
        json_decref(value);
        return ULB_OK;
    }
    json_t *line = json_pack("{s:s, s:o}", "entry", entry, "value", value);
    enum ulb_status status = append_line(journal, line, err);
    journal->entries += status == ULB_OK;
    json_decref(line);
    return status;
}

bool ulb_journal_has_entries(const struct ulb_journal *journal)
{
    return journal->entries > 0;
}

void ulb_journal_close(struct ulb_journal *journal)
{
    if (!journal)
        return;
    if (journal->fd >= 0)
        close(journal->fd);
    json_decref(journal->lines);
    free(journal->path);
    free(journal);
}

json_t *ulb_journal_numbers(const double *values, size_t n)
{
    json_t *array = json_array();
    for (size_t i = 0; i < n; i++) {
        if (json_array_append_new(array, isfinite(values[i]) ? json_real(values[i]) : json_null()) != 0) {
            json_decref(array);
            return NULL;
        }
    }
    return array;
}

bool ulb_journal_read_numbers(const json_t *array, double *values, size_t n)
{
    if (json_array_size(array) != n)
        return false;
    for (size_t i = 0; i < n; i++) {
        const json_t *value = json_array_get(array, i);
        if (!json_is_number(value) && !json_is_null(value))
            return false;
        values[i] = json_is_null(value) ? NAN : json_number_value(value);
    }
    return true;
}
