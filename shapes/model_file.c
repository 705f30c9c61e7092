/* Files that describe a model: which kind they are, and what the model is called. */
#include "shapes/load.h"

#include "shapes/config_keys.h"

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

/* True for names that every model's file has. */
static bool is_common_name(const char *name)
{
    static const char *const names[] = {"config.json",       "params.json",
                                        "model.safetensors", "model.safetensors.index.json",
                                        "snapshots",         "consolidated.safetensors"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(name, names[i]) == 0)
            return true;
    }
    return false;
}

/* The last part of a path that names a model: a file's common name gives way to the folder's, and a snapshot
 * of a hub cache to "models--OWNER--NAME". The path is cut. */
static char *last_name(char *whole)
{
    for (int i = 0;; i++) {
        size_t length = strlen(whole);
        while (length > 1 && whole[length - 1] == '/')
            whole[--length] = '\0';
        char *slash = strrchr(whole, '/'), *name = slash ? slash + 1 : whole;
        bool snapshot = slash && slash - whole >= 10 && strncmp(slash - 10, "/snapshots", 10) == 0;
        if (i == 3 || !slash || slash == whole || (!is_common_name(name) && !snapshot))
            return name;
        *slash = '\0';
    }
}

/* The name of a model by its file's, or by that of the folder around a file with a common name. */
static void name_model(const char *path, struct ulb_model *model)
{
    char whole[4096];
    snprintf(whole, sizeof whole, "%s", path);
    char *name = last_name(whole);
    const char *cache = strncmp(name, "models--", 8) == 0 ? strstr(name + 8, "--") : NULL;
    if (cache)
        name += cache + 2 - name;
    cut_suffix(name, ".safetensors.index.json");
    cut_suffix(name, ".safetensors");
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

static enum ulb_status refuse_long(size_t bytes, struct ulb_error *err)
{
    return ulb_fail(err, ULB_BAD_INPUT,
                    "is no GGUF or safetensors file, and its %zu bytes are more than a config.json has (%d)",
                    bytes, ULB_JSON_BYTES_MAX);
}

static enum ulb_status text_of(int fd, size_t bytes, char **text, struct ulb_error *err)
{
    *text = NULL;
    if (bytes > ULB_INDEX_BYTES_MAX)
        return refuse_long(bytes, err);
    *text = malloc(bytes + 1);
    if (!*text)
        return ulb_fail(err, ULB_ENVIRONMENT, "not enough memory to read it");
    if (pread(fd, *text, bytes, 0) == (ssize_t)bytes)
        return ULB_OK;
    free(*text);
    *text = NULL;
    return ulb_fail(err, ULB_BAD_INPUT, "cannot be read: %s", strerror(errno));
}

enum ulb_status ulb_file_text(const char *path, char **text, size_t *bytes, struct ulb_error *err)
{
    struct stat info;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return ulb_fail(err, ULB_BAD_INPUT, "cannot be opened (%s)", strerror(errno));
    enum ulb_status status = fstat(fd, &info) == 0 && S_ISREG(info.st_mode)
                                 ? ULB_OK
                                 : ulb_fail(err, ULB_BAD_INPUT, "is no regular file");
    *bytes = (size_t)info.st_size;
    *text = NULL;
    if (status == ULB_OK)
        status = text_of(fd, *bytes, text, err);
    close(fd);
    return status;
}

/* A safetensors file begins with 8 bytes of length and then JSON; an index is JSON with a weight_map. */
static bool is_safetensors(const char *path, const unsigned char *begin, size_t bytes)
{
    size_t length = strlen(path), tail = strlen(".safetensors");
    bool named = length > tail && strcmp(path + length - tail, ".safetensors") == 0;
    return bytes > 8 && begin[0] != '{' && begin[8] == '{' && (named || begin[6] + begin[7] == 0);
}

static enum ulb_status read_config(int fd, const char *path, size_t bytes, struct ulb_model *model,
                                   struct ulb_error *err)
{
    static const char index[] = "\"weight_map\"";
    char *text;
    enum ulb_status status = text_of(fd, bytes, &text, err);
    if (!text)
        return status;
    bool is_index = memmem(text, bytes, index, sizeof index - 1);
    if (!is_index && bytes > ULB_JSON_BYTES_MAX)
        status = refuse_long(bytes, err);
    else if (!is_index)
        status = ulb_config_parse(text, bytes, model, err);
    free(text); /* the tensors' reader needs the room */
    snprintf(model->source, sizeof model->source, "config.json");
    return is_index ? ulb_safetensors_model(path, true, model, err) : status;
}

static enum ulb_status read_file(int fd, const char *path, struct ulb_model *model, struct ulb_error *err)
{
    struct stat info;
    unsigned char begin[9] = "";
    if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode))
        return ulb_fail(err, ULB_BAD_INPUT, "is no regular file");
    ssize_t got = pread(fd, begin, sizeof begin, 0);
    if (got >= 4 && memcmp(begin, "GGUF", 4) == 0)
        return ulb_gguf_read(fd, path, model, err);
    if (is_safetensors(path, begin, got > 0 ? (size_t)got : 0))
        return ulb_safetensors_model(path, false, model, err);
    return read_config(fd, path, (size_t)info.st_size, model, err);
}

static enum ulb_status open_and_read(const char *path, struct ulb_model *model, struct ulb_error *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return ulb_fail(err, ULB_BAD_INPUT,
                        "cannot be opened (%s), and is no name of 'ulb-bench list models'", strerror(errno));
    enum ulb_status status = read_file(fd, path, model, err);
    close(fd);
    return status;
}

/* A folder's config.json, or its tensors where the configuration is refused. */
static enum ulb_status read_folder(const char *path, struct ulb_model *model, struct ulb_error *err)
{
    struct ulb_folder folder;
    struct ulb_error why;
    enum ulb_status status = ulb_folder_read(path, &folder, err);
    if (status != ULB_OK)
        return status;
    status = open_and_read(folder.file, model, err);
    if (status == ULB_OK)
        status = ulb_model_check(model, err);
    if (status == ULB_OK)
        return ULB_OK;
    const char *slash = strrchr(folder.file, '/');
    ulb_fail_prefix(err, status, "%.100s", slash ? slash + 1 : folder.file);
    if (status != ULB_BAD_INPUT || !folder.tensors[0])
        return status;
    ulb_model_free(model);
    *model = (struct ulb_model){.layers = 0};
    int reason = (int)strcspn(err->message, ";"); /* which parts notes; the remedy is not needed */
    ulb_model_note(model, "by its tensors, as %.*s", reason, err->message);
    return open_and_read(folder.tensors, model, &why) == ULB_OK ? ULB_OK : status;
}

enum ulb_status ulb_model_load_file(const char *path, struct ulb_model *model, struct ulb_error *err)
{
    *model = (struct ulb_model){.layers = 0};
    struct stat info;
    bool folder = stat(path, &info) == 0 && S_ISDIR(info.st_mode);
    enum ulb_status status = folder ? read_folder(path, model, err) : open_and_read(path, model, err);
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
