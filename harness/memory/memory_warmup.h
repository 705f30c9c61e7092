/* What runs right before a sample of memory, untimed. Memory that nobody has read for some 20 us sleeps, and
 * wakes up in 50 to 65 us of reading, however much that is: two cores of a Zen 5 guest read 26 GB/s for the
 * first 50 us after a rest of 1 ms and 50 from then on, in another minute 46 and 70, one core 24 and 36;
 * after a rest of 10 us all is as if there had been none. Looking at the cores between samples takes longer
 * than that; an engine goes on to the next product in a few us. With memory at 39 to 48 GB/s samples of int1
 * at 2048x2048, 10 to 20 us long, were 0.59 of the yardstick, and are 0.93 to 0.97; at 77 GB/s 0.75. */
#ifndef ULB_HARNESS_MEMORY_MEMORY_WARMUP_H
#define ULB_HARNESS_MEMORY_MEMORY_WARMUP_H

enum { ULB_WARM_UP_BYTES = 1 << 20 }; /* that a thread reads at a time */
static const double ULB_WARM_UP_SECONDS = 100e-6;

#endif
