"""Public docstrings are complete, README's tour gives what it says, and links lead somewhere."""

from __future__ import annotations

import doctest
import re

import pytest
from numpydoc.validate import validate

import goblin_pz
from lint.repository import TOP, files, read

# What numpydoc looks at: a summary in one sentence, every parameter, results and their meaning.
CHECKS = {
    "GL06",
    "GL07",
    "GL08",
    "SS01",
    "SS03",
    "SS06",
    "PR01",
    "PR02",
    "PR03",
    "PR07",
    "PR10",
    "RT01",
    "RT03",
}
METHODS = [name for name in vars(goblin_pz.PackedZSet) if not name.startswith("_")]
NAMES = ["PackedZSet", "load", *(f"PackedZSet.{name}" for name in METHODS)]
PAGES = [p for p in files() if p.suffix == ".md"]


@pytest.mark.parametrize("name", NAMES)
def test_docstring_is_complete(name):
    found = [
        f"{code} {text}" for code, text in validate(f"goblin_pz.{name}")["errors"] if code in CHECKS
    ]
    assert not found, "\n".join(found)


def examples(page) -> list[tuple[int, str]]:
    """Give the Python blocks of a page that hold prompts, each with its line."""
    text = read(page)
    blocks = re.finditer(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    return [(text.count("\n", 0, b.start()) + 1, b[1]) for b in blocks if ">>>" in b[1]]


@pytest.mark.parametrize("page", [p for p in PAGES if examples(p)], ids=str)
def test_examples_give_what_they_show(page, tmp_path, monkeypatch):
    """The blocks of one page run one after another, in an empty folder."""
    monkeypatch.chdir(tmp_path)
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    names: dict[str, object] = {}
    for line, text in examples(page):
        test = doctest.DocTestParser().get_doctest(text, names, str(page), str(page), line)
        test.globs = names
        runner.run(test, clear_globs=False)
    result = runner.summarize(verbose=False)
    assert result.attempted > 0
    assert result.failed == 0


def test_the_tour_is_checked():
    assert "README.md" in {str(p) for p in PAGES if examples(p)}


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", read(page)):
        if not re.match(r"[a-z]+:", target):
            assert (TOP / page.parent / target).exists(), target
