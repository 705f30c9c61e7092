#include "harness/threads/team.h"

#include "common/affinity.h"
#include "common/child.h"
#include "common/doing.h"
#include "common/mem.h"
#include "harness/timing/clock.h"
#include "common/stats.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <math.h>
#include <omp.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/* A member that waits for a job spins for some milliseconds, so that jobs in a row start at once. Then it
 * sleeps, so that an idle team leaves its cores to others. */
enum { SPINS_BEFORE_SLEEP = 1 << 16, OVERHEAD_SAMPLES = 301, CLOCK_READINGS = 9, STACK_BYTES = 2 << 20 };

struct member {
    _Alignas(64) _Atomic uint32_t done; /* number of the last job finished */
    struct ulb_team *team;
    size_t index;
    struct ulb_interference_monitor monitor;
    int lost;      /* errno with which the PU could not be had back; 0: it is held */
    long switched; /* times that another thread was put in this one's place, at the last look */
    bool interference_free;
    pthread_t thread;
};

struct ulb_team {
    _Alignas(64) _Atomic uint32_t job_number; /* the futex that idle members sleep on */
    _Atomic uint32_t sleepers;
    _Alignas(64) void (*job)(void *arg, size_t thread);
    void *arg;
    bool stopping;
    bool crowded; /* members share a PU: who spins there takes the time of those it waits for */
    size_t n, started;
    unsigned *pus;
    struct member *members;
    cpu_set_t callers_affinity[ULB_AFFINITY_SETS];
    bool pinned;
    int pin_refused; /* errno; 0: all are pinned */
};

