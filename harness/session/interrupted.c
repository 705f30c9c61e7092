#include "harness/session/interrupted.h"

volatile int ulb_interrupted;

enum ulb_status ulb_check_interrupted(struct ulb_error *err)
{
    if (ulb_interrupted)
        return ulb_fail(err, ULB_INTERRUPTED, "interrupted; what was measured so far is kept");
    return ULB_OK;
}
