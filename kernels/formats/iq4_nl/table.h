/* IQ4_NL's table as this build multiplies it: for dot products entries + 127. */
#ifndef ULB_KERNELS_FORMATS_IQ4_NL_TABLE_H
#define ULB_KERNELS_FORMATS_IQ4_NL_TABLE_H

#include "kernels/x86/simd/dot.h"

#if ULB_S16_SUMS
#define ENTRY_ORIGIN 0
#else
#define ENTRY_ORIGIN 127
#endif

static const uint8_t table[16] = {(uint8_t)(ENTRY_ORIGIN - 127),
                                  (uint8_t)(ENTRY_ORIGIN - 104),
                                  (uint8_t)(ENTRY_ORIGIN - 83),
                                  (uint8_t)(ENTRY_ORIGIN - 65),
                                  (uint8_t)(ENTRY_ORIGIN - 49),
                                  (uint8_t)(ENTRY_ORIGIN - 35),
                                  (uint8_t)(ENTRY_ORIGIN - 22),
                                  (uint8_t)(ENTRY_ORIGIN - 10),
                                  ENTRY_ORIGIN + 1,
                                  ENTRY_ORIGIN + 13,
                                  ENTRY_ORIGIN + 25,
                                  ENTRY_ORIGIN + 38,
                                  ENTRY_ORIGIN + 53,
                                  ENTRY_ORIGIN + 69,
                                  ENTRY_ORIGIN + 89,
                                  ENTRY_ORIGIN + 113};

#endif
