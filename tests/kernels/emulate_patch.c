#include "tests/kernels/emulate_patch.h"

#if defined(__x86_64__)
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

enum { PAGE = 4096, INSTRUCTION = 5, STUB = 64, STUBS = 8192 };

/* Where a stub puts the operands, and what the routines below borrow: sums, first, second, ymm0 to ymm2. */
static uint8_t operands[6][32] __asm__("emulate_operands") __attribute__((used));

/* Beside the code that jumps to them: a jump reaches 2 GiB. */
static uint8_t stubs[STUBS][STUB] __attribute__((aligned(PAGE)));
static size_t stubs_used;

/* sums += first . second in AVX2. Bytes are widened to words by halves and multiplied to sums of pairs;
 * vphaddd adds pairs to fours within each 128 bits, vpermq puts them in order. Nothing here touches the
 * flags. */
#define ROUTINE(name, products)                                                                              \
    __asm__(".text\n" name ":\n"                                                                             \
            "vmovdqu %ymm0, emulate_operands+96(%rip)\n"                                                     \
            "vmovdqu %ymm1, emulate_operands+128(%rip)\n"                                                    \
            "vmovdqu %ymm2, emulate_operands+160(%rip)\n" products                                           \
            "vpaddd emulate_operands(%rip), %ymm0, %ymm0\n"                                                  \
            "vmovdqu %ymm0, emulate_operands(%rip)\n"                                                        \
            "vmovdqu emulate_operands+96(%rip), %ymm0\n"                                                     \
            "vmovdqu emulate_operands+128(%rip), %ymm1\n"                                                    \
            "vmovdqu emulate_operands+160(%rip), %ymm2\n"                                                    \
            "ret\n")
#define BYTES(widen)                                                                                         \
    widen " emulate_operands+32(%rip), %ymm0\n"                                                              \
          "vpmovsxbw emulate_operands+64(%rip), %ymm1\n"                                                     \
          "vpmaddwd %ymm1, %ymm0, %ymm0\n" widen " emulate_operands+48(%rip), %ymm1\n"                       \
          "vpmovsxbw emulate_operands+80(%rip), %ymm2\n"                                                     \
          "vpmaddwd %ymm2, %ymm1, %ymm1\n"                                                                   \
          "vphaddd %ymm1, %ymm0, %ymm0\n"                                                                    \
          "vpermq $0xD8, %ymm0, %ymm0\n"
ROUTINE("emulate_busd", BYTES("vpmovzxbw"));
ROUTINE("emulate_bssd", BYTES("vpmovsxbw"));
ROUTINE("emulate_wssd", "vmovdqu emulate_operands+32(%rip), %ymm0\n"
                        "vpmaddwd emulate_operands+64(%rip), %ymm0, %ymm0\n");
extern const uint8_t routine_busd[] __asm__("emulate_busd");
extern const uint8_t routine_bssd[] __asm__("emulate_bssd");
extern const uint8_t routine_wssd[] __asm__("emulate_wssd");

static uint8_t *put(uint8_t *at, const uint8_t *bytes, size_t n)
{
    memcpy(at, bytes, n);
    return at + n;
}

/* The displacement that ends an instruction counts from its end. */
static uint8_t *put_displacement(uint8_t *at, const uint8_t *target)
{
    int32_t distance = (int32_t)((intptr_t)target - (intptr_t)(at + 4));
    return put(at, (const uint8_t *)&distance, 4);
}

/* vmovdqu between a register and an operand, VEX.256.F3.0F 6F (load) or 7F (store) (Intel SDM vol. 2). */
static uint8_t *put_move(uint8_t *at, uint8_t opcode, unsigned reg, unsigned operand)
{
    uint8_t code[] = {0xC5, reg < 8 ? 0xFE : 0x7E, opcode, (uint8_t)(0x05 | (reg & 7u) << 3)};
    return put_displacement(put(at, code, sizeof code), operands[operand]);
}

static uint8_t *put_branch(uint8_t *at, uint8_t opcode, const uint8_t *target)
{
    return put_displacement(put(at, &opcode, 1), target);
}

/* lea leaves the flags alone; 128 bytes below the stack pointer belong to the function (its red zone). */
static void write_stub(uint8_t *at, const struct dot_instruction *dot, const uint8_t *next)
{
    static const uint8_t past_red_zone[] = {0x48, 0x8D, 0x64, 0x24, 0x80};
    static const uint8_t back[] = {0x48, 0x8D, 0xA4, 0x24, 0x80, 0, 0, 0};
    static const uint8_t *const routines[] = {
        [DOT_BUSD] = routine_busd, [DOT_BSSD] = routine_bssd, [DOT_WSSD] = routine_wssd};
    enum { LOAD = 0x6F, STORE = 0x7F, CALL = 0xE8, JUMP = 0xE9 };
    at = put_move(at, STORE, dot->sums, 0);
    at = put_move(at, STORE, dot->first, 1);
    at = put_move(at, STORE, dot->second, 2);
    at = put(at, past_red_zone, sizeof past_red_zone);
    at = put_branch(at, CALL, routines[dot->kind]);
    at = put(at, back, sizeof back);
    at = put_move(at, LOAD, dot->sums, 0);
    put_branch(at, JUMP, next);
}

static bool let_write(const uint8_t *begin, size_t bytes)
{
    uintptr_t first = (uintptr_t)begin / PAGE * PAGE, end = (uintptr_t)begin + bytes;
    return mprotect((void *)first, end - first, PROT_READ | PROT_WRITE | PROT_EXEC) == 0;
}

bool emulate_patch(uint8_t *code, const struct dot_instruction *dot)
{
    if (stubs_used == STUBS || (!stubs_used && !let_write(stubs[0], sizeof stubs)) ||
        !let_write(code, INSTRUCTION))
        return false;
    uint8_t *stub = stubs[stubs_used++];
    write_stub(stub, dot, code + INSTRUCTION);
    put_branch(code, 0xE9, stub);
    return true;
}
#endif
