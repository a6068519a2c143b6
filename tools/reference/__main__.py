"""Write the reference pages and the JSON Schema: `python -m tools.reference`."""

import sys
from pathlib import Path

from games.base.errors import OK
from tools.reference.columns import columns_page
from tools.reference.experiment_schema import schema_text
from tools.reference.heuristics import heuristic_functions_page
from tools.reference.pages import (
    agents_page,
    checks_page,
    commands_page,
    exit_statuses_page,
    experiment_page,
    glossary_page,
)

ROOT = Path(__file__).parents[2]


def reference_files() -> dict[str, str]:
    """Return the content of every generated file by its path in the repository."""
    return {
        "docs/reference/experiment.md": experiment_page(),
        "docs/reference/agents.md": agents_page(),
        "docs/reference/heuristic-functions.md": heuristic_functions_page(),
        "docs/reference/commands.md": commands_page(),
        "docs/reference/exit-statuses.md": exit_statuses_page(),
        "docs/reference/glossary.md": glossary_page(),
        "docs/reference/checks.md": checks_page(),
        "docs/reference/columns.md": columns_page(),
        "docs/experiment.schema.json": schema_text(),
    }


def main() -> int:
    """Write all files."""
    for name, text in reference_files().items():
        path = ROOT / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        print(f"wrote {name}")
    return OK


if __name__ == "__main__":
    sys.exit(main())
