/* Whether the run is to end early. */
#ifndef ULB_HARNESS_SESSION_INTERRUPTED_H
#define ULB_HARNESS_SESSION_INTERRUPTED_H

#include "common/status.h"

/* Set by SIGINT or SIGTERM (the command line installs the handler); every loop looks at it. */
extern volatile int ulb_interrupted;

/* ULB_INTERRUPTED with its message when a signal came, else ULB_OK. */
enum ulb_status ulb_check_interrupted(struct ulb_error *err);

#endif
