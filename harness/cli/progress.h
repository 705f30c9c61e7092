/* The progress bar on standard error. */
#ifndef ULB_HARNESS_CLI_PROGRESS_H
#define ULB_HARNESS_CLI_PROGRESS_H

#include "harness/run.h"

#include <stdbool.h>

enum ulb_progress_mode { ULB_PROGRESS_AUTO, ULB_PROGRESS_ON, ULB_PROGRESS_OFF };

struct ulb_progress {
    bool shown, terminal;
    enum ulb_stage stage;
    bool quick;
    double begin;       /* time of opening */
    double last_drawn;  /* time */
    int last_twentieth; /* of the whole, without a terminal */
    char last_stage[16];
};

void ulb_progress_open(struct ulb_progress *progress, enum ulb_progress_mode mode, enum ulb_stage stage,
                       bool quick);

/* An ulb_progress_fn: redraws at most ten times a second; without a terminal, a line for each stage and each
 * twentieth of the whole. */
void ulb_progress_show(void *context, const char *stage, double done, double gbps);

/* Removes the bar. */
void ulb_progress_close(struct ulb_progress *progress);

#endif
