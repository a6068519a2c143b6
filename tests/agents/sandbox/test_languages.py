"""Bots in the languages of docs/ start at every level and answer lines."""

import shutil
import sys

import pytest

from agents.core import AgentSpec
from agents.sandbox.messages import BotLimits
from agents.sandbox.protocol_agent import Program, ProtocolAgent
from agents.sandbox.sandboxed_agent import python_directories
from agents.sandbox.transports import BotProcess
from tests.agents.sandbox.levels import OF, sandbox
from tests.agents.sandbox.test_protocol_agent import Numbers

__all__ = ["sandbox"]
PYTHON = "print('ready', flush=True)\nwhile True:\n    input()\n    print(0, flush=True)\n"
NODE = """
require('crypto').createHash('sha256').update('x').digest('hex');
console.log('ready');
require('readline').createInterface({input: process.stdin}).on('line', () => console.log('0'));
"""
JAVA = """
import java.io.*;
public class Bot {
    public static void main(String[] words) throws IOException {
        System.out.println("ready");
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        while (in.readLine() != null) System.out.println("0");
    }
}
"""
SHELL = "echo ready\nwhile read line; do echo 0; done\n"
BOTS = {
    "python": (PYTHON, "bot.py", (sys.executable,)),
    "node": (NODE, "bot.js", ("node",)),
    "java": (JAVA, "Bot.java", ("java", "-Xmx64m", "-XX:+UseSerialGC")),
    "sh": (SHELL, "bot.sh", ("sh",)),
}


@pytest.mark.parametrize("language", BOTS)
def test_a_bot_in_each_language_plays(sandbox, tmp_path, language):
    text, name, (interpreter, *words) = BOTS[language]
    program = shutil.which(interpreter)
    if not program:
        pytest.skip(f"there is no {interpreter} here")
    path = tmp_path / name
    path.write_text(text)
    process = BotProcess("bot", sandbox, BotLimits(start_seconds=60))
    command = Program((program, *words, str(path)), readable=python_directories())
    agent = ProtocolAgent(AgentSpec("random"), OF, Numbers(), command, process, 60.0)
    try:
        agent.start(1)
        assert agent.choose(OF.start()).move == 0
    finally:
        agent.close()
