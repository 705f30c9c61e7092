/* What 4 columns add to the 8 accumulators of a set, for FIELDS (1, 2, 4 or 8) fields of equally many bits in
 * a byte; kernels/arm/walk.h and kernels/arm/block_rows.h say what VECTORS and STEP are. */
#ifndef ULB_KERNELS_ARM_FIELD_STEPS_H
#define ULB_KERNELS_ARM_FIELD_STEPS_H

/* Vector i, whose first field adds to accumulator n. */
#define ULB_TAKE(i, w)             const ulb_bytes packed = ULB_LOAD(i, w);
#define ULB_FIELD(set, n, mask, q) ULB_DOT(set, n, ulb_and(packed, ulb_all8(mask)), q);
#define ULB_WHOLE(set, n, q)       ULB_DOT(set, n, packed, q);

#if FIELDS == 1
#define VECTORS(X) SUMS(X)
#define ULB_ONE(set, i, w, q)                                                                                \
    {                                                                                                        \
        ULB_TAKE(i, w) ULB_WHOLE(set, i, q)                                                                  \
    }
#define STEP(set, w, q)                                                                                      \
    ULB_ONE(set, 0, w, q)                                                                                    \
    ULB_ONE(set, 1, w, q)                                                                                    \
    ULB_ONE(set, 2, w, q)                                                                                    \
    ULB_ONE(set, 3, w, q)                                                                                    \
    ULB_ONE(set, 4, w, q)                                                                                    \
    ULB_ONE(set, 5, w, q)                                                                                    \
    ULB_ONE(set, 6, w, q)                                                                                    \
    ULB_ONE(set, 7, w, q)
#elif FIELDS == 2
#define VECTORS(X) X(0) X(1) X(2) X(3)
#define ULB_TWO(set, i, n0, n1, w, q)                                                                        \
    {                                                                                                        \
        ULB_TAKE(i, w) ULB_FIELD(set, n0, 0x0F, q) ULB_WHOLE(set, n1, q)                                     \
    }
#define STEP(set, w, q)                                                                                      \
    ULB_TWO(set, 0, 0, 1, w, q)                                                                              \
    ULB_TWO(set, 1, 2, 3, w, q)                                                                              \
    ULB_TWO(set, 2, 4, 5, w, q)                                                                              \
    ULB_TWO(set, 3, 6, 7, w, q)
#elif FIELDS == 4
#define VECTORS(X) X(0) X(1)
#define ULB_FOUR(set, i, n0, n1, n2, n3, w, q)                                                               \
    {                                                                                                        \
        ULB_TAKE(i, w)                                                                                       \
        ULB_FIELD(set, n0, 0x03, q)                                                                          \
        ULB_FIELD(set, n1, 0x0C, q)                                                                          \
        ULB_FIELD(set, n2, 0x30, q)                                                                          \
        ULB_WHOLE(set, n3, q)                                                                                \
    }
#define STEP(set, w, q)                                                                                      \
    ULB_FOUR(set, 0, 0, 1, 2, 3, w, q)                                                                       \
    ULB_FOUR(set, 1, 4, 5, 6, 7, w, q)
#else
#define VECTORS(X) X(0)
#define STEP(set, w, q)                                                                                      \
    {                                                                                                        \
        ULB_TAKE(0, w)                                                                                       \
        ULB_FIELD(set, 0, 0x01, q)                                                                           \
        ULB_FIELD(set, 1, 0x02, q)                                                                           \
        ULB_FIELD(set, 2, 0x04, q)                                                                           \
        ULB_FIELD(set, 3, 0x08, q)                                                                           \
        ULB_FIELD(set, 4, 0x10, q)                                                                           \
        ULB_FIELD(set, 5, 0x20, q)                                                                           \
        ULB_FIELD(set, 6, 0x40, q)                                                                           \
        ULB_WHOLE(set, 7, q)                                                                                 \
    }
#endif

#endif
