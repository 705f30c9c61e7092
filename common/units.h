/* Units: GB is 1e9 bytes, GiB is 2^30 bytes. Figures of this suite are in GB/s; the reference paper's are
 * in GiB/s although it prints "GB/s" (its own arithmetic only closes that way), so they are kept apart. */
#ifndef ULB_COMMON_UNITS_H
#define ULB_COMMON_UNITS_H

/* What a noun has behind a number: "1 thread", "2 threads". */
#define ULB_S(count) ((count) == 1 ? "" : "s")

#define ULB_KIB 1024.0
#define ULB_MIB (1024.0 * ULB_KIB)
#define ULB_GIB (1024.0 * ULB_MIB)
#define ULB_GB  1e9

#endif
