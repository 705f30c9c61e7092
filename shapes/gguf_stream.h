/* Internal to shapes/: bounded, buffered reading of a GGUF header. The first failure stays: what is read
 * after it is 0, so that callers check once per item. */
#ifndef ULB_SHAPES_GGUF_STREAM_H
#define ULB_SHAPES_GGUF_STREAM_H

#include "common/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ULB_GGUF_STRING_MAX = 128, ULB_GGUF_DIMS = 4 };

/* Types of metadata values, as in the file. */
enum ulb_gguf_type {
    ULB_GGUF_U8,
    ULB_GGUF_I8,
    ULB_GGUF_U16,
    ULB_GGUF_I16,
    ULB_GGUF_U32,
    ULB_GGUF_I32,
    ULB_GGUF_F32,
    ULB_GGUF_BOOL,
    ULB_GGUF_STRING,
    ULB_GGUF_ARRAY,
    ULB_GGUF_U64,
    ULB_GGUF_I64,
    ULB_GGUF_F64,
    ULB_GGUF_TYPES
};

struct ulb_gguf_stream {
    int fd;
    uint64_t size; /* of the file, or of the longest header that is read */
    uint64_t file_bytes;
    bool cut;     /* size is the latter */
    bool swapped; /* big-endian */
    unsigned version;
    uint64_t tensors, pairs;
    uint64_t at; /* of the next byte */
    uint8_t buffer[1 << 16];
    uint64_t buffer_at;
    size_t buffered;
    enum ulb_status status;
    struct ulb_error *err;
};

/* Reads the fixed part: magic, version, counts. */
enum ulb_status ulb_gguf_open(struct ulb_gguf_stream *s, int fd, struct ulb_error *err);

/* Formats the message, unless something failed before. */
void ulb_gguf_fail(struct ulb_gguf_stream *s, const char *format, ...) __attribute__((format(printf, 2, 3)));

uint32_t ulb_gguf_u32(struct ulb_gguf_stream *s);
uint64_t ulb_gguf_u64(struct ulb_gguf_stream *s);

/* A string, cut to what fits; its whole length. */
uint64_t ulb_gguf_string(struct ulb_gguf_stream *s, char out[ULB_GGUF_STRING_MAX]);

/* A number or truth value of that type. */
double ulb_gguf_number(struct ulb_gguf_stream *s, uint32_t type);

/* Passes over a value of that type; arrays may nest a few levels. */
void ulb_gguf_skip(struct ulb_gguf_stream *s, uint32_t type);

/* An array of numbers: the largest, the sum, how many there are, and whether all are the same; an array of
 * strings is passed over and counted. */
struct ulb_gguf_list {
    uint64_t n;
    double largest, sum;
    bool same, numbers;
};
struct ulb_gguf_list ulb_gguf_list(struct ulb_gguf_stream *s);

#endif
