/* TEMPLATE: a stable radix sort, lowest varying digit first. needs PZ_R_NAME, PZ_R_TYPE, PZ_R_FIELD
 * (unsigned integer member of the type), PZ_R_WORD (its type). gives
 *   pz_status PZ_R_NAME(a, b, n, vary, out, call)
 * which sorts n elements of `a` with scratch `b` and says in *out where the result lies. `vary` has
 * the bits in which any two fields differ: digits without such a bit are skipped. PZ_INTERRUPTED
 * when the caller's poll says so, looked at once a digit. */

static pz_status PZ_R_NAME(PZ_R_TYPE *a, PZ_R_TYPE *b, size_t n, PZ_R_WORD vary, PZ_R_TYPE **out,
                           pz_call *call)
{
    uint32_t count[PZ_DIGITS]; /* n is at most PZ_ROWS_MAX */
    uint32_t shift = 0;
    while (vary != 0) {
        /* The next digit starts at the lowest bit that still varies. */
        for (; ((uint32_t)vary & 0xffu) == 0; shift += 8)
            vary >>= 8;
        uint32_t zeros = pz_ctz64((uint32_t)vary & 0xffu);
        vary >>= zeros;
        shift += zeros;
        /* Digits of much the same width; whole ones where bits between do not vary and may be
         * skipped. */
        uint32_t width = sizeof vary > 8 ? pz_width128(vary) : pz_width64((uint64_t)vary);
        uint32_t passes = (width + PZ_DIGIT_BITS - 1) / PZ_DIGIT_BITS;
        bool gaps = (vary & (vary + 1)) != 0;
        uint32_t bits = gaps ? PZ_DIGIT_BITS : (width + passes - 1) / passes;
        const uint32_t mask = (1u << bits) - 1;
        PZ_TRY(pz_poll(call));
        memset(count, 0, sizeof *count << bits);
        for (size_t i = 0; i < n; i++)
            count[(uint32_t)(a[i].PZ_R_FIELD >> shift) & mask]++;
        uint32_t sum = 0;
        for (uint32_t d = 0; d <= mask; d++) {
            uint32_t c = count[d];
            count[d] = sum;
            sum += c;
        }
        for (size_t i = 0; i < n; i++)
            b[count[(uint32_t)(a[i].PZ_R_FIELD >> shift) & mask]++] = a[i];
        PZ_R_TYPE *swap = a;
        a = b;
        b = swap;
        vary >>= bits;
        shift += bits;
    }
    *out = a;
    return PZ_OK;
}

#undef PZ_R_NAME
#undef PZ_R_TYPE
#undef PZ_R_FIELD
#undef PZ_R_WORD
