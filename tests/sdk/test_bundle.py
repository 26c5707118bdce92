"""The JavaScript client as one file: the same names, the same bytes, and a package that npm installs."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

pytest.importorskip("uvicorn", reason="the collector's packages are not installed")

from deniable.collector.dashboard.bundle import bundled, integrity
from deniable.collector.dashboard.pages import STATIC, sdk_folder
from deniable.errors import InvalidParameter
from deniable.surveys import survey_from_toml

NODE, NPM = shutil.which("node"), shutil.which("npm")
SDK = Path(__file__).parents[2] / "sdk" / "js"
SAME = """
import * as one from "./deniable.js";
import * as many from "MODULES";
import { readFileSync } from "node:fs";
import vm from "node:vm";
const context = vm.createContext({ crypto, TextEncoder, TextDecoder, URL });
vm.runInContext(readFileSync("deniable.classic.js", "utf8"), context);
const classic = vm.runInContext("deniable", context);
const names = (what) => Object.keys(what).sort().join();
if (names(one) !== names(many) || names(classic) !== names(many)) throw new Error("names differ");
const document = DOCUMENT;
const draws = [];
for (const { openSurvey, ReplayCoins, encodeReport } of [one, many]) {
  const survey = await openSurvey(new TextEncoder().encode(document));
  const coins = new ReplayCoins(Uint8Array.from({ length: 64 }, (_, i) => 7 * i + 3));
  const output = survey.channel.draw(survey.inputOf({ commute: "bus" }), coins);
  draws.push([...encodeReport(survey.fingerprint, survey.channel, output)].join());
}
if (draws[0] !== draws[1]) throw new Error("reports differ");
console.log("same");
"""


@pytest.mark.skipif(NODE is None, reason="Node is not installed")
def test_one_file_has_the_names_and_the_draws_of_the_modules(tmp_path: Path) -> None:
    toml = 'title="T"\npurpose="P"\nepsilon=1\n[attributes.commute]\nquestion="How?"\ndomain="categories:bike,bus,car"\n'
    for name, data in bundled(sdk_folder()).items():
        (tmp_path / name).write_bytes(data)
    script = SAME.replace("MODULES", (sdk_folder() / "index.js").as_uri())
    document = json.dumps(survey_from_toml(toml).to_json().decode())
    (tmp_path / "same.mjs").write_text(script.replace("DOCUMENT", document))
    ended = subprocess.run([str(NODE), "same.mjs"], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60)
    assert ended.stdout == "same\n", ended.stderr


def test_hashes_are_those_of_the_files() -> None:
    files = bundled(sdk_folder())
    assert json.loads(files["integrity.json"]) == {name: integrity(data) for name, data in files.items() if name.endswith(".js")}
    assert not re.search(rb"^import ", files["deniable.js"], re.MULTILINE)
    assert not re.search(rb"^(import|export) ", files["deniable.classic.js"], re.MULTILINE)


@pytest.mark.parametrize("line", ['import thing from "./a.js";', "export let state = 1;", 'import * as all from "./a.js";'])
def test_what_cannot_be_put_into_one_file_is_refused(tmp_path: Path, line: str) -> None:
    (tmp_path / "a.js").write_text("export const a = 1;\n")
    (tmp_path / "index.js").write_text(line + "\n")
    with pytest.raises(InvalidParameter, match="cannot be put into one file"):
        bundled(tmp_path)


def test_modules_in_a_circle_are_refused(tmp_path: Path) -> None:
    (tmp_path / "index.js").write_text('import { a } from "./a.js";\nexport const b = a;\n')
    (tmp_path / "a.js").write_text('import { b } from "./index.js";\nexport const a = b;\n')
    with pytest.raises(InvalidParameter, match="imports itself"):
        bundled(tmp_path)


def test_the_words_of_the_answer_page_are_in_one_file() -> None:
    for name in ("answer.js", "questions.js"):
        code = re.sub(r"^\s*(//|/\*|\*).*$", "", (STATIC / name).read_text(), flags=re.MULTILINE)
        sentences = [text for text in re.findall(r'"([^"\n]*)"|`([^`]*)`', code) if re.match(r"[A-Z][a-z]+ [a-z]", "".join(text))]
        assert sentences == [], name


@pytest.mark.slow
@pytest.mark.skipif(NPM is None, reason="npm is not installed")
def test_the_package_installs_into_an_empty_folder(tmp_path: Path) -> None:
    package, empty = tmp_path / "package", tmp_path / "empty"
    shutil.copytree(SDK, package, ignore=shutil.ignore_patterns("node_modules", "dist"))
    (package / "dist").mkdir()
    for name, data in bundled(sdk_folder()).items():
        (package / "dist" / name).write_bytes(data)
    empty.mkdir()

    def run(*command: str, cwd: Path) -> str:
        return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=True, timeout=120).stdout

    made = run(str(NPM), "pack", "--ignore-scripts", "--json", "--pack-destination", str(tmp_path), cwd=package)
    archive = tmp_path / json.loads(made)[0]["filename"]
    run(str(NPM), "init", "-y", cwd=empty)
    run(str(NPM), "install", "--offline", "--ignore-scripts", "--no-audit", "--no-fund", str(archive), cwd=empty)
    code = 'import { Session } from "deniable"; import { Session as S } from "deniable/bundle"; console.log(Session.name, S.name);'
    assert run(str(NODE), "--input-type=module", "-e", code, cwd=empty) == "Session Session\n"
