"""The process that starts, watches and ends all bots."""

import errno
import os
import pickle
import select
import signal
import socket
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from agents.core import AgentSpec
from agents.sandbox import namespaces, syscalls
from agents.sandbox import usage as process_tree
from agents.sandbox.isolation import (
    CONTROL,
    LACKS,
    RESUME,
    STATUS,
    STOP,
    UNSTARTED,
    Child,
    IsolationLevel,
    Restrictions,
    begin,
    exit_process,
    find_level,
    fork_restricted,
    keep_descriptors,
    report_lack,
    reset_interpreter,
)
from agents.sandbox.messages import (
    End,
    Ended,
    FindProcess,
    Message,
    Pause,
    Preload,
    Preloaded,
    Start,
    Turn,
    allow_open_files,
    close_descriptors,
    decode,
    encode,
    open_page,
    receive_message,
    send_message,
)
from agents.sandbox.usage import BotLog, remove_directory, remove_leftovers
from games import Game
from games.base.text import quote

QUESTIONS, ANSWERS = 3, 4  # descriptors of a Python bot
LOOK_SECONDS = 0.1
# A bot that uses more of a core than this while it is not its turn, at so many looks in a row,
# is stopped from then on whenever it is not its turn.
OUT_OF_TURN_SHARE, MOST_STRIKES = 0.15, 2
QUICK_LOOK_SECONDS = 0.01  # at a bot that has more than half of its memory
LEVEL_VARIABLE = "PITFLIP_SANDBOX"  # names a level of the ladder: no stronger one is used
START_DESCRIPTORS = 2
FORK = b"fork"  # begins a request; no pickle begins so


class RunningBot:
    """A running bot as the spawner sees it."""

    def __init__(
        self, start: Start, client: socket.socket, process: int, turn: Turn,
        log: int, status: int, control: int,
    ) -> None:  # fmt: skip
        """`log` and `status` can be read: its log, and what the machine lacked at its start.

        By `control` the first process of its namespace is told what to do, if it has one.
        """
        self.start, self.client, self.process, self.status = start, client, process, status
        self.log = BotLog(log)
        self.cause = self.reason = ""
        self.first: int | None = None
        # How long it had run when it was last looked at, alone and within its limits.
        self.run_when_seen: int | None = None
        self.grows = False  # whether it had more than half of its memory
        self.turn, self.control = turn, control
        self.stopped = False
        self.strikes = 0  # looks in a row at which it had run out of turn
        self.times: dict[int, int] = {}  # of the processor, by process
        self.seen, self.turn_time = time.monotonic_ns(), 0

    def runs_out_of_turn(self, tree: list[int]) -> bool:
        """Return whether its processes ran while it was not asked, since the last look."""
        now, before = time.monotonic_ns(), self.times
        self.times = {each: process_tree.processor_time(each) for each in tree}
        used = sum(each - before.get(process, 0) for process, each in self.times.items())
        total = self.turn.nanoseconds(now)
        cores = len(self.start.cores) or os.cpu_count() or 1
        allowed = (total - self.turn_time) * cores + (now - self.seen) * OUT_OF_TURN_SHARE
        self.seen, self.turn_time = now, total
        return used > allowed

    def waits(self) -> None:
        """Note a look at which it had not run."""
        self.seen = time.monotonic_ns()
        self.turn_time = self.turn.nanoseconds(self.seen)


def preload_problem(spec: AgentSpec, of: Game, thoughts: bool) -> str:
    """Load what a bot of the spec needs; returns why that failed, empty if it did not."""
    from agents.sandbox import bot_server  # noqa: PLC0415  # it loads the compiler

    try:
        bot_server.prepare(spec, of, thoughts)
    except Exception as error:  # reported to the owner, who can show it
        return f"{type(error).__name__}: {error}"
    return ""


def missing(program: str) -> str:
    """Why a program is not found: it is there, perhaps, but not what it needs."""
    if os.path.exists(program):
        return f"{quote(program)} needs an interpreter or a loader that it cannot see"
    return f"there is no {quote(program)} that it may read"


def bot_main(start: Start) -> Callable[[], int]:
    """What a bot's process does once it is confined."""

    def execute() -> int:
        try:
            os.execvpe(start.command[0], start.command, os.environ)
        except FileNotFoundError:
            exit_process(UNSTARTED, missing(start.command[0]))
        except OSError as error:
            report_lack(error)
            exit_process(UNSTARTED, f"cannot be started: {error}")

    def bridged() -> int:
        from agents.sandbox import bot_server  # noqa: PLC0415  # loaded before the fork

        os.close(STATUS)
        reset_interpreter()
        spec, of = pickle.loads(start.recipe)
        return bot_server.serve(spec, of, QUESTIONS, ANSWERS)

    return execute if start.command else bridged


