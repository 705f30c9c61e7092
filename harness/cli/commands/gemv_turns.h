/* gemv in turn with another program, which is told over a pipe: the half of 'compare --beside' that measures.
 */
#ifndef ULB_HARNESS_CLI_COMMANDS_GEMV_TURNS_H
#define ULB_HARNESS_CLI_COMMANDS_GEMV_TURNS_H

#include "harness/cli/measure_options.h"

/* Measures the turns that standard input asks for, a line each: places of cells, in decimal digits with
 * blanks between them. Standard output gets a line {"turns": 1, "cells": []} when the grid is warm, then a
 * line for each cell measured, its samples and its place (harness/grid/take_turns.h). The end of standard
 * input ends it. ULB_BAD_INPUT for what is no such line. */
enum ulb_status ulb_gemv_turns(struct ulb_measure_options *options, struct ulb_error *err);

#endif
