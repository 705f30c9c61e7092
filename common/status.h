/* Error convention of the whole project.
 *
 * A function that can fail returns enum ulb_status and takes a struct ulb_error as its last argument.
 * On failure the error holds one line that names the file or value concerned and the remedy; nothing is
 * printed below the command line layer (harness/cli), which maps the status to an exit code. */
#ifndef ULB_COMMON_STATUS_H
#define ULB_COMMON_STATUS_H

#ifdef __cplusplus
extern "C" {
#endif

enum ulb_status {
    ULB_OK = 0,
    ULB_FINDING,   /* the work was done and its finding is bad: a kernel differs, a value is out of bounds */
    ULB_BAD_INPUT, /* wrong option, unknown name, missing or malformed input file */
    ULB_ENVIRONMENT, /* the machine does not allow it: memory, permission, missing program, full disk */
    ULB_UNDECIDED,   /* the work was done, and what it found allows no answer */
    ULB_INTERRUPTED, /* SIGINT or SIGTERM; what was measured is kept */
};

struct ulb_error {
    char message[512];
};

/* Formats the message into err and returns status, so that callers write `return ulb_fail(...)`. */
enum ulb_status ulb_fail(struct ulb_error *err, enum ulb_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Puts context in front of a message already there ("platforms/x.json: ..."); returns status. */
enum ulb_status ulb_fail_prefix(struct ulb_error *err, enum ulb_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Process exit code of a status: 0, 1, 2, 3, 4 or 130. */
int ulb_exit_code(enum ulb_status status);

#ifdef __cplusplus
}
#endif

#endif
