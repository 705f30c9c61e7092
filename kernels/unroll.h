/* Loops over a tile's vectors, unrolled: only then does an array of accumulators lie in registers.
 *
 * Clang takes a number as an order and obeys it before it has put an inline function into its caller, where
 * the number of passes is an argument: it makes a loop for any number, which it never unrolls again. Asked to
 * unroll the whole loop it waits until it knows the passes. */
#ifndef ULB_KERNELS_UNROLL_H
#define ULB_KERNELS_UNROLL_H

/* Before a loop of at most so many passes, a number that the function has as an argument or a constant. */
#ifdef __clang__
#define ULB_UNROLL(passes) _Pragma("clang loop unroll(full)")
#else
#define ULB_UNROLL(passes)      ULB_UNROLL_PRAGMA(GCC unroll passes)
#define ULB_UNROLL_PRAGMA(text) _Pragma(#text)
#endif

#endif
