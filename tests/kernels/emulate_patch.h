#ifndef ULB_TESTS_KERNELS_EMULATE_PATCH_H
#define ULB_TESTS_KERNELS_EMULATE_PATCH_H

#include <stdbool.h>
#include <stdint.h>

/* The dot products that are emulated: bytes unsigned by signed (vpdpbusd), both signed (vpdpbssd), words. */
enum dot_kind { DOT_BUSD, DOT_BSSD, DOT_WSSD };

/* sums += first . second, on 256-bit registers by number. */
struct dot_instruction {
    enum dot_kind kind;
    unsigned sums, first, second;
};

/* Replaces the 5 bytes of an instruction that trapped by a jump to AVX2 code that does the same; a signal for
 * each execution would take thousands of times as long. The registers and the flags are otherwise kept.
 * False, and nothing is changed: no room is left, or the system does not let code be written. One thread
 * only. */
bool emulate_patch(uint8_t *code, const struct dot_instruction *dot);

#endif
