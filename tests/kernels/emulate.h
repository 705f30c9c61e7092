/* Runs AVX-VNNI, AVX-VNNI-INT8, AMX-INT8 and AMX-BF16 code on CPUs without them: the illegal instruction
 * traps, and its effect is computed in software on the saved registers, or on tiles of the emulation's own.
 */
#ifndef ULB_TESTS_KERNELS_EMULATE_H
#define ULB_TESTS_KERNELS_EMULATE_H

#include "common/isa.h"

/* Installs the trap. Returns the ISA bits that it stands in for; 0 when the CPU lacks AVX2 or the kernel's
 * signal frame does not hold the upper register halves. */
ulb_isa_set emulation_start(void);
void emulation_stop(void);

/* Instructions emulated since emulation_start(). */
unsigned long emulation_count(void);

#endif
