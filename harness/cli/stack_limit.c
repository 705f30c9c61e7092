#include "harness/cli/stack_limit.h"

#include <pthread.h>
#include <sys/resource.h>

enum { LEAST_BYTES = 2 << 20 };

enum ulb_status ulb_ensure_stack(struct ulb_error *err)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur >= LEAST_BYTES)
        return ULB_OK;
    if (limit.rlim_max < LEAST_BYTES)
        return ulb_fail(err, ULB_ENVIRONMENT,
                        "the stack may have %llu KiB and kernels need %d; raise ulimit -s",
                        (unsigned long long)limit.rlim_max >> 10, LEAST_BYTES >> 10);
    limit.rlim_cur = LEAST_BYTES;
    pthread_attr_t attributes;
    int code = pthread_attr_init(&attributes);
    if (code == 0) {
        code = pthread_attr_setstacksize(&attributes, LEAST_BYTES);
        if (code == 0)
            code = pthread_setattr_default_np(&attributes);
        pthread_attr_destroy(&attributes);
    }
    if (code != 0 || setrlimit(RLIMIT_STACK, &limit) != 0)
        return ulb_fail(err, ULB_ENVIRONMENT, "the limit of the stack could not be raised; raise ulimit -s");
    return ULB_OK;
}
