/* Whether this program runs on a CPU or in an emulator of one, whose times and cycles say nothing. */
#ifndef ULB_COMMON_EMULATION_H
#define ULB_COMMON_EMULATION_H

/* What runs it, e.g. "qemu-aarch64"; NULL: a CPU, as far as can be seen. ULB_EMULATED in the environment
 * names an emulator that does not show itself (a whole emulated machine), or is empty for "it is none". */
const char *ulb_emulator(void);

#endif
