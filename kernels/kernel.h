/* Kernels as data: one struct ulb_kernel says what a kernel reads, needs, costs and how to run it.
 *
 * Names: M = output features (rows of W), K = input features, N = tokens; GEMV is N = 1. A kernel never
 * starts a thread, reads a clock, allocates, prints or keeps state. */
#ifndef ULB_KERNELS_KERNEL_H
#define ULB_KERNELS_KERNEL_H

#include "common/isa.h"
#include "common/mix.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#define _Static_assert static_assert
extern "C" {
#endif

/* Version of this interface: of struct ulb_kernel and all that it points to, of struct ulb_gemm and of struct
 * ulb_kernel_library. One more with every change. */
enum { ULB_KERNEL_ABI = 7 };

/* Activation formats (kernels/activations.h):
 * A8:   int8, one scale per token.
 * A8Z:  int8, one scale and one zero point per token.
 * F32:  single precision.
 * BF16: bfloat16.
 * Q8_0: GGUF's int8, a scale in half precision for each 32 columns.
 * Q8_K: GGUF's int8, a scale for each 256 columns. */
enum ulb_activation {
    ULB_ACT_A8,
    ULB_ACT_A8Z,
    ULB_ACT_F32,
    ULB_ACT_BF16,
    ULB_ACT_Q8_0,
    ULB_ACT_Q8_K,
    ULB_ACTIVATIONS
};

struct ulb_block;        /* kernels/gguf_block.h */
struct ulb_block_values; /* a block of weights, decoded */
struct ulb_row_tile;     /* kernels/pack/block_interleave.h */

/* What a number of a floating format is. */
enum ulb_float_kind { ULB_BF16, ULB_FP16, ULB_FP32 };

/* A weight format, independent of any memory layout. Integer formats hold values min..max times a row's
 * scale. */
struct ulb_format {
    const char *name; /* as on the command line: "int2" */
    const char *summary;
    double bits;   /* per weight, without scales; 1.6 where five digits share a byte; with scales for a
                    * block format */
    int min, max;  /* logical values of an integer format; unused by floating formats */
    int step;      /* distance of neighbouring values: two for the one-bit {-1, +1}, otherwise 1 */
    bool floating; /* values are patterns of the kind below, no scales */
    enum ulb_float_kind kind;
    bool on_request; /* another form of what a default run has already: measured only when named, as are
                      * formats with groups or blocks */
    bool zeros;      /* an integer format of weights scale * (value - zero), a zero for each scale */
    unsigned group;  /* columns that share a scale: 32, 64 or 128; 0: a whole row, or a block format */
    const struct ulb_block *block; /* a block format: weights and scales lie together in blocks of columns */
};

/* How a layout stores the weights of a tile. The first two are of formats without blocks, the last three of
 * block formats. The first is 1, so that a layout without a kind is refused. */
enum ulb_layout_kind {
    ULB_LAYOUT_FIELDS = 1, /* struct ulb_layout_fields */
    ULB_LAYOUT_TILES,      /* struct ulb_layout_tiles */
    ULB_LAYOUT_IN_PLACE,   /* blocks as files hold them, one row and one block a tile; nothing in the union */
    ULB_LAYOUT_INTERLEAVED, /* struct ulb_layout_interleaved */
    ULB_LAYOUT_BLOCKS       /* struct ulb_layout_blocks */
};

/* The code of each weight is a field of one byte, or a whole floating number. */
struct ulb_layout_fields {
    unsigned (*bit_offset)(unsigned row, unsigned col); /* first bit, within the tile, of the code */
    unsigned (*encode)(int value); /* the code of a logical value; NULL for floating formats */
    int (*decode)(unsigned code);  /* the inverse */
    uint8_t xor_mask;              /* XOR mask of every byte; 0x80 subtracts 128 and makes the byte signed */
};

/* The weights of a tile are converted together, row r at values + r * stride. */
struct ulb_layout_tiles {
    void (*pack)(const int16_t *values, size_t stride, uint8_t *tile);
    void (*unpack)(const uint8_t *tile, int16_t *values, size_t stride);
    uint8_t xor_mask; /* as of fields */
};

/* tile_m rows of one block each are interleaved (kernels/pack/block_interleave.h). */
struct ulb_layout_interleaved {
    const struct ulb_row_tile *rows;
    unsigned lanes; /* of a vector of rows */
};

/* The blocks of a tile are converted together, scales included, row r at values + r. */
struct ulb_layout_blocks {
    void (*pack)(const struct ulb_block_values *values, uint8_t *tile);
    void (*unpack)(const uint8_t *tile, struct ulb_block_values *values);
};

/* The place of each weight of a matrix. The matrix is cut into tiles of tile_m x tile_k. K is cut into slices
 * of equally many tiles. Each slice is stored for all rows before the next slice, so that a kernel that reads
 * all slices at once reads as many contiguous streams:
 * `[slices][ceil(M/tile_m)][steps][tile]` with `steps = ceil(K/tile_k/slices)`.
 * If steps exceeds slice_tiles, K has more slices, which are read in several rounds (struct ulb_slice). fp32
 * scales follow at a 64-byte boundary, one group per row, or one for a number of columns of the format:
 * `[ceil(M/tile_m)][groups][tile_m]`.
 * Slices hold whole groups. The zeros of formats with zeros follow, fp32 too, in the same order. Padding rows
 * and columns have scale 0. They hold the code of 0, or of min if the format has no 0. */
struct ulb_layout {
    const char *name;
    const struct ulb_format *format;
    unsigned tile_m, tile_k;
    unsigned slices; /* that are read at once; K has a multiple of it; 0 means 1 */
    /* The sums of rows follow the scales, fp32 [round_up(M, tile_m)], for activations with a zero point. They
     * are sums of value - zero, exact up to K = 65,536. For formats with blocks they are sums of the weights
     * as integer sums use them. */
    bool row_sums;
    /* The scales of a group, fp32 [tile_m], lie before its tiles: a slice is one stream of addresses.
     * Elsewhere scales lie after all tiles, [row of tiles]`[group][tile_m]`. */
    bool scales_ahead;
    unsigned
        slice_tiles;   /* most tiles side by side in a slice, which bounds what tables take; 0: any number */
    size_t tile_bytes; /* of one tile; with ULB_LAYOUT_FIELDS 0: tile_m * tile_k codes of the format's bits */
    enum ulb_layout_kind kind;
    union {
        struct ulb_layout_fields fields;
        struct ulb_layout_tiles tiles;
        struct ulb_layout_interleaved interleaved;
        struct ulb_layout_blocks blocks;
    };
};

/* Logical weights, row-major: values[m*K + k], scales[m*groups + g]. A floating format has patterns
 * (kernels/float_words.h): values[(m*K + k)*words], words of 16 bits, the lower first. A block format has
 * neither, but its blocks as a file holds them: [m][K / columns]. */
struct ulb_matrix {
    size_t m, k;
    int16_t *values;
    float *scales;
    int16_t *zeros; /* [m*groups + g], min..max of the format; NULL for formats without */
    uint8_t *blocks;
};

/* Bytes of a row of a block format in a file; K is a multiple of the block's columns. */
size_t ulb_block_row_bytes(const struct ulb_format *format, size_t k);

/* Scales of a row of K columns. */
size_t ulb_groups(const struct ulb_format *format, size_t k);
/* Bytes of one tile. */
size_t ulb_layout_tile_bytes(const struct ulb_layout *layout);
/* Slices of K columns, the tiles of one side by side, at most, and the columns of all, padding included. */
size_t ulb_layout_slices(const struct ulb_layout *layout, size_t k);
size_t ulb_layout_steps(const struct ulb_layout *layout, size_t k);
size_t ulb_layout_columns(const struct ulb_layout *layout, size_t k);
/* Slice i of a packed M x K matrix. steps: its tiles side by side, equal to those of the slices that are read
 * with it; other slices may differ by one. first: tiles of the slices before. offset: the byte where it
 * begins. i may be the number of slices: first and offset are then those of the end. */
struct ulb_slice {
    size_t steps, first, offset;
};
struct ulb_slice ulb_layout_slice(const struct ulb_layout *layout, size_t m, size_t k, size_t i);
/* For slices of equally many tiles: bytes of a row of tiles in a slice, with the scales in it; and bytes from
 * a slice to the next. */
size_t ulb_layout_row_bytes(const struct ulb_layout *layout, size_t k);
size_t ulb_layout_slice_bytes(const struct ulb_layout *layout, size_t m, size_t k);
/* Bytes of a packed M x K matrix, scales and padding included, and without what lies unused between slices.
 */
size_t ulb_layout_bytes(const struct ulb_layout *layout, size_t m, size_t k);
size_t ulb_layout_read_bytes(const struct ulb_layout *layout, size_t m, size_t k);
/* Byte offset of the scales inside a packed matrix, where they are not ahead of their tiles. */
size_t ulb_layout_scales_offset(const struct ulb_layout *layout, size_t m, size_t k);
/* Byte offsets of the zeros, and of the sums of rows. */
size_t ulb_layout_zeros_offset(const struct ulb_layout *layout, size_t m, size_t k);
size_t ulb_layout_sums_offset(const struct ulb_layout *layout, size_t m, size_t k);
/* Packs rows [m0, m1) (multiples of tile_m, or the end) so that threads can share the work. */
void ulb_layout_pack(const struct ulb_layout *layout, const struct ulb_matrix *matrix, size_t m0, size_t m1,
                     void *packed);
/* The inverse, for the round-trip test: values and scales of all rows. */
void ulb_layout_unpack(const struct ulb_layout *layout, const void *packed, struct ulb_matrix *matrix);

/* Target of a call's software prefetches of weights. */
enum ulb_prefetch_target {
    ULB_PREFETCH_OWN,  /* as the kernel does by itself, most often into L1 and, farther on, into L2 */
    ULB_PREFETCH_L1,   /* into L1 only */
    ULB_PREFETCH_L2,   /* into L2 only */
    ULB_PREFETCH_NONE, /* nowhere: the CPU's prefetchers work on their own */
};

struct ulb_prefetch {
    enum ulb_prefetch_target target;
    unsigned distance; /* bytes before the load, in the stream; 0 unless the target is a cache */
};

/* Targets that a kernel allows besides its own setting. */
enum ulb_prefetch_kind {
    ULB_PREFETCH_FIXED,       /* none */
    ULB_PREFETCH_TUNABLE,     /* L1 and L2, at distances that are multiples of 64 */
    ULB_PREFETCH_OWN_OR_NONE, /* ULB_PREFETCH_NONE */
};

struct ulb_prefetch_policy {
    enum ulb_prefetch_kind kind;
    unsigned max_n; /* calls of more tokens have the own setting, whatever the call says; 0: no such limit */
};

/* One call: y[n*y_stride + m] = sum over k of W[m][k] * x[n][k], for rows m0 <= m < m1. m0 is a multiple of
 * the kernel's mr. m1 is one too, or M. x holds round_up(K, kr) elements per token, zero after K. */
struct ulb_gemm {
    const void *w; /* packed, 64-byte aligned */
    size_t m, k, n;
    size_t m0, m1;
    const void *x;         /* int8_t, float or uint16_t by the row's activation format */
    size_t x_stride;       /* elements from one token to the next */
    const float *x_scale;  /* [n][x_scale_stride]; one per token in a8 and a8z, none in f32 and bf16 */
    size_t x_scale_stride; /* from one token to the next */
    const int16_t *x_sums; /* [n][x_sums_stride], sums of 16 int8 activations each */
    size_t x_sums_stride;
    const int32_t *x_sum;  /* [n], sum of all of a token's int8 activations */
    const int32_t *x_zero; /* [n], zero point of a token; 0 but in a8z */
    float *y;
    size_t y_stride;
    /* more(rows, &m0, &m1) returns further rows of the same product. It is set for N = 1 and LUT kernels
     * only, so that a thread that gets its rows in chunks builds tables once. A kernel may call it after m1.
     * It returns false once no rows remain, and from then on. NULL: no further rows. */
    bool (*more)(void *rows, size_t *m0, size_t *m1);
    void *rows;
    struct ulb_prefetch prefetch; /* the own setting, or one that the kernel's policy allows */
};

struct ulb_kernel {
    uint32_t abi;        /* ULB_KERNEL_ABI */
    const char *variant; /* the sequence: "ref", "pshufb", "blend", "dp" ... */
    const char *isa;     /* of the name: one of its line in kernels/CMakeLists.txt */
    ulb_isa_set needs;
    const struct ulb_layout *layout;
    enum ulb_activation activation;
    unsigned mr, nr, kr;   /* register tile */
    double bytes_per_step; /* weight bytes per 32 weights without scales: B of the roofline */
    /* 0: bit-equal to the reference kernel. Otherwise |error| <= tolerance * (K + 8) * sum |w||x|.
     * `|w| = (|value| + |zero|) * scale`.
     * `|w| = (|value| + |zero| + offset of codes) * scale` for floating activations of an integer format.
     * `|x| = (|activation| + |zero point|) * scale` of the activation. */
    double tolerance;
    struct ulb_mix mix;      /* of one token */
    struct ulb_mix tile_mix; /* of the nr tokens of a register tile, together; not read where nr is 1 */
    bool uses_lut; /* builds tables from the activations once per call, for all of its rows; calls more() */
    struct ulb_prefetch_policy prefetch;
    void (*run)(const struct ulb_gemm *args);
};

/* What a plug-in exports under the name ulb_kernel_library (kernels/plugin.h). */
struct ulb_kernel_library {
    uint32_t abi; /* ULB_KERNEL_ABI; first, because all else may differ */
    const struct ulb_kernel *const *kernels;
    size_t n;
};

/* All kernels, also those that this CPU cannot run. The table is generated from the list in
 * kernels/CMakeLists.txt. Only ulb_kernels_load() (kernels/plugin_loader.h) adds to it. */
extern const struct ulb_kernel *const *ulb_kernels;
extern size_t ulb_kernel_count;

/* What the build leaves out (ULB_KERNELS_FOR, ULB_ONLY, ULB_ISA_LEFT_OUT in cmake/kernels.cmake): a file of
 * kernels, FORMAT/ALGORITHM without its .c, for one ISA and one group size, 0 for none. */
struct ulb_left_out {
    const char *file, *isa;
    unsigned group;
};
extern const struct ulb_left_out ulb_left_out[];
extern const size_t ulb_left_out_count;

/* What a message that finds no kernel ends with: "; this build leaves out N ..." and how to build them, or
 * "". */
const char *ulb_left_out_hint(void);

enum { ULB_KERNEL_NAME_MAX = 64 };

/* Writes the computed name, e.g. "int2a8-pshufb-avxvnni-32x1x4"; returns out. */
char *ulb_kernel_name(const struct ulb_kernel *kernel, char out[ULB_KERNEL_NAME_MAX]);

/* The scalar row of the same weight and activation format. */
const struct ulb_kernel *ulb_kernel_reference(const struct ulb_kernel *kernel);

/* No row before the i-th of ulb_kernels has its weight format: formats are counted by these. */
bool ulb_kernel_begins_format(size_t i);

/* Plain readers: the yardstick's candidates. run() reads bytes (a multiple of ULB_READER_GRAIN) and returns a
 * value that depends on all of them. */
enum { ULB_READER_GRAIN = 4096 };

struct ulb_reader {
    const char *name; /* "avx2-2s-t1-512": ISA, address streams, prefetch hint and distance */
    ulb_isa_set needs;
    bool prefetches;
    uint64_t (*run)(const void *data, size_t bytes);
};

/* Readers 0, 1, ... in table order; NULL after the last. */
const struct ulb_reader *ulb_reader_at(size_t index);

/* The peak rate of an instruction: a loop on registers alone. It is the compute limit of kernels with the
 * same activation format. run() executes passes * ops_per_pass operations; a multiplication and its addition
 * are two. */
struct ulb_peak {
    const char *isa; /* that its file is compiled for */
    ulb_isa_set needs;
    enum ulb_activation activation; /* a8: dot products of int8; f32: multiply-adds in single precision */
    double ops_per_pass;
    void (*run)(size_t passes);
};

/* Peak loops 0, 1, ... in table order; NULL after the last. */
const struct ulb_peak *ulb_peak_at(size_t index);

#ifdef __cplusplus
}
#endif

#endif
