#include "harness/cli/commands/decode_merge.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* Sequences of a run; older runs have one, and no number. */
static json_int_t batch_of(const json_t *run)
{
    const json_t *batch = json_object_get(run, "batch");
    return batch ? json_integer_value(batch) : 1;
}

/* Whether two runs measured the same. */
static bool same_run(const json_t *a, const json_t *b)
{
    static const char *const keys[] = {"model", "format", "set", "split", "context", "prompt", "kv_type"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        if (!json_equal(json_object_get(a, keys[i]), json_object_get(b, keys[i])))
            return false;
    }
    return batch_of(a) == batch_of(b);
}

/* Whether the array holds that run. */
static bool holds_run(const json_t *runs, const json_t *run, bool (*alike)(const json_t *, const json_t *))
{
    size_t i;
    const json_t *each;
    json_array_foreach(runs, i, each)
    {
        if (alike(each, run))
            return true;
    }
    return false;
}

static bool equal_run(const json_t *a, const json_t *b)
{
    return json_equal(a, b);
}

static const json_t *runs_of(const struct ulb_record *record)
{
    return json_object_get(json_object_get(record->root, "decode"), "runs");
}

/* The decode section of a record, followed by runs that it has not measured again. Those are runs of another
 * process, and, until the section is complete, those that were there before. */
static json_t *decode_section(const struct ulb_decode_merging *m, const struct ulb_record *there,
                              const struct ulb_record *record, bool complete)
{
    json_t *decode = json_deep_copy(json_object_get(record->root, "decode")), *run;
    json_t *runs = json_object_get(decode, "runs");
    size_t i;
    json_array_foreach(runs_of(there), i, run)
    {
        bool before = holds_run(runs_of(&m->before), run, equal_run);
        if (!holds_run(runs_of(record), run, same_run) && !(complete && before))
            json_array_append(runs, run);
    }
    return decode;
}

/* The record's file, as nobody else changes it until fd is closed: whoever replaced it meanwhile had another.
 */
static enum ulb_status lock_record(const char *path, int *fd, struct ulb_error *err)
{
    struct stat locked, named;
    for (;;) {
        *fd = open(path, O_RDONLY | O_CLOEXEC);
        if (*fd < 0 || fstat(*fd, &locked) != 0)
            return ulb_fail(err, ULB_ENVIRONMENT, "%s: %s", path, strerror(errno));
        while (flock(*fd, LOCK_EX) != 0 && errno == EINTR)
            ; /* a writer holds it for a moment; a file system without locks lets all pass */
        if (stat(path, &named) != 0 || (named.st_dev == locked.st_dev && named.st_ino == locked.st_ino))
            return ULB_OK;
        close(*fd);
    }
}

/* Warnings of the decoding, in the place of those that were written last. */
static int replace_warnings(struct ulb_decode_merging *m, struct ulb_record *there, const json_t *warnings)
{
    json_t *all = json_object_get(there->root, "warnings");
    size_t i;
    const json_t *old;
    json_array_foreach(m->warned, i, old)
    {
        for (size_t at = json_array_size(all); at-- > 0;) {
            if (json_equal(json_array_get(all, at), old)) {
                json_array_remove(all, at);
                break;
            }
        }
    }
    json_decref(m->warned);
    m->warned = json_deep_copy(warnings);
    return m->warned ? json_array_extend(all, m->warned) : -1;
}

enum ulb_status ulb_decode_merge(struct ulb_decode_merging *m, const struct ulb_record *record, bool complete,
                                 struct ulb_error *err)
{
    struct ulb_record there = {NULL};
    int fd = -1;
    enum ulb_status status = lock_record(m->path, &fd, err);
    if (status == ULB_OK)
        status = ulb_record_read(&there, m->path, err);
    if (status == ULB_OK && replace_warnings(m, &there, json_object_get(record->root, "warnings")) != 0)
        status = ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for the record");
    if (status == ULB_OK)
        status = ulb_record_set(&there, "decode", decode_section(m, &there, record, complete), err);
    if (status == ULB_OK) {
        json_object_del(there.root, "decode_reason");
        status = ulb_record_write(&there, m->path, err);
    }
    ulb_record_free(&there);
    if (fd >= 0)
        close(fd);
    return status;
}
