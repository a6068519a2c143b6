"""The server of the live page: who may read it, what hostile requests get, how it ends."""

import http.client
import json
import socket
import sys
import threading

import pytest

from arena.report.live import LONGEST_HEAD, LiveServer


@pytest.fixture
def server():
    with LiveServer("<p>the page</p>") as serving:
        yield serving


def raw(server, request, shut=False):
    """The status line of the answer to these bytes; what may fail is the sending."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=10) as client:
        try:
            client.sendall(request)
            if shut:
                client.shutdown(socket.SHUT_WR)
            return client.recv(4096).split(b"\r\n")[0].decode()
        except (BrokenPipeError, ConnectionResetError):
            return "closed"


def asked(server, path=None, host=None, method="GET", more=""):
    path = f"/{server.token}/" if path is None else path
    host = f"127.0.0.1:{server.port}" if host is None else host
    return raw(server, f"{method} {path} HTTP/1.1\r\nHost: {host}\r\n{more}\r\n".encode())


def test_only_who_knows_the_address_reads_the_page(server):
    assert asked(server).endswith("200 OK")
    wrong = "/", "/x/", f"/{server.token[:-1]}/", f"/{server.token}x/", f"/{server.token}", "//"
    assert {asked(server, path)[9:12] for path in wrong} == {"404"}
    nothing = "report", "../report", "%2e%2e/", "page.js"
    assert {asked(server, f"/{server.token}/{path}")[9:12] for path in nothing} == {"404"}


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1", "127.0.0.1:1", "", "localhost"])
def test_a_page_under_another_name_is_refused(server, host):
    assert asked(server, host=host)[9:12] == "403"


def test_hostile_requests_are_answered_briefly_and_the_page_goes_on(server):
    assert asked(server, more=f"Host: 127.0.0.1:{server.port}\r\n")[9:12] == "403"
    assert asked(server, method="POST")[9:12] == "405"
    assert raw(server, b"\x00\xff\r\n\r\n")[9:12] == "400"
    assert raw(server, b"GET /" + b"a" * (4 * LONGEST_HEAD))[9:12] in ("431", "")
    assert raw(server, b"GET / HT", shut=True) == ""
    assert asked(server).endswith("200 OK")


def test_it_listens_on_this_machine_alone(server):
    assert server.socket.getsockname()[0] == "127.0.0.1"
    assert server.address.startswith(f"http://127.0.0.1:{server.port}/")
    assert len(server.token) >= 22


def follow(server):
    client = http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)
    client.request("GET", f"/{server.token}/events")
    return client, client.getresponse()


def test_a_follower_gets_the_latest_state_and_the_end_and_may_fetch_the_report(server):
    loaded = set(sys.modules)
    server.publish({"now": "1 of 2 games"})
    client, events = follow(server)
    assert events.readline() == b'data: {"now": "1 of 2 games"}\n'
    assert events.readline() == b"\n"
    server.publish({"now": "2 of 2 games"})
    assert events.readline() == b'data: {"now": "2 of 2 games"}\n'
    ending = threading.Thread(target=server.end, args=("finished", "Done.", "<p>report</p>"))
    ending.start()
    assert events.read() == b'\nevent: finished\ndata: "Done."\n\n'
    assert ending.is_alive()  # it waits for the report to be fetched
    other = http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)
    other.request("GET", f"/{server.token}/report")
    assert other.getresponse().read() == b"<p>report</p>"
    ending.join(10)
    assert not ending.is_alive()
    client.close()
    other.close()
    # An import in a thread may wait for one in the main thread for ever.
    new = set(sys.modules) - loaded
    assert not {name for name in new if name.startswith(("asyncio", "arena", "games", "email"))}


def test_slow_clients_hold_up_neither_others_nor_the_end(server):
    idle = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(40)]
    assert asked(server).endswith("200 OK")
    server.end("stopped", "Stopped.")
    for client in idle:
        client.close()


def test_a_follower_that_reads_nothing_holds_up_no_other(server):
    large = {"now": "x" * 400_000}
    silent = socket.create_connection(("127.0.0.1", server.port))
    silent.sendall(f"GET /{server.token}/events HTTP/1.1\r\nHost: ".encode())
    silent.sendall(f"127.0.0.1:{server.port}\r\n\r\n".encode())
    gone, gone_events = follow(server)
    readers = [follow(server) for _ in range(3)]
    for number in range(40):  # more than the system keeps for somebody who does not read
        server.publish({**large, "number": number})
        for _, events in readers:
            assert f'"number": {number}}}' in events.readline()[-20:].decode()
            events.readline()
        if number == 2:
            gone_events.close()
            gone.close()
    assert server.followers >= 4
    for client, _ in readers:
        client.close()
    silent.close()


def test_every_follower_hears_of_news_however_they_fall(server):
    """States come while others are sent: whoever rests has seen the latest."""
    server.publish({"number": -1})
    clients = [follow(server) for _ in range(4)]
    for number in range(300):
        server.publish({"number": number})
    for client, events in clients:
        seen = []
        while not seen or seen[-1] != 299:
            line = events.readline()
            if line.startswith(b"data"):
                seen.append(json.loads(line[6:])["number"])
        assert seen == sorted(set(seen))
        client.close()
