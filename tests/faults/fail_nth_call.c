/* Makes one call into the system fail, in a program that was not built for it (LD_PRELOAD).
 *
 * Calls are distinguished by kind and by call stack, not by number: how often a measurement allocates depends
 * on the clock, from where it does so does not.
 *
 *   ULB_FAULTS_LOG=FILE           at exit, a line for each distinct stack: STACK KIND COUNT MODULE+OFFSET...
 *   ULB_FAULTS_FAIL=STACK:K       the K-th call with that stack fails (the first is 1)
 *   ULB_FAULTS_FAIL=KIND:K[+]     the K-th call of that kind, or of any; with + all later ones too
 *   ULB_FAULTS_FROM=MODULE        counts only what that program or library calls itself, or by the C library
 *   ULB_FAULTS_DONE=FILE          made when a call was made to fail
 *   ULB_FAULTS_CLOCK=FACTOR       the clock goes so many times as fast: measuring and waiting end sooner
 *
 * Failing calls set errno as the kernel would. Streams are the C library's own over reads and writes that can
 * fail, so that buffering and error flags behave as they do on a full disk. Programs started by this one are
 * left alone. */
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <dirent.h>
#include <time.h>
#include <unistd.h>

enum { FRAMES = 20, STACKS = 1 << 15 };

struct stack {
    uint64_t hash; /* 0: free */
    const char *kind;
    unsigned long count;
    int n_frames;
    void *frames[FRAMES];
};

