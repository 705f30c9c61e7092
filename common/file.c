#include "common/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static enum ulb_status cannot_write(struct ulb_error *err, const char *path, int code)
{
    return ulb_fail(err, ULB_ENVIRONMENT, "%s could not be written: %s", path, strerror(code));
}

/* Creates the temporary file beside target with the permissions that the user's umask gives. */
static int create_beside(const char *target, char temporary[PATH_MAX])
{
    for (unsigned i = 0; i < 1000; i++) {
        int used = snprintf(temporary, PATH_MAX, "%s.%ld-%u.tmp", target, (long)getpid(), i);
        if (used < 0 || used >= PATH_MAX) {
            errno = ENAMETOOLONG;
            return -1;
        }
        int fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd >= 0 || errno != EEXIST)
            return fd;
    }
    return -1;
}

/* Writes, syncs and closes; 0 or the errno of what failed first. */
static int fill(int fd, const char *text, size_t bytes)
{
    FILE *file = fdopen(fd, "w");
    if (!file) {
        int code = errno;
        close(fd);
        return code;
    }
    int code = 0;
    errno = 0;
    if (fwrite(text, 1, bytes, file) != bytes || fflush(file) != 0 || fsync(fd) != 0)
        code = errno ? errno : ENOMEM;
    if (fclose(file) != 0 && code == 0)
        code = errno;
    return code;
}

/* The temporary file beside target, filled; 0 or the errno of what failed, and then it is gone. */
static int make_beside(const char *target, const char *text, size_t bytes, char temporary[PATH_MAX])
{
    int fd = create_beside(target, temporary);
    if (fd < 0)
        return errno;
    int code = fill(fd, text, bytes);
    if (code != 0)
        unlink(temporary);
    return code;
}

/* Makes the rename last; file systems that cannot sync a folder say EINVAL and need it not. */
static int sync_folder(const char *target)
{
    char folder[PATH_MAX];
    const char *slash = strrchr(target, '/');
    if (slash)
        snprintf(folder, sizeof folder, "%.*s", (int)(slash - target) + 1, target);
    int fd = open(slash ? folder : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return errno == EACCES ? 0 : errno;
    int code = fsync(fd) != 0 && errno != EINVAL ? errno : 0;
    close(fd);
    return code;
}

enum ulb_status ulb_write_file(const char *path, const char *text, size_t bytes, struct ulb_error *err)
{
    char target[PATH_MAX], temporary[PATH_MAX];
    struct stat there;
    /* A link stays a link to the new file. */
    if (!realpath(path, target)) {
        if (errno != ENOENT || strlen(path) >= sizeof target)
            return cannot_write(err, path, errno == ENOENT ? ENAMETOOLONG : errno);
        if (lstat(path, &there) == 0)
            return ulb_fail(err, ULB_BAD_INPUT, "%s is a link to a file that is not there; remove it", path);
        strcpy(target, path);
    } else if (stat(target, &there) == 0 && !S_ISREG(there.st_mode)) {
        return ulb_fail(err, ULB_BAD_INPUT, "%s is not a regular file; name a file to write", path);
    }
    int code = make_beside(target, text, bytes, temporary);
    if (code == 0 && rename(temporary, target) != 0) {
        code = errno;
        unlink(temporary);
    }
    if (code == 0)
        code = sync_folder(target);
    return code == 0 ? ULB_OK : cannot_write(err, path, code);
}

/* 0 where the temporary file has become path, which was not there; EEXIST: it was. */
static int put_new(const char *temporary, const char *path)
{
    if (link(temporary, path) == 0)
        return unlink(temporary) == 0 ? 0 : errno;
    if (errno != EPERM && errno != EOPNOTSUPP && errno != ENOSYS && errno != EMLINK)
        return errno;
    /* A file system without links: the name is taken first, the content follows. */
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0)
        return errno;
    close(fd);
    return rename(temporary, path) == 0 ? 0 : errno;
}

enum ulb_status ulb_write_new_file(char *path, size_t path_bytes, const char *text, size_t bytes,
                                   struct ulb_error *err)
{
    enum { NUMBERS = 10000 };
    char temporary[PATH_MAX], first[PATH_MAX];
    const char *slash = strrchr(path, '/'), *dot = strrchr(path, '.');
    size_t stem = dot && (!slash || dot > slash) ? (size_t)(dot - path) : strlen(path);
    if (strlen(path) >= sizeof first)
        return cannot_write(err, path, ENAMETOOLONG);
    strcpy(first, path);
    int code = make_beside(path, text, bytes, temporary);
    if (code != 0)
        return cannot_write(err, path, code);
    code = put_new(temporary, path);
    for (unsigned i = 2; code == EEXIST && i < NUMBERS; i++) {
        int used = snprintf(path, path_bytes, "%.*s-%u%s", (int)stem, first, i, first + stem);
        code = used >= 0 && (size_t)used < path_bytes ? put_new(temporary, path) : ENAMETOOLONG;
    }
    if (code != 0)
        unlink(temporary);
    else
        code = sync_folder(path);
    return code == 0 ? ULB_OK : cannot_write(err, first, code);
}

/* Whether one of two parts of a file, its begin or its end, holds the mark. */
static bool bears_mark(FILE *file)
{
    char part[1024];
    size_t n = fread(part, 1, sizeof part, file);
    bool found = memmem(part, n, ULB_FILE_MARK, strlen(ULB_FILE_MARK)) != NULL;
    if (!found && fseek(file, -(long)sizeof part, SEEK_END) == 0) {
        n = fread(part, 1, sizeof part, file);
        found = memmem(part, n, ULB_FILE_MARK, strlen(ULB_FILE_MARK)) != NULL;
    }
    return found;
}

enum ulb_status ulb_file_may_replace(const char *path, const char *remedy, struct ulb_error *err)
{
    struct stat there;
    if (stat(path, &there) != 0 || !S_ISREG(there.st_mode) || there.st_size == 0)
        return ULB_OK; /* a folder or a device is refused where it is written */
    FILE *file = fopen(path, "re");
    bool ours = file && bears_mark(file);
    if (file)
        fclose(file);
    return ours ? ULB_OK
                : ulb_fail(err, ULB_BAD_INPUT, "%.300s is there and nothing that ulb-bench drew; %s", path,
                           remedy);
}
