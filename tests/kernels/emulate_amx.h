/* AMX-INT8 and AMX-BF16 in software: the effect of one trapped tile instruction. */
#ifndef ULB_TESTS_KERNELS_EMULATE_AMX_H
#define ULB_TESTS_KERNELS_EMULATE_AMX_H

#include <stdint.h>

/* Executes the instruction at code, whose general registers hold these values (numbered as in machine code: 0
 * rax, 1 rcx ... 15 r15), on this thread's tiles. Returns its length; 0 when it is no instruction of
 * these, or one that would fault on a CPU that has it (tiles not configured or of unlike sizes). */
int emulate_amx(const uint8_t *code, const uint64_t registers[16]);

#endif
