/* points.c: one set, driven from C. Reads a stream of int32 ids from a file, increments each by
 * one, then asks questions; prints one line of JSON.
 *
 *     points FILE FIRST BATCH [layout exponent member_capacity order_capacity]
 *
 * The FIRST ids go in untimed, in batches of a million, the rest in calls of BATCH. With BATCH 1
 * each increment of the last million is timed by itself once more. Layouts: i32f32 (the default)
 * or i64f64. Every figure is of this one thread: million operations a second of wall time, bytes a
 * member from the set's own counters. */
#define _DEFAULT_SOURCE
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "pz.h"

enum { MILLION = 1000000, ASKED = MILLION, SHORT_SCAN = 100 };

typedef struct stream {
    int32_t *ids;
    size_t n;
} stream;

typedef union member {
    int32_t i32;
    int64_t i64;
} member;

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void must(bool ok, const char *what)
{
    if (!ok) {
        fprintf(stderr, "points: %s failed\n", what);
        exit(1);
    }
}

static stream read_stream(const char *path)
{
    stream s = {NULL, 0};
    FILE *file = fopen(path, "rb");
    must(file != NULL && fseek(file, 0, SEEK_END) == 0, "opening the stream");
    long bytes = ftell(file);
    must(bytes > 0, "measuring the stream");
    rewind(file);
    s.n = (size_t)bytes / sizeof(int32_t);
    s.ids = malloc(s.n * sizeof(int32_t));
    must(s.ids != NULL && fread(s.ids, sizeof(int32_t), s.n, file) == s.n, "reading the stream");
    fclose(file);
    return s;
}

static double rate(size_t n, uint64_t start)
{
    return (double)n * 1e3 / (double)(now_ns() - start);
}

static member as_member(bool wide, int32_t id)
{
    member m;
    if (wide)
        m.i64 = id;
    else
        m.i32 = id;
    return m;
}

/* Increments `n` ids of the stream; the amounts are a broadcast one. */
static void feed(pz_set *set, const int32_t *ids, size_t n, size_t batch, bool wide)
{
    static const float one32 = 1;
    static const double one64 = 1;
    const pz_in amounts = {wide ? (const void *)&one64 : (const void *)&one32, 0};
    const pz_out none = {NULL, 0};
    int64_t *wider = wide ? malloc(batch * sizeof(int64_t)) : NULL;
    must(!wide || wider != NULL, "memory for a batch");
    for (size_t at = 0; at < n; at += batch) {
        size_t rows = n - at < batch ? n - at : batch;
        pz_in members = {ids + at, sizeof(int32_t)};
        if (wide) {
            for (size_t i = 0; i < rows; i++)
                wider[i] = ids[at + i];
            members = (pz_in){wider, sizeof(int64_t)};
        }
        must(pz_incr(set, rows, members, amounts, false, none, NULL) == PZ_OK, "an increment");
    }
    free(wider);
}

