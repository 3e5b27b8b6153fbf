"""The module itself: importing, again and lazily; stubs, signatures and docstrings."""

from __future__ import annotations

import gc
import inspect
import subprocess
import sys
import textwrap
import weakref

import pytest

from goblin_pz import PackedZSet, _core, load

PUBLIC = sorted(name for name in vars(PackedZSet) if not name.startswith("_"))
METHODS = [name for name in PUBLIC if callable(getattr(PackedZSet, name))]


def run(script: str) -> None:
    """Run a script in an interpreter of its own; it must end well and say nothing."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_importing_is_lazy() -> None:
    run(
        """
        import sys
        import goblin_pz
        assert goblin_pz.__version__
        assert "goblin_pz._core" not in sys.modules and "numpy" not in sys.modules
        goblin_pz.PackedZSet
        assert "goblin_pz._core" in sys.modules and "pandas" not in sys.modules
        assert "uuid" not in sys.modules
        """
    )


def test_importing_twice() -> None:
    """Two copies of the module, each with types of its own, both usable."""
    run(
        """
        import gc, sys
        import goblin_pz._core as first
        old = first.PackedZSet({1: 1.0})
        del sys.modules["goblin_pz._core"]
        import importlib
        second = importlib.import_module("goblin_pz._core")
        assert second is not first and second.PackedZSet is not first.PackedZSet
        new = second.PackedZSet({1: 1.0})
        assert old[1] == new[1] == 1.0 and (old == new) is False
        try:
            new.union(old)
        except TypeError:
            pass
        else:
            raise AssertionError("sets of two modules were combined")
        del first
        gc.collect()
        old.add(2, 2.0)
        assert len(old.copy()) == 2 and list(old) == [1, 2]
        """
    )


def test_ending_with_sets_alive() -> None:
    run(
        """
        import goblin_pz
        goblin_pz.kept = goblin_pz.PackedZSet({1: 1.0})
        cycle = [goblin_pz.PackedZSet({n: 1.0 for n in range(3000)})]
        cycle.append(cycle)
        class Node(goblin_pz.PackedZSet):
            pass
        node = Node()
        node.self = node
        """
    )


def test_cycles_are_collected() -> None:
    class Node(PackedZSet):
        pass

    node = Node({1: 1.0})
    node.self = node
    seen = weakref.ref(node)
    del node
    gc.collect()
    assert seen() is None


def test_weak_references() -> None:
    z = PackedZSet()
    seen = weakref.ref(z)
    assert seen() is z
    del z
    gc.collect()
    assert seen() is None


def test_no_attributes_on_the_type_itself() -> None:
    with pytest.raises(AttributeError):
        PackedZSet().nonsense = 1


@pytest.mark.parametrize("name", METHODS)
def test_signatures(name: str) -> None:
    """Each method shows its real parameters: binding them and calling agree on what is needed."""
    signature = inspect.signature(getattr(PackedZSet, name))
    assert str(signature) != "(*args, **kwargs)"
    nonsense = dict.fromkeys(["no_such_argument"], 1)
    with pytest.raises(TypeError):
        signature.bind(**nonsense)
    with pytest.raises(TypeError):
        getattr(PackedZSet(), name)(**nonsense)


def test_signature_of_the_type() -> None:
    signature = inspect.signature(PackedZSet)
    assert list(signature.parameters) == ["member", "score", "score_rle", "merge_exponent"]
    assert list(inspect.signature(load).parameters) == ["file", "score_rle", "merge_exponent"]


@pytest.mark.parametrize("name", ["", *PUBLIC])
def test_docstrings(name: str) -> None:
    """Numpydoc's own check; a longer summary, examples and a See Also are not needed everywhere."""
    from numpydoc.validate import validate

    found = validate("goblin_pz.PackedZSet" + (f".{name}" if name else ""))
    assert found["docstring"]
    assert [
        problem for problem in found["errors"] if problem[0] not in ("ES01", "EX01", "SA01")
    ] == []


@pytest.mark.parametrize("name", METHODS)
def test_parameters_are_documented(name: str) -> None:
    """Every parameter of every method stands in its docstring."""
    method = getattr(PackedZSet, name)
    text = method.__doc__
    for parameter in inspect.signature(method).parameters:
        if parameter not in ("self", "cls"):
            assert parameter in text, parameter


def test_docstring_examples() -> None:
    import doctest

    finder = doctest.DocTestFinder(recurse=False)
    tests = finder.find(PackedZSet, "PackedZSet", module=False, globs={"PackedZSet": PackedZSet})
    assert tests
    runner = doctest.DocTestRunner()
    for test in tests:
        runner.run(test)
    assert runner.summarize(verbose=False).failed == 0


def test_domain() -> None:
    assert isinstance(_core.TRACEMALLOC_DOMAIN, int)
