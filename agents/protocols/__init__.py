"""The protocols between bots and hosts: a table of modules, each pure text, both ways."""

from collections.abc import Mapping

# A module with what `agents.protocols.conversation.ProtocolModule` lists.
PROTOCOLS: Mapping[str, str] = {
    "lines": "agents.protocols.lines",
    "gtp": "agents.protocols.gtp",
    "nboard": "agents.protocols.nboard",
    "kgp": "agents.protocols.kgp",
    "manchester": "agents.protocols.manchester",
    "files": "agents.protocols.files",
}
# Protocols that are spoken over a socket: the bot connects to its host.
SOCKETS = ("kgp",)
# Protocols whose bots have a relay beside them: a file that runs with the words before the command.
RELAYS: Mapping[str, tuple[str, ...]] = {
    "kgp": ("socket_relay.py", "2671"),  # the port that clients look for by themselves
    "files": ("file_relay.py",),
}
