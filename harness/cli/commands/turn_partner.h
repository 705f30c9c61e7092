/* Another build of this program that measures its cells when it is told to: 'gemv --turns' at the other end
 * of two pipes. */
#ifndef ULB_HARNESS_CLI_COMMANDS_TURN_PARTNER_H
#define ULB_HARNESS_CLI_COMMANDS_TURN_PARTNER_H

#include "common/status.h"

#include <jansson.h>
#include <stddef.h>
#include <sys/types.h>

struct ulb_turn_partner {
    const char *program;
    pid_t process; /* 0: not started */
    int to, from;
    json_t *cells; /* [{"kernel", "m", "k"}], checked */
    char *text;    /* what came and was not yet read */
    size_t used, room;
};

/* Starts PROGRAM gemv with these options (NULL-terminated) and waits until its grid is warm. The status and
 * message of a program that ends are its own; ULB_ENVIRONMENT for one that cannot be started, is too old to
 * take turns, or says nothing for minutes. To be stopped whatever the status. */
enum ulb_status ulb_turn_partner_start(struct ulb_turn_partner *partner, const char *program,
                                       char *const options[], struct ulb_error *err);

/* One cell's samples of one turn. */
struct ulb_turn_samples {
    double best_us, first_us;
    size_t n;
};

/* Measures cells, by their places in the partner's list. samples: [n]. */
enum ulb_status ulb_turn_partner_measure(struct ulb_turn_partner *partner, const size_t *cells, size_t n,
                                         struct ulb_turn_samples *samples, struct ulb_error *err);

void ulb_turn_partner_stop(struct ulb_turn_partner *partner);

#endif
