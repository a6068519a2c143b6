"""The type of numbers that stand on the board, in the words of a pack for heuristics and bots."""

from typing import Annotated

# A bot's own numbers: its view translates arguments and results of this type.
PrintedNumber = Annotated[int, "as printed on the board"]
