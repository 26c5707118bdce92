"""Saved models. A file that could run code, or holds a type that nobody vouches for, is loaded only when its user says so."""

from __future__ import annotations

import importlib
import pickle
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from deniable._extras import required
from deniable.errors import InvalidParameter, Malformed, NotSupported

SAFE, PICKLES, SCRIPTED = (".skops",), (".pkl", ".pickle", ".joblib"), (".pt", ".ts")


def load_model(path: str | Path, *, trust_code: bool = False, trusted: Sequence[str] = ()) -> Any:
    """The model in a file: .skops, or with `trust_code` a TorchScript module (.pt, .ts) or a pickle (.pkl, .joblib).

    Pickles run whatever code is in them, and TorchScript modules are programs, too: `trust_code` says that you know where
    the file is from. A skops file may hold only types that skops itself vouches for, and those named in `trusted`. A
    scikit-learn tree is not among the former: its arrays are followed without a check, so a crafted file could crash or worse.
    """
    file = Path(path)
    if file.suffix in PICKLES:
        return _pickled(file, trust_code)
    if file.suffix in SCRIPTED:
        return _scripted(file, trust_code)
    if file.suffix not in SAFE:
        raise NotSupported(f"{file.name} is not a model file that can be read: save it with skops.io.dump(model, 'model.skops')")
    if not file.is_file():
        raise FileNotFoundError(2, "no such file", str(file))
    skops = required("skops.io")
    problem = ""
    try:
        strange = sorted(set(skops.get_untrusted_types(file=file)) - set(trusted))
        if not strange:
            return skops.load(file, trusted=list(trusted))
    except Exception as error:
        problem, strange = type(error).__name__, []
    if problem:
        raise Malformed(
            f"{file.name} is not a skops file that can be loaded ({problem}); save the model again with this scikit-learn"
        )
    raise InvalidParameter(
        f"{file.name} holds types that skops does not vouch for: {', '.join(strange[:5])}{', …' if len(strange) > 5 else ''}. "
        "If you know where the file is from, name them: --trust-type NAME for each, or load_model(path, trusted=[…])"
    )


def _pickled(file: Path, trust: bool) -> Any:
    if not trust:
        raise InvalidParameter(
            f"{file.name} is a pickle: loading one runs whatever code is in it. Save the model with skops.io.dump, or, if you know "
            "where the file is from, say --trust-code (trust_code=True)"
        )
    problem = ""
    try:
        if file.suffix == ".joblib":
            return importlib.import_module("joblib").load(file)
        with file.open("rb") as stream:
            return pickle.load(stream)  # noqa: S301 - the caller said that the file can be trusted
    except OSError:
        raise
    except Exception as error:
        problem = type(error).__name__
    raise Malformed(f"{file.name} cannot be loaded ({problem}); it was made with other packages, or is not a model")


def _scripted(file: Path, trust: bool) -> Any:
    if not file.is_file():
        raise FileNotFoundError(2, "no such file", str(file))
    if not trust:
        raise InvalidParameter(
            f"{file.name} is a TorchScript module: a program that torch will run. If you know where the file is from, say "
            "--trust-code (trust_code=True)"
        )
    torch = required("torch")
    problem = ""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # TorchScript still works, and needs no class of the model's
            return torch.jit.load(str(file), map_location="cpu").eval()
    except Exception as error:
        problem = type(error).__name__
    raise Malformed(
        f"{file.name} is not a TorchScript module ({problem}); save it with torch.jit.trace(module, example).save(path)"
    )
