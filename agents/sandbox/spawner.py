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
from contextlib import ExitStack, closing, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

from agents.sandbox import restrictions, syscalls, usage
from agents.sandbox.fork_server import (
    ANSWERS,
    QUESTIONS,
    ForkServer,
    execute_program,
    serve_bot,
)
from agents.sandbox.isolation import (
    CONTROL,
    RESUME,
    STATUS,
    STOP,
    UNSTARTED,
    IsolationLevel,
    Work,
    find_level,
)
from agents.sandbox.messages import (
    BotExit,
    End,
    FindProcess,
    KeepOutput,
    Message,
    Pause,
    Preload,
    PreloadResult,
    Start,
    Turn,
    close_descriptors,
    open_turn_page,
    raise_open_file_limit,
    receive_message,
    require_descriptors,
    send_message,
)
from agents.sandbox.usage import (
    BotLog,
    ControlGroup,
    GroupParent,
    OutputFile,
    lock_directory,
    remove_directory,
)

CHECK_SECONDS = 0.1  # between two checks of a bot, at most
# A bot that may soon use all its memory is checked more often. One core fills FILL_RATE bytes in a
# second, and the memory is too slow for more than FILLING_CORES cores.
FILL_RATE, FILLING_CORES = 2 << 30, 4
GROWING_SECONDS, STEADY_SECONDS = 0.002, 0.01  # between two checks, at least
GROWTH = 1 << 20  # since the last check, of a bot that grows
# A bot that uses more than this part of a core out of turn, at MAX_STRIKES checks in a row, is
# stopped between turns from then on.
OUT_OF_TURN_SHARE, MAX_STRIKES = 0.15, 2
LEVEL_VARIABLE = "PITFLIP_SANDBOX"  # names a level: no stronger one is used
START_DESCRIPTORS = 2
SPARE_DESCRIPTORS = 100  # that a check of a bot may need


class RunningBot:
    """A running bot as the spawner sees it."""

    def __init__(
        self, start: Start, client: socket.socket, process: int, turn: Turn,
        log: int, status: int, control: int, group: ControlGroup | None, inherited: int,
    ) -> None:  # fmt: skip
        """Keep its descriptors: its log, and what the machine lacked at its start, can be read.

        By `control` the first process of its namespace is stopped and resumed, if it has one.
        `inherited` bytes of its memory are those of the process that it is a fork of.
        """
        self.start, self.client, self.process, self.status = start, client, process, status
        self.turn, self.control, self.group, self.inherited = turn, control, group, inherited
        self.log = BotLog(log, start.name)
        self.cause = self.reason = ""
        self.own_process: int | None = None
        # How long it had run at the last check, if it was alone and within its limits.
        self.last_run_time: int | None = None
        self.next_check, self.memory = time.monotonic(), 0
        self.is_paused = False
        self.strikes = 0  # checks in a row at which it had run out of turn
        self.times: dict[int, int] = {}  # of the processor, by process
        self.last_check, self.turn_time = time.monotonic_ns(), 0

    @property
    def core_count(self) -> int:
        """Return how many cores it may use."""
        return len(self.start.cores) or os.cpu_count() or 1

    def runs_out_of_turn(self, tree: list[int]) -> bool:
        """Return whether its processes ran while it was not its turn, since the last check."""
        now, before = time.monotonic_ns(), self.times
        self.times = {each: usage.processor_time(each) for each in tree}
        used = sum(each - before.get(process, 0) for process, each in self.times.items())
        total = self.turn.total_nanoseconds(now)
        allowed = (total - self.turn_time) * self.core_count
        allowed += int((now - self.last_check) * OUT_OF_TURN_SHARE)
        self.last_check, self.turn_time = now, total
        return used > allowed

    def note_idle(self) -> None:
        """Note a check at which it had not run."""
        self.last_check = time.monotonic_ns()
        self.turn_time = self.turn.total_nanoseconds(self.last_check)

    def note_memory(self, total: int) -> None:
        """Note how much it uses; the less is left, the sooner is the next check."""
        left = self.start.limits.memory - total
        soonest = GROWING_SECONDS if total > self.memory + GROWTH else STEADY_SECONDS
        fills = left / (FILL_RATE * min(self.core_count, FILLING_CORES))
        self.next_check = time.monotonic() + min(max(fills, soonest), CHECK_SECONDS)
        self.memory = total