class Zygote:
    """A process that all bots are forks of, and that never holds anything of a bot.

    A Python bot can read all memory of the process that it is a fork of: what the spawner knows
    of other bots must not be there.
    """

    def __init__(self, own_root: bool) -> None:
        """Fork it, before anything is known of a bot."""
        self.own_root, self.process = own_root, 0
        if syscalls.is_supported():
            self.socket, theirs = socket.socketpair()
            spawner, self.process = os.getpid(), os.fork()
            if self.process == 0:
                try:
                    syscalls.die_with_parent(spawner)
                    keep_descriptors({each: each for each in (0, 1, 2, theirs.fileno())})
                    self._serve(theirs)
                finally:
                    os._exit(1)
            theirs.close()

    def preload(self, kind: str, of: Game, thoughts: bool) -> str:
        """Load what bots of a kind need; why that failed, empty if it did not."""
        if not self.process:
            return preload_problem(AgentSpec(kind), of, thoughts)
        return str(self._ask(pickle.dumps((kind, of, thoughts)), []))

    def begin(self, restricted: Restrictions, descriptors: dict[int, int], start: Start) -> int:
        """Fork a restricted process, whose parent is this one; its process id."""
        if not self.process:  # without clone a fork of ours is all there is
            return begin(restricted, descriptors, bot_main(start))
        reads, writes = os.pipe()
        try:
            given = [descriptors[STATUS], reads, *descriptors.values()]
            process = self._ask(FORK + bytes([len(given)]), given)
            os.close(reads)
            reads = -1
            if isinstance(process, OSError):
                raise process
            if self.own_root:
                namespaces.map_unused_user(int(str(process)), restricted.readable)
            # Only the fork itself reads what it is.
            with suppress(BrokenPipeError), os.fdopen(os.dup(writes), "wb") as to:
                to.write(pickle.dumps((restricted, tuple(descriptors), start)))
            return int(str(process))
        finally:
            close_descriptors([each for each in (reads, writes) if each >= 0])

    def close(self) -> None:
        """End it."""
        if self.process:
            self.socket.close()
            process_tree.send_signal(self.process, signal.SIGKILL)
            with suppress(ChildProcessError):
                os.waitpid(self.process, 0)

    def _ask(self, request: bytes, descriptors: list[int]) -> object:
        """The answer; ConnectionError if it is gone."""
        send_message(self.socket, request, descriptors)
        answer = receive_message(self.socket)[0]
        if not answer:
            raise ConnectionResetError("the process that bots are forked from is gone")
        return pickle.loads(answer)

    def _serve(self, spawner: socket.socket) -> None:
        while True:
            request, descriptors = receive_message(spawner)
            if not request:
                return
            answer: object = 0
            try:
                if request.startswith(FORK):
                    answer = self._fork(descriptors, request[-1])
                else:
                    answer = self._load(request)
            except MemoryError:
                answer = OSError(errno.ENOMEM, os.strerror(errno.ENOMEM))
            except OSError as error:
                answer = OSError(error.errno, str(error))
            finally:
                close_descriptors(descriptors)
            send_message(spawner, pickle.dumps(answer))

    @staticmethod
    def _load(request: bytes) -> str:
        kind, of, thoughts = pickle.loads(request)
        return preload_problem(AgentSpec(kind), of, thoughts)

    def _fork(self, descriptors: list[int], sent: int) -> int:
        if len(descriptors) < sent:
            raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))
        status, reads, *given = descriptors

        def load() -> Child:
            try:
                with os.fdopen(os.dup(reads), "rb") as told:
                    restricted, numbers, start = pickle.load(told)
            except (OSError, MemoryError) as error:
                os.write(status, f"no room for its request: {error}".encode())
                os._exit(UNSTARTED)
            return restricted, dict(zip(numbers, given, strict=True)), bot_main(start)

        return fork_restricted(self.own_root, load, sibling=True)


