/* What a set tells about itself: counters that add up, dumps that say the same whatever the coding,
 * and a validate that finds every kind of damage done to a sound set. */
#include "test.h"

#include "sets.h"

#include "../../csrc/codec/forms.h"
#include "../../csrc/tree/text.h"
#include "../../csrc/zset/set.h"

#define EACH_LAYOUT(p)                            \
    for (int layout_ = 0; layout_ < 6; layout_++) \
        if (((p).member = member_kinds[layout_ / 2]), ((p).score = score_kinds[layout_ % 2]), 1)

static bool is_valid(const pz_set *z)
{
    pz_why why = {0};
    if (pz_validate(z, &why) == PZ_OK)
        return true;
    printf("%s at %llu: wanted %llu, got %llu\n", why.what, why.where, why.wanted, why.got);
    return false;
}

/* ---- counters ---- */
typedef struct sums {
    uint64_t leaves, base, adds, removes, entries, block, key, score, tail, coded, label;
    bool positions_follow, labels_ascend;
} sums;

static int add_up(void *ctx, const pz_leaf_info *f)
{
    sums *s = ctx;
    s->positions_follow = s->positions_follow && f->first_position == s->entries;
    s->labels_ascend = s->labels_ascend && (s->leaves == 0 || f->label > s->label);
    s->label = f->label;
    s->leaves++;
    s->base += f->base_entries;
    s->adds += f->tail_adds;
    s->removes += f->tail_removes;
    s->entries += f->entries;
    s->block += f->block_bytes;
    s->key += f->key_bytes;
    s->score += f->score_bytes;
    s->tail += f->tail_bytes;
    s->coded += f->score_form == 1;
    return 0;
}

static void check_tree(const pz_set *z, bool member, const pz_tree_memory *t, uint64_t len)
{
    sums s = {.positions_follow = true, .labels_ascend = true};
    pz_leaves(z, member, add_up, &s);
    CHECK(s.positions_follow);
    CHECK(s.labels_ascend || !member);
    CHECK_EQ(s.entries, len);
    CHECK_EQ(s.base + s.adds - s.removes, len);
    CHECK_EQ(s.leaves, t->leaf_count);
    CHECK_EQ(s.base, t->base_entries);
    CHECK_EQ(s.adds + s.removes, t->tail_entries);
    CHECK_EQ(s.key, t->key_bytes);
    CHECK_EQ(s.score, t->score_bytes);
    CHECK_EQ(s.tail, t->tail_bytes);
    CHECK_EQ(s.block,
             t->key_bytes + t->score_bytes + t->tail_bytes + t->header_bytes + t->padding_bytes);
    if (!member)
        CHECK_EQ(s.coded, t->coded_leaf_count);
}

TEST(memory_adds_up)
{
    set_plan p = {.exponent = 0.5, .seed = test_seed()};
    EACH_LAYOUT(p)
    {
        for (uint32_t n = 0; n <= 20000; n = n * 5 + 1) {
            p.n = n;
            p.rle = n % 2 == 0;
            p.capacity = n % 3 == 0 ? 16 : 0;
            pz_set *z = set_make(&p);
            pz_memory m;
            REQUIRE(z != NULL);
            CHECK(is_valid(z));
            pz_memory_of(z, &m);
            CHECK_EQ(m.member_count, pz_len(z));
            CHECK_EQ(m.total_allocated_bytes, pz_allocated_bytes(z));
            CHECK_EQ(m.order.leaf_capacity,
                     p.capacity == 0 ? PZ_LEAF_CAPACITY_DEFAULT : p.capacity);
            check_tree(z, false, &m.order, pz_len(z));
            if (!m.small) {
                check_tree(z, true, &m.member, pz_len(z));
                const pz_tree_memory *a = &m.member, *b = &m.order;
                CHECK_EQ(m.arena_live_bytes,
                         a->key_bytes + a->score_bytes + a->tail_bytes + a->header_bytes +
                             a->padding_bytes + a->branch_bytes + b->key_bytes + b->score_bytes +
                             b->tail_bytes + b->header_bytes + b->padding_bytes + b->branch_bytes);
                CHECK_EQ(m.arena_live_bytes + m.arena_free_bytes, m.arena_mapped_bytes);
                CHECK(m.total_allocated_bytes >= m.arena_mapped_bytes);
                CHECK(a->height > 0 || a->branch_bytes == 0);
                CHECK(b->branch_count == 0 || b->branch_bytes > 0);
            }
            pz_free(z);
        }
    }
}

