/* TEMPLATE: the small form: one block of packed keys in order.
 *
 *   +------------+------------+-- ... --+--------+
 *   | score mem. | score mem. |         | unused |      room keys of PZ_REC_BYTES
 *   +------------+------------+-- ... --+--------+
 *
 * Looking a member up is a scan of at most PZ_SMALL_CAPACITY keys. */

static inline PZ_FN(key) *PZ_FN(small_keys)(const pz_set *z)
{
    return (PZ_FN(key) *)z->block;
}

/* Position of a member, or len. */
static inline uint32_t PZ_FN(small_find)(const pz_set *z, PZ_M m)
{
    const PZ_FN(key) *keys = PZ_FN(small_keys)(z);
    uint32_t n = (uint32_t)z->len, i = 0;
    while (i < n && keys[i].m != m)
        i++;
    return i;
}

/* First position whose key is not below (s, m). */
static inline uint32_t PZ_FN(small_lower_bound)(const PZ_FN(key) *keys, uint32_t n, PZ_S s, PZ_M m)
{
    uint32_t lo = 0;
    while (n > 0) {
        uint32_t half = n / 2;
        if (PZ_FN(ot_less)(keys[lo + half].s, keys[lo + half].m, s, m)) {
            lo += half + 1;
            n -= half + 1;
        } else {
            n = half;
        }
    }
    return lo;
}

/* Insert and erase in an array with room. */
static inline void PZ_FN(small_insert)(PZ_FN(key) *keys, uint32_t n, PZ_S s, PZ_M m)
{
    uint32_t at = PZ_FN(small_lower_bound)(keys, n, s, m);
    memmove(keys + at + 1, keys + at, (size_t)(n - at) * sizeof *keys);
    keys[at].s = s;
    keys[at].m = m;
}

static inline void PZ_FN(small_erase)(PZ_FN(key) *keys, uint32_t n, uint32_t at)
{
    memmove(keys + at, keys + at + 1, (size_t)(n - at - 1) * sizeof *keys);
}

/* Give the block room for exactly `room` keys. */
static pz_status PZ_FN(small_resize)(pz_set *z, uint32_t room)
{
    void *block = NULL;
    if (room == z->room)
        return PZ_OK;
    if (room > 0) {
        block = pz_env_alloc(z->env, (size_t)room * PZ_REC_BYTES);
        if (block == NULL)
            return PZ_NOMEM;
        if (z->len > 0)
            memcpy(block, z->block, (size_t)z->len * PZ_REC_BYTES);
    }
    pz_env_free(z->env, z->block, (size_t)z->room * PZ_REC_BYTES);
    z->block = block;
    z->room = (uint16_t)room;
    return PZ_OK;
}

/* Room for one more key where there is none: an eighth more, so that growth stays cheap. */
static inline uint32_t PZ_FN(small_room_for)(const pz_set *z, uint64_t len)
{
    uint64_t room = len + len / 8;
    uint32_t cap = pz_small_capacity(z);
    return room > cap ? cap : (uint32_t)room;
}
