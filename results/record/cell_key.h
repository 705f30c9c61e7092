/* Which figures of two records are the same figure: a cell's key holds everything that a measured value
 * depends on besides machine and build. */
#ifndef ULB_RESULTS_RECORD_CELL_KEY_H
#define ULB_RESULTS_RECORD_CELL_KEY_H

#include "results/record/record.h"

enum { ULB_CELL_KEY_MAX = 640 };

/* Writes "KERNEL LAYOUT MODEL/LAYER MxK nN SET:THREADS SPLIT MODE CYCLES" and returns out, e.g.
 * "int2a8-pshufb-avx2-32x1x4 vnni4-interleaved llama3-8b/down 4096x14336 n1 all:2 static cold chain". cycles
 * is the record's "clock.cycles_source". A layout or source of cycles that is not known ("" or NULL) is "?".
 */
char *ulb_cell_key(const struct ulb_cell *cell, const char *cycles, char out[ULB_CELL_KEY_MAX]);

/* The key without its CYCLES, which a record may tell behind its cells; and the key that it becomes with
 * them.
 */
char *ulb_cell_place(const struct ulb_cell *cell, char out[ULB_CELL_KEY_MAX]);
char *ulb_place_key(char place[ULB_CELL_KEY_MAX], const char *cycles);

/* The same for a gamma: "KERNEL CLASS CYCLES", cycles being "gamma.cycles_source". */
char *ulb_gamma_key(const struct ulb_gamma_cell *cell, const char *cycles, char out[ULB_CELL_KEY_MAX]);

/* And for a count: "KERNEL SOURCE", e.g. "int2a8-pshufb-avx2-32x1x4 callgrind". */
char *ulb_count_key(const struct ulb_count_cell *cell, char out[ULB_CELL_KEY_MAX]);

#endif
