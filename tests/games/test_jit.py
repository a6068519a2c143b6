"""Compilation and its cache: never stale, no growth, and the same results without it.

A cache is warm or cold for a whole process, so most tests start processes, on a copy of the games
with a kernel that compiles quickly.
"""

import json
import multiprocessing
import os
import shutil
import subprocess
import sys
import time
from functools import cache
from pathlib import Path
from subprocess import CompletedProcess
from types import ModuleType

import numba
import pytest

from games import game
from games.kernels import compile_cache, jit
from games.kernels.context import COUNTERS, context
from games.perft import perft, play_random_games
from tests.forked import forgetful
from tests.games.table import one_of_each

ROOT = Path(__file__).parents[2]
NOTICE = "compiling for this machine"
OURS = ("NUMBA_CACHE_DIR", "XDG_CACHE_HOME", "NUMBA_DISABLE_JIT", "TMPDIR", "PYTHONPATH")

TINY_RULES = "BONUS = 1\n"
TINY = """
from games.kernels.jit import compile_kernel
from games.tiny_rules import BONUS

@compile_kernel
def scored(points):
    return points + BONUS

@compile_kernel
def doubled(points):
    return 2 * scored(points)
"""
SCORES = "from games import tiny; print(tiny.scored(1), tiny.doubled(1))"


def python(tree: Path, code: str, **env: object) -> CompletedProcess:
    """A finished process that ran `code` with the packages of `tree`."""
    kept = {key: value for key, value in os.environ.items() if key not in OURS}
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tree,
        env={**kept, **{key: str(value) for key, value in env.items()}},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done


def forked(tree: Path, code: str, **env: object) -> CompletedProcess:
    """The same in a fork that forgets our packages, so that Numba need not be loaded again."""
    kept = {key: value for key, value in os.environ.items() if key not in OURS}
    changes = {key: str(value) for key, value in env.items()}
    return forgetful(tree, code, env={**kept, **changes})


def compiled_files(root: Path) -> dict[str, tuple[int, int]]:
    files = (path for path in root.rglob("*") if path.suffix in (".nbi", ".nbc"))
    return {
        str(path.relative_to(root)): (path.stat().st_size, path.stat().st_mtime_ns)
        for path in files
    }


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A copy of the games with the tiny kernel."""
    copy = tmp_path / "tree"
    shutil.copytree(ROOT / "games", copy / "games", ignore=shutil.ignore_patterns("__pycache__"))
    (copy / "games" / "tiny_rules.py").write_text(TINY_RULES)
    (copy / "games" / "tiny.py").write_text(TINY)
    return copy


def edited(path: Path, before: str, after: str) -> None:
    text = path.read_text()
    assert text.count(before) == 1
    path.write_text(text.replace(before, after))


# ----------------------------------------------------------------- warm and cold


def test_an_edit_of_an_imported_constant_recompiles_and_undoing_it_does_not(tree):
    cold = forked(tree, SCORES)
    assert (cold.stdout, cold.stderr.count(NOTICE)) == ("2 4\n", 1)
    edited(tree / "games" / "tiny_rules.py", "BONUS = 1", "BONUS = 100")
    changed = forked(tree, SCORES)
    assert (changed.stdout, changed.stderr.count(NOTICE)) == ("101 202\n", 1)
    edited(tree / "games" / "tiny_rules.py", "BONUS = 100", "BONUS = 1")
    files = compiled_files(tree)
    assert files
    again = forked(tree, SCORES)
    assert (again.stdout, again.stderr) == ("2 4\n", "")
    assert compiled_files(tree) == files


# One game of each family, small enough to be interpreted.
FAMILIES = one_of_each("family_name", "(3,2)", "(8,1)", "(4)", "(10)")
EVERYTHING = f"""
from games import IllegalMove, game
from games.perft import perft
from games.perft import play_random_games
for of in map(game, {FAMILIES}):
    p = of.start()
    for choice in (0, -1, -1, 0):
        of.text(p), of.draw(p), of.score(p), of.margin(p), of.mover(p), of.over(p)
        assert of.parse(of.text(p)) == p
        text = of.move_text(p, of.legal(p)[choice])
        p = of.replay(text, p)[-1]
    try: of.play(p, -1)
    except IllegalMove: pass
    perft(of, p, 2), play_random_games(of, 2, 1, start=p)
