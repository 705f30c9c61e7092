#include "harness/bandwidth/read_bandwidth.h"

#include "common/emulation.h"
#include "common/units.h"
#include "harness/counters/marker.h"
#include "harness/memory/cold_ring.h"
#include "harness/session/interrupted.h"
#include "harness/session/session.h"
#include "harness/threads/team.h"
#include "harness/timing/stopwatch.h"

#include <math.h>
#include <stdlib.h>

static const double CACHE_SAMPLE_SECONDS = 150e-6;
static const double RETRY_BUDGET_QUICK = 0.4, RETRY_BUDGET_FULL = 3; /* seconds for one level of one set */
enum { SAMPLES_QUICK = 9, SAMPLES_FULL = 25, TRIES_PER_SAMPLE = 1000, READERS_MAX = 64 };

struct read_job {
    const struct ulb_reader *reader;
    char *data;      /* of thread 0 */
    size_t distance; /* from one thread's buffer to the next */
    size_t bytes;    /* per thread and pass */
    size_t passes;
    _Atomic uint64_t sink; /* keeps the compiler from dropping the reads */
};

static void read_part(void *arg, size_t thread)
{
    struct read_job *job = arg;
    const char *data = job->data + thread * job->distance;
    uint64_t sum = 0;
    ulb_marker_start("beta");
    for (size_t pass = 0; pass < job->passes; pass++) {
        sum += job->reader->run(data, job->bytes);
        /* The buffer could have changed for all the compiler knows: every pass is a pass. */
        __asm__ volatile("" ::: "memory");
    }
    ulb_marker_stop("beta");
    job->sink += sum;
}

static double read_once(struct ulb_team *team, struct read_job *job)
{
    double begin = ulb_now();
    ulb_team_run(team, read_part, job);
    return ulb_now() - begin;
}

static double bytes_per_second(struct ulb_team *team, struct read_job *job)
{
    double seconds = read_once(team, job);
    return (double)(job->bytes * job->passes * ulb_team_size(team)) / seconds;
}

/* Bytes that each thread reads of so many: whole grains, and no more than its share of the ring. */
static size_t chunk_of(struct ulb_team *team, const struct ulb_arena *arena, size_t bytes)
{
    size_t threads = ulb_team_size(team);
    size_t share = arena->ring_bytes / threads / ULB_READER_GRAIN * ULB_READER_GRAIN;
    size_t most = share < ULB_MEMORY_CHUNK ? share : ULB_MEMORY_CHUNK;
    size_t wanted = ulb_round_up(ulb_round_up(bytes, threads) / threads, ULB_READER_GRAIN);
    return wanted < most ? wanted : most;
}

static struct read_job next_job(struct ulb_team *team, const struct ulb_reader *reader,
                                struct ulb_arena *arena, size_t chunk)
{
    char *data = ulb_arena_next(arena, chunk * ulb_team_size(team), ULB_READER_GRAIN);
    return (struct read_job){reader, data, chunk, chunk, 1, 0};
}

void ulb_read_warm_up(struct ulb_team *team, const struct ulb_reader *reader, struct ulb_arena *arena)
{
    size_t chunk = chunk_of(team, arena, ULB_WARM_UP_BYTES * ulb_team_size(team));
    const double begin = ulb_now();
    if (ulb_emulator())
        return;
    do {
        struct read_job job = next_job(team, reader, arena, chunk);
        read_once(team, &job);
    } while (ulb_now() - begin < ULB_WARM_UP_SECONDS);
}

double ulb_read_bytes(struct ulb_team *team, const struct ulb_reader *reader, struct ulb_arena *arena,
                      size_t bytes)
{
    ulb_read_warm_up(team, reader, arena);
    struct read_job job = next_job(team, reader, arena, chunk_of(team, arena, bytes));
    return bytes_per_second(team, &job);
}

double ulb_read_memory(struct ulb_team *team, const struct ulb_reader *reader, struct ulb_arena *arena)
{
    return ulb_read_bytes(team, reader, arena, ULB_MEMORY_CHUNK * ulb_team_size(team));
}

double ulb_read_yardstick(struct ulb_session *session)
{
    double bytes_per_s = ulb_read_memory(session->machine.team, session->yardstick, &session->arena);
    session->most_gbps = fmax(session->most_gbps, bytes_per_s / ULB_GB);
    return bytes_per_s;
}

static struct ulb_noise_retry retry_of(bool quick, struct ulb_team *team)
{
    return (struct ulb_noise_retry){
        .team = team,
        .tries = TRIES_PER_SAMPLE,
        .retry_budget_s = quick ? RETRY_BUDGET_QUICK : RETRY_BUDGET_FULL,
    };
}

/* One sample of either kind, for ulb_retry_noisy(). */
struct memory_walk {
    struct ulb_team *team;
    const struct ulb_reader *reader;
    struct ulb_arena *arena;
};

static double walk_memory(void *arg)
{
    struct memory_walk *walk = arg;
    return ulb_read_memory(walk->team, walk->reader, walk->arena);
}

struct cache_pass {
    struct ulb_team *team;
    struct read_job job;
};

static double pass_cache(void *arg)
{
    struct cache_pass *pass = arg;
    return bytes_per_second(pass->team, &pass->job);
}

