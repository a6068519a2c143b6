"""Bots in the languages of docs/ start at every level and answer lines."""

import os
import shutil
import subprocess
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
C = """
#include <stdio.h>
#include <stdlib.h>
int main(void) {
    char line[4096];
    puts("ready");
    fflush(stdout);
    while (fgets(line, sizeof line, stdin)) {
        free(malloc(50 << 20));
        puts("0");
        fflush(stdout);
    }
}
"""
CPP = """
#include <iostream>
#include <string>
#include <thread>
int main() {
    std::string line;
    std::cout << "ready" << std::endl;
    while (std::getline(std::cin, line)) {
        std::thread([] { std::cout << 0 << std::endl; }).join();
    }
}
"""
GO = """
package main
import ("bufio"; "fmt"; "os"; "runtime"; "sync")
func main() {
    fmt.Println("ready")
    for in := bufio.NewScanner(os.Stdin); in.Scan(); {
        var group sync.WaitGroup
        for range make([]int, 4) {
            group.Add(1)
            go func() { runtime.GC(); group.Done() }()
        }
        group.Wait()
        fmt.Println(0)
    }
}
"""
RUST = """
use std::io::BufRead;
fn main() {
    println!("ready");
    for _ in std::io::stdin().lock().lines() {
        println!("{}", std::thread::spawn(|| 0).join().unwrap());
    }
}
"""
# By compiler: a program, its file, and the command that compiles it to "bot".
COMPILERS = {
    "gcc": (C, "bot.c", ("gcc", "-o", "bot", "bot.c")),
    "g++": (CPP, "bot.cpp", ("g++", "-pthread", "-o", "bot", "bot.cpp")),
    "go": (GO, "bot.go", ("go", "build", "-o", "bot", "bot.go")),
    "rustc": (RUST, "bot.rs", ("rustc", "-o", "bot", "bot.rs")),
}
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
    play(sandbox, Program((program, *words, str(path)), readable=python_directories()))


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    """Return a function that compiles a bot once, if there is its compiler."""
    found = {}

    def compile_bot(compiler):
        if compiler not in found:
            text, name, command = COMPILERS[compiler]
            directory = tmp_path_factory.mktemp("compiled")
            (directory / name).write_text(text)
            environment = {**os.environ, "GOCACHE": str(directory / "cache"), "GO111MODULE": "off"}
            if shutil.which(compiler):
                subprocess.run(command, cwd=directory, env=environment, check=True)
            found[compiler] = directory / "bot"
        return found[compiler]

    return compile_bot


@pytest.mark.parametrize("compiler", COMPILERS)
def test_a_compiled_bot_plays(sandbox, compiled, compiler):
    program = compiled(compiler)
    if not program.exists():
        pytest.skip(f"there is no {compiler} here")
    play(sandbox, Program((str(program),)))


def play(sandbox, program):
    process = BotProcess("bot", sandbox, BotLimits(start_seconds=60))
    agent = ProtocolAgent(AgentSpec("random"), OF, Numbers(), program, process, 60.0)
    try:
        agent.start(1)
        for _ in range(3):
            assert agent.choose(OF.start()).move == 0
    finally:
        agent.close()
