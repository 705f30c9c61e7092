/* Internal to plots/: what gnuplot writes as SVG, made fit to stand alone and inside of a page. */
#ifndef ULB_PLOTS_DRAW_SVG_H
#define ULB_PLOTS_DRAW_SVG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Copies an SVG of gnuplot to out. Values that are shown on pointing become <title> elements, which need no
 * script; every id begins with name, so that figures of one page do not share them; groups that hold nothing
 * and titles that say nothing are left out. */
void ulb_svg_copy(const char *svg, size_t bytes, const char *name, FILE *out);

#endif
