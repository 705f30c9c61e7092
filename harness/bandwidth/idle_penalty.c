#include "harness/bandwidth/idle_penalty.h"

#include "common/emulation.h"
#include "common/stats.h"
#include "common/units.h"
#include "harness/timing/stopwatch.h"
#include "harness/session/checkpoint.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { SAMPLES = 15, PIECES = 32, PIECE_BYTES = 256 << 10 /* of a thread */ };
static const double IDLE = 200e-6; /* seconds: less than the team spins for */

/* All threads read their pieces, one after the other. */
struct walk {
    const struct ulb_reader *reader;
    const char *data;      /* of thread 0 */
    double *seconds;       /* [thread][PIECES] */
    _Atomic uint64_t sink; /* keeps the compiler from dropping the reads */
};

static void walk_part(void *arg, size_t thread)
{
    struct walk *walk = arg;
    const char *data = walk->data + thread * PIECES * PIECE_BYTES;
    double *seconds = walk->seconds + thread * PIECES, begin = ulb_now();
    uint64_t sum = 0;
    for (size_t i = 0; i < PIECES; i++) {
        sum += walk->reader->run(data + i * PIECE_BYTES, PIECE_BYTES);
        double end = ulb_now();
        seconds[i] = end - begin;
        begin = end;
    }
    walk->sink += sum;
}

struct ulb_idle_penalty ulb_idle_penalty_of(const double *seconds, size_t pieces, double bytes)
{
    const size_t half = pieces / 2;
    const double awake = ulb_median_of(seconds + half, pieces - half);
    struct ulb_idle_penalty penalty = {.first = 2 * bytes / (seconds[0] + seconds[1]),
                                       .awake = bytes / awake};
    for (size_t i = 0; i < half; i++)
        penalty.lost += seconds[i] - awake;
    return penalty;
}

/* samples[piece][SAMPLES]: the mean of the threads after one rest. */
static void take_sample(struct ulb_session *session, struct walk *walk, double (*samples)[SAMPLES], size_t s)
{
    const size_t threads = session->machine.pus.n;
    walk->data = ulb_arena_next(&session->arena, threads * PIECES * PIECE_BYTES, ULB_READER_GRAIN);
    const double until = ulb_now() + IDLE;
    while (ulb_now() < until)
        continue;
    ulb_team_run(session->machine.team, walk_part, walk);
    for (size_t i = 0; i < PIECES; i++) {
        samples[i][s] = 0;
        for (size_t t = 0; t < threads; t++)
            samples[i][s] += walk->seconds[t * PIECES + i] / (double)threads;
    }
}

static enum ulb_status sample_penalty(struct ulb_session *session, struct ulb_idle_penalty *penalty,
                                      struct ulb_error *err)
{
    double samples[PIECES][SAMPLES], seconds[PIECES];
    struct walk walk = {.reader = session->yardstick,
                        .seconds = calloc(session->machine.pus.n * PIECES, sizeof *walk.seconds)};
    if (!walk.seconds)
        return ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for the samples");
    for (size_t s = 0; s < SAMPLES; s++)
        take_sample(session, &walk, samples, s);
    for (size_t i = 0; i < PIECES; i++)
        seconds[i] = ulb_median_of(samples[i], SAMPLES);
    free(walk.seconds);
    *penalty = ulb_idle_penalty_of(seconds, PIECES, (double)(session->machine.pus.n * PIECE_BYTES));
    return ulb_check_interrupted(err);
}

static enum ulb_status penalty_to_json(struct ulb_session *session, json_t **value, struct ulb_error *err)
{
    struct ulb_idle_penalty penalty;
    const bool small = session->arena.ring_bytes < session->machine.pus.n * PIECES * PIECE_BYTES;
    if (ulb_emulator() || small) {
        *value = json_pack("{s:n, s:s}", "lost_us", "lost_us_reason",
                           small ? "the ring is too small; leave out --ring-mib" : "no figure is of a CPU");
        return ULB_OK;
    }
    enum ulb_status status = sample_penalty(session, &penalty, err);
    if (status == ULB_OK)
        *value =
            json_pack("{s:f, s:f, s:f, s:f}", "rest_us", 1e6 * IDLE, "first_gbps", penalty.first / ULB_GB,
                      "awake_gbps", penalty.awake / ULB_GB, "lost_us", 1e6 * penalty.lost);
    return status;
}

/* Takes value. */
static enum ulb_status put(struct ulb_session *session, json_t *value, struct ulb_error *err)
{
    if (json_object_set_new(json_object_get(session->record->root, "beta"), "wake", value) == 0)
        return ULB_OK;
    return ulb_fail(err, ULB_ENVIRONMENT, "what a rest costs could not be recorded: not enough memory");
}

enum ulb_status ulb_idle_penalty_measure(struct ulb_session *session, struct ulb_error *err)
{
    struct ulb_journal_entry entry;
    const json_t *saved;
    json_t *value = NULL;
    enum ulb_status status = ulb_entry_begin(session, &entry, &saved, err, "wake");
    if (status != ULB_OK)
        return status;
    if (saved)
        return put(session, json_incref(json_object_get(saved, "value")), err);
    status = penalty_to_json(session, &value, err);
    if (status == ULB_OK)
        status = put(session, value, err);
    return status == ULB_OK ? ulb_entry_end(session, &entry, json_pack("{s:O}", "value", value), err)
                            : status;
}
