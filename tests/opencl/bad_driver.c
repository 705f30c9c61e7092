/* A driver of OpenCL that ends the process that loads it. */
#include <stdlib.h>

__attribute__((constructor)) static void end(void)
{
#ifdef DRIVER_ENDS_BY_abort
    abort();
#else
    exit(0);
#endif
}
