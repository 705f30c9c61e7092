#include "shapes/gguf_stream.h"

#include "shapes/load.h"

#include <byteswap.h>
#include <endian.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    NESTING_MAX = 4,
    PAIR_BYTES_MIN = 13,
    TENSOR_BYTES_MIN = 24,
    TENSORS_MAX = 100000,
    PAIRS_MAX = 1 << 16,
    NUMBERS_MAX = 1 << 16
};

/* Bytes of a value; 0 where that depends on the value. */
static const uint8_t widths[ULB_GGUF_TYPES] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};

void ulb_gguf_fail(struct ulb_gguf_stream *s, const char *format, ...)
{
    if (s->status != ULB_OK)
        return;
    va_list args;
    va_start(args, format);
    vsnprintf(s->err->message, sizeof s->err->message, format, args);
    va_end(args);
    s->status = ULB_BAD_INPUT;
}

/* True when so many more bytes are there. */
static bool has(struct ulb_gguf_stream *s, uint64_t bytes)
{
    if (s->status == ULB_OK && bytes > s->size - s->at)
        ulb_gguf_fail(
            s,
            s->cut ? "byte %" PRIu64 ": an item of %" PRIu64 " bytes leaves the %d MiB that a header "
                     "may have; the file is damaged"
                   : "byte %" PRIu64 ": an item of %" PRIu64 " bytes leaves the file; it is cut off or "
                     "damaged",
            s->at, bytes, ULB_GGUF_HEADER_MAX >> 20);
    return s->status == ULB_OK;
}

static void fill(struct ulb_gguf_stream *s)
{
    ssize_t got;
    do
        got = pread(s->fd, s->buffer, sizeof s->buffer, (off_t)s->at);
    while (got < 0 && errno == EINTR);
    if (got <= 0)
        ulb_gguf_fail(s, "byte %" PRIu64 " could not be read: %s", s->at,
                      got < 0 ? strerror(errno) : "it ends");
    s->buffer_at = s->at;
    s->buffered = got > 0 ? (size_t)got : 0;
}

/* The next bytes that the buffer holds, at most so many. */
static size_t buffered(struct ulb_gguf_stream *s, size_t most, const uint8_t **bytes)
{
    uint64_t skip = s->at - s->buffer_at;
    if (s->at < s->buffer_at || skip >= s->buffered)
        return 0;
    *bytes = s->buffer + skip;
    size_t n = s->buffered - (size_t)skip;
    return n < most ? n : most;
}

static void take(struct ulb_gguf_stream *s, void *out, size_t bytes)
{
    const uint8_t *from;
    size_t done = 0;
    has(s, bytes);
    while (s->status == ULB_OK && done < bytes) {
        size_t n = buffered(s, bytes - done, &from);
        if (n == 0) {
            fill(s);
            continue;
        }
        memcpy((char *)out + done, from, n);
        done += n;
        s->at += n;
    }
    if (s->status != ULB_OK)
        memset(out, 0, bytes);
}

static void pass(struct ulb_gguf_stream *s, uint64_t bytes)
{
    if (has(s, bytes))
        s->at += bytes;
}

static uint64_t unsigned_of(struct ulb_gguf_stream *s, size_t bytes)
{
    uint8_t raw[8] = {0};
    uint64_t value = 0;
    take(s, raw, bytes);
    for (size_t i = 0; i < bytes; i++)
        value |= (uint64_t)raw[i] << 8 * (s->swapped ? bytes - 1 - i : i);
    return value;
}

uint32_t ulb_gguf_u32(struct ulb_gguf_stream *s)
{
    return (uint32_t)unsigned_of(s, 4);
}

uint64_t ulb_gguf_u64(struct ulb_gguf_stream *s)
{
    return unsigned_of(s, 8);
}

enum ulb_status ulb_gguf_open(struct ulb_gguf_stream *s, int fd, struct ulb_error *err)
{
    struct stat info;
    char magic[4];
    *s = (struct ulb_gguf_stream){.fd = fd, .err = err};
    if (fstat(fd, &info) != 0)
        return ulb_fail(err, ULB_BAD_INPUT, "its size is not known: %s", strerror(errno));
    s->size = s->file_bytes = (uint64_t)info.st_size;
    s->cut = s->size > ULB_GGUF_HEADER_MAX;
    if (s->cut)
        s->size = ULB_GGUF_HEADER_MAX;
    take(s, magic, sizeof magic);
    if (s->status == ULB_OK && memcmp(magic, "GGUF", 4) != 0)
        ulb_gguf_fail(s, "does not begin with GGUF");
    uint32_t version = ulb_gguf_u32(s);
    s->swapped = version > 0xFFFF;
    s->version = s->swapped ? bswap_32(version) : version;
    if (s->version == 1)
        ulb_gguf_fail(s, "is GGUF version 1, which a few weeks of 2023 wrote; convert the model anew");
    if (s->version != 2 && s->version != 3)
        ulb_gguf_fail(s, "is GGUF version %u; 2 and 3 are known", s->version);
    s->tensors = ulb_gguf_u64(s);
    s->pairs = ulb_gguf_u64(s);
    if (s->tensors > TENSORS_MAX || s->tensors > s->size / TENSOR_BYTES_MIN)
        ulb_gguf_fail(s, "claims %" PRIu64 " tensors, more than it can hold; the file is damaged",
                      s->tensors);
    if (s->pairs > PAIRS_MAX || s->pairs > s->size / PAIR_BYTES_MIN)
        ulb_gguf_fail(s, "claims %" PRIu64 " metadata keys, more than it can hold; the file is damaged",
                      s->pairs);
    return s->status;
}

