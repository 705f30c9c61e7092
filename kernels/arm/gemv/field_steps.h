/* Adds four columns to the eight accumulators of a set: ULB_STEP_F(set, w, q) for F fields of equal width in
 * a byte. ULB_VECTOR_AT(i, w) is vector i of the bytes at w. Fields stay in their places; the top field is
 * the whole byte. */
#ifndef ULB_KERNELS_ARM_GEMV_FIELD_STEPS_H
#define ULB_KERNELS_ARM_GEMV_FIELD_STEPS_H

/* set n += products of the bytes with quarter q of x, unless the includer says otherwise. */
#ifndef ULB_DOT
#define ULB_DOT(set, n, bytes, q) set##n = ulb_dot(set##n, bytes, x, q)
#endif

/* Adds the bits in mask only. ULB_KEEP(mask) has put the mask into a register. */
#define ULB_FIELD(set, n, mask, q) ULB_DOT(set, n, ulb_and(packed, kept_##mask), q);
#define ULB_KEEP(mask)             const ulb_bytes kept_##mask = ulb_keep8(mask);
#define ULB_MASKS_1
#define ULB_MASKS_2 ULB_KEEP(0x0F)
#define ULB_MASKS_4 ULB_KEEP(0x03) ULB_KEEP(0x0C) ULB_KEEP(0x30)
#define ULB_MASKS_8                                                                                          \
    ULB_KEEP(0x01)                                                                                           \
    ULB_KEEP(0x02)                                                                                           \
    ULB_KEEP(0x04)                                                                                           \
    ULB_KEEP(0x08)                                                                                           \
    ULB_KEEP(0x10)                                                                                           \
    ULB_KEEP(0x20)                                                                                           \
    ULB_KEEP(0x40)

#define ULB_ONE(set, i, w, q) ULB_DOT(set, i, ULB_VECTOR_AT(i, w), q);
#define ULB_STEP_1(set, w, q)                                                                                \
    ULB_ONE(set, 0, w, q)                                                                                    \
    ULB_ONE(set, 1, w, q)                                                                                    \
    ULB_ONE(set, 2, w, q)                                                                                    \
    ULB_ONE(set, 3, w, q)                                                                                    \
    ULB_ONE(set, 4, w, q)                                                                                    \
    ULB_ONE(set, 5, w, q)                                                                                    \
    ULB_ONE(set, 6, w, q)                                                                                    \
    ULB_ONE(set, 7, w, q)

#define ULB_TWO(set, i, n0, n1, w, q)                                                                        \
    {                                                                                                        \
        const ulb_bytes packed = ULB_VECTOR_AT(i, w);                                                        \
        ULB_FIELD(set, n0, 0x0F, q)                                                                          \
        ULB_DOT(set, n1, packed, q);                                                                         \
    }
#define ULB_STEP_2(set, w, q)                                                                                \
    ULB_TWO(set, 0, 0, 1, w, q)                                                                              \
    ULB_TWO(set, 1, 2, 3, w, q)                                                                              \
    ULB_TWO(set, 2, 4, 5, w, q)                                                                              \
    ULB_TWO(set, 3, 6, 7, w, q)

#define ULB_FOUR(set, i, n0, n1, n2, n3, w, q)                                                               \
    {                                                                                                        \
        const ulb_bytes packed = ULB_VECTOR_AT(i, w);                                                        \
        ULB_FIELD(set, n0, 0x03, q)                                                                          \
        ULB_FIELD(set, n1, 0x0C, q)                                                                          \
        ULB_FIELD(set, n2, 0x30, q)                                                                          \
        ULB_DOT(set, n3, packed, q);                                                                         \
    }
#define ULB_STEP_4(set, w, q)                                                                                \
    ULB_FOUR(set, 0, 0, 1, 2, 3, w, q)                                                                       \
    ULB_FOUR(set, 1, 4, 5, 6, 7, w, q)

