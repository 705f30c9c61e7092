#include "harness/cli/progress.h"

#include "harness/timing/stopwatch.h"

#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { BAR_WIDTH = 30, TEXT_WIDTH = 46, LINE_WIDTH = BAR_WIDTH + TEXT_WIDTH };
static const double REDRAW_SECONDS = 0.1;

#define STAGE(name) (1u << ULB_STAGE_##name)

/* Seconds that each part of a whole run takes, quick and full, measured on two cores, and the stages that
 * have it. Parts are in the order of a run. */
static const struct {
    const char *name;
    double quick, full;
    unsigned stages;
} parts[] = {
    {"memory", 2, 4,
     STAGE(BETA) | STAGE(MEMORY) | STAGE(LIMITS) | STAGE(FORMATS) | STAGE(GEMV) | STAGE(GEMM) | STAGE(ALL)},
    {"beta", 2.5, 12, STAGE(BETA) | STAGE(MEMORY) | STAGE(LIMITS) | STAGE(FORMATS) | STAGE(ALL)},
    {"gamma", 4.5, 13, STAGE(GAMMA) | STAGE(LIMITS) | STAGE(FORMATS) | STAGE(ALL)},
    {"choice", 3, 3.5, STAGE(ALL)},
    {"verify", 8, 38, STAGE(GEMV) | STAGE(GEMM) | STAGE(ALL)},
    {"warm-up", 7, 8, STAGE(GEMV) | STAGE(GEMM) | STAGE(ALL)},
    {"gemv", 16, 58, STAGE(GEMV) | STAGE(ALL)},
    {"gemm", 20, 60, STAGE(GEMM)},
    {"count", 1, 1, STAGE(COUNT)},
    {"device", 15, 60, STAGE(DEVICE) | STAGE(DEVICE_GEMV) | STAGE(DEVICE_GEMM)},
    {"formats", 6, 18, STAGE(FORMATS)},
    {"decode", 3, 4, STAGE(DECODE) | STAGE(ALL)},
};

void ulb_progress_open(struct ulb_progress *progress, enum ulb_progress_mode mode, enum ulb_stage stage,
                       bool quick)
{
    bool terminal = isatty(STDERR_FILENO);
    *progress = (struct ulb_progress){
        .shown = mode == ULB_PROGRESS_ON || (mode == ULB_PROGRESS_AUTO && terminal),
        .terminal = terminal,
        .stage = stage,
        .quick = quick,
        .begin = ulb_now(),
    };
}

/* Share of the whole that is done when part `name` is done to this degree. */
static double whole(const struct ulb_progress *progress, const char *name, double done)
{
    double total = 0, before = 0;
    bool reached = false;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        double share = progress->quick ? parts[i].quick : parts[i].full;
        if (!(parts[i].stages >> progress->stage & 1))
            continue;
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

/* "0:35, 0:22 left, so far 57 GB/s": what has passed, what is to come, and what is known already. */
static void describe(const struct ulb_progress *progress, double share, double gbps, char *text, size_t bytes)
{
    double elapsed = ulb_now() - progress->begin;
    int passed = (int)elapsed, left = share > 0.01 ? (int)(elapsed * (1 - share) / share + 0.5) : 0;
    int used = snprintf(text, bytes, "%d:%02d", passed / 60, passed % 60);
    if (share > 0.01)
        used += snprintf(text + used, bytes - (size_t)used, ", %d:%02d left", left / 60, left % 60);
    else
        used += snprintf(text + used, bytes - (size_t)used, ", ?:?? left");
    if (gbps > 0)
        snprintf(text + used, bytes - (size_t)used, ", %.0f GB/s", gbps);
}

static void draw_bar(const struct ulb_progress *progress, const char *stage, double share, double gbps)
{
    int columns = room(), width = columns > TEXT_WIDTH ? columns - TEXT_WIDTH : 0;
    char bar[BAR_WIDTH + 1], text[TEXT_WIDTH], line[2 * LINE_WIDTH];
    int filled = (int)(share * width);
    for (int i = 0; i < width; i++)
        bar[i] = i < filled ? '#' : '.';
    bar[width] = '\0';
    describe(progress, share, gbps, text, sizeof text);
    snprintf(line, sizeof line, "[%s] %3.0f %%  %-7s %s", bar, 100 * share, stage, text);
    fprintf(stderr, "\r%-*.*s", columns, columns, line);
    fflush(stderr);
}

void ulb_progress_show(void *context, const char *stage, double done, double gbps)
{
    struct ulb_progress *progress = context;
    double now = ulb_now(), share = whole(progress, stage, done);
    bool new_stage = strcmp(progress->last_stage, stage) != 0;
    bool due = progress->terminal ? now - progress->last_drawn >= REDRAW_SECONDS
                                  : (int)(20 * share) > progress->last_twentieth;
    if (!progress->shown || (!new_stage && !due))
        return;
    progress->last_drawn = now;
    progress->last_twentieth = (int)(20 * share);
    snprintf(progress->last_stage, sizeof progress->last_stage, "%s", stage);
    if (progress->terminal) {
        draw_bar(progress, stage, share, gbps);
    } else {
        char text[TEXT_WIDTH];
        describe(progress, share, gbps, text, sizeof text);
        fprintf(stderr, "%s (%.0f %%): %s\n", stage, 100 * share, text);
    }
}

void ulb_progress_close(struct ulb_progress *progress)
{
    if (progress->shown && progress->terminal)
        fprintf(stderr, "\r%*s\r", room(), "");
    progress->shown = false;
}
