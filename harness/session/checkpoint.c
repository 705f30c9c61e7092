#include "harness/session/checkpoint.h"

#include "common/text.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

void ulb_checkpoint_journal_path(const char *record, const char *pass, char *path, size_t bytes)
{
    size_t length = strlen(record);
    if (length > 5 && strcmp(record + length - 5, ".json") == 0)
        length -= 5;
    snprintf(path, bytes, "%.*s%s.journal", (int)length, record, pass);
}

enum ulb_status ulb_checkpoint_refuse_unfinished(const char *record, struct ulb_error *err)
{
    char journal[4200];
    ulb_checkpoint_journal_path(record, "", journal, sizeof journal);
    if (access(journal, F_OK) != 0)
        return ULB_OK;
    return ulb_fail(
        err, ULB_BAD_INPUT,
        "%s: its run is not finished; go on with it by --resume, or remove %s to take it as it is", record,
        journal);
}

/* --- whether it is the same run --- */

/* What changes from one minute to the next, or follows from what was measured. */
static bool is_passing(const char *key)
{
    static const char *const keys[] = {"load_average",
                                       "memory_available_bytes",
                                       "memory_bytes",
                                       "huge_pages",
                                       "hz",
                                       "timer_step_ns",
                                       "team_us",
                                       "openmp_us",
                                       "counters_reason"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        if (strncmp(key, keys[i], strlen(keys[i])) == 0)
            return true;
    }
    return false;
}

static void show(const json_t *then, const json_t *now, char was[96], char is[96])
{
    char *one = then ? json_dumps(then, JSON_COMPACT | JSON_ENCODE_ANY) : NULL;
    char *other = now ? json_dumps(now, JSON_COMPACT | JSON_ENCODE_ANY) : NULL;
    ulb_text_differing(one ? one : "nothing", other ? other : "nothing", was, is);
    free(one);
    free(other);
}

static enum ulb_status compare_field(const json_t *then, const json_t *now, const char *place,
                                     struct ulb_error *err);

static enum ulb_status compare_objects(const json_t *then, const json_t *now, const char *place,
                                       struct ulb_error *err)
{
    enum ulb_status status = ULB_OK;
    char inner[160];
    const char *key;
    const json_t *value;
    json_object_foreach((json_t *)(uintptr_t)then, key, value)
    {
        snprintf(inner, sizeof inner, "%.100s.%.50s", place, key);
        if (status == ULB_OK && !is_passing(key))
            status = compare_field(value, json_object_get(now, key), inner, err);
    }
    json_object_foreach((json_t *)(uintptr_t)now, key, value)
    {
        snprintf(inner, sizeof inner, "%.100s.%.50s", place, key);
        if (status == ULB_OK && !is_passing(key) && !json_object_get(then, key))
            status = compare_field(NULL, value, inner, err);
    }
    return status;
}

static enum ulb_status compare_field(const json_t *then, const json_t *now, const char *place,
                                     struct ulb_error *err)
{
    char was[96], is[96];
    if (json_is_object(then) && json_is_object(now))
        return compare_objects(then, now, place, err);
    if (then && now && json_equal(then, now))
        return ULB_OK;
    show(then, now, was, is);
    return ulb_fail(err, ULB_BAD_INPUT,
                    "--resume: %s is %s in the record and %s now; only the same run goes on", place, was, is);
}

static enum ulb_status compare_runs(const json_t *then, const json_t *now, struct ulb_error *err)
{
    static const char *const sections[] = {"settings", "build", "machine", "topology", "clock", "fork_join"};
    enum ulb_status status = ULB_OK;
    for (size_t i = 0; i < sizeof sections / sizeof *sections && status == ULB_OK; i++)
        status = compare_field(json_object_get(then, sections[i]), json_object_get(now, sections[i]),
                               sections[i], err);
    return status;
}

/* --- the files --- */

/* When each process that measured for this record began, UTC. */
static enum ulb_status add_session(struct ulb_session *session, const json_t *began, struct ulb_error *err)
{
    json_t *sessions = json_object_get(session->record->root, "sessions");
    if (sessions)
        return json_array_append(sessions, (json_t *)(uintptr_t)began) == 0
                   ? ULB_OK
                   : ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for the record");
    return ulb_record_set(session->record, "sessions", json_pack("[O]", began), err);
}

/* The record as it is, with the remark that there is more in its journal. */
static enum ulb_status write_unfinished(struct ulb_session *session, struct ulb_error *err)
{
    const struct ulb_checkpoint *checkpoint = &session->settings.checkpoint;
    struct ulb_record copy = {json_deep_copy(session->record->root)};
    if (!copy.root)
        return ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for the record");
    enum ulb_status status = ulb_record_warn(
        &copy, err, "unfinished: what was measured is in the journal; --resume with this file goes on");
    if (status == ULB_OK)
        status = ulb_record_write_new(&copy, checkpoint->record, checkpoint->record_bytes, err);
    ulb_record_free(&copy);
    return status;
}

