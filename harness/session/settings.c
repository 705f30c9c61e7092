#include "harness/session/settings.h"

bool ulb_takes_split(const struct ulb_settings *settings, enum ulb_split split)
{
    for (size_t i = 0; i < settings->n_splits; i++) {
        if (settings->splits[i] == split)
            return true;
    }
    return false;
}