class Spawner:
    """Keeps track of who asked for which bots; it knows nothing of the run."""

    def __init__(self, root: socket.socket, walls: IsolationLevel, scratch: Path) -> None:
        """`root` brings a socket for each process that asks."""
        self.zygote = Zygote("namespaces" in walls.measures)
        self.root, self.walls, self.scratch = root, walls, scratch
        self.clients: dict[int, socket.socket] = {}
        self.pages: dict[int, memoryview] = {}  # of their bots' turns
        self.bots: dict[int, RunningBot] = {}  # by process
        self.prepared: set[tuple[str, str, bool]] = (
            set()
        )  # games, kinds of bots, whether they think
        self.wakened, wakes = os.pipe()
        for each in (self.wakened, wakes):
            os.set_blocking(each, False)
        signal.set_wakeup_fd(wakes, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        self.poll = select.poll()
        for each in (self.root.fileno(), self.wakened):
            self.poll.register(each, select.POLLIN)
        self.next_look = 0.0

    def serve(self) -> None:
        """Serve until every client is gone."""
        while True:
            timeout = self._look_seconds() * 1000 if self.bots else None
            for descriptor, _ in self.poll.poll(timeout):
                if descriptor == self.root.fileno():
                    if not self._new_client():
                        return
                elif descriptor == self.wakened:
                    with suppress(BlockingIOError):
                        os.read(self.wakened, 4096)
                elif descriptor in self.clients:
                    self._serve_client(self.clients[descriptor])
                else:
                    self._read_log(descriptor)
            self._reap()
            if time.monotonic() >= self.next_look:
                self._look()
                self.next_look = time.monotonic() + self._look_seconds()

    def _look_seconds(self) -> float:
        return QUICK_LOOK_SECONDS if any(b.grows for b in self.bots.values()) else LOOK_SECONDS

    def _new_client(self) -> bool:
        content, descriptors = receive_message(self.root)
        if not content:
            return False
        if len(descriptors) < START_DESCRIPTORS:  # the kernel drops those that we may not have
            close_descriptors(descriptors)  # as the client sees
            return True
        client = socket.socket(fileno=descriptors[0])
        self.pages[client.fileno()] = open_page(descriptors[1])
        os.close(descriptors[1])
        self.clients[client.fileno()] = client
        self.poll.register(client.fileno(), select.POLLIN)
        return True

    def _serve_client(self, client: socket.socket) -> None:
        try:
            content, descriptors = receive_message(client)
        except OSError:
            content, descriptors = b"", []
        if not content:
            self._forget_client(client)
            return
        message = decode(content)
        if isinstance(message, Start):
            self._start(message, client, descriptors)
        elif isinstance(message, Preload):
            spec, of = pickle.loads(message.recipe)
            key = of.name, spec.kind, message.thoughts
            problem = (
                "" if key in self.prepared else self.zygote.preload(spec.kind, of, message.thoughts)
            )
            self.prepared |= set() if problem else {key}
            self._send(client, Preloaded(problem))
        elif isinstance(message, FindProcess):
            bot = self._bot(client, message.number)
            self._send(client, FindProcess(message.number, bot.process if bot else 0))
        elif isinstance(message, Pause):
            if bot := self._bot(client, message.number):
                self._pause(bot, message.stop)
            if not message.stop:
                self._send(client, message)
        elif isinstance(message, End) and (bot := self._bot(client, message.number)):
            self._end(bot, *(self._excess(bot) or ()))  # which may be why it failed

    def _forget_client(self, client: socket.socket) -> None:
        """End the bots of a client that is gone."""
        for bot in [bot for bot in self.bots.values() if bot.client is client]:
            self._end(bot)
        self.poll.unregister(client.fileno())
        del self.clients[client.fileno()], self.pages[client.fileno()]
        client.close()

    def _bot(self, client: socket.socket, number: int) -> RunningBot | None:
        return next(
            (b for b in self.bots.values() if b.client is client and b.start.number == number), None
        )

    def _send(self, client: socket.socket, message: Message) -> None:
        with suppress(OSError):  # it is gone, which its socket will say
            send_message(client, encode(message))

    def _start(self, start: Start, client: socket.socket, theirs: list[int]) -> None:
        """Start a bot; report what the machine lacks for it."""
        opened = list(theirs)
        try:
            if len(theirs) < START_DESCRIPTORS:  # the kernel drops those that we may not have
                raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))
            bot = self._begin(start, client, theirs, opened)
            self.bots[bot.process] = bot
            self.poll.register(bot.log.descriptor, select.POLLIN)
        except OSError as error:
            close_descriptors(opened[len(theirs) :])
            cause = "resources" if error.errno in LACKS else ""
            self._send(client, Ended(start.number, UNSTARTED, cause, str(error), b""))
            remove_directory(self._scratch(client, start.number))
        finally:
            close_descriptors(theirs)

    def _begin(
        self, start: Start, client: socket.socket, theirs: list[int], opened: list[int]
    ) -> RunningBot:
        """The bot once it is forked; descriptors to close if it cannot be go to `opened`."""
        own = self._scratch(client, start.number)
        own.mkdir()
        reading, writing = os.pipe()
        opened += reading, writing
        status, report = os.pipe()
        opened += status, report
        for each in (reading, status, report):
            os.set_blocking(each, False)
        told, control = os.pipe()
        opened += told, control
        null = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
        opened.append(null)
        restricted = Restrictions(
            self.walls.measures, str(own), start.readable, start.limits, start.cores,
            start.environment, grown=not start.command, cwd=start.cwd,
            loopback=start.loopback,
        )  # fmt: skip
        if start.command:
            descriptors = {0: theirs[0], 1: theirs[1], 2: writing}
        else:
            descriptors = {0: null, 1: writing, 2: writing}
            descriptors |= {QUESTIONS: theirs[0], ANSWERS: theirs[1]}
        descriptors |= {STATUS: report}
        if "namespaces" in self.walls.measures:
            descriptors[CONTROL] = told
        process = self.zygote.begin(restricted, descriptors, start)
        close_descriptors([writing, report, told, null])
        turn = Turn(self.pages[client.fileno()], start.number)
        return RunningBot(start, client, process, turn, reading, status, control)

    def _scratch(self, client: socket.socket, number: int) -> Path:
        return self.scratch / f"{client.fileno()}-{number}"

    def _read_log(self, descriptor: int) -> None:
        bot = next((bot for bot in self.bots.values() if bot.log.descriptor == descriptor), None)
        if bot is None or not bot.log.read():
            with suppress(KeyError):  # it has ended since it was seen to have written
                self.poll.unregister(descriptor)
        elif bot.log.flooded:
            self._end(bot, "flooded", "wrote more to its log than anyone could read")

    def _first_process(self, bot: RunningBot) -> int:
        """The process of the bot itself; in a root of its own it is the first process's child."""
        if "namespaces" not in self.walls.measures:
            return bot.process
        if bot.first is None:
            bot.first = next(iter(process_tree.children(bot.process)), None)
        return bot.first or 0

    def _look(self) -> None:
        """End bots that use too much, as well as processes that others left behind."""
        for bot in list(self.bots.values()):
            if cause := self._excess(bot):
                self._end(bot, *cause)
        if "namespaces" not in self.walls.measures and syscalls.is_supported():
            for orphan in process_tree.children(os.getpid()):
                if orphan not in self.bots and orphan != self.zygote.process:
                    process_tree.end_tree(orphan)

    def _excess(self, bot: RunningBot) -> tuple[str, str] | None:
        """Return the cause and the reason if a bot exceeds its limits."""
        limits = bot.start.limits
        first = self._first_process(bot)
        run = process_tree.time_run(first) if first else None
        if run is not None and run == bot.run_when_seen:
            bot.waits()
            return None  # it was alone and has not run: it uses no more than before
        tree = self._tree(bot, limits.processes)
        bot.strikes = bot.strikes + 1 if bot.runs_out_of_turn(tree) else 0
        if bot.strikes == MOST_STRIKES:
            self._watch(bot)
        threads = sum(map(process_tree.thread_count, tree))
        if len(tree) > limits.processes or threads > limits.processes:
            return "flooded", f"had more than {limits.processes} processes and threads"
        files = self._scratch_bytes(bot, tree)
        if files > limits.memory:
            return "flooded", "filled its directory"
        # The second sum is exact and dear, and never larger than the first.
        for used in (process_tree.resident_bytes, process_tree.own_bytes):
            total = files + sum(map(used, tree))
            if total <= limits.memory:
                break
        else:
            with_files = " and files" if files else ""
            return "memory", f"used more than {limits.memory >> 20} MB of memory{with_files}"
        bot.grows = total > limits.memory // 2
        bot.run_when_seen = run if threads == 1 else None
        return None

    def _tree(self, bot: RunningBot, most: int) -> list[int]:
        """All processes of a bot; in a namespace those that lost their parent, too."""
        tree = process_tree.descendants(bot.process, most + 1)
        return tree[1:] if "namespaces" in self.walls.measures else tree

    def _scratch_bytes(self, bot: RunningBot, tree: list[int]) -> int:
        if "namespaces" in self.walls.measures:
            return max((process_tree.mounted_bytes(f"/proc/{each}/root{namespaces.SCRATCH}")
                        for each in tree[:1]), default=0)  # fmt: skip
        own = self._scratch(bot.client, bot.start.number)
        with suppress(OSError):
            device = own.stat().st_dev
            unlinked = sum(process_tree.unlinked_bytes(each, device) for each in tree)
            return unlinked + process_tree.directory_bytes(own, bot.start.limits.memory)
        return 0

    def _watch(self, bot: RunningBot) -> None:
        """Stop a bot, from now on whenever it is not its turn."""
        bot.turn.watch()
        self._pause(bot, stop=True)
        if bot.turn.is_asked:  # since then, and its owner may not have seen that it is stopped
            self._pause(bot, stop=False)

    def _pause(self, bot: RunningBot, stop: bool) -> None:
        if stop == bot.stopped:
            return
        bot.stopped = stop
        if "namespaces" in self.walls.measures:
            with suppress(OSError):  # it has ended
                os.write(bot.control, STOP if stop else RESUME)
        elif stop:
            process_tree.stop_tree(bot.process)
        else:
            process_tree.resume_tree(bot.process)

    def _end(self, bot: RunningBot, cause: str = "", reason: str = "") -> None:
        """End all processes of a bot; `_reap` informs its owner."""
        bot.cause, bot.reason = bot.cause or cause, bot.reason or reason
        if "namespaces" in self.walls.measures:
            process_tree.send_signal(
                bot.process, signal.SIGKILL
            )  # and the kernel ends all it began
        else:
            process_tree.end_tree(bot.process)
        self._handle_exit(bot, *os.wait4(bot.process, 0)[1:])

    def _reap(self) -> None:
        """Note which processes have ended."""
        while True:
            try:
                process, status, usage = os.wait4(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if process == 0:
                return
            if process == self.zygote.process:
                raise ConnectionResetError("the process that bots are forked from is gone")
            if bot := self.bots.get(process):
                self._handle_exit(bot, status, usage)

    def _handle_exit(self, bot: RunningBot, status: int, usage: object) -> None:
        del self.bots[bot.process]
        if "namespaces" not in self.walls.measures:
            self._look()  # its children have lost their parent
        with suppress(OSError):
            if lack := os.read(bot.status, 1000):
                bot.cause, bot.reason = "resources", lack.decode(errors="replace")
        close_descriptors([bot.status, bot.control])
        bot.log.read_rest()
        with suppress(KeyError, OSError):
            self.poll.unregister(bot.log.descriptor)
        os.close(bot.log.descriptor)
        code = os.waitstatus_to_exitcode(status)
        if "namespaces" in self.walls.measures and code > 128:  # as shells say it
            code = 128 - code
        seconds = getattr(usage, "ru_utime", 0.0) + getattr(usage, "ru_stime", 0.0)
        ended = Ended(bot.start.number, code, bot.cause, bot.reason, bot.log.kept, seconds)
        self._send(bot.client, ended)
        remove_directory(self._scratch(bot.client, bot.start.number))

    def close(self) -> None:
        """End every bot and remove its files."""
        for bot in list(self.bots.values()):
            self._end(bot)
        self.zygote.close()
        remove_directory(self.scratch)


def main(descriptor: int) -> None:
    """Serve the socket of this descriptor until it is closed; runs in a process of its own."""
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)  # the owner decides when this ends
    with suppress(OSError, AttributeError):
        syscalls.prctl("subreaper", syscalls.SUBREAPER, 1)
        syscalls.prctl("dumpable", syscalls.DUMPABLE, 0)
    allow_open_files()
    remove_leftovers(Path(tempfile.gettempdir()))
    scratch = Path(tempfile.mkdtemp(prefix=f"pitflip-sandbox-{os.getpid()}-"))
    root = socket.socket(fileno=descriptor)
    try:
        walls = find_level(scratch, os.environ.get(LEVEL_VARIABLE, ""))
        send_message(root, pickle.dumps(walls))
        spawner = Spawner(root, walls, scratch)
        spawner.serve()
        spawner.close()
    except (ConnectionError, MemoryError):
        pass  # its owner has ended, or finds that this has
    finally:
        remove_directory(scratch)


if __name__ == "__main__":
    sys.stderr.write("agents.sandbox.spawner is no command: a wall starts it\n")
    sys.exit(2)
