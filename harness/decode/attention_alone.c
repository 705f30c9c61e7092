#include "harness/decode/attention_alone.h"

#include "common/stats.h"
#include "harness/bandwidth/read_bandwidth.h"
#include "harness/session/session.h"

enum { ROUNDS = 15 };

/* The yardstick until it has replaced what the last-level cache holds; bytes/s of its last read. */
static double read_cold(struct ulb_session *session)
{
    size_t each = ULB_MEMORY_CHUNK * session->machine.pus.n, bytes = 0;
    double gives = 0;
    for (; bytes == 0 || bytes < 2 * session->machine.topology.llc_bytes; bytes += each)
        gives = ulb_read_yardstick(session);
    return gives;
}

struct ulb_attention_alone ulb_attention_measure(struct ulb_session *session, struct ulb_decoder *decoder,
                                                 const struct ulb_decoder_shape *shape, enum ulb_kv_type type,
                                                 size_t sequences, size_t position)
{
    double bytes = (double)sequences * ulb_kv_bytes(shape, type, (double)(position + 1)), gives[ROUNDS],
           share[ROUNDS];
    for (size_t i = 0; i < ROUNDS; i++) {
        double yardstick = read_cold(session);
        gives[i] = bytes / ulb_decoder_attend_alone(decoder, sequences, position);
        share[i] = gives[i] / yardstick;
    }
    return (struct ulb_attention_alone){position, ulb_median(gives, ROUNDS), ulb_median(share, ROUNDS)};
}
