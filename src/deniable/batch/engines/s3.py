"""Files in S3 and in stores that speak like it, by Arrow's own file system.

Keys come from the environment (AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN), from ~/.aws, or from the machine's
role. Another store than Amazon's is named by AWS_ENDPOINT_URL, or in the address:
`s3://bucket/reports/*.parquet?endpoint_override=store.internal:9000&scheme=http`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from fnmatch import fnmatchcase
from functools import lru_cache
from glob import has_magic
from typing import Any
from urllib.parse import urlsplit

from pyarrow import fs

from deniable.errors import InvalidParameter

ENDING = ".parquet"
_ADDRESS = re.compile(r"s3[an]?://(?P<place>.*?)(?:\?(?P<settings>[a-z_]+=[^?/]*))?", re.IGNORECASE)
_SETTINGS = ("endpoint_override", "scheme", "region")
_KEYS = "keys come from AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, another store's address from AWS_ENDPOINT_URL"


def in_s3(path: str) -> bool:
    """Is it an address in S3? `s3a` and `s3n` are Hadoop's names of the same, and Spark's own file systems list those."""
    return path[:5].lower() == "s3://"


def without_settings(address: str) -> str:
    """An address as people know it."""
    match = _ADDRESS.fullmatch(address)
    return address if match is None or match["settings"] is None else address[: match.start("settings") - 1]


def s3_files(address: str) -> Iterator[tuple[str, int]]:
    """The address and the size of every file behind an address: of one file, of a pattern, or of all below a directory."""
    system, place, settings = _located(address)
    try:
        files = list(_listed(system, place.rstrip("/")))
    except OSError as error:
        raise InvalidParameter(f"{without_settings(address)} cannot be listed: {first_line(error)}; {_KEYS}") from None
    if not files:
        raise InvalidParameter(f"there is no *{ENDING} file at {without_settings(address)}; check the address or the pattern")
    for info in sorted(files, key=lambda info: str(info.path)):
        yield f"s3://{info.path}{settings}", int(info.size)


def s3_file(address: str) -> Any:
    """A file that can be read and sought in."""
    system, place, _ = _located(address)
    return system.open_input_file(place)


def first_line(error: Exception) -> str:
    """What an error says, in one line."""
    return next(iter(str(error).strip().splitlines()), type(error).__name__)[:200]


def _located(address: str) -> tuple[Any, str, str]:
    """The file system, the bucket with the path in it, and the settings as they stood in the address."""
    match = _ADDRESS.fullmatch(address)
    settings = dict(pair.partition("=")[::2] for pair in (match["settings"] or "").split("&") if pair) if match else {}
    bucket = match["place"].partition("/")[0] if match else ""
    if match is None or not bucket or not set(settings) <= set(_SETTINGS):
        raise InvalidParameter(f"an address in S3 is s3://bucket/path, and behind a ? only {', '.join(_SETTINGS)}, with & between")
    if "@" in bucket:
        raise InvalidParameter(f"an address must not hold keys, for it is written to logs and messages; {_KEYS}")
    written = os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL") or ""
    endpoint, scheme = settings.get("endpoint_override"), settings.get("scheme", "https")
    if endpoint is None and written:
        split = urlsplit(written if "//" in written else f"https://{written}")
        endpoint, scheme = split.netloc, settings.get("scheme", split.scheme)
    region = settings.get("region") or os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION")
    system = _system(endpoint, scheme, region, None if endpoint or region else bucket)
    return system, match["place"], f"?{match['settings']}" if match["settings"] else ""


@lru_cache(maxsize=16)
def _system(endpoint: str | None, scheme: str, region: str | None, bucket: str | None) -> Any:
    """One per store: it keeps its connections. Amazon is asked in which region a bucket is; other stores do not care."""
    if bucket is not None:
        try:
            region = fs.resolve_s3_region(bucket)
        except OSError as error:
            raise InvalidParameter(f"the bucket {bucket} was not found: {first_line(error)}; {_KEYS}") from None
    return fs.S3FileSystem(endpoint_override=endpoint, scheme=scheme, region=region or "us-east-1")


def _listed(system: Any, place: str) -> Iterator[Any]:
    parts = place.split("/")
    plain = next((number for number, part in enumerate(parts) if has_magic(part)), len(parts))
    base = "/".join(parts[:plain])
    if plain == 0:
        raise InvalidParameter("a pattern must name its bucket: s3://bucket/*.parquet")
    if plain == len(parts):
        info = system.get_file_info(base)
        if info.is_file:
            yield info
            return
    for info in system.get_file_info(fs.FileSelector(base, recursive=True, allow_not_found=True)):
        if info.is_file and _matches(info.path.split("/")[plain:], parts[plain:]):
            yield info


def _matches(parts: list[str], pattern: list[str]) -> bool:
    """Is it named by the pattern, or in a directory that is? Hidden names are unfinished work, and left out as everywhere."""
    if not pattern:
        return not parts or (parts[-1].endswith(ENDING) and not any(part.startswith((".", "_")) for part in parts))
    if pattern[0] == "**":
        return any(_matches(parts[skipped:], pattern[1:]) for skipped in range(len(parts)))
    return bool(parts) and fnmatchcase(parts[0], pattern[0]) and not parts[0].startswith(".") and _matches(parts[1:], pattern[1:])
