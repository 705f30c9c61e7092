/* Compiling and disassembling a device kernel by Intel's offline compiler. */
#include "common/slurp.h"
#include "common/temporary_folder.h"
#include "harness/counters/run_program.h"
#include "harness/opencl/device_offline.h"

#include <fnmatch.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const double TIMEOUT_SECONDS = 120;
enum { ASSEMBLY_BYTES_MOST = 64 << 20, PLACES_BYTES = 8192 };

/* What a build happens in, and what it is built for. */
struct offline {
    const char *target;
    const char *ocloc;
    char folder[PATH_MAX];
    char libraries[PLACES_BYTES]; /* "LD_LIBRARY_PATH=..." */
};

static enum ulb_status no_folder(const struct offline *offline, struct ulb_error *err)
{
    return ulb_fail(err, ULB_ENVIRONMENT, "no folder for ocloc could be made in %s; TMPDIR names another",
                    offline->folder);
}

/* The disassembler opens libiga64.so, and packages have libiga64.so.1 alone. */
static void link_disassembler(const struct offline *offline, const char *places)
{
    char all[PLACES_BYTES], link[PATH_MAX + 16], file[PATH_MAX], *rest = all;
    snprintf(all, sizeof all, "%s:/usr/lib/x86_64-linux-gnu", places);
    snprintf(link, sizeof link, "%s/libiga64.so", offline->folder);
    for (const char *place; (place = strsep(&rest, ":")) != NULL;) {
        snprintf(file, sizeof file, "%s/libiga64.so.1", place);
        if (*place && access(file, R_OK) == 0 && symlink(file, link) == 0)
            return;
    }
}

static enum ulb_status offline_open(struct offline *offline, const char *target, struct ulb_error *err)
{
    const char *ocloc = getenv("ULB_OCLOC"), *places = getenv("LD_LIBRARY_PATH");
    *offline = (struct offline){.target = target, .ocloc = ocloc && *ocloc ? ocloc : "ocloc"};
    if (!ulb_temporary_folder_make(offline->folder, "ulb-ocloc"))
        return no_folder(offline, err);
    snprintf(offline->libraries, sizeof offline->libraries, "LD_LIBRARY_PATH=%s:%s", offline->folder,
             places ? places : "");
    link_disassembler(offline, places ? places : "");
    return ULB_OK;
}

static enum ulb_status write_source(const struct offline *offline, const struct ulb_device_file *file,
                                    struct ulb_error *err)
{
    const unsigned char *const texts[] = {ulb_opencl_lanes, ulb_opencl_matrix, file->source,
                                          ulb_opencl_product};
    char path[PATH_MAX + 16];
    snprintf(path, sizeof path, "%s/kernel.cl", offline->folder);
    FILE *out = fopen(path, "we");
    bool written = out != NULL;
    for (size_t i = 0; i < sizeof texts / sizeof *texts && written; i++)
        written = fputs((const char *)texts[i], out) >= 0;
    if (out)
        written = fclose(out) == 0 && written;
    return written ? ULB_OK : no_folder(offline, err);
}

static enum ulb_status run(const struct offline *offline, const char *const words[], size_t n,
                           struct ulb_error *err)
{
    const char *arguments[24] = {"env", offline->libraries, offline->ocloc};
    char *output = NULL;
    memcpy(arguments + 3, words, n * sizeof *words);
    enum ulb_status status =
        ulb_run_program((char *const *)(uintptr_t)arguments, NULL, 0, TIMEOUT_SECONDS, &output, err);
    bool spills = status == ULB_OK && output && strcasestr(output, "spill");
    free(output);
    if (status != ULB_OK && strstr(err->message, "could not be started"))
        return ulb_fail(err, status, "%s is missing; install intel-opencl-icd, or name another by ULB_OCLOC",
                        offline->ocloc);
    if (status != ULB_OK)
        return ulb_fail(
            err, status,
            "%s cannot %s the kernel for %s, or does not know that target; '%s compile --help' names "
            "those that it knows",
            offline->ocloc, strcmp(words[0], "compile") == 0 ? "compile" : "disassemble", offline->target,
            offline->ocloc);
    return spills ? ulb_fail(err, ULB_ENVIRONMENT, "%s: the kernel spills registers on %s", offline->ocloc,
                             offline->target)
                  : ULB_OK;
}

