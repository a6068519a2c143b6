"""Games already played, from the files of any program."""

from collections.abc import Mapping

# How a file's name ends -> module with `games_in(file) -> Iterator[GivenGame]`.
READERS: Mapping[str, str] = {
    ".parquet": "arena.reading.formats.own_games",
    ".csv": "arena.reading.formats.csv_games",
    ".pgn": "arena.reading.formats.pgn_games",
    ".ggf": "arena.reading.formats.ggf_games",
}
