"""The six case studies run from one command each and print numbers that hold."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests.outside_data import needs

pytest.importorskip("sklearn", reason="the case studies train scikit-learn's models")

STUDIES = Path(__file__).parents[3] / "examples" / "classifiers"
NEEDS_DATA = ("stroke_logistic_regression", "stroke_random_forest", "bank_attrition")
ROW = re.compile(
    r"^(\S+) +(\S+) +(\d\.\d+) +(\d\.\d+) +(exact|certified|counted|estimate) +(\d\.\d+)…(\d\.\d+)(?: +(\d\.\d+|-))?", re.MULTILINE
)


def run(study: str, *options: str) -> str:
    command = [sys.executable, str(STUDIES / f"{study}.py"), *options]
    done = subprocess.run(command, capture_output=True, text=True, timeout=180, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def check(output: str, *texts: str) -> None:
    rows = ROW.findall(output)
    assert len(rows) >= 9
    for _, _, lower, rho, _, low, high, empirical in rows:
        assert float(lower) <= float(rho) + 1e-4
        assert float(low) <= float(rho) <= float(high)
        # Both may be off: at worst by 0.021 each time, for 1,000 reports beside 1,000 answers. 0.12 is 5.7 times that.
        assert empirical in ("", "-") or abs(float(empirical) - float(rho)) < 0.12
    for text in texts:
        assert text in output, text


@pytest.mark.slow
def test_the_one_dimensional_example_runs() -> None:
    check(run("one_dimension"), "ogpm     0.852848", "k-rr     0.624021", "asks for 5.365")


@needs("stroke.csv")
def test_the_forest_on_stroke_data_runs() -> None:
    check(run("stroke_random_forest"), "At this record, with probability at least 0.90", "For every one of the 20 records")


@pytest.mark.heavy
def test_the_two_dimensional_examples_run(tmp_path: Path) -> None:
    output = run("two_dimensions", "--chart", str(tmp_path / "rho.svg"))
    check(output, "l2 radius 0.481099")
    assert (tmp_path / "rho.svg").is_file()
    assert "radius 0.384812; it answers class 2" in output or "needs torch" in output


@pytest.mark.heavy
@needs("stroke.csv")
def test_logistic_regression_on_stroke_data_runs() -> None:
    check(run("stroke_logistic_regression"), "For every one of the 50 records", "hiding bmi alone", "is enough for 0.9")


@pytest.mark.heavy
@needs("bank_attrition.csv")
def test_both_models_on_bank_data_run() -> None:
    check(run("bank_attrition"), "RAW record", "sigma 0.7735", "sigma 0.4855")


@pytest.mark.heavy
def test_the_network_on_digits_runs() -> None:
    pytest.importorskip("torch", reason="torch is an extra")
    check(run("digits_network"), "all 49 pixels", "proved box", "only four pixels")


@pytest.mark.slow
@pytest.mark.parametrize("study", NEEDS_DATA)
def test_a_study_without_its_data_says_so_and_ends_well(study: str, tmp_path: Path) -> None:
    assert "Nothing was done" in run(study, "--data", str(tmp_path))
