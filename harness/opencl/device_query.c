#include "harness/opencl/device_query.h"

#include "common/text.h"
#include "harness/opencl/render_node.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PLATFORMS_MOST = 64, DEVICES_MOST = 256 };

/* A text of the driver's, printable, cut to the room; "" when it does not tell. */
static void query_text(const struct ulb_device *device, cl_device_info what, char *text, size_t bytes)
{
    size_t length = 0;
    text[0] = '\0';
    if (device->cl->clGetDeviceInfo(device->handle, what, 0, NULL, &length) != CL_SUCCESS || length == 0)
        return;
    char *whole = calloc(1, length + 1);
    if (whole && device->cl->clGetDeviceInfo(device->handle, what, length, whole, NULL) == CL_SUCCESS)
        snprintf(text, bytes, "%s", whole + strspn(whole, " "));
    free(whole);
    ulb_text_mend(text);
    ulb_text_printable(text);
    for (size_t end = strlen(text); end > 0 && text[end - 1] == ' '; end--)
        text[end - 1] = '\0';
}

static bool query_extensions(struct ulb_device *device)
{
    enum { EXTENSIONS_MOST = 1 << 16 };
    char *text = malloc(EXTENSIONS_MOST);
    if (!text)
        return false;
    query_text(device, CL_DEVICE_EXTENSIONS, text, EXTENSIONS_MOST);
    device->extensions = text;
    return true;
}

/* Leaves the value as it is when the device does not tell. */
static void query(const struct ulb_device *device, cl_device_info what, size_t bytes, void *value)
{
    unsigned char answer[sizeof(cl_ulong)];
    if (device->cl->clGetDeviceInfo(device->handle, what, bytes, answer, NULL) == CL_SUCCESS)
        memcpy(value, answer, bytes);
}

bool ulb_device_has(const struct ulb_device *device, const char *extension)
{
    size_t length = strlen(extension);
    for (const char *at = device->extensions; (at = strstr(at, extension)) != NULL; at += length) {
        bool begins = at == device->extensions || at[-1] == ' ';
        if (begins && (at[length] == ' ' || at[length] == '\0'))
            return true;
    }
    return false;
}

size_t ulb_device_lanes(const struct ulb_device *device)
{
    for (size_t i = 0; i < device->n_lanes; i++) {
        if (device->lanes[i] == 16)
            return 16;
    }
    return device->n_lanes > 0 ? device->lanes[0] : 0;
}

const char *ulb_device_std(const struct ulb_device *device)
{
    return strncmp(device->version, "OpenCL 2", 8) == 0 ? " -cl-std=CL2.0" : " -cl-std=CL3.0";
}

/* Sub-groups' sizes by the extension that lists them, else the one width of the vendor's own. */
static void query_lanes(struct ulb_device *device)
{
    size_t bytes = 0;
    cl_uint width = 0;
    if (ulb_device_has(device, "cl_intel_required_subgroup_size") &&
        device->cl->clGetDeviceInfo(device->handle, CL_DEVICE_SUB_GROUP_SIZES_INTEL, sizeof device->lanes,
                                    device->lanes, &bytes) == CL_SUCCESS)
        device->n_lanes = bytes / sizeof *device->lanes;
    if (ulb_device_has(device, "cl_nv_device_attribute_query"))
        query(device, CL_DEVICE_WARP_SIZE_NV, sizeof width, &width);
    if (ulb_device_has(device, "cl_amd_device_attribute_query"))
        query(device, CL_DEVICE_WAVEFRONT_WIDTH_AMD, sizeof width, &width);
    if (device->n_lanes == 0 && width > 0)
        device->lanes[device->n_lanes++] = width;
}

static bool describe(struct ulb_device *device)
{
    query_text(device, CL_DEVICE_NAME, device->name, sizeof device->name);
    query_text(device, CL_DEVICE_VENDOR, device->vendor, sizeof device->vendor);
    query_text(device, CL_DRIVER_VERSION, device->driver, sizeof device->driver);
    query_text(device, CL_DEVICE_VERSION, device->version, sizeof device->version);
    query(device, CL_DEVICE_TYPE, sizeof device->type, &device->type);
    query(device, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof device->units, &device->units);
    query(device, CL_DEVICE_MAX_CLOCK_FREQUENCY, sizeof device->mhz, &device->mhz);
    query(device, CL_DEVICE_GLOBAL_MEM_SIZE, sizeof device->memory_bytes, &device->memory_bytes);
    query(device, CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof device->largest_buffer_bytes,
          &device->largest_buffer_bytes);
    query(device, CL_DEVICE_GLOBAL_MEM_CACHE_SIZE, sizeof device->cache_bytes, &device->cache_bytes);
    query(device, CL_DEVICE_HOST_UNIFIED_MEMORY, sizeof device->unified, &device->unified);
    bool described = query_extensions(device);
    if (described)
        query_lanes(device);
    return described;
}