uint64_t ulb_gguf_string(struct ulb_gguf_stream *s, char out[ULB_GGUF_STRING_MAX])
{
    uint64_t length = ulb_gguf_u64(s);
    size_t kept = length < ULB_GGUF_STRING_MAX ? (size_t)length : ULB_GGUF_STRING_MAX - 1;
    out[0] = '\0';
    if (!has(s, length))
        return 0;
    take(s, out, kept);
    out[kept] = '\0';
    pass(s, length - kept);
    return length;
}

static double float_of(uint64_t bits, size_t bytes)
{
    uint32_t narrow_bits = (uint32_t)bits;
    float narrow;
    double wide;
    memcpy(&narrow, &narrow_bits, sizeof narrow);
    memcpy(&wide, &bits, sizeof wide);
    return bytes == sizeof narrow ? (double)narrow : wide;
}

double ulb_gguf_number(struct ulb_gguf_stream *s, uint32_t type)
{
    if (type >= ULB_GGUF_TYPES || widths[type] == 0) {
        ulb_gguf_fail(s, "byte %" PRIu64 ": a number is wanted, and type %u is none", s->at, type);
        return 0;
    }
    unsigned bits = 8 * widths[type];
    uint64_t value = unsigned_of(s, widths[type]);
    if (type == ULB_GGUF_F32 || type == ULB_GGUF_F64)
        return float_of(value, widths[type]);
    bool is_signed =
        type == ULB_GGUF_I8 || type == ULB_GGUF_I16 || type == ULB_GGUF_I32 || type == ULB_GGUF_I64;
    if (is_signed && value >> (bits - 1) & 1)
        return -(double)((~value & UINT64_MAX >> (64 - bits)) + 1);
    return (double)value;
}

/* Element type and length of an array. Every element has a byte at least, so that the length is bounded. */
static uint64_t array_head(struct ulb_gguf_stream *s, uint32_t *type)
{
    *type = ulb_gguf_u32(s);
    uint64_t n = ulb_gguf_u64(s);
    if (s->status == ULB_OK && *type >= ULB_GGUF_TYPES)
        ulb_gguf_fail(s, "byte %" PRIu64 ": an array of type %u, which is not known", s->at - 12, *type);
    if (s->status == ULB_OK && n > s->size - s->at)
        ulb_gguf_fail(s, "byte %" PRIu64 ": an array of %" PRIu64 " elements leaves the file; it is damaged",
                      s->at - 8, n);
    return s->status == ULB_OK ? n : 0;
}

static void skip_nested(struct ulb_gguf_stream *s, uint32_t type, unsigned level)
{
    if (type >= ULB_GGUF_TYPES || level > NESTING_MAX) {
        ulb_gguf_fail(s,
                      level > NESTING_MAX ? "byte %" PRIu64 ": arrays in arrays, type %u and deeper"
                                          : "byte %" PRIu64 ": value of type %u, which is not known",
                      s->at, type);
    } else if (type == ULB_GGUF_STRING) {
        pass(s, ulb_gguf_u64(s));
    } else if (type == ULB_GGUF_ARRAY) {
        uint32_t of;
        uint64_t n = array_head(s, &of);
        if (s->status == ULB_OK && widths[of] > 0) {
            pass(s, n * widths[of]);
            return;
        }
        for (uint64_t i = 0; i < n && s->status == ULB_OK; i++)
            skip_nested(s, of, level + 1);
    } else {
        pass(s, widths[type]);
    }
}

void ulb_gguf_skip(struct ulb_gguf_stream *s, uint32_t type)
{
    skip_nested(s, type, 0);
}

struct ulb_gguf_list ulb_gguf_list(struct ulb_gguf_stream *s)
{
    uint32_t type;
    struct ulb_gguf_list list = {.n = array_head(s, &type), .largest = -INFINITY, .same = true};
    double first = 0;
    list.numbers = s->status == ULB_OK && widths[type] > 0;
    if (list.numbers && list.n > NUMBERS_MAX)
        ulb_gguf_fail(s, "byte %" PRIu64 ": %" PRIu64 " numbers where there is one a layer", s->at, list.n);
    for (uint64_t i = 0; i < list.n && s->status == ULB_OK; i++) {
        if (!list.numbers) {
            skip_nested(s, type, 1);
            continue;
        }
        double value = ulb_gguf_number(s, type);
        first = i == 0 ? value : first;
        list.same &= value == first;
        list.sum += value;
        list.largest = value > list.largest ? value : list.largest;
    }
    return list;
}
