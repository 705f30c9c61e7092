/* What a run is to do, as the command line filled it in. */
#ifndef ULB_HARNESS_SESSION_SETTINGS_H
#define ULB_HARNESS_SESSION_SETTINGS_H

#include "common/isa.h"
#include "harness/threads/split.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What is measured: one stage, some, or the whole run, which is all of them but the GEMMs and decoding. */
enum ulb_stage {
    ULB_STAGE_COUNT,       /* instructions alone, nothing by a clock */
    ULB_STAGE_DEVICE,      /* what the settings' device can do, nothing of the CPU */
    ULB_STAGE_DEVICE_GEMV, /* DEVICE, and products on it */
    ULB_STAGE_DEVICE_GEMM,
    ULB_STAGE_BETA,
    ULB_STAGE_MEMORY, /* beta at memory level alone */
    ULB_STAGE_GAMMA,
    ULB_STAGE_LIMITS,  /* MEMORY and GAMMA: what a roofline is drawn from */
    ULB_STAGE_FORMATS, /* LIMITS, and formats side by side */
    ULB_STAGE_GEMV,
    ULB_STAGE_GEMM,
    ULB_STAGE_ALL, /* BETA, GAMMA and GEMV */
    ULB_STAGE_DECODE,
};

/* Given to the caller while a measurement goes on: stage, the share of it that is done (0..1), and the most
 * that memory gave so far, in GB/s. 0: not known yet. */
typedef void ulb_progress_fn(void *context, const char *stage, double done, double gbps);

struct ulb_decode_settings; /* harness/decode/measure_decode.h */
struct ulb_turns;           /* harness/grid/take_turns.h */

/* The checkpoint of a run: what it has measured so far (harness/session/checkpoint.h). */
struct ulb_checkpoint {
    char *record; /* the file, the caller's; NULL: no checkpoint. A new run changes a name that is taken */
    size_t record_bytes; /* room for it */
    const char *pass;    /* "" or "-aa": which journal of the record */
    bool resume;         /* go on with the record that is there */
};

/* What memory gave an earlier run on this machine. */
struct ulb_earlier_memory {
    double gbps;      /* 0: there is none */
    unsigned threads; /* that read so */
    char set[64], created[32];
};

struct ulb_settings {
    const char *device;    /* as --device names it; NULL: the CPU */
    const char *set;       /* "P", "E", "LP-E", "all" or a PU list */
    const char *models;    /* comma list, NULL: the default three */
    const char *shapes;    /* comma list of MxK, NULL: none; with models NULL these alone */
    const char *tokens;    /* comma list of N of the GEMMs, NULL: the default */
    const char *formats;   /* comma list, NULL: all */
    const char *libraries; /* of further kernels, comma list, as loaded; said in the record; NULL: none */
    const char *kernels;   /* regular expression on the kernel's name, NULL: all but the scalar reference */
    enum ulb_split
        splits[ULB_SPLITS]; /* decode alone takes several, in turn at every token; others the first */
    size_t n_splits; /* 0: static on a homogeneous machine, dynamic on a hybrid one; the session makes it 1 */
    bool quick, warm;
    bool best_kernels;   /* of a whole run: of each format the fastest alone; else all */
    bool aa;             /* the grid is measured a second time; said in the record */
    const char *command; /* "run", "gemv"...; said in the record; NULL: nothing */
    struct ulb_checkpoint checkpoint;
    struct ulb_earlier_memory earlier[2]; /* its speeds */
    ulb_isa_set isa_mask;                 /* bits not to be used */
    double call_timeout_s; /* of one call of a kernel of others, 0: by the scalar reference's; of one launch
                              on a device, 0: a minute */
    uint64_t seed;
    size_t ring_bytes;                        /* 0: max(2 GiB, 4 x LLC) */
    const struct ulb_decode_settings *decode; /* of ULB_STAGE_DECODE */
    const struct ulb_turns *turns; /* a grid in turn with another program's; NULL: in rounds of its own */
    ulb_progress_fn *progress;
    void *progress_context;
};

/* Whether it is one of those that the settings name. */
bool ulb_takes_split(const struct ulb_settings *settings, enum ulb_split split);

#endif
