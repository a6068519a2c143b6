"""The memory of a Python bot holds nothing of other bots."""

import pytest

from agents.core import AgentFailure, AgentSpec
from agents.sandbox.messages import BotLimits
from agents.sandbox.protocol_agent import Program, ProtocolAgent
from agents.sandbox.transports import BotProcess
from tests.agents.sandbox.levels import OF, make_bot, sandbox
from tests.agents.sandbox.test_protocol_agent import Numbers

__all__ = ["sandbox"]
# The pattern does not match itself.
SEARCH = """
import re
pattern = re.compile(b"H[I]DDEN-(?:LOG|COMMAND|ENVIRONMENT)")
found = set()
memory = open("/proc/self/mem", "rb", buffering=0)
for line in open("/proc/self/maps"):
    first, last = (int(each, 16) for each in line.split()[0].split("-"))
    if "r" not in line.split()[1] or last - first > 1 << 29:
        continue
    try:
        memory.seek(first)
        content = memory.read(last - first)
    except (OSError, ValueError, OverflowError):
        continue
    found |= set(pattern.findall(content))
raise ValueError("found:" + str(len(found)) + "; searched:" + str(len(content)))
"""


def test_a_bot_finds_nothing_of_others_in_its_memory(sandbox, tmp_path):
    process = BotProcess("bot", sandbox, BotLimits(start_seconds=60))
    script = "echo HIDDEN-LOG >&2; echo ready; while read line; do echo 0; done"
    program = Program(("/bin/sh", "-c", f": HIDDEN-COMMAND; {script}"),
                      environment={"SECRET": "HIDDEN-ENVIRONMENT"})  # fmt: skip
    other = ProtocolAgent(AgentSpec("random"), OF, Numbers(), program, process, 9.0)
    agent = make_bot(sandbox, tmp_path, SEARCH)
    try:
        other.start(1)
        other.choose(OF.start())
        agent.start(1)
        with pytest.raises(AgentFailure) as failed:
            agent.choose(OF.start())
    finally:
        agent.close()
        other.close()
    assert "found:0;" in failed.value.trace, failed.value.trace