static struct stack stacks[STACKS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static __thread bool inside; /* own calls do not count */
static bool counting, keep_failing;
static const char *log_path, *done_path;
static double clock_factor = 1;
static uint64_t wanted_stack;
static const char *wanted_kind, *wanted_module;
static unsigned long wanted_count, calls_of_kind;

/* The C library's function behind a wrapper of ours. */
#define REAL(name)                                                                                           \
    static __typeof__(&name) real;                                                                           \
    if (!real)                                                                                               \
    *(void **)&real = dlsym(RTLD_NEXT, #name)

/* Where an address lies in its module, wherever that was loaded. The linker's answers are kept: it is asked
 * for each frame of each call. */
static uintptr_t place_of(void *address, const char **module)
{
    enum { PLACES = 1 << 15 };
    static struct {
        void *address;
        const char *module;
        uintptr_t offset;
    } places[PLACES];
    size_t i = (uintptr_t)address * 0x9E3779B97F4A7C15u >> 49;
    if (places[i].address != address) {
        Dl_info info;
        places[i].address = address;
        places[i].module = "?";
        places[i].offset = 0;
        if (dladdr(address, &info) && info.dli_fname) {
            const char *slash = strrchr(info.dli_fname, '/');
            places[i].module = slash ? slash + 1 : info.dli_fname;
            places[i].offset = (uintptr_t)address - (uintptr_t)info.dli_fbase;
        }
    }
    *module = places[i].module;
    return places[i].offset;
}

static uint64_t mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * 0x9E3779B97F4A7C15u;
    return hash ^ hash >> 29;
}

/* PAPI is started by a child first and then by the program: the same call of the library's, whoever calls
 * that. The number of frames up to the last of the library, or all. */
static int within_library(void *const *frames, int n)
{
    int end = n;
    for (int i = 2; i < n; i++) {
        const char *module;
        place_of(frames[i], &module);
        if (strncmp(module, "libpapi", 7) == 0)
            end = i + 1;
    }
    return end;
}

static struct stack *find_stack(const char *kind)
{
    void *frames[FRAMES];
    int n = within_library(frames, backtrace(frames, FRAMES));
    uint64_t hash = (uintptr_t)kind[0];
    for (int i = 2; i < n; i++) { /* the first two are this file's */
        const char *module;
        uintptr_t offset = place_of(frames[i], &module);
        hash = mix(mix(hash, strlen(module)), offset);
    }
    hash += hash == 0;
    struct stack *stack = &stacks[hash % STACKS];
    while (stack->hash != 0 && (stack->hash != hash || stack->kind != kind))
        stack = stack + 1 < stacks + STACKS ? stack + 1 : stacks;
    if (stack->hash == 0) {
        *stack = (struct stack){.hash = hash, .kind = kind, .n_frames = n};
        memcpy(stack->frames, frames, sizeof frames);
    }
    return stack;
}

/* Whether the caller, but for the C library and a sanitizer's, is the module that counts. */
static bool from_wanted_module(void)
{
    void *frames[FRAMES];
    int n = backtrace(frames, FRAMES);
    for (int i = 3; wanted_module && i < n; i++) { /* those before are this file's */
        const char *module;
        place_of(frames[i], &module);
        if (strncmp(module, "libc.", 5) != 0 && strncmp(module, "libasan", 7) != 0)
            return strcmp(module, wanted_module) == 0;
    }
    return !wanted_module;
}

static bool chosen(const char *kind)
{
    bool fails = false;
    if (wanted_kind) {
        if ((strcmp(wanted_kind, "any") == 0 || strcmp(wanted_kind, kind) == 0) && from_wanted_module()) {
            calls_of_kind++;
            fails = calls_of_kind == wanted_count || (keep_failing && calls_of_kind > wanted_count);
        }
    } else if (log_path || wanted_stack) {
        struct stack *stack = find_stack(kind);
        stack->count++;
        fails = wanted_stack && stack->hash == wanted_stack && stack->count == wanted_count;
    }
    return fails;
}

/* Counts the call; whether it is the one that fails, with errno set. */
__attribute__((noinline)) static bool fails(const char *kind, int code)
{
    if (!counting || inside)
        return false;
    inside = true;
    pthread_mutex_lock(&lock);
    bool now = chosen(kind);
    pthread_mutex_unlock(&lock);
    inside = false;
    if (now) {
        counting = log_path || keep_failing;
        if (done_path)
            close((int)syscall(SYS_openat, AT_FDCWD, done_path, O_CREAT | O_WRONLY | O_CLOEXEC, 0666));
        errno = code;
    }
    return now;
}

/* ---- memory ---- */

/* Before main() memory comes from here: dlsym() itself allocates before its first answer is there, and a
 * sanitizer's library asks for memory before it can give any. */
static _Alignas(64) char early[4 << 20];
static size_t early_used;
static bool ready;

static void *early_memory(size_t bytes)
{
    size_t at = (early_used + 63) & ~(size_t)63;
    if (at + bytes > sizeof early)
        _exit(99);
    early_used = at + bytes;
    return early + at;
}

static bool is_early(const void *memory)
{
    return (const char *)memory >= early && (const char *)memory < early + sizeof early;
}

void *malloc(size_t bytes)
{
    if (!ready)
        return early_memory(bytes);
    REAL(malloc);
    return fails("malloc", ENOMEM) ? NULL : real(bytes);
}

void *calloc(size_t n, size_t bytes)
{
    if (!ready)
        return early_memory(n * bytes); /* zeroed: static */
    REAL(calloc);
    return fails("calloc", ENOMEM) ? NULL : real(n, bytes);
}

void *realloc(void *memory, size_t bytes)
{
    if (!ready && !memory)
        return early_memory(bytes);
    if (is_early(memory)) {
        void *moved = malloc(bytes);
        size_t rest = (size_t)(early + sizeof early - (char *)memory);
        return moved ? memcpy(moved, memory, bytes < rest ? bytes : rest) : NULL;
    }
    REAL(realloc);
    return fails("realloc", ENOMEM) ? NULL : real(memory, bytes);
}

void *aligned_alloc(size_t alignment, size_t bytes)
{
    REAL(aligned_alloc);
    return fails("aligned_alloc", ENOMEM) ? NULL : real(alignment, bytes);
}

int posix_memalign(void **memory, size_t alignment, size_t bytes)
{
    REAL(posix_memalign);
    return fails("posix_memalign", ENOMEM) ? ENOMEM : real(memory, alignment, bytes);
}

void free(void *memory)
{
    if (is_early(memory) || !memory)
        return;
    REAL(free);
    real(memory);
}

#define MMAP(name)                                                                                           \
    void *name(void *address, size_t bytes, int protection, int flags, int fd, off_t offset)                 \
    {                                                                                                        \
        REAL(name);                                                                                          \
        return fails("mmap", ENOMEM) ? MAP_FAILED : real(address, bytes, protection, flags, fd, offset);     \
    }
MMAP(mmap)
MMAP(mmap64)

/* ---- files ---- */

static int open_code(int flags)
{
    return (flags & O_CREAT) ? ENOSPC : EACCES;
}

static unsigned mode_of(int flags, va_list more)
{
    return (flags & (O_CREAT | O_TMPFILE)) ? va_arg(more, unsigned) : 0;
}

#define OPEN(name)                                                                                           \
    int name(const char *path, int flags, ...)                                                               \
    {                                                                                                        \
        REAL(name);                                                                                          \
        va_list more;                                                                                        \
        va_start(more, flags);                                                                               \
        unsigned mode = mode_of(flags, more);                                                                \
        va_end(more);                                                                                        \
        return fails("open", open_code(flags)) ? -1 : real(path, flags, mode);                               \
    }
OPEN(open)
OPEN(open64)

#define OPENAT(name)                                                                                         \
    int name(int folder, const char *path, int flags, ...)                                                   \
    {                                                                                                        \
        REAL(name);                                                                                          \
        va_list more;                                                                                        \
        va_start(more, flags);                                                                               \
        unsigned mode = mode_of(flags, more);                                                                \
        va_end(more);                                                                                        \
        return fails("open", open_code(flags)) ? -1 : real(folder, path, flags, mode);                       \
    }
OPENAT(openat)
OPENAT(openat64)

ssize_t read(int fd, void *buffer, size_t bytes)
{
    REAL(read);
    return fails("read", EIO) ? -1 : real(fd, buffer, bytes);
}

ssize_t pread(int fd, void *buffer, size_t bytes, off_t offset)
{
    REAL(pread);
    return fails("read", EIO) ? -1 : real(fd, buffer, bytes, offset);
}

ssize_t pread64(int fd, void *buffer, size_t bytes, off64_t offset)
{
    REAL(pread64);
    return fails("read", EIO) ? -1 : real(fd, buffer, bytes, offset);
}

ssize_t write(int fd, const void *buffer, size_t bytes)
{
    REAL(write);
    return fails("write", ENOSPC) ? -1 : real(fd, buffer, bytes);
}

ssize_t pwrite64(int fd, const void *buffer, size_t bytes, off64_t offset)
{
    REAL(pwrite64);
    return fails("write", ENOSPC) ? -1 : real(fd, buffer, bytes, offset);
}

DIR *opendir(const char *path)
{
    REAL(opendir);
    return fails("open", EACCES) ? NULL : real(path);
}

int scandir(const char *path, struct dirent ***entries, int (*wanted)(const struct dirent *),
            int (*order)(const struct dirent **, const struct dirent **))
{
    REAL(scandir);
    return fails("open", EACCES) ? -1 : real(path, entries, wanted, order);
}

int memfd_create(const char *name, unsigned flags)
{
    REAL(memfd_create);
    return fails("open", EMFILE) ? -1 : real(name, flags);
}

int pipe2(int ends[2], int flags)
{
    REAL(pipe2);
    return fails("open", EMFILE) ? -1 : real(ends, flags);
}

char *mkdtemp(char *path)
{
    REAL(mkdtemp);
    return fails("mkdir", EACCES) ? NULL : real(path);
}

int mkdir(const char *path, mode_t mode)
{
    REAL(mkdir);
    return fails("mkdir", EACCES) ? -1 : real(path, mode);
}

int rename(const char *from, const char *to)
{
    REAL(rename);
    return fails("rename", EIO) ? -1 : real(from, to);
}

int fsync(int fd)
{
    REAL(fsync);
    return fails("fsync", EIO) ? -1 : real(fd);
}

int fdatasync(int fd)
{
    REAL(fdatasync);
    return fails("fsync", EIO) ? -1 : real(fd);
}

#define FTRUNCATE(name)                                                                                      \
    int name(int fd, off_t bytes)                                                                            \
    {                                                                                                        \
        REAL(name);                                                                                          \
        return fails("write", ENOSPC) ? -1 : real(fd, bytes);                                                \
    }
FTRUNCATE(ftruncate)
FTRUNCATE(ftruncate64)

/* ---- streams ---- */

static ssize_t stream_read(void *cookie, char *buffer, size_t bytes)
{
    return read((int)(intptr_t)cookie, buffer, bytes);
}

/* 0 says an error here, unlike write(2). */
static ssize_t stream_write(void *cookie, const char *buffer, size_t bytes)
{
    ssize_t n = write((int)(intptr_t)cookie, buffer, bytes);
    return n < 0 ? 0 : n;
}

static int stream_seek(void *cookie, off64_t *offset, int whence)
{
    off64_t at = lseek64((int)(intptr_t)cookie, *offset, whence);
    if (at >= 0)
        *offset = at;
    return at < 0 ? -1 : 0;
}

static int stream_close(void *cookie)
{
    return close((int)(intptr_t)cookie);
}

static FILE *stream_over(int fd, const char *mode)
{
    const cookie_io_functions_t functions = {stream_read, stream_write, stream_seek, stream_close};
    return fopencookie((void *)(intptr_t)fd, mode, functions);
}

FILE *fdopen(int fd, const char *mode)
{
    return fails("fdopen", ENOMEM) ? NULL : stream_over(fd, mode);
}

static FILE *open_stream(const char *path, const char *mode)
{
    int flags = strchr(mode, '+') ? O_RDWR : mode[0] == 'r' ? O_RDONLY : O_WRONLY;
    flags |= mode[0] == 'r' ? 0 : O_CREAT | (mode[0] == 'a' ? O_APPEND : O_TRUNC);
    int fd = open(path, flags | O_CLOEXEC, 0666);
    if (fd < 0)
        return NULL;
    FILE *stream = stream_over(fd, mode);
    if (!stream)
        close(fd);
    return stream;
}

FILE *fopen(const char *path, const char *mode)
{
    return open_stream(path, mode);
}

FILE *fopen64(const char *path, const char *mode)
{
    return open_stream(path, mode);
}

/* ---- threads, processes, counters ---- */

int sched_setaffinity(pid_t thread, size_t bytes, const cpu_set_t *set)
{
    REAL(sched_setaffinity);
    return fails("affinity", EPERM) ? -1 : real(thread, bytes, set);
}

int sched_getaffinity(pid_t thread, size_t bytes, cpu_set_t *set)
{
    REAL(sched_getaffinity);
    return fails("affinity", EPERM) ? -1 : real(thread, bytes, set);
}

int pthread_setaffinity_np(pthread_t thread, size_t bytes, const cpu_set_t *set)
{
    REAL(pthread_setaffinity_np);
    return fails("affinity", EPERM) ? EPERM : real(thread, bytes, set);
}

int pthread_getaffinity_np(pthread_t thread, size_t bytes, cpu_set_t *set)
{
    REAL(pthread_getaffinity_np);
    return fails("affinity", EPERM) ? EPERM : real(thread, bytes, set);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *arg)
{
    REAL(pthread_create);
    return fails("thread", EAGAIN) ? EAGAIN : real(thread, attributes, start, arg);
}

int posix_spawnp(pid_t *child, const char *file, const posix_spawn_file_actions_t *actions,
                 const posix_spawnattr_t *attributes, char *const arguments[], char *const environment[])
{
    REAL(posix_spawnp);
    return fails("spawn", EAGAIN) ? EAGAIN : real(child, file, actions, attributes, arguments, environment);
}

pid_t fork(void)
{
    REAL(fork);
    return fails("spawn", EAGAIN) ? -1 : real();
}

/* The C library has no perf_event_open(). */
long syscall(long number, ...)
{
    static long (*real)(long, ...);
    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "syscall");
    long a[6];
    va_list more;
    va_start(more, number);
    for (int i = 0; i < 6; i++)
        a[i] = va_arg(more, long);
    va_end(more);
    if (number == SYS_perf_event_open && fails("perf", EACCES))
        return -1;
    return real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

/* ---- the clock ---- */

enum { CLOCKS = CLOCK_BOOTTIME + 1 };
static struct timespec clock_begins[CLOCKS];

static void hasten_clock(const char *factor)
{
    for (clockid_t id = 0; id < CLOCKS; id++)
        clock_gettime(id, &clock_begins[id]);
    clock_factor = factor ? strtod(factor, NULL) : 1;
}

int clock_gettime(clockid_t id, struct timespec *time)
{
    REAL(clock_gettime);
    int code = real(id, time);
    if (code != 0 || clock_factor == 1 || id < 0 || id >= CLOCKS)
        return code;
    const struct timespec *begin = &clock_begins[id];
    double since = (double)(time->tv_sec - begin->tv_sec) * 1e9 + (double)(time->tv_nsec - begin->tv_nsec);
    double now = (double)begin->tv_nsec + since * clock_factor;
    time->tv_sec = begin->tv_sec + (time_t)(now / 1e9);
    time->tv_nsec = (long)(now - 1e9 * (double)(time_t)(now / 1e9));
    return 0;
}

/* ---- beginning and end ---- */

static void parse_wish(const char *wish)
{
    char *end;
    const char *colon = strchr(wish, ':');
    if (!colon)
        return;
    wanted_count = strtoul(colon + 1, &end, 10);
    keep_failing = *end == '+';
    wanted_stack = strtoull(wish, &end, 16);
    if (end == colon)
        return;
    wanted_stack = 0;
    wanted_kind = strndup(wish, (size_t)(colon - wish));
}

__attribute__((constructor)) static void begin(void)
{
    void *frames[4];
    ready = true;
    backtrace(frames, 4);        /* loads the unwinder */
    free(realloc(malloc(1), 2)); /* looked up now: dlsym() inside of */
    syscall(SYS_getpid);         /* dlerror() frees what that returns */
    log_path = getenv("ULB_FAULTS_LOG");
    done_path = getenv("ULB_FAULTS_DONE");
    wanted_module = getenv("ULB_FAULTS_FROM");
    hasten_clock(getenv("ULB_FAULTS_CLOCK"));
    const char *wish = getenv("ULB_FAULTS_FAIL");
    if (wish)
        parse_wish(wish);
    unsetenv("LD_PRELOAD");
    FILE *output = stream_over(STDOUT_FILENO, "w");
    if (output)
        stdout = output;
    counting = log_path || wish;
}

__attribute__((destructor)) static void end(void)
{
    fflush(stdout);
    counting = false;
    if (!log_path)
        return;
    FILE *log = fopen(log_path, "w");
    for (size_t i = 0; log && i < STACKS; i++) {
        const struct stack *stack = &stacks[i];
        if (stack->hash == 0)
            continue;
        fprintf(log, "%016llx %s %lu", (unsigned long long)stack->hash, stack->kind, stack->count);
        for (int f = 2; f < stack->n_frames; f++) {
            const char *module;
            uintptr_t offset = place_of(stack->frames[f], &module);
            fprintf(log, " %s+0x%lx", module, (unsigned long)offset);
        }
        fprintf(log, "\n");
    }
    if (log)
        fclose(log);
}
