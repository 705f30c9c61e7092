/* Register-only loops of one operation each: eight independent accumulators, no memory but one word an item at the
 * end. The build picks one by ULB_PEAK_...; each has a result that the host knows. */

#ifdef ULB_PEAK_FP32
/* Every accumulator tends to 2 and reaches it exactly within 32 rounds. */
kernel void peak(global uint *out, uint rounds, uint factor, uint summand)
{
    const float a = as_float(factor), b = as_float(summand);
    float x0 = 0, x1 = 0, x2 = 0, x3 = 0, x4 = 0, x5 = 0, x6 = 0, x7 = 0;
    for (uint i = 0; i < rounds; i++) {
        x0 = mad(x0, a, b);
        x1 = mad(x1, a, b);
        x2 = mad(x2, a, b);
        x3 = mad(x3, a, b);
        x4 = mad(x4, a, b);
        x5 = mad(x5, a, b);
        x6 = mad(x6, a, b);
        x7 = mad(x7, a, b);
    }
    out[get_global_id(0)] = (uint)(x0 + x1 + x2 + x3 + x4 + x5 + x6 + x7);
}
#endif

#ifdef ULB_PEAK_INT32
kernel void peak(global uint *out, uint rounds, uint a, uint b)
{
    uint x0 = 0, x1 = 1, x2 = 2, x3 = 3, x4 = 4, x5 = 5, x6 = 6, x7 = 7;
    for (uint i = 0; i < rounds; i++) {
        x0 = x0 * a + b;
        x1 = x1 * a + b;
        x2 = x2 * a + b;
        x3 = x3 * a + b;
        x4 = x4 * a + b;
        x5 = x5 * a + b;
        x6 = x6 * a + b;
        x7 = x7 * a + b;
    }
    out[get_global_id(0)] = x0 + x1 + x2 + x3 + x4 + x5 + x6 + x7;
}
#endif

#ifdef ULB_PEAK_DP4A
/* An operand is a sum of four steps before: products that stay the same would be taken out of the loop. */
kernel void peak(global uint *out, uint rounds, uint start, uint ones)
{
    int x0 = start, x1 = start, x2 = start, x3 = start, x4 = start, x5 = start, x6 = start, x7 = start;
    for (uint i = 0; i < rounds; i++) {
        x0 += dot_4x8packed_ss_int((uint)x4, ones);
        x1 += dot_4x8packed_ss_int((uint)x5, ones);
        x2 += dot_4x8packed_ss_int((uint)x6, ones);
        x3 += dot_4x8packed_ss_int((uint)x7, ones);
        x4 += dot_4x8packed_ss_int((uint)x0, ones);
        x5 += dot_4x8packed_ss_int((uint)x1, ones);
        x6 += dot_4x8packed_ss_int((uint)x2, ones);
        x7 += dot_4x8packed_ss_int((uint)x3, ones);
    }
    out[get_global_id(0)] = (uint)(x0 + x1 + x2 + x3 + x4 + x5 + x6 + x7);
}
#endif

/* Matrix instructions (DPAS): a of 8 rows, b of ULB_LANES columns; all elements are 1, so that every accumulator
 * counts rounds * depth. Prototypes, since some compilers have the functions and do not declare them. */
#if defined(ULB_PEAK_I8I8) || defined(ULB_PEAK_I8I4) || defined(ULB_PEAK_I8I2) || defined(ULB_PEAK_BF16)
#if ULB_LANES == 16
typedef short8 rows8;
#define ROWS(word) ((short8)(short)(word))
#else
typedef int8 rows8;
#define ROWS(word) ((int8)(int)(word))
#endif
#define PROTOTYPE __attribute__((overloadable))

#ifdef ULB_PEAK_I8I8
typedef int8 columns;
typedef int8 sums;
PROTOTYPE sums intel_sub_group_i8_i8_matrix_mad_k32(rows8 a, columns b, sums acc);
#define MAD intel_sub_group_i8_i8_matrix_mad_k32
#endif
#ifdef ULB_PEAK_I8I4
typedef int4 columns;
typedef int8 sums;
PROTOTYPE sums intel_sub_group_i8_i4_matrix_mad_k32(rows8 a, columns b, sums acc);
#define MAD intel_sub_group_i8_i4_matrix_mad_k32
#endif
#ifdef ULB_PEAK_I8I2
typedef int2 columns;
typedef int8 sums;
PROTOTYPE sums intel_sub_group_i8_i2_matrix_mad_k32(rows8 a, columns b, sums acc);
#define MAD intel_sub_group_i8_i2_matrix_mad_k32
#endif
#ifdef ULB_PEAK_BF16
typedef int8 columns;
typedef float8 sums;
PROTOTYPE sums intel_sub_group_bf16_bf16_matrix_mad_k16(rows8 a, columns b, sums acc);
#define MAD intel_sub_group_bf16_bf16_matrix_mad_k16
#endif

__attribute__((intel_reqd_sub_group_size(ULB_LANES)))
kernel void peak(global uint *out, uint rounds, uint ones_a, uint ones_b)
{
    const rows8 a = ROWS(ones_a);
    const columns b = (columns)(int)ones_b;
    sums x0 = 0, x1 = 0, x2 = 0, x3 = 0, x4 = 0, x5 = 0, x6 = 0, x7 = 0;
    for (uint i = 0; i < rounds; i++) {
        x0 = MAD(a, b, x0);
        x1 = MAD(a, b, x1);
        x2 = MAD(a, b, x2);
        x3 = MAD(a, b, x3);
        x4 = MAD(a, b, x4);
        x5 = MAD(a, b, x5);
        x6 = MAD(a, b, x6);
        x7 = MAD(a, b, x7);
    }
    const sums sum = x0 + x1 + x2 + x3 + x4 + x5 + x6 + x7;
    out[get_global_id(0)] = (uint)(sum.s0 + sum.s1 + sum.s2 + sum.s3 + sum.s4 + sum.s5 + sum.s6 + sum.s7);
}
#endif
