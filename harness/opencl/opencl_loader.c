#include "harness/opencl/opencl_loader.h"

#include "common/text.h"

#include <dirent.h>
#include <dlfcn.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char LOADER[] = "libOpenCL.so.1";
static const double DRIVER_LIMIT_S = 60;

const char *ulb_opencl_error_name(cl_int error, char text[32])
{
    static const struct {
        cl_int error;
        const char *name;
    } names[] = {
        {CL_DEVICE_NOT_AVAILABLE, "CL_DEVICE_NOT_AVAILABLE"},
        {CL_COMPILER_NOT_AVAILABLE, "CL_COMPILER_NOT_AVAILABLE"},
        {CL_MEM_OBJECT_ALLOCATION_FAILURE, "CL_MEM_OBJECT_ALLOCATION_FAILURE"},
        {CL_OUT_OF_RESOURCES, "CL_OUT_OF_RESOURCES"},
        {CL_OUT_OF_HOST_MEMORY, "CL_OUT_OF_HOST_MEMORY"},
        {CL_PROFILING_INFO_NOT_AVAILABLE, "CL_PROFILING_INFO_NOT_AVAILABLE"},
        {CL_BUILD_PROGRAM_FAILURE, "CL_BUILD_PROGRAM_FAILURE"},
        {CL_INVALID_VALUE, "CL_INVALID_VALUE"},
        {CL_INVALID_KERNEL_NAME, "CL_INVALID_KERNEL_NAME"},
        {CL_INVALID_WORK_GROUP_SIZE, "CL_INVALID_WORK_GROUP_SIZE"},
        {CL_INVALID_BUFFER_SIZE, "CL_INVALID_BUFFER_SIZE"},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (names[i].error == error)
            return names[i].name;
    }
    snprintf(text, 32, "error %d", (int)error);
    return text;
}

const char *ulb_opencl_vendors(void)
{
    const char *own = getenv("OCL_ICD_VENDORS");
    return own && *own ? own : "/etc/OpenCL/vendors";
}

/* What dlerror() says, fit for a message. */
static const char *loader_error(char text[256])
{
    const char *said = dlerror();
    snprintf(text, 256, "%s", said ? said : "no reason given");
    ulb_text_mend(text);
    ulb_text_printable(text);
    return text;
}

/* The first line of a vendor's file: the driver's name or path. */
static bool read_vendor(const char *path, char *driver, size_t bytes)
{
    FILE *file = fopen(path, "re");
    bool read = file && fgets(driver, (int)bytes, file);
    if (file)
        fclose(file);
    if (read)
        driver[strcspn(driver, " \t\r\n")] = '\0';
    return read && driver[0];
}

struct vendors {
    size_t files, loaded;
    char bad[400]; /* why the last one that is not loaded is not; "" */
};

static void load_vendor(const char *path, struct ulb_device_link *link, struct vendors *vendors)
{
    char driver[PATH_MAX], reason[256];
    vendors->files++;
    if (!read_vendor(path, driver, sizeof driver)) {
        snprintf(vendors->bad, sizeof vendors->bad, "%.200s names no driver", path);
        ulb_device_tell(link, "note", json_string(vendors->bad));
        return;
    }
    ulb_device_doing(link, DRIVER_LIMIT_S, "reinstall that driver or remove the file",
                     "while %.60s was loaded, which %.90s names", driver, path);
    if (dlopen(driver, RTLD_NOW)) {
        vendors->loaded++;
        return;
    }
    snprintf(vendors->bad, sizeof vendors->bad,
             "the OpenCL driver that %.120s names cannot be loaded (%.200s)", path, loader_error(reason));
    ulb_text_mend(vendors->bad);
    ulb_text_printable(vendors->bad);
    ulb_device_tell(link, "note", json_string(vendors->bad));
}

/* The drivers of a folder, or of one file in its place. */
static void load_vendors(const char *folder, struct ulb_device_link *link, struct vendors *vendors)
{
    struct dirent **entries;
    int n = scandir(folder, &entries, NULL, alphasort);
    if (n < 0) {
        if (strstr(folder, ".icd"))
            load_vendor(folder, link, vendors);
        return;
    }
    for (int i = 0; i < n; i++) {
        char path[PATH_MAX];
        const char *end = strrchr(entries[i]->d_name, '.');
        if (end && strcmp(end, ".icd") == 0 &&
            (size_t)snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name) < sizeof path)
            load_vendor(path, link, vendors);
        free(entries[i]);
    }
    free(entries);
}

static enum ulb_status find_calls(struct ulb_opencl *cl, struct ulb_error *err)
{
#define ROW(call) {#call, offsetof(struct ulb_opencl, call)},
    static const struct {
        const char *name;
        size_t offset;
    } calls[] = {ULB_OPENCL_CALLS(ROW)};
#undef ROW
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        void *call = dlsym(cl->library, calls[i].name);
        if (!call)
            return ulb_fail(err, ULB_ENVIRONMENT, "%s has no %s; install ocl-icd-libopencl1", LOADER,
                            calls[i].name);
        memcpy((char *)cl + calls[i].offset, &call, sizeof call);
    }
    return ULB_OK;
}

enum ulb_status ulb_opencl_load(struct ulb_opencl *cl, struct ulb_device_link *link, struct ulb_error *err)
{
    char reason[256];
    struct vendors vendors = {0};
    ulb_device_doing(link, DRIVER_LIMIT_S, "reinstall it: ocl-icd-libopencl1", "while %s was loaded", LOADER);
    cl->library = dlopen(LOADER, RTLD_NOW);
    if (!cl->library)
        return ulb_fail(err, ULB_ENVIRONMENT,
                        "no OpenCL: %s; install the package ocl-icd-libopencl1 and the driver of the device",
                        loader_error(reason));
    enum ulb_status status = find_calls(cl, err);
    if (status != ULB_OK)
        return status;
    load_vendors(ulb_opencl_vendors(), link, &vendors);
    if (vendors.files == 0)
        return ulb_fail(err, ULB_ENVIRONMENT,
                        "no OpenCL driver: %.200s holds no .icd file; install the driver of the device "
                        "(intel-opencl-icd, mesa-opencl-icd, NVIDIA's own; pocl-opencl-icd for the CPU)",
                        ulb_opencl_vendors());
    if (vendors.loaded == 0)
        return ulb_fail(err, ULB_ENVIRONMENT, "%.380s; reinstall that driver or remove the file",
                        vendors.bad);
    ulb_device_doing(link, DRIVER_LIMIT_S, "'clinfo' may show which driver it is",
                     "while the drivers were asked for their platforms");
    return ULB_OK;
}