/* The record's name is taken first: no other process has it, and what is beside it is ours to make. */
static enum ulb_status begin_anew(struct ulb_session *session, struct ulb_error *err)
{
    const struct ulb_checkpoint *checkpoint = &session->settings.checkpoint;
    char path[4200];
    bool first = checkpoint->pass[0] == '\0';
    enum ulb_status status = first ? write_unfinished(session, err) : ULB_OK;
    if (status != ULB_OK)
        return status;
    ulb_checkpoint_journal_path(checkpoint->record, checkpoint->pass, path, sizeof path);
    status = ulb_journal_create(&session->journal, path, session->record->root, err);
    if (status != ULB_OK && first)
        unlink(checkpoint->record);
    return status;
}

/* The record becomes what it was when the run began. */
static enum ulb_status go_on(struct ulb_session *session, const char *path, struct ulb_error *err)
{
    const json_t *header;
    json_t *root = session->record->root;
    json_t *began = json_incref(json_object_get(root, "created"));
    enum ulb_status status = ulb_journal_open(&session->journal, path, &header, err);
    if (status == ULB_OK)
        status = compare_runs(header, root, err);
    if (status == ULB_OK) {
        json_t *copy = json_deep_copy(header);
        if (json_object_clear(root) != 0 || json_object_update(root, copy) != 0)
            status = ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for the record");
        json_decref(copy);
        double fork_join_us = ulb_record_number(session->record, "fork_join.team_us");
        if (isfinite(fork_join_us))
            session->machine.fork_join_s = 1e-6 * fork_join_us;
    }
    if (status == ULB_OK)
        status = add_session(session, began, err);
    json_decref(began);
    return status;
}

enum ulb_status ulb_checkpoint_begin(struct ulb_session *session, struct ulb_error *err)
{
    const struct ulb_checkpoint *checkpoint = &session->settings.checkpoint;
    char path[4200];
    json_t *created = json_object_get(session->record->root, "created");
    if (!checkpoint->record)
        return ULB_OK;
    ulb_checkpoint_journal_path(checkpoint->record, checkpoint->pass, path, sizeof path);
    /* A run that ended before its second pass has no journal of that one. */
    if (checkpoint->resume && (checkpoint->pass[0] == '\0' || access(path, F_OK) == 0))
        return go_on(session, path, err);
    enum ulb_status status = add_session(session, created, err);
    return status == ULB_OK ? begin_anew(session, err) : status;
}

void ulb_checkpoint_end(struct ulb_session *session)
{
    char path[4200];
    if (!session->journal)
        return;
    const struct ulb_checkpoint *checkpoint = &session->settings.checkpoint;
    if (!ulb_journal_has_entries(session->journal)) {
        ulb_checkpoint_journal_path(checkpoint->record, checkpoint->pass, path, sizeof path);
        unlink(path);
        if (checkpoint->pass[0] == '\0')
            unlink(checkpoint->record);
    }
    ulb_journal_close(session->journal);
    session->journal = NULL;
}

/* --- units --- */

enum ulb_status ulb_entry_begin(struct ulb_session *session, struct ulb_journal_entry *entry,
                                const json_t **saved, struct ulb_error *err, const char *format, ...)
{
    json_t *warnings = json_object_get(session->record->root, "warnings");
    va_list args;
    va_start(args, format);
    vsnprintf(entry->name, sizeof entry->name, format, args);
    va_end(args);
    entry->warnings = json_array_size(warnings);
    enum ulb_status status = ulb_journal_take(session->journal, entry->name, saved, err);
    if (status != ULB_OK || !*saved)
        return status;
    if (!json_is_object(*saved))
        return ulb_entry_damaged(entry, err);
    json_array_extend(warnings, json_object_get(*saved, "warnings"));
    return ULB_OK;
}

enum ulb_status ulb_entry_end(struct ulb_session *session, const struct ulb_journal_entry *entry,
                              json_t *value, struct ulb_error *err)
{
    const json_t *warnings = json_object_get(session->record->root, "warnings");
    if (value && json_array_size(warnings) > entry->warnings) {
        json_t *own = json_array();
        for (size_t i = entry->warnings; i < json_array_size(warnings); i++)
            json_array_append(own, json_array_get(warnings, i));
        json_object_set_new(value, "warnings", own);
    }
    return ulb_journal_put(session->journal, entry->name, value, err);
}

enum ulb_status ulb_entry_damaged(const struct ulb_journal_entry *entry, struct ulb_error *err)
{
    return ulb_fail(err, ULB_BAD_INPUT, "the journal's '%s' is not what this program writes; measure anew",
                    entry->name);
}
