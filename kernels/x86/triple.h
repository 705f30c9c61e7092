/* Five ternary digits a byte, taken out by tripling it: kernels/tern1_6/triple_vnniu.c. */
#ifndef ULB_KERNELS_X86_TRIPLE_H
#define ULB_KERNELS_X86_TRIPLE_H

/* A part of an assembler statement: packed = 3 packed mod 256. */
#define ULB_ASM_TRIPLE "vpaddb %[packed], %[packed], %[twice]\n\tvpaddb %[twice], %[packed], %[packed]\n\t"

#endif
