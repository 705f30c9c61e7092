/* Preloaded: a system on which nobody installed OpenCL's loader. */
#include <dlfcn.h>
#include <string.h>

void *dlopen(const char *name, int flags)
{
    void *(*real)(const char *, int);
    void *found = dlsym(RTLD_NEXT, "dlopen");
    memcpy(&real, &found, sizeof real);
    return real(name && strcmp(name, "libOpenCL.so.1") == 0 ? "libOpenCL.so.absent" : name, flags);
}
