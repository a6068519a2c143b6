"""Writing a run in other formats: a file of all games, a file for each table."""

from collections.abc import Sequence
from pathlib import Path

from arena.keeping.parquet import read_lists
from arena.keeping.thought_table import THOUGHT_COLUMNS, THOUGHTS
from arena.showing.exported import ExportedTable, exported_games, raw_tables, read_tables
from arena.showing.exports import WRITERS, TableWriter, game_writer, table_writer
from arena.showing.report_contents import Report
from games.names import did_you_mean, listed, quoted
from games.terminal import Mistake
from games.whole_files import whole_file, write_text


def checked(names: Sequence[str], writes: str) -> None:
    """Raise a Mistake if one of the names is no format of games, or of tables."""
    known = WRITERS[writes]
    for name in names:
        if name not in known:
            near = did_you_mean(name, known)
            raise Mistake(f"--{writes} must be one of {listed(known)}, got {quoted(name)}{near}")


def write_games(report: Report, name: str, directory: Path) -> Path:
    """Write all games in one format; a Mistake if it cannot hold them."""
    made = game_writer(name)
    assert report.plan.of is not None  # a run has a game
    refusal = getattr(made, "refusal", None)
    if refusal is not None and (why := refusal(report.plan.of)):
        raise Mistake(why)
    path = directory / f"games{made.SUFFIX}"
    with whole_file(path) as file:
        file.write(getattr(made, "HEAD", "").encode())
        for game in exported_games(report):
            file.write(made.text(game).encode("utf-8", "replace"))
    return path


def write_tables(report: Report, name: str, directory: Path) -> list[Path]:
    """Write all tables in one format."""
    made = table_writer(name)
    paths = []
    for table in raw_tables(report) if made.RAW else read_tables(report):
        path = directory / f"{table.name}{made.SUFFIX}"
        write_text(path, made.text(table).encode("utf-8", "replace").decode())
        paths.append(path)
    if made.RAW and report.directory is not None and (report.directory / THOUGHTS).exists():
        paths.append(_write_thoughts(report.directory / THOUGHTS, made, directory))
    return paths


def _write_thoughts(table: Path, made: TableWriter, directory: Path) -> Path:
    """Write what agents thought, some rows at a time: there may be a row for every move."""
    path, head = directory / f"thoughts{made.SUFFIX}", tuple(THOUGHT_COLUMNS)
    with whole_file(path) as file:
        file.write(made.text(ExportedTable("thoughts", "", head, ())).encode())
        for columns in read_lists(table, head):
            rows = tuple(zip(*(columns[name] for name in head), strict=True))
            text = made.text(ExportedTable("thoughts", "", head, rows))
            file.write(text.partition("\n")[2].encode("utf-8", "replace"))
    return path
