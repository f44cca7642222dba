"""Arrays from numpy's files: what a header claims is looked at before anything of that size is read."""

from __future__ import annotations

import io
import math
import warnings
import zipfile
import zlib
from typing import IO, Any

import numpy as np

from gradcli.errors import Budget, GradcliError, over_budget
from gradcli.errors.counting import counted

HEADER = 10_512
"""Bytes that hold any header of an ``.npy`` file that numpy reads: 10,000 and a few before them."""


def numpy_array(data: bytes, path: str, name: str, budget: Budget) -> Any:
    """Return the array of a numpy file; pickled objects, which could run code, are refused."""
    try:
        if data.startswith(b"PK"):
            with zipfile.ZipFile(io.BytesIO(data)) as archive, archive.open(member(archive, path, name)) as file:
                return entries_of(file, path, budget)
        return entries_of(io.BytesIO(data), path, budget)
    except (ValueError, OSError, EOFError, KeyError, RuntimeError, zipfile.BadZipFile, zlib.error):
        raise GradcliError("file", f"{path} cannot be read: it is no numpy file") from None


def member(archive: zipfile.ZipFile, path: str, name: str) -> str:
    """Return the member of an ``.npz`` file that holds a variable: that of its name, or the only one."""
    names = [entry.removesuffix(".npy") for entry in archive.namelist()]
    if name not in names and len(names) != 1:
        holds = f"{', '.join(names)}, and none is called {name}" if names else "no array"
        raise GradcliError("file", f"{path} holds {holds}")
    found = archive.infolist()[names.index(name) if name in names else 0]
    if found.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise ValueError(found.compress_type)
    return found.filename


def entries_of(file: IO[bytes], path: str, budget: Budget) -> Any:
    """Return the array of an ``.npy`` stream; raises ``budget`` for more entries than one array may have."""
    head = io.BytesIO(file.read(HEADER))
    version = np.lib.format.read_magic(head)
    read_header = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a header as Python 2 wrote it is no matter of ours
        shape, _, dtype = read_header(head)
        if dtype.hasobject:
            raise GradcliError("file", f"{path} cannot be read: it holds pickled objects")
        if dtype.kind not in "iuf":
            raise GradcliError("value", f"the array in {path} is not an array of real numbers")
        if any(length < 0 for length in shape):
            raise ValueError(shape)
        count = math.prod(shape)
        if count > budget.elements:
            raise over_budget("elements", budget.elements, f"{path} holds {counted(count, 'number')}")
        rest = file.read(count * dtype.itemsize + 1)
        return np.lib.format.read_array(io.BytesIO(head.getvalue() + rest), allow_pickle=False)
