#include "harness/compute/callgrind.h"

#include "common/temporary_folder.h"
#include "harness/compute/gamma_loop.h"
#include "harness/counters/run_program.h"
#include "harness/session/selection.h"

#include <dirent.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef ULB_HAVE_CALLGRIND

#include <valgrind/callgrind.h>

/* Some ten seconds for all kernels on one slow core. */
static const double TIMEOUT_SECONDS = 300;

bool ulb_under_valgrind(void)
{
    return RUNNING_ON_VALGRIND != 0;
}

/* One call, whose instructions go into a dump of that name. */
static void collect(const struct ulb_gamma_loop *loop, const char *name)
{
    CALLGRIND_ZERO_STATS;
    CALLGRIND_TOGGLE_COLLECT;
    ulb_gamma_loop_warm(loop, 0);
    CALLGRIND_TOGGLE_COLLECT;
    CALLGRIND_DUMP_STATS_AT(name);
}

static enum ulb_status collect_kernel(size_t kernel_index, uint64_t seed, struct ulb_error *err)
{
    struct ulb_gamma_sizes sizes;
    char name[32];
    enum ulb_status status =
        ulb_gamma_sizes_open_counted(&sizes, ulb_kernels[kernel_index], ULB_COUNT_L1_BYTES, seed, err);
    if (status != ULB_OK)
        return status;
    snprintf(name, sizeof name, "brief %zu", kernel_index);
    collect(&sizes.loops[ULB_GAMMA_BRIEF], name);
    snprintf(name, sizeof name, "full %zu", kernel_index);
    collect(&sizes.loops[ULB_GAMMA_FULL], name);
    ulb_gamma_sizes_close(&sizes);
    return ULB_OK;
}

enum ulb_status ulb_callgrind_loops(const struct ulb_settings *settings, struct ulb_error *err)
{
    struct ulb_selection selection;
    enum ulb_status status = ulb_selection_open(&selection, settings->formats, settings->kernels,
                                                ulb_isa_detect() & ~settings->isa_mask, err);
    for (size_t i = 0; i < ulb_kernel_count && status == ULB_OK; i++) {
        if (ulb_selection_wants(&selection, ulb_kernels[i]) &&
            ulb_selection_can_run(&selection, ulb_kernels[i]->needs))
            status = collect_kernel(i, settings->seed, err);
    }
    ulb_selection_close(&selection);
    return status;
}

/* The dump's name and its total; false when it has none, as the dump at the end of the program. */
static bool read_dump(const char *path, char which[8], size_t *kernel_index, double *total)
{
    char line[256];
    bool named = false, counted = false;
    FILE *file = fopen(path, "re");
    while (file && fgets(line, sizeof line, file)) {
        named |= sscanf(line, "desc: Trigger: Client Request: %7s %zu", which, kernel_index) == 2;
        counted |= sscanf(line, "totals: %lf", total) == 1;
    }
    if (file)
        fclose(file);
    return named && counted && *kernel_index < ulb_kernel_count;
}

static void read_dumps(const char *folder, double *counts)
{
    struct dirent *entry;
    DIR *dir = opendir(folder);
    for (size_t i = 0; i < ulb_kernel_count; i++)
        counts[i] = 0;
    bool *both = calloc(ulb_kernel_count, 2);
    while (dir && both && (entry = readdir(dir))) {
        char path[PATH_MAX + sizeof entry->d_name], which[8];
        size_t kernel_index;
        double total;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (!read_dump(path, which, &kernel_index, &total))
            continue;
        bool full = strcmp(which, "full") == 0;
        counts[kernel_index] += full ? total : -total;
        both[2 * kernel_index + full] = true;
    }
    for (size_t i = 0; i < ulb_kernel_count; i++) {
        if (!both || !both[2 * i] || !both[2 * i + 1])
            counts[i] = NAN;
    }
    if (dir)
        closedir(dir);
    free(both);
}

static enum ulb_status run_valgrind(const struct ulb_settings *settings, const char *folder,
                                    struct ulb_error *err)
{
    char program[PATH_MAX], file[PATH_MAX + 32], seed[32];
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    if (length <= 0)
        return ulb_fail(err, ULB_ENVIRONMENT, "the path of this program is unknown: is /proc mounted?");
    program[length] = '\0';
    snprintf(file, sizeof file, "--callgrind-out-file=%s/out", folder);
    snprintf(seed, sizeof seed, "%llu", (unsigned long long)settings->seed);
    const char *arguments[16] = {"valgrind", "-q",    "--tool=callgrind", "--collect-atstart=no",
                                 file,       program, "--count",          "--seed",
                                 seed};
    size_t n = 9;
    if (settings->kernels) {
        arguments[n++] = "--kernels";
        arguments[n++] = settings->kernels;
    }
    if (settings->formats) {
        arguments[n++] = "--formats";
        arguments[n++] = settings->formats;
    }
    if (settings->libraries) {
        arguments[n++] = "--kernel-library";
        arguments[n++] = settings->libraries;
    }
    char *output;
    enum ulb_status status =
        ulb_run_program((char *const *)(uintptr_t)arguments, NULL, 0, TIMEOUT_SECONDS, &output, err);
    free(output);
    return status;
}

enum ulb_status ulb_callgrind_count(const struct ulb_settings *settings, double *counts,
                                    struct ulb_error *err)
{
    char folder[PATH_MAX];
    for (size_t i = 0; i < ulb_kernel_count; i++)
        counts[i] = NAN;
    if (!ulb_temporary_folder_make(folder, "ulb-count"))
        return ulb_fail(err, ULB_ENVIRONMENT, "no folder could be made for callgrind's output: %s", folder);
    enum ulb_status status = run_valgrind(settings, folder, err);
    read_dumps(folder, counts);
    ulb_temporary_folder_remove(folder);
    return status;
}

#else

bool ulb_under_valgrind(void)
{
    return false;
}

static enum ulb_status not_built(struct ulb_error *err)
{
    return ulb_fail(err, ULB_ENVIRONMENT,
                    "this build lacks valgrind/callgrind.h; install valgrind and configure again");
}

enum ulb_status ulb_callgrind_loops(const struct ulb_settings *settings, struct ulb_error *err)
{
    (void)settings;
    return not_built(err);
}

enum ulb_status ulb_callgrind_count(const struct ulb_settings *settings, double *counts,
                                    struct ulb_error *err)
{
    (void)settings;
    for (size_t i = 0; i < ulb_kernel_count; i++)
        counts[i] = NAN;
    return not_built(err);
}

#endif
