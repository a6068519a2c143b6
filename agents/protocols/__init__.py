"""The table of protocols between bots and hosts; each protocol is pure text."""

from collections.abc import Mapping

from agents.core import AgentSpec

# Each module implements `agents.protocols.conversation.ProtocolModule`.
PROTOCOLS: Mapping[str, str] = {
    "lines": "agents.protocols.lines",
    "gtp": "agents.protocols.gtp",
    "nboard": "agents.protocols.nboard",
    "kgp": "agents.protocols.kgp",
    "files": "agents.protocols.files",
}
# Protocols that can send any position.
WHOLE_POSITION = ("lines", "files", "nboard", "kgp")
# Protocols over a socket: the bot connects to its host.
SOCKET_PROTOCOLS = ("kgp",)
# Protocols with a relay: the arguments of relay.py before the bot's command.
RELAYS: Mapping[str, tuple[str, ...]] = {
    "kgp": ("socket", "2671"),  # the default port of clients
    "files": ("files",),
}


def answers_any_position(spec: AgentSpec) -> bool:
    """Return whether an agent can answer in a position without its game."""
    if spec.kind not in PROTOCOLS:
        return True
    return spec.kind in WHOLE_POSITION and spec.options.get("form") != "console"
