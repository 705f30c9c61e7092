/* Whether the files through which the system gives GPUs to processes may be opened. */
#ifndef ULB_HARNESS_OPENCL_RENDER_NODE_H
#define ULB_HARNESS_OPENCL_RENDER_NODE_H

#include <stdbool.h>
#include <stddef.h>

/* The first render node in a folder that this process may not open: dri/renderD*, kfd or nvidia*. The text is
 * a sentence that names file, group and remedy. false: none is refused. folder is /dev but in tests. */
bool ulb_render_node_refused(const char *folder, char *text, size_t bytes);

#endif