/* The devices of platform number p, which is left out when it has none or does not tell. */
static bool add_platform(const struct ulb_opencl *cl, cl_platform_id platform, cl_uint p,
                         struct ulb_device *devices, size_t *n)
{
    cl_device_id handles[DEVICES_MOST];
    cl_uint found = 0;
    if (cl->clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, DEVICES_MOST, handles, &found) != CL_SUCCESS)
        return true;
    for (cl_uint d = 0; d < found && d < DEVICES_MOST && *n < DEVICES_MOST; d++) {
        struct ulb_device *device = &devices[*n];
        *device = (struct ulb_device){.cl = cl, .platform = platform, .handle = handles[d], .matrix = "none"};
        snprintf(device->id, sizeof device->id, "opencl:%u.%u", (unsigned)p, (unsigned)d);
        if (!describe(device))
            return false;
        ++*n;
    }
    return true;
}

static enum ulb_status refuse_none(struct ulb_error *err)
{
    char node[256];
    if (ulb_render_node_refused("/dev", node, sizeof node))
        return ulb_fail(err, ULB_ENVIRONMENT, "no OpenCL device: %s", node);
    return ulb_fail(err, ULB_ENVIRONMENT,
                    "no OpenCL device: the drivers that %.200s names find none; install the driver of the "
                    "device, or see whether the system does (lspci, dmesg)",
                    ulb_opencl_vendors());
}

enum ulb_status ulb_devices_find(const struct ulb_opencl *cl, struct ulb_device **devices, size_t *n,
                                 struct ulb_error *err)
{
    cl_platform_id platforms[PLATFORMS_MOST];
    cl_uint found = 0;
    *n = 0;
    *devices = calloc(DEVICES_MOST, sizeof **devices);
    bool memory = *devices != NULL;
    if (cl->clGetPlatformIDs(PLATFORMS_MOST, platforms, &found) != CL_SUCCESS)
        found = 0;
    for (cl_uint p = 0; p < found && p < PLATFORMS_MOST && memory; p++)
        memory = add_platform(cl, platforms[p], p, *devices, n);
    enum ulb_status status = !memory   ? ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for the devices")
                             : *n == 0 ? refuse_none(err)
                                       : ULB_OK;
    if (status != ULB_OK)
        ulb_devices_free(*devices, *n);
    return status;
}

void ulb_devices_free(struct ulb_device *devices, size_t n)
{
    for (size_t i = 0; devices && i < n; i++)
        free(devices[i].extensions);
    free(devices);
}

/* ---- --device ---- */

static enum ulb_status refuse_choice(const struct ulb_device *devices, size_t n, const char *wanted,
                                     size_t matching, struct ulb_error *err)
{
    char known[320] = "";
    for (size_t i = 0; i < n; i++) {
        size_t used = strlen(known);
        snprintf(known + used, sizeof known - used, "%s%s (%.40s)", i ? ", " : "", devices[i].id,
                 devices[i].name);
    }
    ulb_text_mend(known);
    if (matching == 0)
        return ulb_fail(err, ULB_BAD_INPUT, "there is no device '%.64s'; there is %s", wanted, known);
    return ulb_fail(err, ULB_BAD_INPUT, "--device '%.64s' names %zu devices; take the id of one: %s", wanted,
                    matching, known);
}

enum ulb_status ulb_device_choose(const struct ulb_device *devices, size_t n, const char *wanted,
                                  size_t *chosen, struct ulb_error *err)
{
    size_t matching = 0;
    for (size_t i = 0; i < n; i++) {
        if (strcmp(devices[i].id, wanted) == 0) {
            *chosen = i;
            return ULB_OK;
        }
        if (strcasestr(devices[i].name, wanted)) {
            *chosen = i;
            matching++;
        }
    }
    return matching == 1 ? ULB_OK : refuse_choice(devices, n, wanted, matching, err);
}
