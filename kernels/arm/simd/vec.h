/* One set of names for kernels that are written once for NEON (128 bits) and SVE (any length). A vector has
 * ulb_lanes() lanes of 32 bits; SVE's types have no size, so that vectors are named, never in arrays. */
#ifndef ULB_KERNELS_ARM_SIMD_VEC_H
#define ULB_KERNELS_ARM_SIMD_VEC_H

#include <stddef.h>
#include <stdint.h>

#ifdef __ARM_FEATURE_SVE

#include <arm_sve.h>

/* A number or a name. */
#define ULB_BY_ISA(neon, sve) sve

typedef svint8_t ulb_bytes;
typedef svint32_t ulb_ints;
typedef svfloat32_t ulb_floats;
typedef svbool_t ulb_mask; /* of the lanes or bytes that are there */

static inline size_t ulb_lanes(void)
{
    return svcntw();
}

/* Mask of the bytes from `at` below `bytes`; and the same for lanes. */
static inline ulb_mask ulb_bytes_left(size_t at, size_t bytes)
{
    return svwhilelt_b8_u64(at, bytes);
}

static inline ulb_mask ulb_lanes_left(size_t at, size_t lanes)
{
    return svwhilelt_b32_u64(at, lanes);
}

static inline ulb_bytes ulb_load(ulb_mask mask, const void *p)
{
    return svld1_s8(mask, (const int8_t *)p);
}

/* The same 16 bytes in every 128 bits. */
static inline ulb_bytes ulb_load16(const void *p)
{
    return svld1rq_s8(svptrue_b8(), (const int8_t *)p);
}

static inline ulb_bytes ulb_all8(int value)
{
    return svdup_n_s8((int8_t)value);
}

/* Equal bytes that stay in a register: compilers would rather copy what is masked, to mask it by an immediate
 * operand in place. */
static inline ulb_bytes ulb_keep8(int value)
{
    ulb_bytes bytes = ulb_all8(value);
    __asm__("" : "+w"(bytes));
    return bytes;
}

static inline ulb_bytes ulb_and(ulb_bytes a, ulb_bytes b)
{
    return svand_s8_x(svptrue_b8(), a, b);
}

/* Three times a byte, modulo 256. */
static inline ulb_bytes ulb_triple(ulb_bytes a)
{
    return svadd_s8_x(svptrue_b8(), svadd_s8_x(svptrue_b8(), a, a), a);
}

static inline ulb_ints ulb_no_ints(void)
{
    return svdup_n_s32(0);
}

static inline ulb_ints ulb_add_ints(ulb_ints a, ulb_ints b)
{
    return svadd_s32_x(svptrue_b32(), a, b);
}

static inline void ulb_store_ints(ulb_mask mask, int32_t *p, ulb_ints v)
{
    svst1_s32(mask, p, v);
}

static inline ulb_ints ulb_all32(int32_t value)
{
    return svdup_n_s32(value);
}

static inline ulb_ints ulb_sub_ints(ulb_ints a, ulb_ints b)
{
    return svsub_s32_x(svptrue_b32(), a, b);
}

static inline ulb_ints ulb_mul_ints(ulb_ints a, ulb_ints b)
{
    return svmul_s32_x(svptrue_b32(), a, b);
}

#define ulb_asr(v, bits) svasr_n_s32_x(svptrue_b32(), v, bits)
#define ulb_shl(v, bits) svlsl_n_s32_x(svptrue_b32(), v, bits)

static inline ulb_floats ulb_to_floats(ulb_ints v)
{
    return svcvt_f32_s32_x(svptrue_b32(), v);
}

static inline ulb_floats ulb_all_floats(float value)
{
    return svdup_n_f32(value);
}

static inline ulb_floats ulb_mul(ulb_floats a, ulb_floats b)
{
    return svmul_f32_x(svptrue_b32(), a, b);
}

static inline ulb_floats ulb_add_floats(ulb_floats a, ulb_floats b)
{
    return svadd_f32_x(svptrue_b32(), a, b);
}

/* a * b + c, and c - a * b. */
static inline ulb_floats ulb_fma(ulb_floats a, ulb_floats b, ulb_floats c)
{
    return svmla_f32_x(svptrue_b32(), c, a, b);
}

static inline ulb_floats ulb_fnma(ulb_floats a, ulb_floats b, ulb_floats c)
{
    return svmls_f32_x(svptrue_b32(), c, a, b);
}