static int stop_at_third(void *ctx, const pz_leaf_info *f)
{
    (void)f;
    return ++*(int *)ctx == 3;
}

TEST(leaves_stop_when_told)
{
    set_plan p = {.n = 500, .capacity = 8, .exponent = 0.5, .member = PZ_INT64, .seed = 1};
    pz_set *z = set_make(&p);
    REQUIRE(z != NULL);
    for (int member = 0; member < 2; member++) {
        int seen = 0;
        pz_leaves(z, member, stop_at_third, &seen);
        CHECK_EQ(seen, 3);
    }
    pz_free(z);
}

/* ---- dump ---- */
static file dump_of(const pz_set *z)
{
    file b = {0};
    CHECK(pz_dump(z, text_append, &b) == PZ_OK);
    file_append(&b, "", 1);
    return b;
}

/* What follows the header line, which alone names score_rle. */
static const char *dump_body(const file *b)
{
    return strchr((const char *)b->at, '\n');
}

TEST(dumps_do_not_depend_on_coding_or_reads)
{
    set_plan p = {.n = 3000, .capacity = 32, .exponent = 0.5, .seed = test_seed()};
    EACH_LAYOUT(p)
    {
        for (int shape = 0; shape < SCORE_SHAPES; shape++) {
            p.shape = (score_shape)shape;
            p.rle = true;
            pz_set *on = set_make(&p);
            p.rle = false;
            pz_set *off = set_make(&p);
            REQUIRE(on != NULL && off != NULL);
            CHECK(is_valid(on) && is_valid(off));
            file a = dump_of(on), b = dump_of(off);
            CHECK(strcmp(dump_body(&a), dump_body(&b)) == 0);
            CHECK(strstr((const char *)a.at, "score_rle=on\n") != NULL);
            CHECK(strstr((const char *)b.at, "score_rle=off\n") != NULL);
            uint8_t m[16];
            double score;
            for (uint32_t i = 0; i < 3000; i++) {
                member_put(p.member, m, i);
                bool found = pz_score_one(on, m, &score);
                CHECK_EQ(found, pz_rank_one(on, m, false) >= 0);
            }
            file again = dump_of(on);
            CHECK(file_equal(&a, &again));
            file_free(&a);
            file_free(&b);
            file_free(&again);
            pz_free(on);
            pz_free(off);
        }
    }
}

TEST(dump_of_a_small_set)
{
    pz_options options = {.merge_exponent = 0.5, .score_rle = true};
    const int64_t members[3] = {5, -7, 9};
    const double scores[3] = {2, -0.5, INFINITY};
    uint64_t added, updated;
    pz_set *z = NULL;
    REQUIRE(pz_new(&test_env.env, PZ_INT64, PZ_FLOAT64, &options, &z) == PZ_OK);
    REQUIRE(pz_add(z, 3, (pz_in){members, 8}, (pz_in){scores, 8}, 0, &added, &updated, NULL) ==
            PZ_OK);
    file b = dump_of(z);
    CHECK(strcmp((const char *)b.at,
                 "small set member=int64 score=float64 entries=3 leaf_capacity=512,512 "
                 "merge_exponent=0.5 score_rle=on\nentries: -7=-0.5 5=2 9=inf\n") == 0);
    file_free(&b);
    pz_free(z);
}