print("done")
"""
REAL = """
import json
import multiprocessing
from games import game
from games.perft import perft
from games.perft import play_random_games
of = game("kalah(3,2)")
print(json.dumps([perft(of, of.start(), 6)[-1], play_random_games(of, 50, 1)]))
"""


THREADS = """
import sys, threading
from games import game
usual = sys.getswitchinterval()
sys.setswitchinterval(1e-6)
of, wrong, together = game("kalah(3,2)"), [], threading.Barrier(4)

def first_use():
    together.wait()
    try:
        assert of.legal(of.start()) == (0, 1, 2)
    except Exception as error:
        wrong.append(error)

threads = [threading.Thread(target=first_use) for _ in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
sys.setswitchinterval(usual)
print(wrong)
"""
COUNTS = f"""
import json
for of in map(game, {FAMILIES}):
    print(json.dumps([perft(of, of.start(), 3), play_random_games(of, 3, 7)]))
"""


@cache
def whole_process(interpreted: bool) -> tuple[str, str, list[str]]:
    """The output of threads, of everything and of counts in a warm fork."""
    code = THREADS + EVERYTHING + COUNTS
    done = forked(ROOT, code, NUMBA_DISABLE_JIT=int(interpreted))
    if NOTICE in done.stderr:  # it compiled: run again
        done = forked(ROOT, code, NUMBA_DISABLE_JIT=int(interpreted))
    assert done.stderr == ""
    threads, everything, *counts = done.stdout.splitlines()
    return threads, everything, counts


def test_a_warm_process_compiles_nothing():
    assert whole_process(False)[1] == "done"  # and no notice


def test_an_interpreted_process_prints_no_warning():
    # NumPy would warn about integers that wrap around, as kernels intend.
    assert whole_process(True)[1] == "done"


@pytest.mark.parametrize("interpreted", [False, True])
def test_threads_may_use_a_game_first_at_the_same_time(interpreted):
    assert whole_process(interpreted)[0] == "[]"


@pytest.mark.slow
def test_real_kernels_are_never_stale_and_do_not_grow(tree):
    cold = python(tree, REAL)
    assert cold.stderr.count(NOTICE) == 1
    counts, (wins, draws, losses, moves, _) = json.loads(cold.stdout)
    assert counts == [150, 1]
    files = compiled_files(tree)
    warm = python(tree, REAL)
    assert (warm.stdout, warm.stderr) == (cold.stdout, "")
    assert compiled_files(tree) == files
    # The kernels that inline this are in another file, whose cache entry must become invalid.
    family = tree / "games" / "sowing" / "packed.py"
    edited(
        family,
        "return np.int64(s.own >> POT_SHIFT) -",
        "return 1000 + np.int64(s.own >> POT_SHIFT) -",
    )
    counts, changed = json.loads(python(tree, REAL).stdout)
    assert counts == [150, 1]
    assert changed[3] == moves
    assert changed[:3] != [wins, draws, losses]
    edited(family, "return 1000 + np", "return np")
    back = python(tree, REAL)
    assert (back.stdout, back.stderr) == (cold.stdout, "")


@pytest.mark.slow
def test_two_cold_processes_at_once_give_the_same_results(tree):
    command = [sys.executable, "-c", REAL]
    kept = {key: value for key, value in os.environ.items() if key not in OURS}
    both = [
        subprocess.Popen(command, cwd=tree, env=kept, stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    answers = [process.communicate()[0] for process in both]
    warm = python(tree, REAL)
    assert answers == [warm.stdout] * 2
    assert warm.stderr == ""


# ------------------------------------------------------------ where the cache is


def blocked(tree: Path) -> None:
    """Make the cache directory of the package unusable, even for root."""
    (tree / "games" / "__pycache__").write_text("a file where a directory should be")


NOWHERE = "/dev/null/nowhere"


@pytest.mark.slow
def test_without_a_writable_directory_every_process_compiles(tree):
    blocked(tree)
    homeless = (
        "import tempfile, pathlib\n"
        "def none(*_): raise FileNotFoundError('no usable temporary directory')\n"
        "def homeless(*_): raise RuntimeError('could not determine home directory')\n"
        "tempfile.gettempdir = none; pathlib.Path.home = homeless\n"
    )
    unwritable = f"import tempfile; tempfile.tempdir = '{NOWHERE}'\n"
    for code, home in ((homeless, ""), (unwritable, NOWHERE)):
        done = python(tree, code + SCORES, NUMBA_CACHE_DIR=NOWHERE, XDG_CACHE_HOME=home)
        assert (done.stdout, done.stderr.count(NOTICE)) == ("2 4\n", 1)
        assert len(done.stderr.splitlines()) == 1


def chosen_cache() -> Path | None:
    return compile_cache.cache_directory.__wrapped__()  # a process chooses once


def test_the_first_writable_root_is_used_and_marked(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setattr(compile_cache, "PACKAGE", tmp_path / "file")
    monkeypatch.setattr(compile_cache.tempfile, "tempdir", NOWHERE)
    for name in ("NUMBA_CACHE_DIR", "XDG_CACHE_HOME"):
        monkeypatch.setenv(name, NOWHERE)
    assert chosen_cache() is None
    monkeypatch.setattr(compile_cache.tempfile, "tempdir", str(tmp_path))
    assert chosen_cache().parent == tmp_path / f"pitflip-{compile_cache.USER}"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert chosen_cache().parent == tmp_path / "cache" / "pitflip"
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "named"))
    directory = chosen_cache()
    assert directory.parent == tmp_path / "named"
    os.utime(directory, (0, 0))
    assert chosen_cache() == directory
    assert time.time() - directory.stat().st_mtime < 60


def test_a_temporary_directory_that_others_can_write_is_refused(tmp_path):
    assert compile_cache.require_private(tmp_path / "new").stat().st_mode & 0o077 == 0
    (tmp_path / "new").chmod(0o770)
    with pytest.raises(PermissionError, match="can be written by others"):
        compile_cache.require_private(tmp_path / "new")


def test_caches_that_were_unused_for_long_are_removed(tmp_path):
    now = time.time()
    for name, days in {"kernels-old": 31, "kernels-new": 29, "someone-elses": 99}.items():
        (tmp_path / name / "games_1").mkdir(parents=True)
        (tmp_path / name / "games_1" / "kernel.nbi").touch()
        os.utime(tmp_path / name, (now - days * 86400,) * 2)
    compile_cache.remove_old_caches(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["kernels-new", "someone-elses"]
    assert compile_cache.UNUSED_DAYS == 30


def test_a_cache_that_cannot_be_removed_stays(tmp_path, monkeypatch):
    def refuse(path):
        raise PermissionError(f"{path} is in use")

    (tmp_path / "kernels-file").touch()
    os.utime(tmp_path / "kernels-file", (0, 0))
    monkeypatch.setattr(Path, "unlink", refuse)
    compile_cache.remove_old_caches(tmp_path)
    assert (tmp_path / "kernels-file").exists()
    monkeypatch.undo()
    compile_cache.remove_old_caches(tmp_path)
    assert not (tmp_path / "kernels-file").exists()


# --------------------------------------------------------------- what is compiled


def test_a_compilation_is_announced_once(capsys):
    announcer = compile_cache.Announcer()
    for _ in range(2):
        announcer.on_start(None)
        announcer.on_end(None)
    assert capsys.readouterr().err.count(NOTICE) == 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="workers are not forked here")
def test_workers_do_not_announce_it_again(capsys):
    announcer = compile_cache.Announcer()
    worker = multiprocessing.get_context("fork").Process(target=announcer.on_start, args=(None,))
    worker.start()
    worker.join(10)
    announcer.on_start(None)
    assert NOTICE not in capsys.readouterr().err


def plus_bonus(points):
    return points + BONUS


def twice(points):
    return 2 * plus_bonus(points)


def countdown(points):
    return points if points == 0 else countdown(points - 1)


BONUS = 1


@pytest.mark.skipif(jit.INTERPRETED, reason="nothing is compiled")
def test_compilations_call_the_listener():
    heard = []
    compile_cache.on_compilation(lambda: heard.append("rung"))
    numba.njit(lambda x: x + 1)(1)
    assert len(heard) >= 2


def test_specialised_copies_call_each_other_and_themselves():
    made = jit.specialise("tests_seven", (plus_bonus, twice, countdown), BONUS=7)
    other = jit.specialise("tests_nine", (plus_bonus, twice), BONUS=9)
    assert (made.plus_bonus(1), made.twice(1), made.countdown(5)) == (8, 16, 0)
    assert (other.plus_bonus(1), other.twice(1)) == (10, 20)
    assert (plus_bonus(1), twice(1)) == (2, 4)


def test_kernels_are_bound_once_and_families_never_share_a_cache_entry(monkeypatch):
    for name in ("tests_one", "tests_other"):
        family = ModuleType(name)
        family.FAMILY = "tests_same"
        monkeypatch.setitem(sys.modules, name, family)

    def bind(family):
        return jit.specialise(family.FAMILY, (plus_bonus,), BONUS=len(family.__name__))

    kernels = jit.family_kernels("tests_one", bind)
    assert kernels.plus_bonus(1) == 10
    assert jit.family_kernels("tests_one", bind) is kernels
    with pytest.raises(ValueError, match="tests_other and tests_one are both 'tests_same'"):
        jit.family_kernels("tests_other", bind)


IMPORTS = """
import importlib, pkgutil, sys, warnings
import games, numba
filters = list(warnings.filters)
for module in pkgutil.walk_packages(games.__path__, "games."):
    importlib.import_module(module.name)
from numba.core import config, event
print(config.CACHE_DIR == "", event._registered["numba:compile"], warnings.filters == filters)
"""


def test_importing_makes_no_directory_listener_or_filter(tree, tmp_path):
    (tree / "games" / "tiny.py").unlink()  # it compiles at import
    for interpreted in (0, 1):
        done = forked(tree, IMPORTS, NUMBA_DISABLE_JIT=interpreted)
        assert (done.stdout, done.stderr) == ("True [] True\n", "")
    assert not list(tree.rglob("kernels-*"))


def test_too_many_rule_scalars_are_refused():
    assert len(context([1] * COUNTERS, [2])) > COUNTERS
    with pytest.raises(ValueError, match="at most 32 rule scalars fit, got 33"):
        context([1] * (COUNTERS + 1), [])


# --------------------------------------------------- interpreted, imports


def test_interpreted_and_compiled_kernels_give_the_same():
    told = whole_process(not jit.INTERPRETED)[2]
    ours = [[perft(of, of.start(), 3), play_random_games(of, 3, 7)] for of in map(game, FAMILIES)]
    assert [json.loads(line) for line in told] == json.loads(json.dumps(ours))


def test_games_are_named_and_pickled_without_a_compiler():
    code = (
        "import pickle, sys, games.perft, games.transcripts\n"
        "from games import GameError, game\n"
        "for name in ('kalah(6,4)', 'kalah(16,16)', 'othello(16)', 'kalahh'):\n"
        "    try: print(pickle.loads(pickle.dumps(game(name))))\n"
        "    except GameError: print('numba' in sys.modules)"
    )
    done = python(ROOT, code)
    assert (done.stdout, done.stderr) == ("kalah(6,4)\nkalah(16,16)\nothello(16)\nFalse\n", "")


def half(points):
    return points // 2 + BONUS


def two_halves(points):
    return 2 * half(points)


def test_python_can_call_an_inlined_function():
    part = jit.inline(half)
    made = jit.specialise("tests_part", (two_halves,), half=part)
    assert (made.two_halves(8), part(8)) == (10, 5)


@pytest.mark.skipif(jit.INTERPRETED, reason="nothing is compiled")
def test_an_internal_kernel_has_no_entry_point_until_python_calls_it():
    kernel = jit.specialise("tests_passage", (countdown,), (countdown,)).countdown
    assert jit.inline_copies([two_halves], {"half": kernel})["two_halves"](8) == 0
    assert [callable(each.entry_point) for each in kernel.overloads.values()] == [False]
    assert kernel(5) == 0


def taken(side):
    return 10 + side


def in_turn(turns):
    side = taken_so_far = 0
    for _ in range(turns):
        taken_so_far += taken(side)
        side = 1 - side
    return taken_so_far


@pytest.mark.skipif(jit.INTERPRETED, reason="nothing is compiled")
@pytest.mark.parametrize("made", [jit.compile_kernel, jit.internal_kernel])
def test_a_kernel_is_not_compiled_for_the_first_number_of_a_loop(made):
    kernel = made(taken)
    assert jit.inline_copies([in_turn], {"taken": kernel})["in_turn"](3) == 31
    assert len(kernel.signatures) == 1