static inline ulb_floats ulb_load_floats(ulb_mask mask, const void *p)
{
    return svld1_f32(mask, (const float *)p);
}

/* Half precision from memory. */
static inline ulb_floats ulb_load_halves(ulb_mask mask, const void *p)
{
    return svcvt_f32_f16_x(mask, svreinterpret_f16_u32(svld1uh_u32(mask, (const uint16_t *)p)));
}

/* An unsigned byte from memory for each lane. */
static inline ulb_floats ulb_load_byte_floats(ulb_mask mask, const void *p)
{
    return svcvt_f32_u32_x(mask, svld1ub_u32(mask, (const uint8_t *)p));
}

static inline void ulb_store_floats(ulb_mask mask, float *p, ulb_floats v)
{
    svst1_f32(mask, p, v);
}

/* sum + products of four neighbouring signed bytes with bytes 4 q to 4 q + 3 of each 128 bits of x. */
#define ulb_dot(sum, bytes, x, q) svdot_lane_s32(sum, bytes, x, q)

/* In each 128 bits the first 8 bytes of a and of b; the next function, the second 8 bytes. */
static inline ulb_bytes ulb_first_halves(ulb_bytes a, ulb_bytes b)
{
    return svreinterpret_s8_s64(svtrn1_s64(svreinterpret_s64_s8(a), svreinterpret_s64_s8(b)));
}

static inline ulb_bytes ulb_second_halves(ulb_bytes a, ulb_bytes b)
{
    return svreinterpret_s8_s64(svtrn2_s64(svreinterpret_s64_s8(a), svreinterpret_s64_s8(b)));
}

/* sum + products of pairs of bfloat16 with pair q of each 128 bits of x. The next: two rows of four weights
 * times two tokens of four activations, lane 2 r + t. */
#ifdef __ARM_FEATURE_BF16_VECTOR_ARITHMETIC
#define ulb_bfdot(sum, weights, x, q)                                                                        \
    svbfdot_lane_f32(sum, svreinterpret_bf16_s8(weights), svreinterpret_bf16_s8(x), q)
#define ulb_bfmultiply(sum, weights, x)                                                                      \
    svbfmmla_f32(sum, svreinterpret_bf16_s8(weights), svreinterpret_bf16_s8(x))
#endif

/* In each 128 bits sum + 2 rows of eight weights, signed or unsigned bytes, times two tokens of eight signed
 * bytes: lane 2 r + t. */
#ifdef __ARM_FEATURE_SVE_MATMUL_INT8
#define ulb_multiply_signed(sum, weights, x)   svmmla_s32(sum, weights, x)
#define ulb_multiply_unsigned(sum, weights, x) svusmmla_s32(sum, svreinterpret_u8_s8(weights), x)
#endif

#else

#include <arm_neon.h>

#define ULB_BY_ISA(neon, sve) neon

typedef int8x16_t ulb_bytes;
typedef int32x4_t ulb_ints;
typedef float32x4_t ulb_floats;
typedef uint8_t ulb_mask; /* none: tiles are whole vectors */

static inline size_t ulb_lanes(void)
{
    return 4;
}

static inline ulb_mask ulb_bytes_left(size_t at, size_t bytes)
{
    return at < bytes;
}

static inline ulb_mask ulb_lanes_left(size_t at, size_t lanes)
{
    return at < lanes;
}

static inline ulb_bytes ulb_load(ulb_mask mask, const void *p)
{
    (void)mask;
    return vld1q_s8((const int8_t *)p);
}

static inline ulb_bytes ulb_load16(const void *p)
{
    return vld1q_s8((const int8_t *)p);
}

static inline ulb_bytes ulb_all8(int value)
{
    return vdupq_n_s8((int8_t)value);
}

/* Compilers would make the bytes again in every step. */
static inline ulb_bytes ulb_keep8(int value)
{
    ulb_bytes bytes = ulb_all8(value);
    __asm__("" : "+w"(bytes));
    return bytes;
}

static inline ulb_bytes ulb_and(ulb_bytes a, ulb_bytes b)
{
    return vandq_s8(a, b);
}

static inline ulb_bytes ulb_triple(ulb_bytes a)
{
    return vaddq_s8(vaddq_s8(a, a), a);
}

