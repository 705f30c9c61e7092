#include "harness/cli/commands/gemv_turns.h"

#include "harness/cli/cli.h"
#include "harness/cli/option.h"
#include "harness/grid/take_turns.h"
#include "harness/session/interrupted.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Takes the reference. */
static enum ulb_status say(json_t *line, struct ulb_error *err)
{
    if (!line)
        return ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for the samples of a turn");
    int failed = json_dumpf(line, stdout, JSON_COMPACT | JSON_REAL_PRECISION(9));
    json_decref(line);
    if (failed != 0 || putchar('\n') == EOF || fflush(stdout) != 0)
        return ulb_fail(err, ULB_ENVIRONMENT, "the samples of a turn could not be written: %s",
                        strerror(errno));
    return ULB_OK;
}

static enum ulb_status ready(void *context, const json_t *cells, struct ulb_error *err)
{
    (void)context;
    return say(json_pack("{s:i, s:O}", "turns", 1, "cells", cells), err);
}

static enum ulb_status measured(void *context, size_t cell, const json_t *samples, struct ulb_error *err)
{
    (void)context;
    json_t *line = json_deep_copy(samples);
    json_object_set_new(line, "cell", json_integer((json_int_t)cell));
    return say(line, err);
}

static enum ulb_status read_turn(const char *line, size_t n_cells, size_t *cells, size_t *n,
                                 struct ulb_error *err)
{
    const char *at = line;
    for (uint64_t cell; *at && *at != '\n'; at += *at == ' ') {
        if (*n == n_cells || !ulb_take_count(&at, 0, n_cells - 1, &cell))
            return ulb_fail(err, ULB_BAD_INPUT, "a turn names cells from 0 to %zu, each once: '%.40s'",
                            n_cells - 1, at);
        cells[(*n)++] = (size_t)cell;
    }
    return ULB_OK;
}

static enum ulb_status next(void *context, size_t n_cells, size_t *cells, size_t *n, struct ulb_error *err)
{
    (void)context;
    char *line = NULL;
    size_t room = 0;
    enum ulb_status status = ULB_OK;
    *n = 0;
    if (getline(&line, &room, stdin) > 0)
        status = read_turn(line, n_cells, cells, n, err);
    else if (ferror(stdin))
        status = ulb_check_interrupted(err);
    free(line);
    return status;
}

enum ulb_status ulb_gemv_turns(struct ulb_measure_options *options, struct ulb_error *err)
{
    const struct ulb_turns turns = {.ready = ready, .next = next, .measured = measured};
    struct ulb_record record;
    options->settings.turns = &turns;
    options->progress = ULB_PROGRESS_OFF;
    enum ulb_status status = ulb_measure_run(options, ULB_STAGE_GEMV, &record, err);
    ulb_record_free(&record);
    return status;
}
