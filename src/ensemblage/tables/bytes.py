"""From a file to its text: what the file is, what its name says it is, and how its characters are stored."""

from __future__ import annotations

import codecs
import gzip
import zlib
from io import BufferedReader
from pathlib import Path
from typing import Any

from ensemblage.base.options import Message, Option
from ensemblage.tables.formats import PACKINGS

SIGNATURES = {
    b"\x1f\x8b": "a gzip file",
    b"PAR1": "a Parquet file",
    b"PK\x03\x04": "a ZIP archive (.xlsx workbooks and .npz files are such archives)",
    b"\xd0\xcf\x11\xe0": "an old Excel workbook",
    b"\x89PNG": "a PNG image",
    b"\xff\xd8\xff": "a JPEG image",
    b"GIF8": "a GIF image",
    b"%PDF": "a PDF document",
    b"BZh": "a bzip2 file",
    b"\xfd7zXZ": "an xz file",
    b"\x28\xb5\x2f\xfd": "a Zstandard file",
    b"7z\xbc\xaf": "a 7z archive",
    b"\x89HDF": "an HDF5 file",
    b"\x93NUMPY": "a NumPy file",
    b"SQLite format 3": "an SQLite database",
    b"ARROW1": "an Arrow file",
    b"\x80\x04": "a Python pickle",
}
LONGEST_SIGNATURE = max(map(len, SIGNATURES))
BYTE_ORDER_MARKS = {  # UTF-32's marks begin with UTF-16's
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}


def read_bytes(path: Path) -> bytes:
    """The bytes of a file, unpacked if its name ends in .gz or .zst."""
    with ByteStream(path) as stream:
        return stream.read()


class ByteStream:
    """The bytes of a file, unpacked if its name ends in .gz or .zst, some at a time; a context manager."""

    def __init__(self, path: Path) -> None:
        self.name = path.name
        self._file = _open(path)
        try:
            self.packing = _packing(path, self._file.peek(LONGEST_SIGNATURE))
        except ValueError:
            self._file.close()
            raise
        self._stream = _unpacked(self._file, self.packing)

    def __enter__(self) -> ByteStream:
        return self

    def __exit__(self, *error: object) -> None:
        self._stream.close()
        self._file.close()

    def read(self, n_bytes: int = -1) -> bytes:
        """The next bytes, all by default; fewer at the end, none after it."""
        try:
            content: bytes = self._stream.read() if n_bytes < 0 else self._stream.read(n_bytes)
        except (OSError, EOFError, zlib.error):
            if self.packing is None:
                raise
            raise ValueError(
                f"{self.name} must be a complete {self.packing} file. It is cut short or damaged. Copy it again."
            ) from None
        return content


def _packing(path: Path, content: bytes) -> str | None:
    """What the file is packed in, which its name and its first bytes must say alike."""
    if not content:
        raise ValueError(f"The input must hold a table. {path.name} is empty. Save the table again.")
    packing = PACKINGS.get(path.suffix.lower())
    found = signature(content)
    packed = next((suffix for suffix, kind in PACKINGS.items() if found == f"a {kind} file"), None)
    if packing != PACKINGS.get(packed or ""):
        right = path.name.removesuffix(path.suffix) if packing else f"{path.name}{packed}"
        raise ValueError(
            f"{path.name} must be of the format of its name. Got {found or f'a file that is not {packing}'}. "
            f"Rename it to {right}."
        )
    return packing


def base_name(path: Path) -> str:
    """The name of a file without the suffix of its packing."""
    return path.name.removesuffix(path.suffix) if path.suffix.lower() in PACKINGS else path.name


def _open(path: Path) -> BufferedReader:
    """The bytes of a file as they are stored."""
    try:
        return path.open("rb")
    except FileNotFoundError:
        raise ValueError(f"The input must be a file. {path} does not exist. Check its name and folder.") from None
    except IsADirectoryError:
        raise ValueError(f"The input must be a file. {path} is a folder. Name a file in it.") from None
    except OSError as error:
        raise ValueError(
            f"The input must be readable. {path} is not: {error.strerror}. Check its permissions."
        ) from None


def _unpacked(file: BufferedReader, packing: str | None) -> Any:
    """A binary stream of what a file has packed."""
    if packing is None:
        return file
    if packing == "gzip":
        return gzip.GzipFile(fileobj=file)
    import pyarrow as pa

    return pa.input_stream(file, compression="zstd")


def signature(content: bytes) -> str | None:
    """What the first bytes say the file is; None for anything that may be text."""
    return next((kind for start, kind in SIGNATURES.items() if content.startswith(start)), None)


def text_bytes(content: bytes, name: str, encoding: str | None = None, lines_before: int = 0) -> bytes:
    """The text of a file, or of some of its lines, as UTF-8 without byte order mark.

    It is UTF-8 unless a byte order mark or ``encoding`` says something else.
    """
    found = None if lines_before else signature(content)
    if found:
        raise ValueError(f"{name} must be a table. Got {found}. Save the table as CSV, Excel or Parquet.")
    if encoding is not None or not content.isascii():
        content = _decode(content, name, encoding, lines_before).encode("utf-8", "surrogatepass")
    if b"\0" in content:
        line = lines_before + content.count(b"\n", 0, content.index(b"\0")) + 1
        got = f"{name} must be a text table. Got a NUL byte in line {line}. If it is UTF-16 text, add "
        raise ValueError(Message(got, Option("encoding", "utf-16"), "."))
    start = content[:4096].lstrip()
    if not start and not content.strip():
        raise ValueError(f"{name} must hold a table. It holds nothing but blank lines. Save the table again.")
    if start.startswith((b'{"', b"[{")):
        raise ValueError(f"{name} must be a text table. Got JSON. Name it .jsonl or .json.")
    return content


def _decode(content: bytes, name: str, encoding: str | None, lines_before: int) -> str:
    marked = next((codec for mark, codec in BYTE_ORDER_MARKS.items() if content.startswith(mark)), None)
    codec = marked or encoding or "utf-8"
    try:
        return content.decode(codec)
    except (LookupError, ValueError) as error:
        if not isinstance(error, UnicodeDecodeError):
            rule = f" must be the name of a text encoding. Got {codec!r}. Try utf-8, latin-1 or cp1252."
            raise ValueError(Message(Option("encoding"), rule)) from None
        line = lines_before + content.count(b"\n", 0, error.start) + 1
        windows, latin = (Option("encoding", name) for name in ("cp1252", "latin-1"))
        named = (", or name its encoding: ", windows, " or ", latin) if codec == "utf-8" else ()
        got = f"{name} must be {codec} text. Got the byte 0x{content[error.start]:02x} in line {line}."
        raise ValueError(Message(f"{got} Save it as UTF-8", *named, ".")) from None
