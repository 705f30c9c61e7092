#include "harness/cli/progress.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { BAR_WIDTH = 30 };
static const double REDRAW_SECONDS = 0.1;

/* Share of a whole run that each part takes, in its order; measured on two cores. */
static const struct {
    const char *name;
    double share;
} parts[] = {{"memory", 0.04}, {"beta", 0.20}, {"gamma", 0.10},   {"verify", 0.26}, {"gemv", 0.40},
             {"gemm", 0.40},   {"count", 1},   {"formats", 0.10}, {"decode", 1}};

void ulb_progress_open(struct ulb_progress *progress, enum ulb_progress_mode mode, enum ulb_stage stage)
{
    bool terminal = isatty(STDERR_FILENO);
    *progress = (struct ulb_progress){
        .shown = mode == ULB_PROGRESS_ON || (mode == ULB_PROGRESS_AUTO && terminal),
        .terminal = terminal,
        .stage = stage,
        .begin = ulb_now(),
    };
}

static bool takes_part(enum ulb_stage stage, const char *name)
{
    bool decode = strcmp(name, "decode") == 0;
    if (decode || stage == ULB_STAGE_DECODE)
        return decode && stage == ULB_STAGE_DECODE;
    bool beta = strcmp(name, "beta") == 0, gamma = strcmp(name, "gamma") == 0,
         memory = strcmp(name, "memory") == 0, gemm = strcmp(name, "gemm") == 0,
         count = strcmp(name, "count") == 0, formats = strcmp(name, "formats") == 0;
    switch (stage) {
    case ULB_STAGE_COUNT:
        return strcmp(name, "count") == 0;
    case ULB_STAGE_BETA:
    case ULB_STAGE_MEMORY:
        return memory || beta;
    case ULB_STAGE_GAMMA:
        return gamma;
    case ULB_STAGE_LIMITS:
        return memory || beta || gamma;
    case ULB_STAGE_FORMATS:
        return memory || beta || gamma || formats;
    case ULB_STAGE_GEMV:
        return !beta && !gamma && !gemm && !count && !formats;
    case ULB_STAGE_GEMM:
        return !beta && !gamma && !count && !formats && strcmp(name, "gemv") != 0;
    case ULB_STAGE_ALL:
        return !gemm && !count && !formats;
    case ULB_STAGE_DECODE:
        break;
    }
    return true;
}

/* Share of the whole that is done when part `name` is done to this degree. */
static double whole(enum ulb_stage stage, const char *name, double done)
{
    double total = 0, before = 0;
    bool reached = false;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        double share = takes_part(stage, parts[i].name) ? parts[i].share : 0;
        total += share;
        if (strcmp(parts[i].name, name) == 0) {
            before += share * done;
            reached = true;
        } else if (!reached) {
            before += share;
        }
    }
    return total > 0 ? before / total : done;
}

static void draw_bar(const struct ulb_progress *progress, const char *stage, double share)
{
    char bar[BAR_WIDTH + 1];
    int filled = (int)(share * BAR_WIDTH);
    for (int i = 0; i < BAR_WIDTH; i++)
        bar[i] = i < filled ? '#' : '.';
    bar[BAR_WIDTH] = '\0';
    double elapsed = ulb_now() - progress->begin;
    int left = share > 0.01 ? (int)(elapsed * (1 - share) / share + 0.5) : 0;
    fprintf(stderr, "\r[%s] %3.0f %%  %-7s %d:%02d left ", bar, 100 * share, stage, left / 60, left % 60);
    fflush(stderr);
}

void ulb_progress_show(void *context, const char *stage, double done)
{
    struct ulb_progress *progress = context;
    double now = ulb_now();
    bool new_stage = strcmp(progress->last_stage, stage) != 0;
    if (!progress->shown ||
        (!new_stage && (!progress->terminal || now - progress->last_drawn < REDRAW_SECONDS)))
        return;
    progress->last_drawn = now;
    snprintf(progress->last_stage, sizeof progress->last_stage, "%s", stage);
    double share = whole(progress->stage, stage, done);
    if (progress->terminal)
        draw_bar(progress, stage, share);
    else
        fprintf(stderr, "%s (%.0f %%)\n", stage, 100 * share);
}

void ulb_progress_close(struct ulb_progress *progress)
{
    if (progress->shown && progress->terminal)
        fprintf(stderr, "\r%*s\r", BAR_WIDTH + 40, "");
    progress->shown = false;
}