static void keep_better(struct ulb_best_read *best, struct ulb_best_read *now)
{
    if (!best->samples || now->stats.median > best->stats.median) {
        free(best->samples);
        *best = *now;
    } else {
        free(now->samples);
    }
}

static enum ulb_status out_of_memory(struct ulb_error *err)
{
    return ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for the samples");
}

/* Readers that can run here (or `only`), each with room for n samples; *count of them. */
static enum ulb_status list_candidates(ulb_isa_set isa, const struct ulb_reader *only,
                                       enum ulb_page_kind pages, size_t n,
                                       struct ulb_best_read candidates[READERS_MAX], size_t *count,
                                       struct ulb_error *err)
{
    const struct ulb_reader *reader;
    *count = 0;
    for (size_t i = 0; (reader = ulb_reader_at(i)) && *count < READERS_MAX; i++) {
        if ((reader->needs & ~isa) != 0 || (only && only != reader))
            continue;
        struct ulb_best_read *now = &candidates[(*count)++];
        *now = (struct ulb_best_read){
            .reader = reader, .pages = pages, .samples = malloc(n * sizeof(double)), .n = n};
        if (!now->samples)
            return out_of_memory(err);
    }
    return ULB_OK;
}

/* Best reader at memory level over one mapping; a better result replaces *best. Readers take turns, so that
 * none is helped by a good spell of the machine. */
enum ulb_status ulb_best_of_memory(const struct ulb_read_plan *plan, struct ulb_team *team,
                                   struct ulb_arena *arena, enum ulb_page_kind pages,
                                   const struct ulb_reader *only, struct ulb_best_read *best,
                                   struct ulb_error *err)
{
    size_t n = plan->quick ? SAMPLES_QUICK : SAMPLES_FULL, count;
    struct ulb_best_read candidates[READERS_MAX];
    struct ulb_noise_retry retry = retry_of(plan->quick, team);
    struct memory_walk walk = {team, NULL, arena};
    enum ulb_status status = list_candidates(plan->isa, only, pages, n, candidates, &count, err);
    for (size_t s = 0; s < n && status == ULB_OK; s++) {
        for (size_t i = 0; i < count; i++) {
            walk.reader = candidates[i].reader;
            candidates[i].samples[s] = ulb_retry_noisy(&retry, walk_memory, &walk);
        }
        status = ulb_check_interrupted(err);
        if (status == ULB_OK)
            status = ulb_team_check(team, err);
    }
    for (size_t i = 0; i < count; i++) {
        if (status == ULB_OK) {
            candidates[i].stats = ulb_stats_of(candidates[i].samples, n, plan->seed);
            keep_better(best, &candidates[i]);
        } else {
            free(candidates[i].samples);
        }
    }
    return status;
}

/* Passes over a cache-resident buffer that make a sample long enough. */
static size_t passes_for(struct ulb_team *team, struct read_job *job)
{
    read_once(team, job);
    double once = read_once(team, job);
    double passes = ceil(CACHE_SAMPLE_SECONDS / fmax(once, 1e-9));
    return passes < 1 ? 1 : (size_t)passes;
}

enum ulb_status ulb_best_of_cache(const struct ulb_read_plan *plan, struct ulb_team *team, char *data,
                                  size_t bytes, struct ulb_best_read *best, struct ulb_error *err)
{
    size_t n = plan->quick ? SAMPLES_QUICK : SAMPLES_FULL;
    const struct ulb_reader *reader;
    struct ulb_noise_retry retry = retry_of(plan->quick, team);
    for (size_t i = 0; (reader = ulb_reader_at(i)); i++) {
        if ((reader->needs & ~plan->isa) != 0 || reader->prefetches)
            continue;
        struct cache_pass pass = {team, {reader, data, bytes, bytes, 1, 0}};
        pass.job.passes = passes_for(team, &pass.job);
        struct ulb_best_read now = {
            .reader = reader, .pages = ULB_PAGES_HUGE, .samples = malloc(n * sizeof(double)), .n = n};
        if (!now.samples)
            return out_of_memory(err);
        for (size_t s = 0; s < n; s++)
            now.samples[s] = ulb_retry_noisy(&retry, pass_cache, &pass);
        now.stats = ulb_stats_of(now.samples, n, plan->seed);
        keep_better(best, &now);
    }
    return ulb_check_interrupted(err);
}

/* What reader reads of arena as a multiple of what best reads of the ring. They take turns: two mappings
 * measured one after the other would compare two spells of the machine. The lower quartile, so that noise
 * alone does not win. */
double ulb_read_duel(const struct ulb_read_plan *plan, struct ulb_team *team, const struct ulb_reader *reader,
                     struct ulb_arena *arena, struct ulb_arena *ring, const struct ulb_best_read *best)
{
    enum { ROUNDS = 31 };
    double ratios[ROUNDS];
    struct memory_walk challenger = {team, reader, arena};
    struct memory_walk holder = {team, best->reader, ring};
    struct ulb_noise_retry retry = retry_of(plan->quick, team);
    for (size_t i = 0; i < ROUNDS; i++) {
        double first = ulb_retry_noisy(&retry, walk_memory, &challenger);
        ratios[i] = first / ulb_retry_noisy(&retry, walk_memory, &holder);
    }
    ulb_median(ratios, ROUNDS);
    return ratios[ROUNDS / 4];
}
