"""Random entries and quantiles: small things on top of positions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from ._core import PackedZSet

_METHODS = ("linear", "lower", "higher", "nearest", "midpoint")


def sample(
    zset: PackedZSet,
    k: int,
    *,
    replace: bool = False,
    seed: int | np.random.Generator | None = None,
) -> tuple[Any, Any]:
    """Draw random entries; see `PackedZSet.sample`.

    Parameters
    ----------
    zset : PackedZSet
        The set.
    k : int
        How many, at least 0.
    replace : bool, default False
        Allow an entry more than once.
    seed : int or numpy.random.Generator, optional
        As for `numpy.random.default_rng`.

    Returns
    -------
    tuple of array
        ``(members, scores)``, shape (n,).

    Raises
    ------
    ValueError
        The number is negative.
    """
    if k < 0:
        raise ValueError(f"k: {k} is negative")
    random = np.random.default_rng(seed)
    while True:
        size = len(zset)
        count = k if replace and size > 0 else min(k, size)
        positions = random.choice(size, count, replace=replace) if count else np.empty(0, np.int64)
        try:
            return zset._nth(positions)
        except ValueError:  # another thread made the set shorter in between
            if len(zset) >= size:
                raise


def quantile(zset: PackedZSet, q: Any, *, method: str = "linear") -> Any:
    """Compute quantiles of the scores; see `PackedZSet.quantile`.

    Parameters
    ----------
    zset : PackedZSet
        The set.
    q : float or array of float
        Probabilities, 0 to 1.
    method : {'linear', 'lower', 'higher', 'nearest', 'midpoint'}, default 'linear'
        What to give between two scores.

    Returns
    -------
    float or array of float64
        In the shape of `q`.

    Raises
    ------
    ValueError
        A probability is outside 0 to 1, or the method unknown.
    """
    if method not in _METHODS:
        raise ValueError(f"method: {method!r} is none of {', '.join(map(repr, _METHODS))}")
    probabilities = np.asarray(q, dtype=np.float64)
    if not np.all((probabilities >= 0.0) & (probabilities <= 1.0)):
        raise ValueError("q: a probability lies outside 0 to 1")
    flat = [_one_quantile(zset, float(p), method) for p in probabilities.ravel()]
    if probabilities.ndim == 0:
        return flat[0]
    return np.array(flat, dtype=np.float64).reshape(probabilities.shape)


def _one_quantile(zset: PackedZSet, probability: float, method: str) -> float:
    place = probability * (len(zset) - 1)
    low = max(int(np.floor(place)), 0)
    _, scores = zset.range(low, low + 2)
    if not len(scores):
        return float("nan")
    below, above = float(scores[0]), float(scores[-1])
    part = place - low
    if method == "midpoint":
        part = 0.5 if part > 0 else 0.0
    elif method == "nearest":  # halves go to the even position, as in NumPy
        part = float(np.round(place)) - low
    elif method != "linear":
        part = float(part > 0 and method == "higher")
    if part in (0.0, 1.0) or below == above:
        return above if part == 1.0 else below
    return below + (above - below) * part
