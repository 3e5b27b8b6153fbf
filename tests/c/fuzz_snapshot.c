/* fuzz_snapshot.c: hostile snapshots. Either the input is the snapshot, or it says which set to
 * save and which bytes of the result to change; then the checksums are made right again, so that
 * the checks behind them are reached.
 *
 *   | 0: raw | the snapshot ...
 *   | else   | layout | rle and capacity | members | scores | changes: offset u16, byte | ...
 *
 * A snapshot is refused, saying what is wrong, or gives a set that validates, can be changed and
 * comes back equal from a snapshot of its own. No allocation is left behind either way. */
#define main test_main
#include "test.h"
#undef main
#include "../../csrc/base/bits.h"
#include "../../csrc/codec/crc32c.h"
#include "oracle.h"

enum { HEADER = 64, END = 32, HEADER_SUM = 60, END_ROWS_SUM = 16, END_SUM = 28, ROOM = 1 << 20 };

#define MUST(cond)                                                     \
    do {                                                               \
        if (!(cond)) {                                                 \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #cond); \
            abort();                                                   \
        }                                                              \
    } while (0)

typedef struct file {
    uint8_t *bytes;
    size_t n;
} file;

static int append(void *ctx, const void *from, size_t n)
{
    file *f = ctx;
    if (n > ROOM - f->n)
        return 1;
    memcpy(f->bytes + f->n, from, n);
    f->n += n;
    return 0;
}

/* Make every checksum right, as far as the frame still stands. */
static void mend(file *f)
{
    uint8_t *end = f->bytes + f->n - END;
    const uint64_t rows = pz_load64(end);
    pz_store32(f->bytes + HEADER_SUM, pz_crc32c(0, f->bytes, HEADER_SUM));
    if (rows >= HEADER && rows <= f->n - END) {
        for (uint64_t at = HEADER; at + 8 <= rows;) {
            uint32_t bytes = pz_load32(f->bytes + at + 4);
            if (bytes < 8 || bytes > rows - at)
                break;
            pz_store32(f->bytes + at, pz_crc32c(0, f->bytes + at + 4, bytes - 4));
            at += bytes;
        }
        const size_t length = f->n - END - rows;
        pz_store32(end + END_ROWS_SUM, length > 0 ? pz_crc32c(0, f->bytes + rows, length) : 0);
    }
    pz_store32(end + END_SUM, pz_crc32c(0, end, END_SUM));
}

/* Save a set as the script says, and change some of its bytes. */
static void write_snapshot(const uint8_t *script, size_t size, file *f)
{
    static uint8_t members[ORACLE_KEYS * 16], scores[ORACLE_KEYS * 8];
    const pz_member_kind member = (pz_member_kind)(script[0] % 6 / 2);
    const pz_score_kind score = (pz_score_kind)(script[0] % 2);
    const size_t mb = oracle_member_bytes(member), sb = oracle_score_bytes(score);
    const pz_options options = {.merge_exponent = 0.5,
                                .score_rle = (script[1] & 1) != 0,
                                .member_leaf_capacity = (script[1] & 2) != 0 ? 8 : 0,
                                .order_leaf_capacity = (script[1] & 2) != 0 ? 8 : 0};
    const uint32_t n = script[2] * 2u;
    for (uint32_t key = 0; key < n; key++) {
        oracle_member m = oracle_member_of(member, key);
        memcpy(members + key * mb, &m, mb);
        oracle_put_score(score, scores + key * sb, (double)(key * 7 % (script[3] + 1u)) / 2);
    }
    uint64_t added = 0, updated = 0;
    pz_set *set = NULL;
    MUST(pz_new(&test_env.env, member, score, &options, &set) == PZ_OK);
    MUST(pz_add(set, n, (pz_in){members, (ptrdiff_t)mb}, (pz_in){scores, (ptrdiff_t)sb}, 0, &added,
                &updated, NULL) == PZ_OK);
    MUST(pz_save_bound(set) <= ROOM && pz_save(set, append, f, NULL) == PZ_OK);
    pz_free(set);
    for (size_t at = 4; at + 3 <= size; at += 3) {
        size_t offset = ((size_t)script[at] << 8 | script[at + 1]) % f->n;
        f->bytes[offset] = script[at + 2];
    }
    mend(f);
}

/* A set that was given must be right in every respect. */
static void use(pz_set *set)
{
    file again = {malloc(ROOM), 0};
    pz_why why = {0};
    uint64_t added = 0, updated = 0, removed = 0;
    pz_set *copy = NULL;
    MUST(again.bytes != NULL);
    if (pz_validate(set, &why) != PZ_OK) {
        fprintf(stderr, "%s at %llu\n", why.what, why.where);
        abort();
    }
    MUST(pz_save(set, append, &again, NULL) == PZ_OK);
    MUST(pz_load(&test_env.env, again.bytes, again.n, NULL, NULL, &copy, NULL) == PZ_OK);
    MUST(pz_equal(set, copy));
    oracle_member m = oracle_member_of(pz_member_kind_of(set), 5);
    uint8_t score[8] = {0};
    MUST(pz_add(set, 1, (pz_in){&m, 0}, (pz_in){score, 0}, 0, &added, &updated, NULL) == PZ_OK);
    MUST(pz_remove(set, 1, (pz_in){&m, 0}, &removed, NULL) == PZ_OK && removed == 1);
    MUST(pz_validate(set, NULL) == PZ_OK);
    pz_free(copy);
    free(again.bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint8_t room[ROOM];
    file f = {room, 0};
    if (size < 5)
        return 0;
    MUST(test_env_open(&test_env));
    if (data[0] % 4 == 0)
        append(&f, data + 1, size - 1);
    else
        write_snapshot(data + 1, size - 1, &f);
    pz_set *set = NULL;
    pz_call call = {.index = 0};
    uint8_t *exact = malloc(f.n); /* so that one byte too many is seen */
    MUST(exact != NULL);
    memcpy(exact, f.bytes, f.n);
    pz_status status = pz_load(&test_env.env, exact, f.n, NULL, NULL, &set, &call);
    MUST(status == PZ_OK || (status == PZ_CORRUPT && set == NULL && call.why.what != NULL));
    MUST(status == PZ_OK || size != 5 || data[0] % 4 == 0); /* nothing was changed */
    free(exact);
    if (set != NULL)
        use(set);
    pz_free(set);
    pz_pool_free(test_env.env.pool);
    MUST(atomic_load(&test_env.live_bytes) == 0);
    return 0;
}
