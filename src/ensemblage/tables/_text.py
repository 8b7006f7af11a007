"""From a file to its text: what the file is, what its name says it is, and how its characters are stored."""

import codecs
import gzip
import re
import zlib
from pathlib import Path

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
BYTE_ORDER_MARKS = {  # UTF-32's marks begin with UTF-16's
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}


def read_bytes(path: Path) -> bytes:
    """The bytes of a file, unpacked if its name ends in .gz."""
    content = _stored_bytes(path)
    packed = path.suffix.lower() == ".gz"
    found = signature(content)
    if packed != (found == SIGNATURES[b"\x1f\x8b"]):
        raise ValueError(
            f"{path.name} must be what its name says. Got {found or 'a file that is not gzip'}. "
            f"Rename it to {path.name.removesuffix(path.suffix) if packed else path.name + '.gz'}."
        )
    return _unpacked(content, path.name) if packed else content


def _stored_bytes(path: Path) -> bytes:
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        raise ValueError(f"The input must be a file. {path} does not exist. Check its name and folder.") from None
    except IsADirectoryError:
        raise ValueError(f"The input must be a file. {path} is a folder. Name a file in it.") from None
    except OSError as error:
        raise ValueError(f"The input must be readable. {path} is not: {error.strerror}. Check its rights.") from None
    if not content:
        raise ValueError(f"The input must hold a table. {path.name} is empty. Save the table again.")
    return content


def _unpacked(content: bytes, name: str) -> bytes:
    try:
        return gzip.decompress(content)
    except (OSError, EOFError, zlib.error):
        raise ValueError(f"{name} must be a whole gzip file. It is cut short or damaged. Copy it again.") from None


def signature(content: bytes) -> str | None:
    """What the first bytes say the file is; None for anything that may be text."""
    return next((kind for start, kind in SIGNATURES.items() if content.startswith(start)), None)


def decode(content: bytes, name: str, encoding: str | None = None) -> str:
    """The text of a file, with ``\\n`` line ends and no byte order mark.

    UTF-8 unless a byte order mark or ``encoding`` says something else.
    """
    found = signature(content)
    if found:
        raise ValueError(f"{name} must be a text table (CSV or TSV). Got {found}. Save the table as CSV.")
    text = _characters(content, name, encoding).replace("\r\n", "\n").replace("\r", "\n")
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise ValueError(
            f"{name} must be a text table. Got a NUL byte in line {line}. If it is UTF-16 text, add --encoding utf-16."
        )
    if not text.strip():
        raise ValueError(f"{name} must hold a table. It holds nothing but blank lines. Save the table again.")
    return text


def _characters(content: bytes, name: str, encoding: str | None) -> str:
    marked = next((codec for mark, codec in BYTE_ORDER_MARKS.items() if content.startswith(mark)), None)
    codec = marked or encoding or "utf-8"
    try:
        return content.decode(codec)
    except (LookupError, ValueError) as error:
        if not isinstance(error, UnicodeDecodeError):
            raise ValueError(
                f"encoding must be the name of a text encoding. Got {codec!r}. Try utf-8, latin-1 or cp1252."
            ) from None
        line = content.count(b"\n", 0, error.start) + 1
        advice = (
            "Save it as UTF-8, or name its encoding: --encoding latin-1" if codec == "utf-8" else "Save it as UTF-8"
        )
        raise ValueError(
            f"{name} must be {codec} text. Got the byte 0x{content[error.start]:02x} in line {line}. {advice}."
        ) from None


def text_lines(text: str) -> list[str]:
    """Lines with their ends; only line feeds end a line."""
    return re.findall(r"[^\n]*\n|[^\n]+", text)
