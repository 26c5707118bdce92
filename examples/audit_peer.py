"""Audit other people's packages: the clients of pure-ldp, multi-freq-ldpy and diffprivlib, each in its own process.

    python examples/audit_peer.py [NAME ...] [--samples 200000] [--environment DIRECTORY] [--json]

Makes a virtual environment (in a temporary directory unless one is named), installs the pinned packages there, and runs
`deniable audit --command` on a small program for each client: this same file, called with --answer NAME, which reads
values and prints reports. Nothing of the peers is imported into the auditing process.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

PACKAGES = [
    "pure-ldp==1.2.0",
    "multi-freq-ldpy==0.2.5",
    "diffprivlib==0.6.6",
    "xxhash<4",
    "scikit-learn<1.7",
    "statsmodels",
    "scipy",
]
VALUES, EPSILON = 8, 1.0
HASHES, FILTER = 2, 16


def bit_row(chosen: Any) -> list[int]:
    """A set of values as a row of bits."""
    return [int(value in chosen) for value in range(VALUES)]


def pure_ue() -> Callable[[int], Any]:
    """Optimized unary encoding of pure-ldp."""
    from pure_ldp.frequency_oracles import UEClient

    client = UEClient(EPSILON, VALUES, use_oue=True, index_mapper=lambda value: value)
    return lambda value: client.privatise(value).tolist()


def pure_de() -> Callable[[int], Any]:
    """Direct encoding (k-ary randomized response) of pure-ldp."""
    from pure_ldp.frequency_oracles import DEClient

    client = DEClient(EPSILON, VALUES, index_mapper=lambda value: value)
    return lambda value: int(client.privatise(value))


def pure_olh() -> Callable[[int], Any]:
    """Optimized local hashing of pure-ldp; a report is shown as the values its bucket holds."""
    import xxhash
    from pure_ldp.frequency_oracles import LHClient

    client = LHClient(EPSILON, VALUES, use_olh=True, index_mapper=lambda value: value)

    def answer(value: int) -> list[int]:
        bucket, seed = client.privatise(value)
        return [int(xxhash.xxh32(str(v), seed=seed).intdigest() % client.g == bucket) for v in range(VALUES)]

    return answer


def pure_rappor() -> Callable[[int], Any]:
    """RAPPOR of pure-ldp with one cohort and two hash functions; f is what makes convert_f_to_eps(f, 2) equal epsilon."""
    import math

    from pure_ldp.frequency_oracles.rappor import RAPPORClient

    f = 2 / (1 + math.exp(EPSILON / (2 * HASHES)))
    hashes = [lambda text: 2 * int(text), lambda text: 2 * int(text) + 1]  # values own two bits each
    client = RAPPORClient(f, FILTER, [hashes], num_of_cohorts=1, index_mapper=lambda value: value)
    assert abs(client.convert_f_to_eps(f, HASHES) - EPSILON) < 1e-9
    return lambda value: client.privatise(value)[0]


def multi_grr() -> Callable[[int], Any]:
    """k-ary randomized response of multi-freq-ldpy."""
    from multi_freq_ldpy.pure_frequency_oracles.GRR import GRR_Client

    return lambda value: int(GRR_Client(value, VALUES, EPSILON))


def multi_oue() -> Callable[[int], Any]:
    """Optimized unary encoding of multi-freq-ldpy."""
    from multi_freq_ldpy.pure_frequency_oracles.UE import UE_Client

    return lambda value: [int(bit) for bit in UE_Client(value, VALUES, EPSILON, True)]


def multi_ss() -> Callable[[int], Any]:
    """Subset selection of multi-freq-ldpy."""
    from multi_freq_ldpy.pure_frequency_oracles.SS import SS_Client

    return lambda value: bit_row({int(chosen) for chosen in SS_Client(value, VALUES, EPSILON)})


def diffprivlib_laplace() -> Callable[[int], Any]:
    """Laplace noise of diffprivlib on numbers 0 to 7; the claim is epsilon for the whole range."""
    from diffprivlib.mechanisms import Laplace

    mechanism = Laplace(epsilon=EPSILON, sensitivity=VALUES - 1)
    return lambda value: mechanism.randomise(float(value))


CLIENTS = {
    "pure-ldp-oue": pure_ue,
    "pure-ldp-de": pure_de,
    "pure-ldp-olh": pure_olh,
    "pure-ldp-rappor": pure_rappor,
    "multi-freq-grr": multi_grr,
    "multi-freq-oue": multi_oue,
    "multi-freq-ss": multi_ss,
    "diffprivlib-laplace": diffprivlib_laplace,
}


def answer(name: str) -> None:
    """One JSON report per value read: runs in the peers' environment."""
    client = CLIENTS[name]()
    for line in sys.stdin:
        sys.stdout.write(json.dumps(client(int(line))) + "\n")


def environment(directory: Path) -> Path:
    """The Python of an environment with the peers in it, made when it is not there."""
    python = directory / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(directory)], check=True)  # noqa: S603 - fixed words
        subprocess.run([str(python), "-m", "pip", "install", "--quiet", *PACKAGES], check=True)  # noqa: S603 - fixed words
    return python


def audit(python: Path, name: str, samples: int) -> dict[str, Any]:
    """What `deniable audit` says about one client."""
    values = ",".join(map(str, (0, 1, VALUES - 1)))
    command = f"{python} {Path(__file__).resolve()} --answer {name}"
    arguments = ["audit", "--command", command, "--lines", "--inputs", values, "--epsilon", str(EPSILON), "--timeout", "300"]
    done = subprocess.run(  # noqa: S603 - our own command
        [sys.executable, "-m", "deniable", *arguments, "--samples", str(samples), "--json"],
        capture_output=True,
        text=True,
        check=False,
    )
    if not done.stdout:
        raise SystemExit(done.stderr)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def main() -> None:
    """Make the environment, audit the clients, print a line for each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", choices=[[], *CLIENTS], help="clients to audit; all of them when none is named")
    parser.add_argument("--samples", type=int, default=200_000)
    parser.add_argument("--environment", type=Path, help="a directory for the environment, kept afterwards")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--answer", choices=list(CLIENTS), help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.answer:
        answer(chosen.answer)
        return
    with tempfile.TemporaryDirectory() as temporary:
        python = environment((chosen.environment or Path(temporary) / "peers").absolute())
        results = {name: audit(python, name, chosen.samples) for name in chosen.names or CLIENTS}
    if chosen.json:
        sys.stdout.write(json.dumps(results, indent=2) + "\n")
        return
    for name, found in results.items():
        sys.stdout.write(f"{name}\n" + "".join(f"    {line}\n" for line in found["lines"]))


if __name__ == "__main__":
    main()
