#include "harness/cli/progress.h"

#include "harness/timing/stopwatch.h"

#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { BAR_WIDTH = 30, TEXT_WIDTH = 34, LINE_WIDTH = BAR_WIDTH + TEXT_WIDTH };
static const double REDRAW_SECONDS = 0.1;

#define STAGE(name) (1u << ULB_STAGE_##name)

/* Share of a whole run that each part takes, in its order, measured on two cores, and the stages that have
 * it. */
static const struct {
    const char *name;
    double share;
    unsigned stages;
} parts[] = {
    {"memory", 0.07,
     STAGE(BETA) | STAGE(MEMORY) | STAGE(LIMITS) | STAGE(FORMATS) | STAGE(GEMV) | STAGE(GEMM) | STAGE(ALL)},
    {"beta", 0.06, STAGE(BETA) | STAGE(MEMORY) | STAGE(LIMITS) | STAGE(FORMATS) | STAGE(ALL)},
    {"gamma", 0.03, STAGE(GAMMA) | STAGE(LIMITS) | STAGE(FORMATS) | STAGE(ALL)},
    {"choice", 0.05, STAGE(ALL)},
    {"verify", 0.31, STAGE(GEMV) | STAGE(GEMM) | STAGE(ALL)},
    {"warm-up", 0.13, STAGE(GEMV) | STAGE(GEMM) | STAGE(ALL)},
    {"gemv", 0.40, STAGE(GEMV) | STAGE(ALL)},
    {"gemm", 0.40, STAGE(GEMM)},
    {"count", 1, STAGE(COUNT)},
    {"formats", 0.10, STAGE(FORMATS)},
    {"decode", 1, STAGE(DECODE)},
};

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

/* Share of the whole that is done when part `name` is done to this degree. */
static double whole(enum ulb_stage stage, const char *name, double done)
{
    double total = 0, before = 0;
    bool reached = false;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        double share = parts[i].stages >> stage & 1 ? parts[i].share : 0;
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

/* Columns that a line may take without wrapping, where \r would not lead back to its begin. */
static int room(void)
{
    struct winsize size;
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || size.ws_col > LINE_WIDTH)
        return LINE_WIDTH;
    return size.ws_col - 1;
}

static void draw_bar(const struct ulb_progress *progress, const char *stage, double share)
{
    int columns = room(), width = columns > TEXT_WIDTH ? columns - TEXT_WIDTH : 0;
    char bar[BAR_WIDTH + 1], line[2 * LINE_WIDTH];
    int filled = (int)(share * width);
    for (int i = 0; i < width; i++)
        bar[i] = i < filled ? '#' : '.';
    bar[width] = '\0';
    double elapsed = ulb_now() - progress->begin;
    int left = share > 0.01 ? (int)(elapsed * (1 - share) / share + 0.5) : 0;
    snprintf(line, sizeof line, "[%s] %3.0f %%  %-7s %d:%02d left", bar, 100 * share, stage, left / 60,
             left % 60);
    fprintf(stderr, "\r%-*.*s", columns, columns, line);
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
        fprintf(stderr, "\r%*s\r", room(), "");
    progress->shown = false;
}