static void pause_cpu(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* Numbers wrap round: compared for equality only. */
static void wait_for_job(struct ulb_team *team, uint32_t number)
{
    unsigned most = team->crowded ? 0 : SPINS_BEFORE_SLEEP;
    for (unsigned spins = 0; spins < most; spins++) {
        if (atomic_load_explicit(&team->job_number, memory_order_acquire) == number)
            return;
        pause_cpu();
    }
    atomic_fetch_add(&team->sleepers, 1);
    while (atomic_load(&team->job_number) != number)
        syscall(SYS_futex, &team->job_number, FUTEX_WAIT_PRIVATE, number - 1, NULL, NULL, 0);
    atomic_fetch_sub(&team->sleepers, 1);
}

static void publish_job(struct ulb_team *team, uint32_t number)
{
    atomic_store(&team->job_number, number);
    if (atomic_load(&team->sleepers) > 0)
        syscall(SYS_futex, &team->job_number, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

static void *member_main(void *argument)
{
    struct member *member = argument;
    struct ulb_team *team = member->team;
    ulb_signal_stack_open();
    for (uint32_t number = 1;; number++) {
        wait_for_job(team, number);
        if (team->stopping) {
            ulb_signal_stack_close();
            return NULL;
        }
        team->job(team->arg, member->index);
        atomic_store_explicit(&member->done, number, memory_order_release);
    }
}

static int pin(pthread_t thread, unsigned pu)
{
    cpu_set_t set[ULB_AFFINITY_SETS];
    memset(set, 0, sizeof set);
    if (pu >= ULB_AFFINITY_SETS * CPU_SETSIZE)
        return EINVAL;
    CPU_SET_S(pu, sizeof set, set);
    return pthread_setaffinity_np(thread, sizeof set, set);
}

/* With room for what kernels keep on the stack, tables of nearly 1 MiB; musl gives 128 KiB. */
static int start_thread(struct member *member)
{
    pthread_attr_t attributes;
    int code = pthread_attr_init(&attributes);
    if (code != 0)
        return code;
    code = pthread_attr_setstacksize(&attributes, STACK_BYTES);
    if (code == 0)
        code = pthread_create(&member->thread, &attributes, member_main, member);
    pthread_attr_destroy(&attributes);
    return code;
}

static enum ulb_status start_member(struct ulb_team *team, size_t i, struct ulb_error *err)
{
    struct member *member = &team->members[i];
    member->team = team;
    member->index = i;
    int code = i == 0 ? 0 : start_thread(member);
    if (code != 0)
        return ulb_fail(
            err, ULB_ENVIRONMENT,
            "thread %zu of %zu could not be started (%s); raise ulimit -u or choose fewer with --set", i + 1,
            team->n, strerror(code));
    team->started = i + 1;
    code = pin(i == 0 ? pthread_self() : member->thread, team->pus[i]);
    if (code == EPERM || code == EACCES || code == ENOSYS) {
        team->pin_refused = code; /* a sandbox: for every PU the same */
        return ULB_OK;
    }
    if (code != 0)
        return ulb_fail(err, ULB_ENVIRONMENT,
                        "cannot pin a thread to PU %u (%s); choose other PUs with --set", team->pus[i],
                        strerror(code));
    return ULB_OK;
}

static bool has_twice(const unsigned *pus, size_t n)
{
    bool twice = false;
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < i; j++)
            twice |= pus[i] == pus[j];
    }
    return twice;
}

enum ulb_status ulb_team_start(struct ulb_team **out, const unsigned *pus, size_t n, struct ulb_error *err)
{
    *out = NULL;
    struct ulb_team *team = aligned_alloc(64, ulb_round_up(sizeof *team, 64));
    if (!team)
        return ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for a team of %zu threads", n);
    memset(team, 0, sizeof *team);
    team->n = n;
    team->pus = malloc(n * sizeof *team->pus);
    team->members = aligned_alloc(64, n * sizeof *team->members);
    enum ulb_status status = ULB_OK;
    if (!team->pus || !team->members) {
        status = ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for a team of %zu threads", n);
        goto failed;
    }
    memcpy(team->pus, pus, n * sizeof *pus);
    team->crowded = has_twice(pus, n);
    memset(team->members, 0, n * sizeof *team->members);
    team->pinned =
        pthread_getaffinity_np(pthread_self(), sizeof team->callers_affinity, team->callers_affinity) == 0;
    for (size_t i = 0; i < n && status == ULB_OK; i++)
        status = start_member(team, i, err);
    if (status == ULB_OK) {
        *out = team;
        return ULB_OK;
    }
failed:
    ulb_team_stop(team);
    return status;
}

void ulb_team_run(struct ulb_team *team, void (*job)(void *arg, size_t thread), void *arg)
{
    team->job = job;
    team->arg = arg;
    uint32_t number = atomic_load_explicit(&team->job_number, memory_order_relaxed) + 1;
    ulb_call_begin();
    publish_job(team, number);
    job(arg, 0);
    for (size_t i = 1; i < team->n; i++) {
        while (atomic_load_explicit(&team->members[i].done, memory_order_acquire) != number) {
            if (team->crowded)
                sched_yield();
            else
                pause_cpu();
        }
    }
    ulb_call_end();
}

size_t ulb_team_size(const struct ulb_team *team)
{
    return team->n;
}

const unsigned *ulb_team_pus(const struct ulb_team *team)
{
    return team->pus;
}

void ulb_team_stop(struct ulb_team *team)
{
    if (!team)
        return;
    if (team->started > 1) {
        team->stopping = true;
        publish_job(team, atomic_load(&team->job_number) + 1);
        for (size_t i = 1; i < team->started; i++)
            pthread_join(team->members[i].thread, NULL);
    }
    if (team->pinned)
        pthread_setaffinity_np(pthread_self(), sizeof team->callers_affinity, team->callers_affinity);
    free(team->members);
    free(team->pus);
    free(team);
}

static void empty_job(void *arg, size_t thread)
{
    (void)arg;
    (void)thread;
}

double ulb_team_fork_join(struct ulb_team *team)
{
    double samples[OVERHEAD_SAMPLES];
    for (size_t i = 0; i < OVERHEAD_SAMPLES; i++) {
        double begin = ulb_now();
        ulb_team_run(team, empty_job, NULL);
        samples[i] = ulb_now() - begin;
    }
    return ulb_median(samples, OVERHEAD_SAMPLES);
}

/* Whether nobody took the calling thread's core since the last look. */
static bool kept_core(struct member *member)
{
    struct rusage usage;
    if (getrusage(RUSAGE_THREAD, &usage) != 0)
        return true;
    bool kept = usage.ru_nivcsw == member->switched;
    member->switched = usage.ru_nivcsw;
    return kept;
}

/* A PU that is switched off or taken out of the cpuset loses its threads to others; one that was only moved
 * goes back. */
static bool on_its_pu(struct member *member)
{
    unsigned pu = member->team->pus[member->index];
    int now = sched_getcpu();
    if (member->team->pin_refused || now < 0 || (unsigned)now == pu)
        return true;
    member->lost = pin(pthread_self(), pu);
    return false;
}

static void monitor_job(void *arg, size_t thread)
{
    struct member *member = &((struct ulb_team *)arg)->members[thread];
    if (member->monitor.baseline <= 0)
        ulb_interference_monitor_open(&member->monitor);
    member->interference_free = ulb_core_is_interference_free(&member->monitor);
    member->interference_free = kept_core(member) && member->interference_free;
    member->interference_free = on_its_pu(member) && member->interference_free;
}

bool ulb_team_is_interference_free(struct ulb_team *team)
{
    ulb_team_run(team, monitor_job, team);
    bool interference_free = true;
    for (size_t i = 0; i < team->n; i++)
        interference_free = interference_free && team->members[i].interference_free;
    return interference_free;
}

int ulb_team_pin_refused(const struct ulb_team *team)
{
    return team->pin_refused;
}

enum ulb_status ulb_team_check(const struct ulb_team *team, struct ulb_error *err)
{
    for (size_t i = 0; i < team->n; i++) {
        if (team->members[i].lost)
            return ulb_fail(
                err, ULB_ENVIRONMENT,
                "PU %u can no longer be used (%s): it was switched off or taken out of the cpuset; what "
                "was measured so far is kept",
                team->pus[i], strerror(team->members[i].lost));
    }
    return ULB_OK;
}

double ulb_team_last_hz(const struct ulb_team *team)
{
    double sum = 0;
    for (size_t i = 0; i < team->n; i++)
        sum += team->members[i].monitor.hz;
    return sum / (double)team->n;
}

static void clock_job(void *arg, size_t thread)
{
    double readings[CLOCK_READINGS], *hz = arg;
    for (size_t i = 0; i < CLOCK_READINGS; i++)
        readings[i] = ulb_chain_hz();
    hz[thread] = ulb_median(readings, CLOCK_READINGS);
}

void ulb_team_clock(struct ulb_team *team, double *hz)
{
    ulb_team_run(team, clock_job, hz);
}

double ulb_team_hz(struct ulb_team *team)
{
    double *hz = calloc(team->n, sizeof *hz);
    if (!hz)
        return NAN;
    ulb_team_clock(team, hz);
    double sum = 0;
    for (size_t i = 0; i < team->n; i++)
        sum += hz[i];
    free(hz);
    return sum / (double)team->n;
}

struct openmp_team {
    const unsigned *pus;
    size_t n;
};

static double time_openmp(void *arg)
{
    const struct openmp_team *team = arg;
    double samples[OVERHEAD_SAMPLES];
    int threads = (int)team->n, got = 1;
#pragma omp parallel num_threads(threads)
    {
        pin(pthread_self(), team->pus[omp_get_thread_num()]);
#pragma omp single
        got = omp_get_num_threads();
    }
    if (got < threads)
        return NAN;
    for (size_t i = 0; i < OVERHEAD_SAMPLES; i++) {
        double begin = ulb_now();
#pragma omp parallel num_threads(threads)
        empty_job(samples, (size_t)omp_get_thread_num());
        samples[i] = ulb_now() - begin;
    }
    return ulb_median(samples, OVERHEAD_SAMPLES);
}

double ulb_openmp_fork_join(const unsigned *pus, size_t n)
{
    struct openmp_team team = {pus, n};
    double seconds;
    return ulb_ask_child(time_openmp, &team, &seconds) ? seconds : NAN;
}

/* ---- samples without interference ---- */

/* Steps of a core's frequency are 100 MHz; the chain of additions tells it within 1 %. */
static const double FREQUENCY_STEP = 0.025;
static const double SLEEP_LEAST = 1e-3; /* seconds: more than two clocks read one after the other differ */

/* What a sample must find the same before and after. */
struct state {
    bool interference_free;
    double hz, slept;
};

static struct state look(struct ulb_noise_retry *retry)
{
    struct state now = {.interference_free = ulb_team_is_interference_free(retry->team),
                        .slept = ulb_slept()};
    now.hz = ulb_team_last_hz(retry->team);
    return now;
}

static bool same_frequency(double before, double after)
{
    return !(fabs(after - before) >
             FREQUENCY_STEP * before); /* NAN before the first look, and without a chain */
}

double ulb_retry_noisy(struct ulb_noise_retry *retry, double (*sample)(void *arg), void *arg)
{
    struct state before = {retry->interference_free, retry->hz, ulb_slept()};
    retry->judged++;
    for (unsigned tries = 1;; tries++) {
        double begin = ulb_now();
        double value = sample(arg);
        struct state after = look(retry);
        bool slept = after.slept - before.slept > SLEEP_LEAST;
        retry->last_disturbed = slept || !before.interference_free || !after.interference_free ||
                                (retry->judged > 1 && !same_frequency(before.hz, after.hz));
        retry->interference_free = after.interference_free;
        retry->hz = after.hz;
        before = after;
        if (!retry->last_disturbed)
            return value;
        if (slept)
            continue; /* whatever retry budget is left: caches and clocks start over */
        retry->retry_budget_s -= ulb_now() - begin;
        if (tries >= retry->tries || retry->retry_budget_s <= 0) {
            retry->disturbed++;
            return value;
        }
    }
}