static enum ulb_status compile(const struct offline *offline, const char *options, struct ulb_error *err)
{
    char source[PATH_MAX + 16], all[512];
    snprintf(source, sizeof source, "%s/kernel.cl", offline->folder);
    snprintf(all, sizeof all, "-cl-std=CL2.0 %s", options);
    const char *const words[] = {"compile",       "-file",    source,   "-device",
                                 offline->target, "-output",  "kernel", "-out_dir",
                                 offline->folder, "-options", all};
    return run(offline, words, sizeof words / sizeof *words, err);
}

/* What a walk of the folder looks for: nftw has no argument for it. */
static _Thread_local const char *wanted_name;
static _Thread_local char found_path[PATH_MAX];

static int find_one(const char *path, const struct stat *status, int type, struct FTW *at)
{
    (void)status;
    if (type != FTW_F || fnmatch(wanted_name, path + at->base, 0) != 0)
        return 0;
    snprintf(found_path, sizeof found_path, "%s", path);
    return 1;
}

static const char *find_file(const struct offline *offline, const char *pattern)
{
    wanted_name = pattern;
    return nftw(offline->folder, find_one, 8, FTW_PHYS) == 1 ? found_path : NULL;
}

static enum ulb_status disassemble(const struct offline *offline, char **text, size_t *bytes,
                                   struct ulb_error *err)
{
    char dump[PATH_MAX + 16], binary[PATH_MAX];
    const char *path = find_file(offline, "kernel*.bin");
    if (!path)
        return ulb_fail(err, ULB_ENVIRONMENT, "%s wrote no binary for %s; take another by ULB_OCLOC",
                        offline->ocloc, offline->target);
    snprintf(binary, sizeof binary, "%s", path);
    snprintf(dump, sizeof dump, "%s/dump", offline->folder);
    const char *const words[] = {"disasm", "-file", binary, "-device", offline->target, "-dump", dump};
    enum ulb_status status = run(offline, words, sizeof words / sizeof *words, err);
    path = status == ULB_OK ? find_file(offline, "*product*.asm") : NULL;
    if (status == ULB_OK && !path)
        return ulb_fail(err, ULB_ENVIRONMENT,
                        "%s does not disassemble: libiga64.so.1 is missing; install libigc1", offline->ocloc);
    return status == ULB_OK ? ulb_slurp(path, ASSEMBLY_BYTES_MOST, text, bytes, err) : status;
}

enum ulb_status ulb_offline_count(const struct ulb_device_choice *choice, const char *target,
                                  struct ulb_device_loop *loop, struct ulb_error *err)
{
    char name[ULB_KERNEL_NAME_MAX], options[320], *text = NULL;
    size_t bytes = 0;
    struct offline offline;
    ulb_device_kernel_name(choice->kernel, choice->path, name);
    if (choice->path >= ULB_PATH_DP4A)
        return ulb_fail(err, ULB_BAD_INPUT,
                        "%s has no matrix instructions, which a target's bound is made of", name);
    enum ulb_status status = offline_open(&offline, target, err);
    if (status != ULB_OK)
        return status;
    ulb_device_options(choice->kernel, choice->path, ulb_offline_lanes(target), false, options,
                       sizeof options);
    status = write_source(&offline, choice->file, err);
    if (status == ULB_OK)
        status = compile(&offline, options, err);
    if (status == ULB_OK)
        status = disassemble(&offline, &text, &bytes, err);
    if (status == ULB_OK)
        status = ulb_offline_parse(text, bytes, loop, err);
    free(text);
    ulb_temporary_folder_remove(offline.folder);
    return status;
}
