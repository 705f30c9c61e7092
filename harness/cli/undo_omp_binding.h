/* The PUs that the process was started with. */
#ifndef ULB_HARNESS_CLI_UNDO_OMP_BINDING_H
#define ULB_HARNESS_CLI_UNDO_OMP_BINDING_H

/* Gives the thread back all PUs that it had before OpenMP was loaded. With OMP_PROC_BIND, OMP_PLACES or
 * GOMP_CPU_AFFINITY libgomp binds it to one PU before main. No other PU would then be measured. First thing
 * in main. */
void ulb_undo_openmp_binding(void);

#endif
