"""The header of a .npy file, which says what array follows."""

import errno
from typing import IO, Any

import numpy as np


def read_header(file: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Shape, whether the order is Fortran's, and type of the array; the file stands at its first byte afterwards.

    Raises
    ------
    ValueError
        If NumPy did not write it. Its parser evaluates the header as Python text, and a damaged one ends in any of the
        errors of Python's parser.
    """
    try:
        version = np.lib.format.read_magic(file)
        headers = np.lib.format.read_array_header_1_0, np.lib.format.read_array_header_2_0
        shape, fortran, dtype = headers[version != (1, 0)](file)
    except (OSError, MemoryError):
        raise
    except Exception as error:
        raise ValueError(f"its header is damaged: {type(error).__name__}") from None
    if version not in ((1, 0), (2, 0), (3, 0)) or min(shape, default=0) < 0:
        raise ValueError("its header is damaged")
    return shape, bool(fortran), dtype


def is_damage(error: Exception) -> bool:
    """Whether an error says that a file is damaged, which ends in any error of the library that reads it: any but one
    of the system, or that the memory is full.
    """
    is_of_system = isinstance(error, OSError) and error.errno not in (None, errno.EINVAL)
    return not (is_of_system or isinstance(error, MemoryError))
