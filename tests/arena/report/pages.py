"""Small runs with pages, and a parser of pages."""

import json
import re
from dataclasses import dataclass, field
from html import unescape
from html.parser import HTMLParser
from pathlib import Path

from tests.arena.running import experiment_file, only_run, run_experiment_file, small

VOID = {"meta", "br", "rect", "circle", "line", "path", "link", "wbr", "input"}
CHECKS = """
[[checks]]
that = "greedy beats random"
score_at_least = 0.5

[[checks]]
that = "greedy beats random"
elo_at_least = 400

[[checks]]
that = "all"
no_forfeits = true
"""
# name -> experiment, bots
RUNS = {
    "three": (small(24) + '[agents.greedy]\nkind = "greedy"\n[agents.first]\nkind = "first"\n'
              + CHECKS, ()),
    "two": (small(20) + '[agents.greedy]\nkind = "greedy"\n[[checks]]\n'
            'that = "greedy beats random"\nalways = true\n', ()),
    "one_opening": ('game = "owari(4,2)"\npairs = 1\nopenings = "none"\n[agents]\n'
                    'first = { kind = "first" }\nlast = { kind = "last" }\n'
                    'greedy = { kind = "greedy" }\n', ()),
    "faults": (small(12), ("raising", "illegal")),
    "tested": (small(400, 'stop = { sprt = { elo0 = 0, elo1 = 60 } }')
               + '[agents.greedy]\nkind = "greedy"\n', ()),
}  # fmt: skip


def run_of(name: str, directory: Path) -> Path:
    text, bots = RUNS[name]
    path = experiment_file(directory, text, *bots)
    run_experiment_file(path, directory / "results", page=True)
    return only_run(directory / "results")


@dataclass
class Table:
    """The cells of a table as texts, and the tips of cells."""

    rows: list[list[str]] = field(default_factory=list)
    tips: dict[str, str] = field(default_factory=dict)


class Page(HTMLParser):
    """The texts, tables by section and data of a page; tags must be balanced."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.text = text
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.tables: dict[str, list[Table]] = {}
        self.words: dict[str, str] = {}
        self.section = ""
        self.script = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        found = dict(attrs)
        self.tags.append((tag, found))
        if tag not in VOID:
            self.open.append(tag)
        if tag in ("section", "header"):
            self.section = found.get("id") or tag
            self.tables[self.section] = []
            self.words[self.section] = ""
        if tag == "table":
            self.tables.setdefault(self.section, []).append(Table())
        if tag == "tr":
            self.tables[self.section][-1].rows.append([])
        if tag in ("td", "th"):
            self.tables[self.section][-1].rows[-1].append("")
        if tag == "small":
            self.handle_data("|")

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag
        if tag in ("section", "header"):
            self.section = ""

    def handle_data(self, data):
        if self.open and self.open[-1] in ("script", "style"):
            self.script = data if self.open[-1] == "script" else self.script
            return
        self.words[self.section] = self.words.get(self.section, "") + data
        tables = self.tables.get(self.section)
        if tables and tables[-1].rows and tables[-1].rows[-1] and "table" in self.open:
            tables[-1].rows[-1][-1] += data

    @property
    def data(self) -> dict:
        return data_of(self.text)


def number(text: str) -> float | None:
    found = re.search(r"[-+]?\d[\d,]*(\.\d+)?", text.replace("\u2212", "-"))
    return float(found[0].replace(",", "")) if found else None


def numbers(text: str) -> list[float]:
    words = re.findall(
        r"[-+]?\d[\d,]*(?:\.\d+)?", text.replace("\u2212", "-").replace("\u2013", " ")
    )
    return [float(word.replace(",", "")) for word in words]


def data_of(page: str) -> dict:
    """Return what the script of a page reads."""
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page)
    return json.loads(found[1])


def text_of(page: str) -> str:
    """Return the text that a reader of a page sees."""
    text = re.sub(r"<(script|style)\b.*?</\1>", "", page, flags=re.DOTALL)
    return unescape(re.sub(r"<[^>]*>", " ", text)).replace("\u00a0", " ")