#define ULB_STEP_8(set, w, q)                                                                                \
    {                                                                                                        \
        const ulb_bytes packed = ULB_VECTOR_AT(0, w);                                                        \
        ULB_FIELD(set, 0, 0x01, q)                                                                           \
        ULB_FIELD(set, 1, 0x02, q)                                                                           \
        ULB_FIELD(set, 2, 0x04, q)                                                                           \
        ULB_FIELD(set, 3, 0x08, q)                                                                           \
        ULB_FIELD(set, 4, 0x10, q)                                                                           \
        ULB_FIELD(set, 5, 0x20, q)                                                                           \
        ULB_FIELD(set, 6, 0x40, q)                                                                           \
        ULB_DOT(set, 7, packed, q);                                                                          \
    }

/* ULB_SPLIT_F: turns the sums of a set a, in their places, into sums of the fields. lacking: 128 * sum(x)
 * (kernels/arm/gemv/fields.h). */
#define ULB_TOP(n, lower, bits) a##n = ulb_asr(ulb_sub_ints(ulb_add_ints(a##n, lacking), lower), bits);
#define ULB_PLUS(a, b)          ulb_add_ints(a, b)
#define ULB_SPLIT_1
#define ULB_SPLIT_2                                                                                          \
    ULB_TOP(1, a0, 4)                                                                                        \
    ULB_TOP(3, a2, 4)                                                                                        \
    ULB_TOP(5, a4, 4)                                                                                        \
    ULB_TOP(7, a6, 4)
#define ULB_SPLIT_FOUR(n0, n1, n2, n3)                                                                       \
    ULB_TOP(n3, ULB_PLUS(ULB_PLUS(a##n0, a##n1), a##n2), 6)                                                  \
    a##n1 = ulb_asr(a##n1, 2);                                                                               \
    a##n2 = ulb_asr(a##n2, 4);
#define ULB_SPLIT_4                                                                                          \
    ULB_SPLIT_FOUR(0, 1, 2, 3)                                                                               \
    ULB_SPLIT_FOUR(4, 5, 6, 7)
#define ULB_SPLIT_8                                                                                          \
    ULB_TOP(7, ULB_PLUS(ULB_PLUS(ULB_PLUS(a0, a1), ULB_PLUS(a2, a3)), ULB_PLUS(ULB_PLUS(a4, a5), a6)), 7)    \
    a1 = ulb_asr(a1, 1);                                                                                     \
    a2 = ulb_asr(a2, 2);                                                                                     \
    a3 = ulb_asr(a3, 3);                                                                                     \
    a4 = ulb_asr(a4, 4);                                                                                     \
    a5 = ulb_asr(a5, 5);                                                                                     \
    a6 = ulb_asr(a6, 6);

/* Vectors of bytes of such a step. */
#define ULB_VECTORS_1(X)         X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7)
#define ULB_VECTORS_2(X)         X(0) X(1) X(2) X(3)
#define ULB_VECTORS_4(X)         X(0) X(1)
#define ULB_VECTORS_8(X)         X(0)
#define ULB_COUNT(i)             +1
#define ULB_OF_FIELDS(what, n)   ULB_OF_FIELDS_2(what, n)
#define ULB_OF_FIELDS_2(what, n) what##n

/* A kernel that its FIELDS of a byte describe: what kernels/arm/gemv/k_slices.h needs. */
#ifdef FIELDS
#define PLANES          FIELDS
#define BYTE_PLANES     1
#define SUMS(X)         ULB_VECTORS_1(X)
#define MASKS           ULB_OF_FIELDS(ULB_MASKS_, FIELDS)
#define VECTORS(X)      ULB_OF_FIELDS(ULB_VECTORS_, FIELDS)(X)
#define STEP(set, w, q) ULB_OF_FIELDS(ULB_STEP_, FIELDS)(set, w, q)
#endif

#endif
