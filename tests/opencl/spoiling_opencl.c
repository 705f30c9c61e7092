/* libOpenCL.so.1 in front of the one that REAL_OPENCL names: hands every call on, and spoils the source of
 * programs as SPOIL asks for. "build": none can be built. "loop": the kernel that reads in parts never ends.
 * "replace": the text SPOIL_FROM becomes SPOIL_TO. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Arguments are integers and pointers, at most nine: one function of words can hand them all on. */
#define WORDS                                                                                                \
    intptr_t a, intptr_t b, intptr_t c, intptr_t d, intptr_t e, intptr_t f, intptr_t g, intptr_t h, intptr_t i
#define FORWARD a, b, c, d, e, f, g, h, i
typedef intptr_t call_fn(WORDS);

static call_fn *real(const char *name)
{
    static void *library;
    call_fn *call;
    if (!library)
        library = dlopen(getenv("REAL_OPENCL"), RTLD_NOW);
    void *found = library ? dlsym(library, name) : NULL;
    if (!found)
        abort();
    memcpy(&call, &found, sizeof call);
    return call;
}

#define HAND_ON(name)                                                                                        \
    intptr_t name(WORDS);                                                                                    \
    intptr_t name(WORDS)                                                                                     \
    {                                                                                                        \
        return real(#name)(FORWARD);                                                                         \
    }
HAND_ON(clGetPlatformIDs)
HAND_ON(clGetPlatformInfo)
HAND_ON(clGetDeviceIDs)
HAND_ON(clGetDeviceInfo)
HAND_ON(clGetExtensionFunctionAddressForPlatform)
HAND_ON(clCreateContext)
HAND_ON(clReleaseContext)
HAND_ON(clCreateCommandQueue)
HAND_ON(clReleaseCommandQueue)
HAND_ON(clCreateBuffer)
HAND_ON(clCreateSubBuffer)
HAND_ON(clReleaseMemObject)
HAND_ON(clBuildProgram)
HAND_ON(clGetProgramBuildInfo)
HAND_ON(clReleaseProgram)
HAND_ON(clCreateKernel)
HAND_ON(clGetKernelWorkGroupInfo)
HAND_ON(clReleaseKernel)
HAND_ON(clSetKernelArg)
HAND_ON(clEnqueueNDRangeKernel)
HAND_ON(clEnqueueReadBuffer)
HAND_ON(clEnqueueWriteBuffer)
HAND_ON(clEnqueueCopyBuffer)
HAND_ON(clGetEventProfilingInfo)
HAND_ON(clReleaseEvent)
HAND_ON(clFinish)

/* The text with more behind a place of it; to be freed. */
static char *with(const char *text, size_t place, const char *more)
{
    size_t bytes = strlen(text) + strlen(more) + 1;
    char *spoilt = malloc(bytes);
    if (!spoilt)
        abort();
    snprintf(spoilt, bytes, "%.*s%s%s", (int)place, text, more, text + place);
    return spoilt;
}

/* The text with each `from` replaced; to be freed. */
static char *replaced(const char *text, const char *from, const char *to)
{
    char *all = with(text, 0, "");
    for (char *at = all; (at = strstr(at, from)) != NULL;) {
        size_t place = (size_t)(at - all);
        char *more = with(all, place, to);
        memmove(more + place + strlen(to), more + place + strlen(to) + strlen(from),
                strlen(more + place + strlen(to) + strlen(from)) + 1);
        free(all);
        all = more;
        at = all + place + strlen(to);
    }
    return all;
}

static char *spoil(const char *text)
{
    const char *how = getenv("SPOIL"), *kernel = strstr(text, "kernel void parted(");
    if (how && strcmp(how, "build") == 0)
        return with(text, 0, "#error planted\n");
    if (how && strcmp(how, "loop") == 0 && kernel)
        return with(text, (size_t)(strchr(kernel, '{') + 1 - text),
                    " volatile int ever = 1; while (ever) sums[0]++; ");
    if (how && strcmp(how, "replace") == 0)
        return replaced(text, getenv("SPOIL_FROM"), getenv("SPOIL_TO"));
    return with(text, 0, "");
}

/* (context, count, texts, lengths: all NULL here, error) */
intptr_t clCreateProgramWithSource(WORDS);
intptr_t clCreateProgramWithSource(WORDS)
{
    enum { TEXTS = 4 };
    const char *const *texts = (const char *const *)c;
    char *spoilt[TEXTS];
    for (intptr_t t = 0; t < b && t < TEXTS; t++)
        spoilt[t] = spoil(texts[t]);
    intptr_t program = real("clCreateProgramWithSource")(a, b, (intptr_t)spoilt, d, e, f, g, h, i);
    for (intptr_t t = 0; t < b && t < TEXTS; t++)
        free(spoilt[t]);
    return program;
}
