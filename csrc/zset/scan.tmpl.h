/* TEMPLATE: scans with a cursor that needs no state in the set.
 *
 *   63    58 57                    18 17              0
 *   | epoch |   member-leaf label    |  member hash   |
 *
 * Leaves come by ascending label, the members of one leaf by ascending hash, members of one hash
 * together. A present member's label never decreases (tree.h, I6), so a member that is there all
 * the time is met: its place in this order only moves ahead of the cursor. A cursor of another
 * epoch starts over. The small form is one leaf of label 0; a cursor beyond it starts over
 * there. */

#define PZ_SCAN_HASH_BITS 18u

static inline uint32_t PZ_FN(scan_hash)(PZ_M m)
{
    uint64_t h = (uint64_t)m;
#if PZ_M_BITS == 128
    h ^= (uint64_t)(m >> 64) * 0x9e3779b97f4a7c15u;
#endif
    h ^= h >> 30;
    h *= 0xbf58476d1ce4e5b9u;
    h ^= h >> 27;
    h *= 0x94d049bb133111ebu;
    return (uint32_t)(h >> (64 - PZ_SCAN_HASH_BITS));
}

static inline uint64_t PZ_FN(scan_cursor)(uint64_t epoch, uint64_t label, uint32_t hash)
{
    return epoch << (PZ_LABEL_BITS + PZ_SCAN_HASH_BITS) | label << PZ_SCAN_HASH_BITS | hash;
}

/* Path to the first leaf whose label is not below `label`; false when there is none. Labels ascend
 * with the entries, so positions are bisected. */
static bool PZ_FN(scan_find)(const pz_body *b, uint64_t label, pz_path *path)
{
    uint64_t lo = 0, hi = b->member.entries;
    while (lo < hi) {
        uint64_t mid = lo + (hi - lo) / 2;
        (void)pz_path_select(&b->arena, &b->member, mid, path);
        if (PZ_FN(mt_label)(pz_leaf_at(&b->arena, path->leaf)) < label)
            lo = mid + 1;
        else
            hi = mid;
    }
    if (lo == b->member.entries)
        return false;
    (void)pz_path_select(&b->arena, &b->member, lo, path);
    return true;
}

/* One leaf's entries. */
typedef struct PZ_FN(scan_leaf) {
    uint32_t n;
    uint64_t by_hash[PZ_LEAF_ENTRIES_MAX]; /* hash << 32 | index */
    PZ_M m[PZ_LEAF_ENTRIES_MAX + 16];
    PZ_S s[PZ_LEAF_ENTRIES_MAX + 16];
} PZ_FN(scan_leaf);

static int PZ_FN(by_hash)(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static void PZ_FN(scan_sort)(PZ_FN(scan_leaf) *l)
{
    for (uint32_t i = 0; i < l->n; i++)
        l->by_hash[i] = (uint64_t)PZ_FN(scan_hash)(l->m[i]) << 32 | i;
    qsort(l->by_hash, l->n, sizeof *l->by_hash, PZ_FN(by_hash));
}

/* Write the leaf's members from `hash` on until `count` are written; gives the hash to go on with,
 * or 2**18 when the leaf is done. */
static uint32_t PZ_FN(scan_write)(const PZ_FN(scan_leaf) *l, uint32_t hash, size_t count,
                                  pz_out *members, pz_out *scores, size_t *written)
{
    uint32_t last = 0;
    for (uint32_t i = 0; i < l->n; i++) {
        uint32_t h = (uint32_t)(l->by_hash[i] >> 32), at = (uint32_t)l->by_hash[i];
        if (h < hash)
            continue;
        if (*written >= count && h != last)
            return h;
        PZ_FN(range_write)(l->m + at, l->s + at, 1, members, scores);
        ++*written;
        last = h;
    }
    return 1u << PZ_SCAN_HASH_BITS;
}

static pz_status PZ_FN(scan)(const pz_set *z, uint64_t cursor, size_t count, size_t room,
                             pz_out members, pz_out scores, size_t *written, uint64_t *next)
{
    uint64_t epoch = cursor >> (PZ_LABEL_BITS + PZ_SCAN_HASH_BITS);
    uint64_t label = cursor >> PZ_SCAN_HASH_BITS & (((uint64_t)1 << PZ_LABEL_BITS) - 1);
    uint32_t hash = (uint32_t)cursor & ((1u << PZ_SCAN_HASH_BITS) - 1);
    PZ_FN(scan_leaf) l;
    if (count == 0 || room < PZ_LEAF_ENTRIES_MAX || room - PZ_LEAF_ENTRIES_MAX < count)
        return PZ_INVALID;
    *written = 0;
    *next = 0;
    if (z->len == 0)
        return PZ_OK;
    if (!z->large) {
        PZ_FN(walk) walk = {.z = z};
        l.n = PZ_FN(walk_next)(&walk, l.m, l.s);
        PZ_FN(scan_sort)(&l);
        hash = PZ_FN(scan_write)(&l, label == 0 ? hash : 0, count, &members, &scores, written);
        if (hash >> PZ_SCAN_HASH_BITS == 0)
            *next = PZ_FN(scan_cursor)(0, 0, hash);
        return PZ_OK;
    }
    const pz_body *b = pz_body_of(z);
    pz_path path;
    if (epoch != b->scan_epoch)
        label = hash = 0;
    bool more = PZ_FN(scan_find)(b, label, &path);
    for (; more; more = pz_path_next(&b->arena, &path)) {
        const pz_leaf *leaf = pz_leaf_at(&b->arena, path.leaf);
        uint64_t at = PZ_FN(mt_label)(leaf);
        if (*written >= count) {
            *next = PZ_FN(scan_cursor)(b->scan_epoch, at, 0);
            return PZ_OK;
        }
        l.n = PZ_FN(mt_leaf_decode)(leaf, l.m, l.s);
        PZ_FN(scan_sort)(&l);
        hash = PZ_FN(scan_write)(&l, at == label ? hash : 0, count, &members, &scores, written);
        if (hash >> PZ_SCAN_HASH_BITS == 0) {
            *next = PZ_FN(scan_cursor)(b->scan_epoch, at, hash);
            return PZ_OK;
        }
    }
    return PZ_OK;
}