TEST(dump_marks_tails)
{
    pz_options options = {.merge_exponent = 1, .member_leaf_capacity = 8, .order_leaf_capacity = 8};
    pz_set *z = NULL;
    REQUIRE(pz_new(&test_env.env, PZ_INT32, PZ_FLOAT32, &options, &z) == PZ_OK);
    const int32_t members[9] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
    const float scores[9] = {1, 1, 1, 1, 2, 2, 2, 2, 2}, other = 1.25f;
    uint64_t added, updated, removed;
    REQUIRE(pz_add(z, 9, (pz_in){members, 4}, (pz_in){scores, 4}, 0, &added, &updated, NULL) ==
            PZ_OK);
    REQUIRE(pz_remove(z, 1, (pz_in){members + 1, 4}, &removed, NULL) == PZ_OK);
    REQUIRE(pz_add(z, 1, (pz_in){members + 6, 4}, (pz_in){&other, 4}, 0, &added, &updated, NULL) ==
            PZ_OK);
    file b = dump_of(z);
    CHECK(is_valid(z));
    const char *body = dump_body(&b);
    CHECK(strcmp(body, "\nmember tree entries=8 leaves=2 branches=1 height=1\n"
                       "leaf base=8 adds=1 removes=2 label=0: 1=1 ~2=1 3=1 4=1 5=2 6=2 ~7=2 8=2 "
                       "+7=1.25\n"
                       "leaf base=1 adds=0 removes=0 label=16384: 9=2\n"
                       "order tree entries=8 leaves=2 branches=1 height=1\n"
                       "leaf base=8 adds=1 removes=2: 1=1 ~2=1 3=1 4=1 5=2 6=2 ~7=2 8=2 +7=1.25\n"
                       "leaf base=1 adds=0 removes=0: 9=2\n") == 0);
    file_free(&b);
    pz_free(z);
}

static int refuse(void *ctx, const char *text, size_t n)
{
    (void)text;
    (void)n;
    return ++*(int *)ctx == 2;
}

TEST(dump_says_when_writing_fails)
{
    set_plan p = {.n = 3000, .exponent = 0.5, .seed = 3};
    pz_set *z = set_make(&p);
    int calls = 0;
    REQUIRE(z != NULL);
    CHECK(pz_dump(z, refuse, &calls) == PZ_IO);
    CHECK_EQ(calls, 2);
    pz_free(z);
}

static bool double_reads(double x, const char *text)
{
    pz_text t;
    file b = {0};
    pz_text_begin(&t, text_append, &b);
    pz_text_double(&t, pz_bits_of_double(x));
    bool ok = pz_text_end(&t) == PZ_OK && b.n == strlen(text) && memcmp(b.at, text, b.n) == 0;
    if (!ok)
        printf("%.*s, not %s\n", (int)b.n, (const char *)b.at, text);
    file_free(&b);
    return ok;
}

TEST(numbers_in_text)
{
    CHECK(double_reads(0, "0"));
    CHECK(double_reads(-3, "-3"));
    CHECK(double_reads(9007199254740991.0, "9007199254740991"));
    CHECK(double_reads(0.1, "0.10000000000000001"));
    CHECK(double_reads(-1.5e-300, "-1.5000000000000001e-300"));
    CHECK(double_reads(INFINITY, "inf"));
    CHECK(double_reads(4.9406564584124654e-324, "4.9406564584124654e-324"));
}

/* ---- validate ---- */
/* A sound set with branches in both trees, tails, and a coded order tree. */
static pz_set *sound_set(void)
{
    set_plan p = {.member = PZ_INT32,
                  .score = PZ_FLOAT64,
                  .n = 12000,
                  .capacity = 32,
                  .exponent = 0.75,
                  .rle = true,
                  .shape = SPECIALS,
                  .seed = 11};
    pz_set *z = set_make(&p);
    uint64_t seed = 12;
    for (uint32_t i = 0; z != NULL && i < 600; i++) /* one by one, which leaves tails */
        CHECK_EQ(set_rows(z, 3 + 16 * (i / 2) + i % 2, 1, 1, i % 2 ? NULL : &p.shape, &seed),
                 PZ_OK);
    return z != NULL && is_valid(z) ? z : NULL;
}

static bool finds(const pz_set *z, const char *what)
{
    pz_why why = {0};
    if (pz_validate(z, &why) != PZ_CORRUPT) {
        printf("not found: %s\n", what);
        return false;
    }
    const char *found = why.what != NULL ? why.what : "";
    if (strstr(found, what) == NULL)
        printf("found \"%s\", not \"%s\"\n", found, what);
    return strstr(found, what) != NULL;
}

/* Do damage to an lvalue, ask, repair. */
#define DAMAGE(lvalue, value, what)          \
    do {                                     \
        __typeof__(lvalue) kept_ = (lvalue); \
        (lvalue) = (value);                  \
        CHECK(finds(z, what));               \
        (lvalue) = kept_;                    \
    } while (0)

