"""Optional dependencies: a clear word on which extra to install."""

from __future__ import annotations

import importlib
from types import ModuleType

EXTRA = "workbench"


class MissingExtraError(RuntimeError):
    """A package of an extra is not installed; the message says which to install."""


def need(module: str, purpose: str) -> ModuleType:
    """Import an optional module.

    Parameters
    ----------
    module : str
        Full name, such as ``"pyarrow.parquet"``.
    purpose : str
        What it is needed for, to begin the message with.

    Returns
    -------
    module

    Raises
    ------
    MissingExtraError
        When the module's package is not installed.
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        package = module.partition(".")[0]
        if error.name is None or error.name.partition(".")[0] != package:
            raise
        raise MissingExtraError(
            f"{purpose} needs {package}, which is not installed: pip install 'goblin_pz[{EXTRA}]'"
        ) from error
