#include "models/platform/platform.h"

#include "models/platform/embedded.h"
#include "models/platform/platform_text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_FILE_BYTES = 1 << 20 };

const char *ulb_platform_builtin(size_t index)
{
    return index < ulb_embedded_platform_count ? ulb_embedded_platforms[index].name : NULL;
}

static enum ulb_status unknown_platform(const char *name, const char *why, struct ulb_error *err)
{
    char known[256] = "";
    const size_t cpus = ulb_embedded_platform_count;
    for (size_t i = 0; i < cpus + ulb_embedded_device_count; i++) {
        size_t used = strlen(known);
        snprintf(known + used, sizeof known - used, "%s%s", i ? ", " : "",
                 i < cpus ? ulb_embedded_platforms[i].name : ulb_embedded_devices[i - cpus].name);
    }
    return ulb_fail(err, ULB_BAD_INPUT, "platform '%.200s' is neither built in (%s) nor a readable file: %s",
                    name, known, why);
}

/* Reads a whole file of at most MAX_FILE_BYTES; text is freed by the caller. */
static enum ulb_status read_file(const char *path, char **text, size_t *bytes, struct ulb_error *err)
{
    *text = NULL;
    *bytes = 0;
    FILE *file = fopen(path, "rb");
    if (!file)
        return unknown_platform(path, strerror(errno), err);
    enum ulb_status status = ULB_OK;
    *text = malloc(MAX_FILE_BYTES + 1);
    if (*text)
        *bytes = fread(*text, 1, MAX_FILE_BYTES + 1, file);
    if (!*text)
        status = ulb_fail(err, ULB_ENVIRONMENT, "not enough memory to read platform '%.200s'", path);
    else if (ferror(file))
        status = unknown_platform(path, strerror(errno), err);
    else if (*bytes > MAX_FILE_BYTES)
        status = unknown_platform(path, "it is larger than 1 MiB", err);
    fclose(file);
    return status;
}

static const char *builtin_text(const char *name)
{
    const size_t cpus = ulb_embedded_platform_count;
    for (size_t i = 0; i < cpus + ulb_embedded_device_count; i++) {
        const struct ulb_embedded *row =
            i < cpus ? &ulb_embedded_platforms[i] : &ulb_embedded_devices[i - cpus];
        if (strcmp(row->name, name) == 0)
            return (const char *)row->text;
    }
    return NULL;
}

enum ulb_status ulb_platform_text(const char *name_or_file, char **text, size_t *bytes, struct ulb_error *err)
{
    const char *builtin = builtin_text(name_or_file);
    if (!builtin)
        return read_file(name_or_file, text, bytes, err);
    *text = strdup(builtin);
    *bytes = strlen(builtin);
    return *text ? ULB_OK
                 : ulb_fail(err, ULB_ENVIRONMENT, "not enough memory to read platform '%s'", name_or_file);
}

enum ulb_status ulb_platform_load(const char *name_or_file, struct ulb_platform *platform,
                                  struct ulb_error *err)
{
    char *text;
    size_t bytes;
    enum ulb_status status = ulb_platform_text(name_or_file, &text, &bytes, err);
    if (status == ULB_OK)
        status = ulb_platform_parse(text, bytes, name_or_file, platform, err);
    free(text);
    return status;
}
