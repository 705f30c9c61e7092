#include "harness/platform/platform.h"

#include "harness/platform/embedded.h"

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
    for (size_t i = 0; i < ulb_embedded_platform_count; i++) {
        size_t used = strlen(known);
        snprintf(known + used, sizeof known - used, "%s%s", i ? ", " : "", ulb_embedded_platforms[i].name);
    }
    return ulb_fail(err, ULB_BAD_INPUT, "platform '%.200s' is neither built in (%s) nor a readable file: %s",
                    name, known, why);
}

/* Reads a whole file of at most MAX_FILE_BYTES; the message in why is static or errno's. */
static char *read_file(const char *path, size_t *bytes, const char **why)
{
    FILE *file = fopen(path, "rb");
    if (!file) {
        *why = strerror(errno);
        return NULL;
    }
    char *text = malloc(MAX_FILE_BYTES + 1);
    *bytes = text ? fread(text, 1, MAX_FILE_BYTES + 1, file) : 0;
    if (!text)
        *why = "not enough memory";
    else if (ferror(file))
        *why = strerror(errno);
    else if (*bytes > MAX_FILE_BYTES)
        *why = "it is larger than 1 MiB";
    else
        *why = NULL;
    fclose(file);
    if (*why) {
        free(text);
        text = NULL;
    }
    return text;
}

enum ulb_status ulb_platform_load(const char *name_or_file, struct ulb_platform *platform,
                                  struct ulb_error *err)
{
    for (size_t i = 0; i < ulb_embedded_platform_count; i++) {
        const struct ulb_embedded *row = &ulb_embedded_platforms[i];
        const char *text = (const char *)row->text;
        if (strcmp(row->name, name_or_file) == 0)
            return ulb_platform_parse(text, strlen(text), row->name, platform, err);
    }
    size_t bytes;
    const char *why;
    char *text = read_file(name_or_file, &bytes, &why);
    if (!text)
        return unknown_platform(name_or_file, why, err);
    enum ulb_status status = ulb_platform_parse(text, bytes, name_or_file, platform, err);
    free(text);
    return status;
}
