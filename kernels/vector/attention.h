/* Attention of query rows over a cache of keys and values, piece by piece.
 *
 * The cache of a head consists of pieces of ULB_KV_PIECE positions, keys before values. Both halves are
 * groups of ULB_KV_LINES lines of ULB_KV_LINES elements:
 *
 *     keys    [block][group of dims]:  a line is one dim, its elements are the block's positions
 *     values  [group of dims][block]:  a line is one position, its elements are the group's dims
 *
 * where a block is ULB_KV_LINES positions. A query multiplies whole vectors in both, no sum crosses a vector,
 * and all are read front to back. Dims are padded to whole groups. A word of 32 bits holds an element of
 * 2 lines (bf16), 4 (q8_0) or 8 (q4_0).
 *
 * Types with scales have one fp16 scale for each position of a group. Those of keys precede each group. Those
 * of values are needed earlier. They precede, for all blocks, the codes of the group of dims before.
 *
 * q8_0 and q4_0 are multiplied in integers of 16 bits. A query is rounded to steps of its largest / 32767. So
 * are a row's weights times the scales of a group. The error is at most half a step for each element.
 * Sums of products are exact. bf16 is multiplied in bf16 where the CPU has its dot products: queries and
 * weights are then rounded to it.
 *
 * One source, kernels/vector/attention.c, is compiled for each instruction set. A row's results do not depend
 * on the rows beside it. Nothing here starts a thread, allocates or keeps state. */
#ifndef ULB_KERNELS_VECTOR_ATTENTION_H
#define ULB_KERNELS_VECTOR_ATTENTION_H

#include "common/isa.h"

#include <stdbool.h>
#include <stddef.h>

/* Between two pieces, and between keys and values of one, a thread does not read. Smaller pieces cost
 * bandwidth, larger ones leave threads fewer tasks to share. */
enum { ULB_KV_LINES = 32, ULB_KV_PIECE = 256, ULB_KV_BLOCKS = ULB_KV_PIECE / ULB_KV_LINES };

/* How an element of the cache is kept. q8_0 and q4_0 are those of GGUF. 32 dims of a position have one fp16
 * scale. Codes are -127 to 127, or -8 to 7. */
enum ulb_kv_type { ULB_KV_BF16, ULB_KV_Q8_0, ULB_KV_Q4_0, ULB_KV_FP32, ULB_KV_TYPES };

const char *ulb_kv_type_name(enum ulb_kv_type type);
bool ulb_kv_type_parse(const char *name, enum ulb_kv_type *type);

/* Dims rounded up to whole groups. */
size_t ulb_kv_padded(size_t dims);
/* Bytes of one half (keys or values) of a piece of one head. */
size_t ulb_kv_half_bytes(enum ulb_kv_type type, size_t dims);
/* Bytes that key and value of one position take, scales included, padding not. */
size_t ulb_kv_position_bytes(enum ulb_kv_type type, size_t dims);

/* Rows of queries with the half of a piece that they meet. */
struct ulb_kv_rows {
    enum ulb_kv_type type;
    size_t dims;            /* padded */
    size_t rows;            /* any number */
    size_t begin, end;      /* blocks of the piece */
    size_t seen;            /* positions of the piece up to the last seen one, which is in block end - 1 */
    const float *const *in; /* [rows]: queries as query() leaves them; or weights of ULB_KV_PIECE */
    float *const *out;      /* [rows]: scores of ULB_KV_PIECE; or sums of dims */
    const void *half;
};

/* What the sums before a piece are multiplied by, and its own. */
struct ulb_kv_shares {
    float keep, take;
};

/* Further pieces of a row: their sums, padded, lie `distance` floats apart. */
struct ulb_kv_pieces {
    size_t n;
    const struct ulb_kv_shares *shares; /* [n] */
    const float *sums;
    size_t distance;
};

struct ulb_attention_ops {
    const char *isa;
    ulb_isa_set needs;

    /* Puts a key or value x of dims (not padded) at a position of a piece. */
    void (*store)(enum ulb_kv_type type, bool value, const float *x, size_t dims, size_t position,
                  void *half);
    /* Makes a query of factor * x, of dims (not padded): out has room for padded floats, in the form that
     * scores() of this table reads. */
    void (*query)(enum ulb_kv_type type, const float *x, float factor, size_t dims, float *out);
    /* out[row][p] = sum over d of in[row][d] * key[p][d], of all positions of the blocks. */
    void (*scores)(const struct ulb_kv_rows *rows);
    /* out[row][d] = sum over p of in[row][p] * value[p][d], of the blocks' positions before `seen`. in[row]
     * is 0 for the others. */
    void (*sums)(const struct ulb_kv_rows *rows);
    /* out[d] = out[d] * keep + sums[d] * take, piece after piece; out has dims (not padded). Pieces together
     * give the same bits as one by one. */
    void (*merge)(const struct ulb_kv_pieces *pieces, size_t dims, float *out);
};

/* The widest table that these instruction sets can run; there is always one. */
const struct ulb_attention_ops *ulb_attention_ops(ulb_isa_set isa);

#endif