/* A leaf with both kinds of tail records. */
static pz_leaf *leaf_with_tail(pz_body *b, const pz_tree *t)
{
    pz_path p;
    pz_path_first(&b->arena, t, &p);
    do {
        pz_leaf *l = pz_leaf_at(&b->arena, p.leaf);
        if (l->adds >= 2 && l->dels >= 2)
            return l;
    } while (pz_path_next(&b->arena, &p));
    return NULL;
}

static void damage_leaf(const pz_set *z, pz_leaf *l)
{
    DAMAGE(l->n, 0, "leaf: entries of the base");
    DAMAGE(l->n, 33, "leaf: entries of the base");
    DAMAGE(l->dels, (uint16_t)(l->dels - 1), "leaf: live entries");
    DAMAGE(l->adds, (uint16_t)(l->adds + 40), "leaf:");
    DAMAGE(l->base_bytes, (uint16_t)(l->base_bytes - 1), "leaf:");
    DAMAGE(l->base_bytes, (uint16_t)(l->base_bytes + 1), "leaf:");
    DAMAGE(l->stride, 0, "leaf: fields of the keys");
    DAMAGE(l->low_bits, 40, "leaf: fields of the keys");
    DAMAGE(l->form, 3, "leaf:");
    DAMAGE(l->groups, (uint16_t)(l->groups + 1), "leaf:");
    uint8_t *end = (uint8_t *)l + pz_block_bytes(l), *dels = end - 2 * l->dels;
    uint8_t *adds = dels - 12 * l->adds;
    uint16_t first = pz_load16(dels);
    pz_store16(dels, 999);
    CHECK(finds(z, "leaf: removed positions"));
    pz_store16(dels, pz_load16(dels + 2));
    CHECK(finds(z, "leaf: removed positions"));
    pz_store16(dels, first);
    uint64_t score = pz_load64(adds);
    pz_store64(adds, 0x7fffffffffffffffu); /* -0.0 */
    CHECK(finds(z, "leaf: score in the tail"));
    pz_store64(adds, ~(uint64_t)0); /* NaN */
    CHECK(finds(z, "leaf: score in the tail"));
    pz_store64(adds, score);
    uint32_t member = pz_load32(adds + 8);
    pz_store32(adds + 8, pz_load32(adds + 12 + 8));
    pz_store64(adds, pz_load64(adds + 12));
    CHECK(finds(z, "leaf: order of the tail"));
    pz_store64(adds, score);
    pz_store32(adds + 8, member);
}

static void damage_branch(const pz_set *z, pz_branch *b)
{
    DAMAGE(b->n, 0, "branch: children");
    DAMAGE(b->n, (uint16_t)(b->cap + 1), "branch: children");
    DAMAGE(b->n, (uint16_t)(b->n - 1), "branch: live entries");
    DAMAGE(b->level, 7, "branch: level");
    DAMAGE(b->cap, 72, "branch: block");
    DAMAGE(b->unused, 1, "branch: block");
    uint64_t *counts = pz_branch_counts(b);
    DAMAGE(counts[0], counts[0] + 1, "branch: live entries");
    counts[0]++;
    counts[1]--;
    CHECK(finds(z, "live entries"));
    counts[0]--;
    counts[1]++;
    uint32_t *children = pz_branch_children(b);
    DAMAGE(children[0], children[1], ""); /* many things are wrong then */
}

TEST(validate_finds_damage)
{
    pz_set *z = sound_set();
    REQUIRE(z != NULL);
    pz_body *b = pz_body_of(z);
    pz_tree *trees[2] = {&b->member, &b->order};
    for (int i = 0; i < 2; i++) {
        pz_tree *t = trees[i];
        pz_leaf *l = leaf_with_tail(b, t);
        REQUIRE(l != NULL && t->height >= 2);
        damage_leaf(z, l);
        pz_branch *root = pz_branch_at(&b->arena, t->root);
        damage_branch(z, root);
        damage_branch(z, pz_branch_at(&b->arena, pz_branch_children(root)[1]));
        DAMAGE(t->entries, t->entries + 1, "set: entries of a tree");
        DAMAGE(t->leaf_count, t->leaf_count + 1, "tree: leaves");
        DAMAGE(t->leaf_count, t->leaf_count - 1, "tree: leaves");
        DAMAGE(t->branch_count, t->branch_count - 1, "tree: branches");
        DAMAGE(t->height, t->height - 1, "");
        DAMAGE(t->leaf_capacity, 15, "set: leaf capacity");
        DAMAGE(t->merge_threshold, 2, "set: merge threshold");
    }
    DAMAGE(b->scan_epoch, 64, "set: scan epoch");
    DAMAGE(z->len, z->len - 1, "set: entries of a tree");
    CHECK(is_valid(z));
    pz_free(z);
}

