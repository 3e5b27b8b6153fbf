"""A packed sorted set for NumPy: typed members and scores, ordered, in a few bytes a member.

The set itself is `PackedZSet`; `load` reads one from a file. Both live in the compiled module
``goblin_pz._core``, which is imported when one of them is first asked for: result folders of the
workbench can be read and drawn where nothing was compiled.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._version import __version__

if TYPE_CHECKING:
    from ._core import PackedZSet, load

__all__ = ["PackedZSet", "__version__", "load"]


def __getattr__(name: str) -> Any:
    if name in ("PackedZSet", "load"):
        from . import _core

        value = getattr(_core, name)
        globals()[name] = value
        return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
