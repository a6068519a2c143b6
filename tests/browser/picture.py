"""Make the picture of the README: play its first match and take a screenshot of the page."""

import subprocess
import sys
import tempfile
from pathlib import Path

from tests.browser.chromium import chromium

ROOT = Path(__file__).parents[2]
MATCH = ("greedy", "minimax:depth=3", "--pairs", "100")
PICTURE = ROOT / "docs" / "page.png"
WIDTH, HEIGHT = 1180, 1130  # pixels: the answer and the match


def main() -> None:
    with tempfile.TemporaryDirectory() as results:
        command = [sys.executable, "-m", "pitflip", "match", *MATCH, "--results", results]
        subprocess.run(command, cwd=ROOT, check=False, stdout=subprocess.DEVNULL)
        (page,) = Path(results).glob("*/*/report.html")
        with chromium() as browser, browser.tab(width=WIDTH, height=HEIGHT) as tab:
            tab.open(page)
            tab.screenshot(PICTURE)
    print(PICTURE.relative_to(ROOT))


if __name__ == "__main__":
    main()