TEST(validate_finds_labels_and_fences)
{
    pz_set *z = sound_set();
    REQUIRE(z != NULL);
    pz_body *b = pz_body_of(z);
    pz_path p;
    pz_path_first(&b->arena, &b->member, &p);
    REQUIRE(pz_path_next(&b->arena, &p));
    uint8_t *label = (uint8_t *)pz_leaf_at(&b->arena, p.leaf) + 28;
    uint32_t kept = pz_load32(label);
    pz_store32(label, 0);
    CHECK(finds(z, "leaf: label"));
    pz_store32(label, kept);
    for (int i = 0; i < 2; i++) {
        const pz_tree *t = i == 0 ? &b->member : &b->order;
        pz_branch *root = pz_branch_at(&b->arena, t->root);
        uint8_t *fence = (uint8_t *)root + 16 + 12u * root->cap + 4; /* of child 1 */
        if (i == 1)
            fence = (uint8_t *)root + 16 + 16u * root->cap + 8; /* the score leads */
        uint8_t byte = fence[3 + 4 * i];
        fence[3 + 4 * i] = 0;
        CHECK(finds(z, "leaf: an entry is above the fence"));
        fence[3 + 4 * i] = 0xff;
        CHECK(finds(z, root->n > 2 ? "branch: order of the fences" : "below the fence"));
        fence[3 + 4 * i] = byte;
    }
    CHECK(is_valid(z));
    pz_free(z);
}

/* The trees are sound by themselves but hold different scores. */
TEST(validate_compares_the_trees)
{
    set_plan p = {.member = PZ_INT32,
                  .score = PZ_FLOAT32,
                  .n = 2000,
                  .capacity = 16,
                  .exponent = 0,
                  .rle = true,
                  .shape = EQUAL,
                  .seed = 5};
    pz_set *z = set_make(&p);
    REQUIRE(z != NULL && is_valid(z));
    pz_body *b = pz_body_of(z);
    pz_leaf *l = NULL;
    pz_path path;
    pz_path_first(&b->arena, &b->member, &path);
    do
        l = pz_leaf_at(&b->arena, path.leaf);
    while ((l->form != PZ_SCOL_INT1 || l->groups != 0) && pz_path_next(&b->arena, &path));
    REQUIRE(l->form == PZ_SCOL_INT1 && l->groups == 0);
    uint8_t *slot = (uint8_t *)l + 33 + l->base_bytes - l->n; /* INT1 slots end the base */
    slot[0] ^= 1;
    CHECK(finds(z, "not in the order tree"));
    slot[0] ^= 1;
    CHECK(is_valid(z));
    pz_free(z);
}

TEST(validate_finds_damage_in_small_sets)
{
    set_plan p = {.member = PZ_INT32, .score = PZ_FLOAT64, .n = 40, .exponent = 0.5, .seed = 1};
    pz_set *z = set_make(&p);
    REQUIRE(z != NULL && is_valid(z));
    REQUIRE(!z->large && z->len > 10);
    uint8_t *keys = z->block, kept[24];
    memcpy(kept, keys, sizeof kept);
    memcpy(keys, kept + 12, 12);
    memcpy(keys + 12, kept, 12);
    CHECK(finds(z, "small set: order"));
    memcpy(keys, kept, sizeof kept);
    memcpy(keys + 12 * (z->len - 1) + 8, kept + 8, 4); /* the last entry gets the first's member */
    CHECK(finds(z, "stands twice"));
    pz_store64(keys, 5);
    CHECK(finds(z, "small set: a score"));
    DAMAGE(z->room, 129, "small set: room");
    DAMAGE(z->len, z->room + 1u, "small set: entries");
    pz_free(z);
}
