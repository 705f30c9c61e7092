#include "common/slurp.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static enum ulb_status read_all(FILE *file, const char *path, size_t most, char **out, size_t *bytes,
                                struct ulb_error *err)
{
    size_t room = (size_t)1 << 16, used = 0;
    char *text = malloc(room);
    while (text) {
        size_t got = fread(text + used, 1, room - used, file);
        used += got;
        if (used < room)
            break;
        if (room >= most) {
            free(text);
            return ulb_fail(err, ULB_BAD_INPUT,
                            "%.300s is larger than %zu MiB, more than any file of its kind", path,
                            most >> 20);
        }
        char *larger = realloc(text, room *= 2);
        if (!larger)
            free(text);
        text = larger;
    }
    if (!text)
        return ulb_fail(err, ULB_ENVIRONMENT, "not enough memory to read %.300s", path);
    if (ferror(file)) {
        free(text);
        return ulb_fail(err, ULB_BAD_INPUT, "%.300s could not be read: %s", path, strerror(errno));
    }
    *out = text;
    *bytes = used;
    return ULB_OK;
}

enum ulb_status ulb_slurp(const char *path, size_t most, char **text, size_t *bytes, struct ulb_error *err)
{
    FILE *file = strcmp(path, "-") == 0 ? stdin : fopen(path, "re");
    *text = NULL;
    *bytes = 0;
    if (!file)
        return ulb_fail(err, errno == ENOMEM ? ULB_ENVIRONMENT : ULB_BAD_INPUT,
                        "%.300s could not be opened: %s", path, strerror(errno));
    enum ulb_status status = read_all(file, path, most, text, bytes, err);
    if (file != stdin)
        fclose(file);
    return status;
}
