/* TEMPLATE: removal of a range of positions: the entries are read in order, then removed as a run
 * of rows. */

static pz_status PZ_FN(remove_range)(pz_set *z, uint64_t start, uint64_t stop, pz_call *call)
{
    if (start > stop || stop > z->len)
        return PZ_INVALID;
    uint64_t n = stop - start;
    if (n == 0)
        return PZ_OK;
    if (n == z->len) {
        pz_clear(z);
        return PZ_OK;
    }
    if (!z->large) {
        PZ_FN(key) *keys = PZ_FN(small_keys)(z);
        memmove(keys + start, keys + stop, (size_t)(z->len - stop) * sizeof *keys);
        z->len -= n;
        z->version++;
        if (z->len <= z->room - z->room / 4u) {
            pz_status status = PZ_FN(small_resize)(z, (uint32_t)z->len);
            (void)status; /* a smaller block is only a wish */
        }
        return PZ_OK;
    }
    if (n > PZ_ROWS_MAX)
        return PZ_FULL;
    PZ_FN(stack) stack;
    PZ_FN(scratch) x;
    PZ_TRY(PZ_FN(scratch_new)(z->env, (size_t)n, false, &stack, &x));
    PZ_FN(row) *rows = x.a;
    PZ_M vary = 0;
    pz_out members = {(char *)x.a + offsetof(PZ_FN(row), m), sizeof *x.a}, none = {NULL, 0};
    pz_status status = PZ_FN(range)(z, start, n, false, members, none, call);
    for (size_t i = 0; i < n; i++) { /* range writes the caller's form of a member */
        x.a[i].m = PZ_FN(member_load)((const char *)&x.a[i] + offsetof(PZ_FN(row), m));
        x.a[i].v = 0;
        x.a[i].row = (uint32_t)i;
        vary |= x.a[i].m ^ x.a[0].m;
    }
    if (status == PZ_OK)
        status = PZ_FN(sort_rows)(x.a, x.b, (size_t)n, vary, &rows, call);
    PZ_FN(run) r = {.kind = PZ_FN(op_remove)};
    if (status == PZ_OK)
        status = PZ_FN(run_large)(z, &r, rows, (size_t)n, &x);
    pz_scratch_free(z->env, x.block, x.bytes);
    return status;
}
