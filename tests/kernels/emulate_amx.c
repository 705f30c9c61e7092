#include "tests/kernels/emulate_amx.h"

#include "common/bf16.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

enum { TILES = 8, ROWS = 16, ROW_BYTES = 64, CONFIG_BYTES = 64 };

/* A tile as it is configured (0 rows: not at all); what lies beyond its rows and bytes is zero. */
struct tile {
    unsigned rows, row_bytes;
    uint8_t data[ROWS][ROW_BYTES];
};

static _Thread_local struct tile tiles[TILES];

/* Three-byte VEX, 128 bits, W0, map 0F38 (Intel SDM vol. 2, chapter 3, AMX instructions). */
enum prefix { PREFIX_NONE, PREFIX_66, PREFIX_F3, PREFIX_F2 };
enum opcode { OPCODE_CONFIG = 0x49, OPCODE_MOVE = 0x4B, OPCODE_DOT_BF16 = 0x5C, OPCODE_DOT = 0x5E };

struct instruction {
    unsigned opcode, prefix;
    unsigned mod, reg, rm, vvvv; /* ModRM's fields with VEX's bits, and VEX's own operand */
    unsigned length;
    uintptr_t address; /* of a memory operand, without the index */
    uint64_t stride;   /* the scaled index; 0 without */
    bool has_index_byte;
};

static int32_t displacement(const uint8_t *at, unsigned bytes)
{
    int32_t value = 0;
    memcpy(&value, at, bytes);
    return bytes == 1 ? (int8_t)value : value;
}

/* The memory operand behind ModRM: SIB, displacement, and what is relative to the next instruction. */
static void decode_memory(const uint8_t *code, const uint64_t registers[16], struct instruction *i)
{
    unsigned index_extension = code[1] & 0x40 ? 0 : 8u, base_extension = code[1] & 0x20 ? 0 : 8u;
    unsigned base = i->rm & 7u, bytes = i->mod == 1 ? 1 : i->mod == 2 ? 4 : 0;
    bool relative = i->mod == 0 && base == 5;
    i->has_index_byte = base == 4;
    if (i->has_index_byte) {
        unsigned sib = code[i->length++], index = (sib >> 3 & 7u) | index_extension;
        base = sib & 7u;
        i->stride = index == 4 ? 0 : registers[index] << (sib >> 6);
    }
    bool no_base = i->mod == 0 && base == 5;
    if (no_base)
        bytes = 4;
    int64_t offset = bytes ? displacement(code + i->length, bytes) : 0;
    i->length += bytes;
    uint64_t from = relative ? (uintptr_t)code + i->length : no_base ? 0 : registers[base | base_extension];
    i->address = (uintptr_t)(from + (uint64_t)offset);
}

static bool decode(const uint8_t *code, const uint64_t registers[16], struct instruction *i)
{
    if (code[0] != 0xC4 || (code[1] & 0x1F) != 2 || (code[2] & 0x84) != 0)
        return false;
    *i = (struct instruction){
        .opcode = code[3],
        .prefix = code[2] & 3u,
        .mod = code[4] >> 6,
        .reg = (code[4] >> 3 & 7u) | (code[1] & 0x80 ? 0 : 8u),
        .rm = (code[4] & 7u) | (code[1] & 0x20 ? 0 : 8u),
        .vvvv = ~(unsigned)code[2] >> 3 & 15u,
        .length = 5,
    };
    if (i->mod != 3)
        decode_memory(code, registers, i);
    return i->reg < TILES;
}

/* ldtilecfg: palette 1, 16 bytes of which 14 reserved, 16 row lengths of 2 bytes, 16 numbers of rows; tiles
 * 8-15 do not exist and must be 0. All tiles become zero. */
static bool configure(const uint8_t *config)
{
    struct tile fresh[TILES] = {{0}};
    if (config[0] != 1)
        return false;
    for (int at = 1; at < 16; at++) {
        if (config[at] != 0)
            return false;
    }
    for (int t = 0; t < 16; t++) {
        unsigned bytes = config[16 + 2 * t] | (unsigned)config[17 + 2 * t] << 8, rows = config[48 + t];
        if (rows > ROWS || bytes > ROW_BYTES || (t >= TILES && (rows || bytes)) || !rows != !bytes)
            return false;
        if (t < TILES) {
            fresh[t].rows = rows;
            fresh[t].row_bytes = bytes;
        }
    }
    memcpy(tiles, fresh, sizeof tiles);
    return true;
}

static bool run_config(const struct instruction *i)
{
    if (i->mod != 3)
        return i->prefix == PREFIX_NONE && i->reg == 0 && configure((const uint8_t *)i->address);
    if (i->prefix == PREFIX_NONE && i->reg == 0 && i->rm == 0) { /* tilerelease */
        memset(tiles, 0, sizeof tiles);
        return true;
    }
    if (i->prefix != PREFIX_F2 || i->rm != 0 || tiles[i->reg].rows == 0)
        return false;
    memset(tiles[i->reg].data, 0, sizeof tiles[i->reg].data); /* tilezero */
    return true;
}

