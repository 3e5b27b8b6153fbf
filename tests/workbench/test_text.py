"""The C reader and writer of delimited text, field by field."""

from __future__ import annotations

import numpy as np
import pytest

from goblin_pz._workload import scan_lines, write_lines


def scan(text, fields, *, separator=",", quoted=True, final=True, filters=(), rows=64, line=1):
    """Parsed columns (a kind a field: i, f or s) and the counters."""
    kinds = {"i": np.int64, "f": np.float64, "s": "S32"}
    outs = [np.zeros(rows, kinds[kind]) for _, kind in fields]
    columns = tuple((at, out) for (at, _), out in zip(fields, outs, strict=True))
    counters = scan_lines(text, separator, quoted, final, columns, tuple(filters), line)
    return [out[: counters[2]].tolist() for out in outs], counters


def test_columns_in_any_order_and_twice():
    (b, a, again), counters = scan(b"1,2\n3,4\n", [(1, "i"), (0, "i"), (1, "f")])
    assert (b, a, again) == ([2, 4], [1, 3], [2.0, 4.0])
    assert counters == (8, 2, 2, 0, 0)


@pytest.mark.parametrize("text", [b"1,2\r\n3,4\r\n", b"1,2\n\n3,4", b"1,2\n\r\n3,4\n\n"])
def test_line_ends_and_empty_lines(text):
    (b,), counters = scan(text, [(1, "i")])
    assert b == [2, 4]
    assert counters[0] == len(text)


def test_begun_line_waits_for_the_rest():
    (a,), counters = scan(b"1,2\n3,", [(0, "i")], final=False)
    assert a == [1]
    assert counters[0] == 4


def test_full_room_stops_before_the_next_line():
    (a,), counters = scan(b"1\n2\n3\n", [(0, "i")], rows=2)
    assert a == [1, 2]
    assert counters[0] == 4


def test_quoted_fields():
    text = b'"a,b","1"\n"say ""hi""\nthere",2\nplain,"3"\r\n'
    (numbers, names), _ = scan(text, [(1, "i"), (0, "s")])
    assert numbers == [1, 2, 3]
    assert names == [b"a,b", b'say ""hi""\nthere', b"plain"]


def test_open_quote_is_a_begun_line():
    _, counters = scan(b'1,"open\n2,3\n', [(0, "i")])
    assert counters[:3] == (0, 0, 0)


def test_quotes_are_plain_bytes_when_not_quoted():
    (a,), _ = scan(b'1\t"x\n2\ty\n', [(0, "i")], separator="\t", quoted=False)
    assert a == [1, 2]


def test_filters_keep_equal_rows():
    text = b'1,rapid\n2,blitz\n3,"rapid"\n4,rapids\n5,"ra""pid"\n'
    (a,), counters = scan(text, [(0, "i")], filters=[(1, b"rapid")])
    assert a == [1, 3]
    assert counters[3] == 3
    (a,), _ = scan(text, [(0, "i")], filters=[(1, b'ra"pid')])
    assert a == [5]


def test_rows_without_a_member_are_counted():
    (a, b), counters = scan(b"1,2\n,3\n4,5\n", [(0, "i"), (1, "i")])
    assert (a, b) == ([1, 4], [2, 5])
    assert counters[4] == 1


@pytest.mark.parametrize("number", [0, -1, 2**63 - 1, -(2**63), 10**18])
def test_integers_are_exact(number):
    (a,), _ = scan(f"{number}\n".encode(), [(0, "i")])
    assert a == [number]


@pytest.mark.parametrize(
    "text", ["9223372036854775808", "-9223372036854775809", "1.0", "+1", "-", "1 ", "0x1", "1e3"]
)
def test_what_is_no_integer_is_refused(text):
    with pytest.raises(ValueError, match=r"line 9: .* is not a number"):
        scan(f"{text}\n".encode(), [(0, "i")], line=9)


@pytest.mark.parametrize(
    "text",
    [
        "0",
        "-0.0",
        "1.5",
        "+2.",
        ".25",
        "123456789012345",
        "1234567890123456.7",
        "1e-3",
        "-2E+10",
        "0.1",
        "1e308",
        "5e-324",
        "0.30000000000000004",
        "179769313486231570000000000000000000000",
    ],
)
def test_decimals_are_the_nearest_double(text):
    (a,), _ = scan(f"{text}\n".encode(), [(0, "f")])
    assert np.array(a).tobytes() == np.array([float(text)]).tobytes()


def test_random_decimals_are_the_nearest_double():
    random = np.random.default_rng(1)
    texts = [f"{x:.{digits}f}" for x in random.normal(0, 1e6, 300) for digits in (0, 2, 7, 14)]
    (a,), _ = scan("\n".join(texts).encode(), [(0, "f")], rows=2_000)
    assert a == [float(text) for text in texts]


@pytest.mark.parametrize("text", ["inf", "nan", "-inf", "1e999", "", "1..2", "x", "1e", "1\0", "."])
def test_what_is_no_finite_decimal_is_refused(text):
    with pytest.raises(ValueError, match="is not a number"):
        scan(b"1," + text.encode() + b"\n", [(0, "i"), (1, "f")])


def test_errors_name_the_line():
    with pytest.raises(ValueError, match="line 12: too few columns"):
        scan(b"1,2\n3,4\n5\n", [(1, "i")], line=10)
    with pytest.raises(ValueError, match="line 1: more than 4096 columns"):
        scan(b"," * 5_000 + b"\n", [(0, "i")])
    with pytest.raises(ValueError, match=r"line 1: .* is longer than 32 bytes"):
        scan(b"1," + b"x" * 33 + b"\n", [(0, "i"), (1, "s")])


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"separator": '"'}, "separator"),
        ({"separator": "é"}, "separator"),
        ({"fields": []}, "1 to 32 columns"),
        ({"fields": [(-1, "i")]}, "field -1"),
        ({"fields": [(4096, "i")]}, "field 4096"),
    ],
)
def test_wrong_arguments(changes, error):
    arguments = {"text": b"1\n", "fields": [(0, "i")], **changes}
    with pytest.raises(ValueError, match=error):
        scan(arguments.pop("text"), arguments.pop("fields"), **arguments)


def test_wrong_column_buffers():
    with pytest.raises(TypeError, match="int64, float64 or 32-byte"):
        scan_lines(b"1\n", ",", True, True, ((0, np.zeros(3, np.int32)),), (), 1)
    with pytest.raises((TypeError, BufferError, ValueError)):
        scan_lines(b"1\n", ",", True, True, ((0, b"12345678"),), (), 1)


def test_written_lines_read_back():
    numbers = np.array([0, -1, 2**63 - 1, -(2**63)])
    text = write_lines((numbers, numbers[::-1].copy()), "\t")
    first = f"0\t{-(2**63)}\n-1\t{2**63 - 1}\n"
    assert text.startswith(first.encode())
    (a, b), _ = scan(text, [(0, "i"), (1, "i")], separator="\t")
    assert (a, b) == (numbers.tolist(), numbers[::-1].tolist())


def test_writing_refuses_other_columns():
    with pytest.raises(TypeError, match="native int64"):
        write_lines((np.zeros(2),), ",")
    with pytest.raises(ValueError, match="of one length"):
        write_lines((np.zeros(2, np.int64), np.zeros(3, np.int64)), ",")
    with pytest.raises(ValueError, match="columns"):
        write_lines((), ",")
