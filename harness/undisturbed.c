#include "harness/undisturbed.h"

#include "harness/clock.h"

double ulb_undisturbed(struct ulb_undisturbed *u, double (*sample)(void *arg), void *arg)
{
    u->judged++;
    for (unsigned tries = 1;; tries++) {
        bool before = u->alone;
        double begin = ulb_now();
        double value = sample(arg);
        u->alone = ulb_team_alone(u->team);
        u->gave_disturbed = !before || !u->alone;
        if (!u->gave_disturbed)
            return value;
        u->patience -= ulb_now() - begin;
        if (tries >= u->tries || u->patience <= 0) {
            u->disturbed++;
            return value;
        }
    }
}
