/* Plain readers: each adds up all words of a buffer, so that none may be left out, and adds an item's sum to its
 * own place in sums. n: vectors of 16 bytes. */

kernel void fill(global uint *words)
{
    const size_t i = get_global_id(0);
    words[i] = (uint)i * 2654435761u;
}

static void keep(global uint *sums, uint4 sum)
{
    sums[get_global_id(0)] += sum.x + sum.y + sum.z + sum.w;
}

/* Neighbouring items read neighbouring vectors. */
kernel void strided(const global uint4 *data, ulong n, global uint *sums)
{
    const size_t stride = get_global_size(0);
    size_t i = get_global_id(0);
    uint4 a = 0, b = 0, c = 0, d = 0;
    for (; i + 3 * stride < n; i += 4 * stride) {
        a += data[i];
        b += data[i + stride];
        c += data[i + 2 * stride];
        d += data[i + 3 * stride];
    }
    for (; i < n; i += stride)
        a += data[i];
    keep(sums, a + b + c + d);
}

/* An item reads one contiguous part. */
kernel void parted(const global uint4 *data, ulong n, global uint *sums)
{
    const size_t part = (n + get_global_size(0) - 1) / get_global_size(0);
    const size_t begin = get_global_id(0) * part, end = min(begin + part, (size_t)n);
    size_t i = begin;
    uint4 a = 0, b = 0, c = 0, d = 0;
    for (; i + 3 < end; i += 4) {
        a += data[i];
        b += data[i + 1];
        c += data[i + 2];
        d += data[i + 3];
    }
    for (; i < end; i++)
        a += data[i];
    keep(sums, a + b + c + d);
}

#ifdef ULB_LANES
#define SUB_GROUPS (get_global_size(0) / ULB_LANES)
#define SUB_GROUP  (get_global_id(0) / ULB_LANES)

/* A sub-group reads ULB_LANES vectors at once. n is a multiple of ULB_LANES. */
ULB_SUB_GROUP kernel void block(const global uint4 *data, ulong n, global uint *sums)
{
    uint4 sum = 0;
    for (size_t i = SUB_GROUP; i < n / ULB_LANES; i += SUB_GROUPS)
        sum += ulb_block_read4((const global uint *)data + i * 4 * ULB_LANES);
    keep(sums, sum);
}
#endif

#ifdef ULB_READ_2D
/* A sub-group of 16 reads a tile of 8 rows of 64 bytes at once. n is a multiple of 32. */
ULB_SUB_GROUP kernel void block2d(const global uint4 *data, ulong n, global uint *sums)
{
    uint8 sum = 0;
    for (size_t i = SUB_GROUP; i < n / 32; i += SUB_GROUPS)
        sum += ulb_block_read_2d((const global uint *)data, (int)(n / 4), (int)(8 * i));
    keep(sums, sum.lo + sum.hi);
}
#endif
