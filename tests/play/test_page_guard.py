import http

import pytest
from websockets.datastructures import Headers
from websockets.http11 import Request, Response

from gradiva.play import Guard, Wheel, answer

COOKIE = {"Cookie": "gradiva_8080=right"}
OWN = {"Host": "127.0.0.1:8080"}
SOCKET = {"Upgrade": "websocket", "Origin": "http://127.0.0.1:8080"}


@pytest.fixture
def guard():
    return Guard(token="right", port=8080)


def status_of(guard, path, *headers, many=()):
    """Return the status of the answer; 101 of a websocket that is let through, 200 of viser's page."""
    merged = Headers({name: value for each in headers for name, value in each.items()})
    for name, value in many:
        merged[name] = value
    view = Response(http.HTTPStatus.OK, "OK", Headers(), b"viser")
    given = answer(guard, Request(path, merged), lambda request: view)
    return 101 if given is None else int(given.status_code)


@pytest.mark.parametrize("path", ["/", "/page.js", "/view/abc/"])
def test_pages_are_given_to_who_has_the_token(guard, path):
    assert status_of(guard, path, OWN, COOKIE) == 200
    assert status_of(guard, path, OWN) == 403
    assert status_of(guard, path, OWN, {"Cookie": "gradiva_8080=wrong"}) == 403
    assert status_of(guard, path + "?token=wrong", OWN) == 403


@pytest.mark.parametrize("path", ["/view/abc", "/drive/abc"])
def test_sockets_are_opened_for_the_page_itself_alone(guard, path):
    assert status_of(guard, path, OWN, SOCKET, COOKIE) == 101
    assert status_of(guard, path, OWN, SOCKET) == 403
    assert status_of(guard, path, OWN, COOKIE, SOCKET, {"Origin": "http://elsewhere.example"}) == 403
    assert status_of(guard, path, OWN, COOKIE, {"Upgrade": "websocket"}) == 403, "no browser leaves the origin out"
    assert status_of(guard, path, OWN, COOKIE, SOCKET, {"Origin": "http://127.0.0.1:8081"}) == 403


@pytest.mark.parametrize("host", ["elsewhere.example:8080", "127.0.0.1:8081", "127.0.0.1", ""])
def test_a_name_of_elsewhere_that_leads_here_is_refused(guard, host):
    assert status_of(guard, "/", {"Host": host}, COOKIE) == 403


def test_two_headers_of_one_name_are_refused(guard):
    assert status_of(guard, "/", OWN, COOKIE, many=[("Host", "elsewhere.example:8080")]) == 403


def test_the_link_gives_the_token_on_as_a_cookie_that_other_sites_cannot_send(guard):
    assert guard.link("127.0.0.1") == "http://127.0.0.1:8080/?token=right"
    given = answer(guard, Request("/?token=right", Headers(OWN)), lambda request: None)
    assert given.status_code == 303
    assert given.headers["Location"] == "/"
    assert given.headers["Set-Cookie"] == "gradiva_8080=right; Path=/; HttpOnly; SameSite=Strict"


def test_no_other_page_may_frame_it_and_it_asks_nothing_of_other_machines(guard):
    given = answer(guard, Request("/", Headers(OWN | COOKIE)), lambda request: None)
    assert "frame-ancestors 'self'" in given.headers["Content-Security-Policy"]
    assert b"http:" not in given.body
    assert b"https:" not in given.body


def test_other_paths_do_not_exist(guard):
    assert status_of(guard, "/view/abc/../../etc/passwd", OWN, COOKIE) == 404
    assert status_of(guard, "/elsewhere", OWN, SOCKET, COOKIE) == 404


def test_one_page_drives_and_its_end_is_hands_off():
    sent = []
    wheel = Wheel(sent.append)
    wheel.join("first")
    wheel.join("second")
    wheel.take("first", '{"drive": [0.5, 0, 0]}')
    wheel.take("second", '{"drive": [1, 0, 0]}')
    wheel.take("second", '{"push": {}}')
    assert sent == [{"drive": [0.5, 0, 0]}], "the second one is refused"
    wheel.leave("second")
    assert len(sent) == 1
    wheel.leave("first")
    assert sent[-1] == {"drive": [0.0, 0.0, 0.0]}
    assert wheel.driver == ""


def test_any_page_stops_the_robot_and_takes_control_with_hands_off():
    sent = []
    wheel = Wheel(sent.append)
    wheel.join("first")
    for text in ('{"stop": true}', '{"command": ["emergencyStop"]}'):
        wheel.take("second", text)
    assert sent == [{"stop": True}, {"command": ["emergencyStop"]}]
    wheel.take("second", '{"take": true}')
    assert sent[-1] == {"drive": [0.0, 0.0, 0.0]}
    assert wheel.driver == "second"


@pytest.mark.parametrize(
    "text", ["", "[1]", '{"pace": NaN}', "x" * 5000, "{", '{"drive": ' + "[" * 3000 + "}", b"\xff\xff"]
)
def test_what_is_no_message_is_left_out(text):
    sent = []
    wheel = Wheel(sent.append)
    wheel.join("first")
    wheel.take("first", text)
    assert sent == []
