/* Files that describe a model: which kind they are, and what the model is called. */
#include "shapes/load.h"

#include "common/text.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Longer than any config.json, and short enough that its values fit into 64 MiB. */
enum { CONFIG_MAX = 512 << 10 };

void ulb_model_note(struct ulb_model *model, const char *format, ...)
{
    size_t used = strlen(model->derived);
    va_list args;
    if (used > 0)
        used += (size_t)snprintf(model->derived + used, sizeof model->derived - used, "; ");
    if (used >= sizeof model->derived)
        return;
    va_start(args, format);
    vsnprintf(model->derived + used, sizeof model->derived - used, format, args);
    va_end(args);
}

static void cut_suffix(char *text, const char *suffix)
{
    size_t length = strlen(text), tail = strlen(suffix);
    if (length > tail && strcmp(text + length - tail, suffix) == 0)
        text[length - tail] = '\0';
}

/* -00001-of-00003 */
static void cut_part(char *text)
{
    size_t length = strlen(text);
    char *tail = length > 15 ? text + length - 15 : NULL;
    if (tail && tail[0] == '-' && memcmp(tail + 6, "-of-", 4) == 0 && strspn(tail + 1, "0123456789") == 5 &&
        strspn(tail + 10, "0123456789") == 5)
        *tail = '\0';
}

/* The name of a model by its file's, or by that of the folder around a file called config.json. */
static void name_model(const char *path, struct ulb_model *model)
{
    char whole[4096], *name;
    snprintf(whole, sizeof whole, "%s", path);
    for (int i = 0; i < 2; i++) {
        size_t length = strlen(whole);
        while (length > 1 && whole[length - 1] == '/')
            whole[--length] = '\0';
        name = strrchr(whole, '/');
        name = name ? name + 1 : whole;
        if (i == 1 || name == whole || (strcmp(name, "config.json") != 0 && strcmp(name, "params.json") != 0))
            break;
        name[-1] = '\0';
    }
    cut_suffix(name, ".gguf");
    cut_suffix(name, ".json");
    cut_suffix(name, ".config");
    cut_part(name);
    for (char *at = name; *at; at++) {
        if (!isalnum((unsigned char)*at) && !strchr("._+-", *at))
            *at = '-';
    }
    snprintf(model->title, sizeof model->title, "%.39s", name[0] ? name : "model");
    snprintf(model->name, sizeof model->name, "%.63s", name[0] ? name : "model");
    for (char *at = model->name; *at; at++)
        *at = (char)tolower((unsigned char)*at);
}

static enum ulb_status read_config(int fd, size_t bytes, struct ulb_model *model, struct ulb_error *err)
{
    if (bytes > CONFIG_MAX)
        return ulb_fail(err, ULB_BAD_INPUT,
                        "is no GGUF file, and its %zu bytes are more than a config.json has (%d)", bytes,
                        CONFIG_MAX);
    char *text = malloc(bytes + 1);
    if (!text)
        return ulb_fail(err, ULB_ENVIRONMENT, "not enough memory to read it");
    ssize_t got = pread(fd, text, bytes, 0);
    enum ulb_status status = got >= 0 ? ulb_config_parse(text, (size_t)got, model, err)
                                      : ulb_fail(err, ULB_BAD_INPUT, "cannot be read: %s", strerror(errno));
    free(text);
    snprintf(model->source, sizeof model->source, "config.json");
    return status;
}

static enum ulb_status read_file(int fd, const char *path, struct ulb_model *model, struct ulb_error *err)
{
    struct stat info;
    char magic[4] = "";
    if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode))
        return ulb_fail(err, ULB_BAD_INPUT, "is no regular file");
    ssize_t got = pread(fd, magic, sizeof magic, 0);
    if (got == 4 && memcmp(magic, "GGUF", 4) == 0)
        return ulb_gguf_read(fd, path, model, err);
    return read_config(fd, (size_t)info.st_size, model, err);
}

static enum ulb_status open_and_read(const char *path, struct ulb_model *model, struct ulb_error *err)
{
    char inside[4096];
    struct stat info;
    if (stat(path, &info) == 0 && S_ISDIR(info.st_mode)) {
        snprintf(inside, sizeof inside, "%s/config.json", path);
        path = inside;
    }
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0 && path == inside)
        return ulb_fail(err, ULB_BAD_INPUT, "its config.json cannot be opened (%s)", strerror(errno));
    if (fd < 0)
        return ulb_fail(err, ULB_BAD_INPUT,
                        "cannot be opened (%s), and is no name of 'ulb-bench list models'", strerror(errno));
    enum ulb_status status = read_file(fd, path, model, err);
    close(fd);
    return status;
}

enum ulb_status ulb_model_load_file(const char *path, struct ulb_model *model, struct ulb_error *err)
{
    *model = (struct ulb_model){.layers = 0};
    enum ulb_status status = open_and_read(path, model, err);
    if (status == ULB_OK)
        status = ulb_model_check(model, err);
    name_model(path, model);
    ulb_text_printable(model->source);
    ulb_text_printable(model->derived);
    if (status == ULB_OK)
        return ULB_OK;
    ulb_model_free(model);
    return ulb_fail_prefix(err, status, "%.250s", path);
}
