"""Verdicts of checks as JUnit XML for build servers."""

import re
from collections.abc import Iterable
from xml.etree import ElementTree as Xml

from arena.analysis.checks.registry import Verdict

# Characters that XML 1.0 cannot hold, not even escaped.
FORBIDDEN = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit_xml(found: Iterable[Verdict], name: str) -> str:
    """Return a test suite called `name` with a test for each check."""
    verdicts = list(found)
    failures = sum(not verdict.holds for verdict in verdicts)
    counts = {"tests": str(len(verdicts)), "failures": str(failures), "errors": "0"}
    suites = Xml.Element("testsuites", counts)
    suite = Xml.SubElement(suites, "testsuite", {"name": _clean(name), **counts})
    for verdict in verdicts:
        title = _clean(f"{verdict.that} ({verdict.test})")
        element = Xml.SubElement(suite, "testcase", {"classname": _clean(name), "name": title})
        if not verdict.holds:
            message = {"message": _clean(verdict.detail), "type": verdict.status}
            Xml.SubElement(element, "failure", message).text = _clean(verdict.replay or "")
        else:
            Xml.SubElement(element, "system-out").text = _clean(verdict.detail)
    Xml.indent(suites)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + Xml.tostring(suites, "unicode") + "\n"


def _clean(text: str) -> str:
    return FORBIDDEN.sub("?", text)