/* tileloadd (F2, or 66 with a hint) and tilestored (F3): rows a stride apart. */
static bool run_move(const struct instruction *i)
{
    struct tile *tile = &tiles[i->reg];
    if (i->mod == 3 || !i->has_index_byte || i->prefix == PREFIX_NONE || tile->rows == 0)
        return false;
    if (i->prefix != PREFIX_F3)
        memset(tile->data, 0, sizeof tile->data);
    for (unsigned row = 0; row < tile->rows; row++) {
        void *at = (void *)(uintptr_t)(i->address + row * i->stride);
        if (i->prefix == PREFIX_F3)
            memcpy(at, tile->data[row], tile->row_bytes);
        else
            memcpy(tile->data[row], at, tile->row_bytes);
    }
    return true;
}

/* sum + 4 products of bytes, modulo 2^32. */
static uint32_t dot(uint32_t sum, const uint8_t *a, const uint8_t *b, bool a_signed, bool b_signed)
{
    for (int i = 0; i < 4; i++) {
        int left = a_signed ? (int8_t)a[i] : a[i], right = b_signed ? (int8_t)b[i] : b[i];
        sum += (uint32_t)(left * right);
    }
    return sum;
}

/* What has no room in a normal number becomes 0. */
static float flushed(float value)
{
    return fpclassify(value) == FP_SUBNORMAL ? copysignf(0, value) : value;
}

static float bf16_at(const uint8_t *at)
{
    uint16_t half;
    memcpy(&half, at, sizeof half);
    return flushed(ulb_bf16_to_float(half));
}

/* tdpbf16ps: even and odd columns are summed apart, then added to the sum (Intel SDM vol. 2). */
static void dot_bf16(struct tile *c, const struct tile *a, const struct tile *b, unsigned m, unsigned n)
{
    float parts[2] = {0, 0}, sum;
    for (unsigned k = 0; k < b->rows; k++) {
        for (unsigned i = 0; i < 2; i++)
            parts[i] =
                flushed(fmaf(bf16_at(&a->data[m][4 * k + 2 * i]), bf16_at(&b->data[k][n + 2 * i]), parts[i]));
    }
    memcpy(&sum, &c->data[m][n], sizeof sum);
    sum = flushed(flushed(sum) + flushed(parts[0] + parts[1]));
    memcpy(&c->data[m][n], &sum, sizeof sum);
}

/* The same of bytes, 4k.. by 4n.., of whose signs the prefix tells. */
static void dot_bytes(struct tile *c, const struct tile *a, const struct tile *b, unsigned m, unsigned n,
                      unsigned prefix)
{
    bool a_signed = prefix == PREFIX_F2 || prefix == PREFIX_F3,
         b_signed = prefix == PREFIX_F2 || prefix == PREFIX_66;
    uint32_t sum;
    memcpy(&sum, &c->data[m][n], sizeof sum);
    for (unsigned k = 0; k < b->rows; k++)
        sum = dot(sum, &a->data[m][4 * k], &b->data[k][n], a_signed, b_signed);
    memcpy(&c->data[m][n], &sum, sizeof sum);
}

/* C[m][n] += A[m][k] . B[k][n] for lanes of 4 bytes. The operands are three tiles of fitting sizes. */
static bool run_dot(const struct instruction *i)
{
    if (i->mod != 3 || i->rm >= TILES || i->vvvv >= TILES || i->reg == i->rm || i->reg == i->vvvv ||
        i->rm == i->vvvv || (i->opcode == OPCODE_DOT_BF16 && i->prefix != PREFIX_F3))
        return false;
    struct tile *c = &tiles[i->reg];
    const struct tile *a = &tiles[i->rm], *b = &tiles[i->vvvv];
    if (c->rows == 0 || c->rows != a->rows || c->row_bytes != b->row_bytes || a->row_bytes != 4 * b->rows)
        return false;
    for (unsigned m = 0; m < c->rows; m++) {
        for (unsigned n = 0; n < c->row_bytes; n += 4) {
            if (i->opcode == OPCODE_DOT_BF16)
                dot_bf16(c, a, b, m, n);
            else
                dot_bytes(c, a, b, m, n, i->prefix);
        }
    }
    return true;
}

int emulate_amx(const uint8_t *code, const uint64_t registers[16])
{
    struct instruction i;
    bool done = false;
    if (!decode(code, registers, &i))
        return 0;
    if (i.opcode == OPCODE_CONFIG)
        done = run_config(&i);
    else if (i.opcode == OPCODE_MOVE)
        done = run_move(&i);
    else if (i.opcode == OPCODE_DOT || i.opcode == OPCODE_DOT_BF16)
        done = run_dot(&i);
    return done ? (int)i.length : 0;
}