static inline ulb_ints ulb_no_ints(void)
{
    return vdupq_n_s32(0);
}

static inline ulb_ints ulb_add_ints(ulb_ints a, ulb_ints b)
{
    return vaddq_s32(a, b);
}

static inline void ulb_store_ints(ulb_mask mask, int32_t *p, ulb_ints v)
{
    (void)mask;
    vst1q_s32(p, v);
}

static inline ulb_ints ulb_all32(int32_t value)
{
    return vdupq_n_s32(value);
}

static inline ulb_ints ulb_sub_ints(ulb_ints a, ulb_ints b)
{
    return vsubq_s32(a, b);
}

static inline ulb_ints ulb_mul_ints(ulb_ints a, ulb_ints b)
{
    return vmulq_s32(a, b);
}

#define ulb_asr(v, bits) vshrq_n_s32(v, bits)
#define ulb_shl(v, bits) vshlq_n_s32(v, bits)

static inline ulb_floats ulb_to_floats(ulb_ints v)
{
    return vcvtq_f32_s32(v);
}

static inline ulb_floats ulb_all_floats(float value)
{
    return vdupq_n_f32(value);
}

static inline ulb_floats ulb_mul(ulb_floats a, ulb_floats b)
{
    return vmulq_f32(a, b);
}

static inline ulb_floats ulb_add_floats(ulb_floats a, ulb_floats b)
{
    return vaddq_f32(a, b);
}

static inline ulb_floats ulb_fma(ulb_floats a, ulb_floats b, ulb_floats c)
{
    return vfmaq_f32(c, a, b);
}

static inline ulb_floats ulb_fnma(ulb_floats a, ulb_floats b, ulb_floats c)
{
    return vfmsq_f32(c, a, b);
}

static inline ulb_floats ulb_load_floats(ulb_mask mask, const void *p)
{
    (void)mask;
    return vreinterpretq_f32_u8(vld1q_u8((const uint8_t *)p));
}

static inline ulb_floats ulb_load_halves(ulb_mask mask, const void *p)
{
    (void)mask;
    return vcvt_f32_f16(vreinterpret_f16_u8(vld1_u8((const uint8_t *)p)));
}

static inline ulb_floats ulb_load_byte_floats(ulb_mask mask, const void *p)
{
    uint32_t bytes;
    (void)mask;
    __builtin_memcpy(&bytes, p, sizeof bytes);
    uint16x8_t words = vmovl_u8(vcreate_u8(bytes));
    return vcvtq_f32_u32(vmovl_u16(vget_low_u16(words)));
}

static inline void ulb_store_floats(ulb_mask mask, float *p, ulb_floats v)
{
    (void)mask;
    vst1q_f32(p, v);
}

#ifdef __ARM_FEATURE_DOTPROD
#define ulb_dot(sum, bytes, x, q) vdotq_laneq_s32(sum, bytes, x, q)
#endif

static inline ulb_bytes ulb_first_halves(ulb_bytes a, ulb_bytes b)
{
    return vreinterpretq_s8_s64(vtrn1q_s64(vreinterpretq_s64_s8(a), vreinterpretq_s64_s8(b)));
}

static inline ulb_bytes ulb_second_halves(ulb_bytes a, ulb_bytes b)
{
    return vreinterpretq_s8_s64(vtrn2q_s64(vreinterpretq_s64_s8(a), vreinterpretq_s64_s8(b)));
}

#ifdef __ARM_FEATURE_BF16_VECTOR_ARITHMETIC
#define ulb_bfdot(sum, weights, x, q)                                                                        \
    vbfdotq_laneq_f32(sum, vreinterpretq_bf16_s8(weights), vreinterpretq_bf16_s8(x), q)
#define ulb_bfmultiply(sum, weights, x)                                                                      \
    vbfmmlaq_f32(sum, vreinterpretq_bf16_s8(weights), vreinterpretq_bf16_s8(x))
#endif

#ifdef __ARM_FEATURE_MATMUL_INT8
#define ulb_multiply_signed(sum, weights, x)   vmmlaq_s32(sum, weights, x)
#define ulb_multiply_unsigned(sum, weights, x) vusmmlaq_s32(sum, vreinterpretq_u8_s8(weights), x)
#endif

#endif

static inline size_t ulb_vec_bytes(void)
{
    return 4 * ulb_lanes();
}

#endif
