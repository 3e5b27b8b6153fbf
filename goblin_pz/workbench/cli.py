"""Entry point of ``goblin-pz``: says which extra to install when the command lacks one."""

from __future__ import annotations

import sys

from .extras import EXTRA, MissingExtraError

OF_THE_EXTRA = ("click", "matplotlib", "pyarrow", "tqdm", "zstandard")


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit with its status.

    Parameters
    ----------
    arguments : list of str, optional
        By default those of the process.
    """
    try:
        from .commands import command
    except ModuleNotFoundError as error:
        if error.name not in OF_THE_EXTRA:
            raise
        sys.exit(
            f"goblin-pz needs {error.name}, which is not installed: "
            f"pip install 'goblin_pz[{EXTRA}]'"
        )
    try:
        command.main(arguments, prog_name="goblin-pz")
    except MissingExtraError as error:
        sys.exit(f"goblin-pz: {error}")
