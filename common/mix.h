/* What an inner loop is made of: its instructions by kind, per step of 32 weights. Kernels state it, the
 * port model turns it into a lower limit of gamma. */
#ifndef ULB_COMMON_MIX_H
#define ULB_COMMON_MIX_H

/* Instructions of the inner loop per 32 weights, at the kernel's own vector width: what the gamma argument of
 * the paper (III-F) counts, and what a core's port table turns into a lower limit. A load that the compiler
 * folds into its user still counts as a load. The scalar kernels leave it empty, and those on
 * tiles, which no port table knows. */
#define ULB_MIX_OPS(X)                                                                                       \
    X(loads)      /* whole vectors */                                                                        \
    X(broadcasts) /* one element or 128-bit lane from memory to all lanes */                                 \
    X(prefetches)                                                                                            \
    X(logic) /* and, andnot, or, xor, ternary logic */                                                       \
    X(shifts)                                                                                                \
    X(adds)            /* integer add, subtract, absolute value, sign */                                     \
    X(compares)        /* to a vector mask */                                                                \
    X(shuffles)        /* bytes within 128-bit lanes (vpshufb) */                                            \
    X(transposes)      /* of two vectors: unpack, trn, zip */                                                \
    X(permutes)        /* bytes across lanes (vpermb, vpermi2b) */                                           \
    X(blends)          /* by a vector mask (vpblendvb) */                                                    \
    X(masked_moves)    /* by a mask register, the register's load included */                                \
    X(affines)         /* gf2p8affineqb */                                                                   \
    X(dot_products)    /* vpdpbusd, vpdpbssd, sdot, bfdot */                                                 \
    X(matrix_products) /* smmla, usmmla, bfmmla: 2 rows by 2 columns */                                      \
    X(maddubs)         /* vpmaddubsw */                                                                      \
    X(madds)           /* vpmaddwd */                                                                        \
    X(fmas)            /* and multiplications of floats */                                                   \
    X(float_adds)                                                                                            \
    X(conversions)   /* int32 to float */                                                                    \
    X(halves)        /* half precision in a register to single */                                            \
    X(loaded_halves) /* half precision in memory to single; a load, too */                                   \
    X(widenings)     /* bytes to int32 */

enum ulb_op {
#define ULB_MIX_ENUM(op) ULB_OP_##op,
    ULB_MIX_OPS(ULB_MIX_ENUM)
#undef ULB_MIX_ENUM
        ULB_OP_COUNT
};

struct ulb_mix {
#define ULB_MIX_FIELD(op) double op;
    ULB_MIX_OPS(ULB_MIX_FIELD)
#undef ULB_MIX_FIELD
    unsigned vector_bits;
    unsigned
        chains; /* accumulators that dot products (or FMAs) are chained through; 0: no such chain limits */
};

/* "loads", "dot_products" ...: the names of port tables and of JSON. */
const char *ulb_op_name(enum ulb_op op);

double ulb_mix_count(const struct ulb_mix *mix, enum ulb_op op);

#endif
