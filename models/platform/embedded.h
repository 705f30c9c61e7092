/* Text files that the build puts into the binary; ulb_embed() ends each with a zero byte. */
#ifndef ULB_MODELS_PLATFORM_EMBEDDED_H
#define ULB_MODELS_PLATFORM_EMBEDDED_H

#include <stddef.h>

struct ulb_embedded {
    const char *name;
    const unsigned char *text;
};

/* models/data/NAME.json, one row per word in models/platform/CMakeLists.txt. */
extern const struct ulb_embedded ulb_embedded_platforms[];
extern const size_t ulb_embedded_platform_count;

/* The same of devices. */
extern const struct ulb_embedded ulb_embedded_devices[];
extern const size_t ulb_embedded_device_count;

/* models/data/cores.json */
extern const unsigned char ulb_cores_json[];

#endif
