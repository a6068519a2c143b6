"""What every format of other people's games promises: each entry of the table is tried."""

import pytest

from arena.formats.game_record import Unreadable
from arena.formats.registry import FORMATS
from arena.pipeline.external_games import read_games


@pytest.mark.parametrize("suffix", FORMATS)
@pytest.mark.parametrize("content", [b"", b"nothing\n\x00that (anybody;\n", bytes(range(256)) * 20])
def test_what_is_no_game_is_answered_in_one_line(tmp_path, suffix, content):
    path = tmp_path / f"games{suffix}"
    path.write_bytes(content)
    with pytest.raises(Unreadable) as refused:
        read_games([path])
    assert len(str(refused.value).splitlines()) == 1


def test_a_file_of_no_format_is_told_with_those_that_there_are(tmp_path):
    path = tmp_path / "games.pgm"
    path.write_text("")
    with pytest.raises(Unreadable, match=r"must end in .*; did you mean \"\.pgn\"\?"):
        read_games([path])