class Spawner:
    """Starts the bots that its clients ask for, and ends those that break a limit."""

    def __init__(
        self, root: socket.socket, level: IsolationLevel, scratch: Path, groups: GroupParent,
        fork_server: ForkServer, guard: int,
    ) -> None:  # fmt: skip
        """`root` brings a socket for each client; `guard` ends when the process above is gone."""
        self.has_roots = "namespaces" in level.measures
        self.fork_server = fork_server
        if self.fork_server.process:  # else its forks would have this priority, too
            with suppress(OSError):  # only root may: a bomb of forks leaves us a part of a core
                os.setpriority(os.PRIO_PROCESS, 0, -20)
        self.root, self.level, self.scratch, self.groups = root, level, scratch, groups
        self.guard = guard
        self.clients: dict[int, socket.socket] = {}
        self.pages: dict[int, memoryview] = {}  # of their bots' turns
        self.bots: dict[int, RunningBot] = {}  # by process
        self.output: OutputFile | None = None
        # Games, kinds of bots, and whether they tell what they think.
        self.preload_keys: set[tuple[str, str, bool]] = set()
        self.wake_pipe, wakes = os.pipe()
        for each in (self.wake_pipe, wakes):
            os.set_blocking(each, False)
        signal.set_wakeup_fd(wakes, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        self.poll = select.poll()
        for each in (self.root.fileno(), self.wake_pipe, guard):
            self.poll.register(each, select.POLLIN)

    def serve(self) -> None:
        """Serve until the owner or the guard is gone."""
        while True:
            for descriptor, _ in self.poll.poll(self._check_interval()):
                if descriptor == self.guard:
                    return
                if descriptor == self.root.fileno():
                    if not self._new_client():
                        return
                elif descriptor == self.wake_pipe:
                    with suppress(BlockingIOError):
                        os.read(self.wake_pipe, 4096)
                elif descriptor in self.clients:
                    self._serve_client(self.clients[descriptor])
                else:
                    self._take_log_output(descriptor)
            self._reap()
            self._check_bots()

    def _check_interval(self) -> float | None:
        """Return the milliseconds until the next check of a bot."""
        if not self.bots:
            return None
        first = min(bot.next_check for bot in self.bots.values())
        return max(0.0, first - time.monotonic()) * 1000

    def _new_client(self) -> bool:
        content, descriptors = receive_message(self.root)
        if not content:
            return False
        if len(descriptors) < START_DESCRIPTORS:  # the kernel drops those that we may not have
            close_descriptors(descriptors)  # as the client sees
            return True
        client = socket.socket(fileno=descriptors[0])
        self.pages[client.fileno()] = open_turn_page(descriptors[1])
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
        message: Message = pickle.loads(content)
        if isinstance(message, Start):
            self._start(message, client, descriptors)
        elif isinstance(message, KeepOutput):
            self._keep_output(message.path)
        elif isinstance(message, Preload):
            self._send(client, PreloadResult(self._preload(message)))
        elif isinstance(message, FindProcess):
            bot = self._bot(client, message.number)
            self._send(client, FindProcess(message.number, bot.process if bot else 0))
        elif isinstance(message, Pause):
            if bot := self._bot(client, message.number):
                self._pause(bot, message.stop)
            if not message.stop:
                self._send(client, message)
        elif isinstance(message, End) and (bot := self._bot(client, message.number)):
            self._end(bot, *(self._exceeded_limit(bot) or ()))  # which may be why it failed

    def _keep_output(self, path: str) -> None:
        """Append what bots write to this file, in place of an earlier one."""
        self.output = OutputFile(path)
        for bot in self.bots.values():
            bot.log.file = self.output

    def _preload(self, message: Preload) -> str:
        spec, of = pickle.loads(message.recipe)
        key = of.name, spec.kind, message.thoughts
        if key in self.preload_keys:
            return ""
        problem = self.fork_server.preload(spec.kind, of, message.thoughts)
        if not problem:
            self.preload_keys.add(key)
        return problem

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
        with suppress(OSError):  # it is gone, as its socket will show
            send_message(client, pickle.dumps(message))

    def _start(self, start: Start, client: socket.socket, theirs: list[int]) -> None:
        """Start a bot; report what the machine lacks for it."""
        opened = list(theirs)
        try:
            if len(theirs) < START_DESCRIPTORS:  # the kernel drops those that we may not have
                raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))
            bot = self._begin(start, client, theirs, opened)
            self.bots[bot.process] = bot
            bot.log.file = self.output
            self.poll.register(bot.log.descriptor, select.POLLIN)
        except OSError as error:
            close_descriptors(opened[len(theirs) :])
            self._send(client, BotExit(start.number, UNSTARTED, "resources", str(error), b""))
            remove_directory(self._scratch(client, start.number))
        finally:
            close_descriptors(theirs)

    def _begin(
        self, start: Start, client: socket.socket, theirs: list[int], opened: list[int]
    ) -> RunningBot:
        """Return the forked bot; descriptors to close if that fails are added to `opened`."""
        require_descriptors(SPARE_DESCRIPTORS)
        own = self._scratch(client, start.number)
        self.scratch.mkdir(mode=0o700, exist_ok=True)  # a service may clean /tmp
        own.mkdir()
        reading, writing = os.pipe()
        opened += reading, writing
        status, report = os.pipe()
        opened += status, report
        for each in (reading, status, report):
            os.set_blocking(each, False)
        orders, control = os.pipe()
        opened += orders, control
        null = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
        opened.append(null)
        work: Work = partial(serve_bot, start.recipe)
        descriptors = {0: null, 1: writing, QUESTIONS: theirs[0], ANSWERS: theirs[1]}
        if start.command:
            work = partial(execute_program, start.command)
            descriptors = {0: theirs[0], 1: theirs[1]}
        descriptors |= {2: writing, STATUS: report}
        if self.has_roots:
            descriptors[CONTROL] = orders
        group = None
        if "cgroup" in self.level.measures:
            group = self.groups.make(own.name, start.limits)
        try:
            confined = replace(start, measures=self.level.measures, scratch=str(own), recipe=b"")
            process = self.fork_server.start(
                confined, descriptors, work, group.descriptor if group else -1
            )
        except OSError:
            if group:
                group.close()
            raise
        close_descriptors([writing, report, orders, null])
        turn = Turn(self.pages[client.fileno()], start.number)
        inherited = 0 if start.command else usage.resident_bytes(self.fork_server.process)
        return RunningBot(start, client, process, turn, reading, status, control, group, inherited)

    def _scratch(self, client: socket.socket, number: int) -> Path:
        return self.scratch / f"{client.fileno()}-{number}"

    def _take_log_output(self, descriptor: int) -> None:
        bot = next((bot for bot in self.bots.values() if bot.log.descriptor == descriptor), None)
        if bot is None or not bot.log.take():
            with suppress(KeyError):  # it has ended since it was seen to have written
                self.poll.unregister(descriptor)
        elif bot.log.is_too_long:
            self._end(bot, "flooded", "wrote too much to its log")

    def _check_bots(self) -> None:
        """End bots that use too much, and processes that ended bots left behind."""
        now = time.monotonic()
        due = [bot for bot in self.bots.values() if bot.next_check <= now]
        for bot in due:
            if bot.process in self.bots and (cause := self._exceeded_limit(bot)):
                self._end(bot, *cause)
        if due:
            self._end_orphans()

    def _end_orphans(self) -> None:
        if not self.has_roots and syscalls.LINUX:
            usage.reap_orphans(frozenset({*self.bots, self.fork_server.process}))

    def _exceeded_limit(self, bot: RunningBot) -> tuple[str, str] | None:
        """Return the cause and the reason if a bot exceeds its limits."""
        limits = bot.start.limits
        bot.next_check = time.monotonic() + CHECK_SECONDS
        first = self._own_process(bot)
        ran = usage.run_time(first) if first else None
        if ran is not None and ran == bot.last_run_time:
            bot.note_idle()
            return None  # it was alone and has not run: it uses no more than before
        tree = self._tree(bot, limits.processes)
        bot.strikes = bot.strikes + 1 if bot.runs_out_of_turn(tree) else 0
        if bot.strikes == MAX_STRIKES:
            self._pause_between_turns(bot)
        threads = sum(map(usage.thread_count, tree))
        if len(tree) > limits.processes or threads > limits.processes:
            return "flooded", f"had more than {limits.processes} processes and threads"
        files = self._scratch_bytes(bot, tree)
        if files > limits.memory:
            return "flooded", "filled its directory"
        # The second sum takes more time, and is never larger than the first.
        others = files + usage.socket_bytes(tree) - bot.inherited
        for count in (usage.resident_bytes, usage.own_bytes):
            total = max(files, others + sum(map(count, tree)))
            if total <= limits.memory:
                break
        else:
            return self._memory_reason(bot, files)
        bot.note_memory(total)
        bot.last_run_time = ran if threads == 1 else None
        return None

    @staticmethod
    def _memory_reason(bot: RunningBot, files: int = 0) -> tuple[str, str]:
        with_files = " and files" if files else ""
        limit = bot.start.limits.memory >> 20
        return "memory", f"used more than {limit} MB of memory{with_files}"

    def _own_process(self, bot: RunningBot) -> int:
        """Return the process of the bot's code, which in a root is the child of the first one."""
        if not self.has_roots:
            return bot.process
        if bot.own_process is None:
            bot.own_process = next(iter(usage.children(bot.process)), None)
        return bot.own_process or 0

    def _tree(self, bot: RunningBot, most: int) -> list[int]:
        """Return the processes of a bot, also those whose parents have ended."""
        tree = usage.descendants(bot.process, most + 1)
        if bot.group:
            tree += [each for each in bot.group.processes() if each not in tree]
        return tree[1:] if self.has_roots else tree

    def _scratch_bytes(self, bot: RunningBot, tree: list[int]) -> int:
        if self.has_roots:
            return max((usage.mount_bytes(f"/proc/{each}/root{restrictions.SCRATCH}")
                        for each in tree[:1]), default=0)  # fmt: skip
        own = self._scratch(bot.client, bot.start.number)
        with suppress(OSError):
            device = own.stat().st_dev
            nameless = sum(usage.nameless_bytes(each, device) for each in tree)
            return nameless + usage.directory_bytes(own, bot.start.limits.memory)
        return 0

    def _pause_between_turns(self, bot: RunningBot) -> None:
        """Stop a bot, from now on whenever it is not its turn."""
        bot.turn.require_pauses()
        self._pause(bot, stop=True)
        if bot.turn.is_active:  # since then, and its owner may not have seen that it is stopped
            self._pause(bot, stop=False)

    def _pause(self, bot: RunningBot, stop: bool) -> None:
        if stop == bot.is_paused:
            return
        bot.is_paused = stop
        with suppress(OSError):  # it has ended
            if bot.group:
                bot.group.freeze(stop)
            elif self.has_roots:
                os.write(bot.control, STOP if stop else RESUME)
            elif stop:
                usage.stop_tree(bot.process)
            else:
                usage.resume_tree(bot.process)

    def _end(self, bot: RunningBot, cause: str = "", reason: str = "") -> None:
        """End all processes of a bot and inform its owner."""
        bot.cause, bot.reason = bot.cause or cause, bot.reason or reason
        if bot.group:
            bot.group.kill()
        elif self.has_roots:  # the kernel ends all processes with the first one
            usage.send_signal(bot.process, signal.SIGKILL)
        else:
            usage.end_tree(bot.process)
        self._handle_exit(bot, *os.wait4(bot.process, 0)[1:])

    def _reap(self) -> None:
        """Note which processes have ended."""
        while True:
            try:
                process, status, used = os.wait4(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if process == 0:
                return
            if process == self.fork_server.process:
                raise ConnectionResetError("the process that bots are forked from is gone")
            if bot := self.bots.get(process):
                self._handle_exit(bot, status, used)

    def _handle_exit(self, bot: RunningBot, status: int, used: object) -> None:
        del self.bots[bot.process]
        if bot.group:
            if not bot.cause and bot.group.ran_out_of_memory():
                bot.cause, bot.reason = self._memory_reason(bot)
            bot.group.close()
        if not self.has_roots:  # its children have lost their parent
            usage.signal_group(bot.process, signal.SIGKILL)
        self._end_orphans()
        with suppress(OSError):
            if shortage := os.read(bot.status, 1000):
                bot.cause, bot.reason = "resources", shortage.decode(errors="replace")
        close_descriptors([bot.status, bot.control])
        bot.log.take_rest()
        with suppress(KeyError, OSError):
            self.poll.unregister(bot.log.descriptor)
        os.close(bot.log.descriptor)
        code = os.waitstatus_to_exitcode(status)
        if self.has_roots and code > 128:  # the first process reports signals as shells do
            code = 128 - code
        seconds = getattr(used, "ru_utime", 0.0) + getattr(used, "ru_stime", 0.0)
        exit_message = BotExit(bot.start.number, code, bot.cause, bot.reason, bot.log.tail, seconds)
        self._send(bot.client, exit_message)
        remove_directory(self._scratch(bot.client, bot.start.number))

    def close(self) -> None:
        """End every bot; that is no news for its owner, who loses this process."""
        for client in self.clients.values():
            client.close()
        for bot in list(self.bots.values()):
            self._end(bot)
        self.fork_server.close()


def main(descriptor: int, guard: int) -> None:
    """Serve the socket of this descriptor until it is closed, or until `guard` can be read."""
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)  # the owner decides when this ends
    with suppress(OSError, AttributeError):
        syscalls.prctl("subreaper", syscalls.SUBREAPER, 1)
        syscalls.prctl("dumpable", syscalls.DUMPABLE, 0)
    raise_open_file_limit()
    usage.remove_leftovers(Path(tempfile.gettempdir()))
    root, groups = socket.socket(fileno=descriptor), GroupParent()
    with suppress(ConnectionError, MemoryError), ExitStack() as stack:
        # Without its owner this ends, and the owner finds that this has ended.
        stack.callback(groups.close)
        try:
            scratch = Path(tempfile.mkdtemp(prefix=f"pitflip-sandbox-{os.getpid()}-"))
            stack.callback(remove_directory, scratch)
            lock_directory(scratch)
            server = ForkServer()
            level = find_level(scratch, server.start, os.environ.get(LEVEL_VARIABLE, ""), groups)
        except OSError as error:
            send_message(root, pickle.dumps(OSError(error.errno, error.strerror)))
            return
        send_message(root, pickle.dumps((level, os.getpid())))
        with closing(Spawner(root, level, scratch, groups, server, guard)) as spawner:
            spawner.serve()


if __name__ == "__main__":
    sys.stderr.write("agents.sandbox.spawner is no command: a sandbox starts it\n")
    sys.exit(2)