static int by_value(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* Times every increment of the stream's last million, once more. */
static void print_latency(pz_set *set, const stream *s, bool wide)
{
    size_t n = s->n < ASKED ? s->n : ASKED;
    uint32_t *ns = malloc(n * sizeof *ns);
    must(ns != NULL, "memory for latencies");
    for (size_t i = 0; i < n; i++) {
        uint64_t start = now_ns();
        feed(set, s->ids + (s->n - n) + i, 1, 1, wide);
        ns[i] = (uint32_t)(now_ns() - start);
    }
    qsort(ns, n, sizeof *ns, by_value);
    printf("\"p50_ns\": %u, \"p99_ns\": %u, \"p999_ns\": %u, \"longest_ns\": %u, ", ns[n / 2],
           ns[n * 99 / 100], ns[n * 999 / 1000], ns[n - 1]);
    free(ns);
}

static void print_questions(const pz_set *set, const stream *s, bool wide)
{
    uint64_t length = pz_len(set), seed = 88172645463325252u, sink = 0, start;
    size_t n = s->n < ASKED ? s->n : ASKED;
    int32_t *asked = malloc(n * sizeof *asked);
    must(asked != NULL, "memory for questions");
    for (size_t i = 0; i < n; i++) {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        asked[i] = s->ids[seed % s->n];
    }
    start = now_ns();
    for (size_t i = 0; i < n; i++) {
        member m = as_member(wide, asked[i]);
        double score;
        sink += pz_score_one(set, &m, &score);
    }
    printf("\"score\": %.3f, ", rate(n, start));
    must(sink == n, "finding every member");
    start = now_ns();
    for (size_t i = 0; i < n; i++) {
        member m = as_member(wide, asked[i]);
        sink += (uint64_t)pz_rank_one(set, &m, false);
    }
    printf("\"rank\": %.3f, ", rate(n, start));
    member ids[SHORT_SCAN];
    double scores[SHORT_SCAN];
    const ptrdiff_t stride = wide ? sizeof(int64_t) : sizeof(int32_t);
    const ptrdiff_t step = wide ? sizeof(double) : sizeof(float);
    for (unsigned length_of = 1; length_of <= SHORT_SCAN; length_of += SHORT_SCAN - 1) {
        size_t scans = length < length_of ? 0 : n / length_of;
        start = now_ns();
        for (size_t i = 0; i < scans; i++) {
            uint64_t at = (uint64_t)asked[i] * 2654435761u % (length - length_of + 1);
            must(pz_range(set, at, length_of, false, (pz_out){ids, stride}, (pz_out){scores, step},
                          NULL) == PZ_OK,
                 "a range");
        }
        if (scans > 0)
            printf("\"range_%u\": %.3f, ", length_of, rate(scans * length_of, start));
    }
    free(asked);
}

int main(int argc, char **argv)
{
    must(argc >= 4, "reading arguments: FILE FIRST BATCH [layout exponent member order]");
    size_t first = (size_t)strtoull(argv[2], NULL, 10);
    size_t batch = (size_t)strtoull(argv[3], NULL, 10);
    bool wide = argc > 4 && strcmp(argv[4], "i64f64") == 0;
    pz_options options = {.merge_exponent = argc > 5 ? strtod(argv[5], NULL) : 0.5,
                          .score_rle = true,
                          .member_leaf_capacity = argc > 6 ? (uint32_t)atoi(argv[6]) : 0,
                          .order_leaf_capacity = argc > 7 ? (uint32_t)atoi(argv[7]) : 0};
    stream s = read_stream(argv[1]);
    must(batch > 0 && first < s.n, "reading the sizes");
    pz_set *set = NULL;
    must(pz_new(pz_env_default(), wide ? PZ_INT64 : PZ_INT32, wide ? PZ_FLOAT64 : PZ_FLOAT32,
                &options, &set) == PZ_OK,
         "making a set");
    feed(set, s.ids, first, MILLION, wide);
    uint64_t start = now_ns();
    feed(set, s.ids + first, s.n - first, batch, wide);
    printf("{\"events\": %zu, \"increments\": %.3f, ", s.n, rate(s.n - first, start));
    pz_memory memory;
    pz_memory_of(set, &memory);
    double members = (double)memory.member_count;
    printf("\"members\": %" PRIu64 ", \"live\": %.3f, \"allocated\": %.3f, ", memory.member_count,
           (double)memory.arena_live_bytes / members,
           (double)memory.total_allocated_bytes / members);
    pz_work work;
    pz_work_of(set, &work);
    printf("\"moved\": %.3f, ", (double)work.bytes_moved / (double)s.n);
    if (batch == 1)
        print_latency(set, &s, wide);
    print_questions(set, &s, wide);
    printf("\"batch\": %zu}\n", batch);
    pz_free(set);
    free(s.ids);
    return 0;
}
