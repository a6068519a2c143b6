"""The first line of a script: who runs it, or what is wrong with it."""

import pytest

from agents.languages import InterpreterMissing, shebang_command

HERE = {"/bin/sh": "/bin/sh", "node": "/opt/node/bin/node"}


def script(tmp_path, content):
    path = tmp_path / "bot"
    path.write_bytes(content)
    return path


@pytest.mark.parametrize(
    ("line", "command"),
    [
        (b"#!/bin/sh\n", ("/bin/sh",)),
        (b"#! /bin/sh -e\nread x\n", ("/bin/sh", "-e")),
        (b"#!/usr/bin/env node\n", ("/opt/node/bin/node",)),
        (b"#!/usr/bin/env -S node --jitless\n", ("/opt/node/bin/node", "--jitless")),
        (b"\x7fELF#!/bin/sh\n", ()),
        (b"", ()),
    ],
)
def test_a_script_is_run_by_what_its_first_line_names(tmp_path, line, command):
    assert shebang_command(script(tmp_path, line), HERE.get) == command


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (b"#!/bin/sh\r\n", "ends in a carriage return, as on Windows"),
        (b"#!/usr/bin/nonesuch\n", 'names "/usr/bin/nonesuch", which is not here'),
        (b"#!/usr/bin/env nonesuch\n", 'names "/usr/bin/env nonesuch", which is not here'),
        (b"#!\n", 'names "", which is not here'),
    ],
)
def test_a_first_line_that_names_nothing_is_told(tmp_path, line, why):
    with pytest.raises(InterpreterMissing, match=why):
        shebang_command(script(tmp_path, line), HERE.get)
