#include "harness/cli/interrupt.h"

#include "harness/session/interrupted.h"

#include <signal.h>
#include <time.h>

static const double ONE_EVENT_SECONDS = 0.5;

static volatile double first_seconds;

static void on_signal(int number)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    double seconds = (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
    if (!ulb_interrupted) {
        first_seconds = seconds;
        ulb_interrupted = 1;
    } else if (seconds - first_seconds > ONE_EVENT_SECONDS) {
        signal(number, SIG_DFL);
        raise(number);
    }
}

void ulb_catch_signals(void)
{
    struct sigaction action = {.sa_handler = on_signal};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}
