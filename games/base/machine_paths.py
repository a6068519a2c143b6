"""Text for other people: without the paths of this machine."""

import re
from pathlib import Path, PurePosixPath

# In quotes a path may hold blanks; elsewhere it ends at the first sign that ends a word.
QUOTED = re.compile(r"""(["'`])(/[^"'`\n]*/[^"'`\n]*)\1""")
END = r"\s/\"'`<>|;:,()\[\]{}&"
PLAIN = re.compile(rf"(?<![\w./<~-])/(?:[^{END}]+/)+[^{END}]*")


def without_machine_paths(text: str, base: Path) -> str:
    """The text with paths below `base` as they are seen from there, of others the last name."""
    bases = [each.as_posix().rstrip("/") for each in dict.fromkeys((base, base.resolve()))]
    for each in bases:
        if each.startswith("/"):
            text = re.sub(
                rf"{re.escape(each)}(/|(?![\w.-]))", lambda at: "" if at[1] else ".", text
            )
    text = QUOTED.sub(lambda found: found[1] + PurePosixPath(found[2]).name + found[1], text)
    return PLAIN.sub(lambda found: PurePosixPath(found[0]).name, text)
