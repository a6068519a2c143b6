"""The generated reference pages and the JSON Schema are up to date."""

import json
import tomllib
from pathlib import Path

import jsonschema
import pyarrow.parquet as pq
import pytest

from tests.arena.running import experiment_file, small
from tools.reference.__main__ import ROOT, reference_files
from tools.reference.columns import MEANINGS, ParquetTable, parquet_tables
from tools.reference.experiment_schema import experiment_schema
from tools.reference.pages import key_tables

SHIPPED = sorted((ROOT / "experiments").glob("*.toml"))
FILES = reference_files()
SCHEMA = experiment_schema()


@pytest.mark.parametrize("name", FILES)
def test_a_generated_file_is_up_to_date(name):
    assert (ROOT / name).read_text() == FILES[name], "run python -m tools.reference"


def problems(tables):
    return list(jsonschema.Draft7Validator(SCHEMA).iter_errors(tables))


def test_the_schema_is_valid():
    jsonschema.Draft7Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_the_schema_accepts_every_shipped_experiment(path):
    assert problems(tomllib.loads(path.read_text())) == []


TABLES = ("agents", "checks", "sweep", "tune", "learn")  # have keys of their own
GOOD = {"game": "owari", "agents": {"a": {"kind": "smart"}, "b": {"kind": "random"}}}


@pytest.mark.parametrize(
    ("more", "fits"),
    [
        ({}, True),
        ({"openings": {"random_plies": [4, 10], "repeat": True}}, True),
        ({"openings": "none", "schedule": {"match": ["a", "b"]}}, True),
        ({"game_time": "60+0.5"}, True),
        ({"roster": {"directory": "bots"}}, True),
        ({"checks": [{"that": "a beats b", "always": True}]}, True),
        ({"pars": 3}, False),
        ({"pairs": 0}, False),
        ({"openings": {"plies": [4, 10]}}, False),
        ({"openings": {"random_plies": [4]}}, False),
        ({"game_time": 60}, False),
        ({"agents": {"a": {"kind": "smart", "depht": 3}}}, False),
        ({"agents": {"a": {"kind": "smrt"}}}, False),
        ({"checks": [{"that": "a beats b"}]}, False),
        ({"checks": [{"that": "a", "always": True, "last_beans": 3}]}, False),
        ({"tune": {}}, False),
    ],
)
def test_the_schema_accepts_and_rejects(more, fits):
    assert (problems(GOOD | more) == []) is fits


def test_there_are_at_most_110_keys():
    schema = SCHEMA["properties"]
    checks = {key for form in schema["checks"]["items"]["anyOf"] for key in form["properties"]}
    options = {
        key
        for form in schema["agents"]["additionalProperties"]["anyOf"]
        for key in form["properties"]
    }
    tables = {f"{table.heading}.{key.name}" for table in key_tables()
              for key in table.keys
              if not key.keys and key.name not in TABLES and table.heading != "Ranges"}  # fmt: skip
    assert len(tables) + len(checks) + len(options) <= 110


def test_every_meaning_of_a_column_is_used():
    columns = {
        name
        for table in parquet_tables()
        for column in table.columns
        for name in (column, f"{table.file.removesuffix('.parquet')}.{column}")
    }
    assert set(MEANINGS) <= columns


def test_the_tables_of_a_run_have_the_documented_columns(tmp_path: Path):
    from tests.commands import run  # noqa: PLC0415  # it loads the kernels

    text = (
        small(2, 'standings = "points"\nsearch_info = true') + '[agents.greedy]\nkind = "greedy"\n'
    )
    run([str(experiment_file(tmp_path, text)), "--results", str(tmp_path), "--quiet"])
    known: dict[str, ParquetTable] = {table.file: table for table in parquet_tables()}
    written = list(tmp_path.rglob("*.parquet"))
    assert {"games.parquet", "elo.parquet", "points.parquet"} <= {path.name for path in written}
    for path in written:
        assert pq.read_schema(path).names == list(known[path.name].columns)
    page = (ROOT / "docs" / "reference" / "files.md").read_text()
    (directory,) = {path.parent for path in written}
    files = {*known, *(path.name for path in directory.iterdir())}
    assert {name for name in files if f"`{name}" not in page} == set()


def test_the_schema_is_written_as_json():
    assert json.loads(FILES["docs/experiment.schema.json"]) == json.loads(json.dumps(SCHEMA))
