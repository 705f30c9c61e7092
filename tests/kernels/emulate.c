#include "tests/kernels/emulate.h"

#include "tests/kernels/emulate_amx.h"
#include "tests/kernels/emulate_patch.h"

#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <ucontext.h>

#if defined(__x86_64__)
#include <cpuid.h>

/* Set by the kernel in the signal frame's fpstate (arch/x86/include/uapi/asm/sigcontext.h). */
enum { XSTATE_MAGIC_OFFSET = 464, XSTATE_MAGIC = 0x46505853, XMM_OFFSET = 160, XSAVE_HEADER = 512 };

static struct sigaction previous;
static size_t upper_offset; /* of YMM_Hi128 in the XSAVE area */
static volatile unsigned long count;

/* One 256-bit register of the trapped context: its halves lie apart in the XSAVE area. */
static void get_ymm(const uint8_t *area, unsigned index, uint8_t out[32])
{
    memcpy(out, area + XMM_OFFSET + 16 * index, 16);
    memcpy(out + 16, area + upper_offset + 16 * index, 16);
}

static void set_ymm(uint8_t *area, unsigned index, const uint8_t in[32])
{
    memcpy(area + XMM_OFFSET + 16 * index, in, 16);
    memcpy(area + upper_offset + 16 * index, in + 16, 16);
    area[XSAVE_HEADER] |= 6; /* XSTATE_BV: SSE and AVX state are to be restored */
}

/* sums[i] += 4 products, modulo 2^32: neither instruction saturates. */
static void dot_bytes(uint8_t sums[32], const uint8_t a[32], const uint8_t b[32], int a_is_signed)
{
    for (int lane = 0; lane < 8; lane++) {
        uint32_t sum;
        memcpy(&sum, sums + 4 * lane, 4);
        for (int i = 4 * lane; i < 4 * lane + 4; i++)
            sum += (uint32_t)((a_is_signed ? (int8_t)a[i] : (int)a[i]) * (int8_t)b[i]);
        memcpy(sums + 4 * lane, &sum, 4);
    }
}

/* The same of 2 products of signed words. */
static void dot_words(uint8_t sums[32], const uint8_t a[32], const uint8_t b[32])
{
    for (int lane = 0; lane < 8; lane++) {
        uint32_t sum;
        int16_t first[2], second[2];
        memcpy(&sum, sums + 4 * lane, 4);
        memcpy(first, a + 4 * lane, 4);
        memcpy(second, b + 4 * lane, 4);
        sum += (uint32_t)(first[0] * second[0]) + (uint32_t)(first[1] * second[1]);
        memcpy(sums + 4 * lane, &sum, 4);
    }
}

/* Three-byte VEX, map 0F38, W0, 256 bits, register form. Opcode 50: 66 is vpdpbusd, F2 vpdpbssd; opcode 52:
 * 66 is vpdpwssd (Intel SDM vol. 2). */
static bool decode(const uint8_t *code, struct dot_instruction *dot)
{
    enum { PREFIX_66 = 1, PREFIX_F2 = 3, BYTES = 0x50, WORDS = 0x52 };
    if (code[0] != 0xC4 || (code[1] & 0x1F) != 2 || (code[2] & 0x84) != 0x04 || code[4] < 0xC0)
        return false;
    unsigned prefix = code[2] & 3u;
    bool words = code[3] == WORDS && prefix == PREFIX_66;
    if (!words && (code[3] != BYTES || (prefix != PREFIX_66 && prefix != PREFIX_F2)))
        return false;
    dot->kind = words ? DOT_WSSD : prefix == PREFIX_F2 ? DOT_BSSD : DOT_BUSD;
    dot->sums = (code[4] >> 3 & 7u) | (code[1] & 0x80 ? 0 : 8u);
    dot->first = ~(unsigned)code[2] >> 3 & 15u;
    dot->second = (code[4] & 7u) | (code[1] & 0x20 ? 0 : 8u);
    return true;
}

static int emulate(uint8_t *code, uint8_t *area)
{
    struct dot_instruction dot;
    if (!decode(code, &dot))
        return 0;
    uint8_t sums[32], first[32], second[32];
    get_ymm(area, dot.sums, sums);
    get_ymm(area, dot.first, first);
    get_ymm(area, dot.second, second);
    if (dot.kind == DOT_WSSD)
        dot_words(sums, first, second);
    else
        dot_bytes(sums, first, second, dot.kind == DOT_BSSD);
    set_ymm(area, dot.sums, sums);
    emulate_patch(code, &dot); /* from the next time on; where that is forbidden, it traps each time */
    return 5;
}

/* The order in which machine code numbers them. */
static int emulate_tiles(const uint8_t *code, const greg_t *saved)
{
    static const int order[16] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
                                  REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};
    uint64_t registers[16];
    for (int i = 0; i < 16; i++)
        registers[i] = (uint64_t)saved[order[i]];
    return emulate_amx(code, registers);
}

static void on_illegal_instruction(int number, siginfo_t *info, void *context)
{
    (void)info;
    ucontext_t *user = context;
    greg_t *ip = &user->uc_mcontext.gregs[REG_RIP];
    uint8_t *area = (uint8_t *)user->uc_mcontext.fpregs;
    int length = emulate((uint8_t *)*ip, area);
    if (length == 0)
        length = emulate_tiles((const uint8_t *)*ip, user->uc_mcontext.gregs);
    if (length == 0)
        signal(number, SIG_DFL); /* not ours: let it kill the test */
    else
        count = count + 1;
    *ip += length;
}

/* The frame's own word says whether the XSAVE area follows the legacy one. */
static volatile int frame_has_upper;

static void on_probe(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)info;
    uint32_t magic;
    memcpy(&magic, (const uint8_t *)((ucontext_t *)context)->uc_mcontext.fpregs + XSTATE_MAGIC_OFFSET,
           sizeof magic);
    frame_has_upper = magic == XSTATE_MAGIC;
}

ulb_isa_set emulation_start(void)
{
    uint32_t size, offset, c, d;
    if (!(ulb_isa_detect() & ULB_ISA_AVX2) || !__get_cpuid_count(0xD, 2, &size, &offset, &c, &d))
        return 0;
    upper_offset = offset;
    struct sigaction action = {.sa_sigaction = on_probe, .sa_flags = SA_SIGINFO};
    struct sigaction before;
    sigaction(SIGUSR1, &action, &before);
    raise(SIGUSR1);
    sigaction(SIGUSR1, &before, NULL);
    if (!frame_has_upper)
        return 0;
    count = 0;
    action.sa_sigaction = on_illegal_instruction;
    sigaction(SIGILL, &action, &previous);
    return ULB_ISA_AVXVNNI | ULB_ISA_AVXVNNIINT8 | ULB_ISA_AMXTILE | ULB_ISA_AMXINT8 | ULB_ISA_AMXBF16;
}

void emulation_stop(void)
{
    sigaction(SIGILL, &previous, NULL);
}

unsigned long emulation_count(void)
{
    return count;
}

#else
ulb_isa_set emulation_start(void)
{
    return 0;
}
void emulation_stop(void) {}
unsigned long emulation_count(void)
{
    return 0;
}
#endif
