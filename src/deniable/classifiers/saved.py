"""Saved models: skops files are checked before they are loaded; pickles run code and must be asked for."""

from __future__ import annotations

import importlib
import pickle
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from deniable.errors import InvalidParameter, Malformed, MissingPackage, NotSupported

SAFE, PICKLES, SCRIPTED = (".skops",), (".pkl", ".pickle", ".joblib"), (".pt", ".ts")


def load_model(path: str | Path, *, trust_pickle: bool = False, trusted: Sequence[str] = ()) -> Any:
    """The model in a file: .skops, a TorchScript module (.pt, .ts), or with `trust_pickle` a pickle (.pkl, .joblib).

    A skops file may hold only types that skops knows to be harmless, scikit-learn's own, and those named in `trusted`.
    """
    file = Path(path)
    if file.suffix in PICKLES:
        return _pickled(file, trust_pickle)
    if file.suffix in SCRIPTED:
        return _scripted(file)
    if file.suffix not in SAFE:
        raise NotSupported(f"{file.name} is no model file that can be read: save it with skops.io.dump(model, 'model.skops')")
    if not file.is_file():
        raise FileNotFoundError(2, "no such file", str(file))
    try:
        skops = importlib.import_module("skops.io")
    except ImportError:
        skops = None
    if skops is None:
        raise MissingPackage("reading .skops files needs skops: pip install 'deniable[models]'")
    problem = ""
    try:
        found = sorted(set(skops.get_untrusted_types(file=file)))
        strange = [name for name in found if not name.startswith("sklearn.") and name not in trusted]
        if not strange:
            return skops.load(file, trusted=found)
    except Exception as error:
        problem, strange = type(error).__name__, []
    if problem:
        raise Malformed(
            f"{file.name} is not a skops file that can be loaded ({problem}); save the model again with this scikit-learn"
        )
    raise InvalidParameter(
        f"{file.name} holds types that may run code: {', '.join(strange[:5])}. If you know where the file is from, name them "
        "as trusted: load_model(path, trusted=[…])"
    )


def _pickled(file: Path, trust: bool) -> Any:
    if not trust:
        raise InvalidParameter(
            f"{file.name} is a pickle: loading one runs whatever code is in it. Save the model with skops.io.dump, or, if you made "
            "the file yourself, say --trust-pickle (trust_pickle=True)"
        )
    problem = ""
    try:
        if file.suffix == ".joblib":
            return importlib.import_module("joblib").load(file)
        with file.open("rb") as opened:
            return pickle.load(opened)  # noqa: S301 - the caller said that the file can be trusted
    except OSError:
        raise
    except Exception as error:
        problem = type(error).__name__
    raise Malformed(f"{file.name} cannot be loaded ({problem}); it was made with other packages, or is no model")


def _scripted(file: Path) -> Any:
    if not file.is_file():
        raise FileNotFoundError(2, "no such file", str(file))
    try:
        torch = importlib.import_module("torch")
    except ImportError:
        torch = None
    if torch is None:
        raise MissingPackage("reading torch modules needs torch: pip install 'deniable[torch]'")
    problem = ""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # TorchScript still works, and needs no code of the model's
            return torch.jit.load(str(file), map_location="cpu").eval()
    except Exception as error:
        problem = type(error).__name__
    raise Malformed(
        f"{file.name} is not a TorchScript module ({problem}); save it with torch.jit.trace(module, example).save(path)"
    )
