import http
import io
import json
import shutil
import subprocess
import zipfile

import pytest
from websockets.datastructures import Headers
from websockets.http11 import Request, Response

from gradiva.common import ConfigError
from gradiva.page import Guard, PageAddress, Wheel, answer
from gradiva.page.guard import archive_response
from gradiva.page.page_process import RobotPage, ShownPictures, archive_of, message_in

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
    assert guard.link == "http://127.0.0.1:8080/?token=right"
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
    wheel.take("first", {"drive": [0.5, 0, 0]})
    wheel.take("second", {"drive": [1, 0, 0]})
    wheel.take("second", {"push": {}})
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
    for message in ({"stop": True}, {"command": ["emergencyStop"]}):
        wheel.take("second", message)
    assert sent == [{"stop": True}, {"command": ["emergencyStop"]}]
    wheel.take("second", {"take": True})
    assert sent[-1] == {"drive": [0.0, 0.0, 0.0]}
    assert wheel.driver == "second"


@pytest.mark.parametrize(
    "text", ["", "[1]", '{"pace": NaN}', "x" * 5000, "{", '{"drive": ' + "[" * 3000 + "}", b"\xff\xff"]
)
def test_what_is_no_message_is_left_out(text):
    assert message_in(text) is None


def test_other_machines_are_served_behind_tls_alone(tmp_path):
    with pytest.raises(ConfigError, match="give --tls-cert and --tls-key"):
        PageAddress(8080, "robot.example")
    with pytest.raises(ConfigError, match="belong together"):
        PageAddress(8080, "robot.example", tmp_path / "cert.pem")
    with pytest.raises(ConfigError, match="name the address"):
        PageAddress(8080, "0.0.0.0")
    with pytest.raises(ConfigError, match="no such file"):
        PageAddress(8080, "robot.example", tmp_path / "cert.pem", tmp_path / "key.pem")
    for name in ("cert.pem", "key.pem"):
        (tmp_path / name).write_text("nothing", encoding="ascii")
    address = PageAddress(8080, "robot.example", tmp_path / "cert.pem", tmp_path / "key.pem", "right")
    with pytest.raises(ConfigError, match="no certificate and its key"):
        address.encryption()
    guard = Guard.of(address)
    guard.port = 8080
    assert guard.link == "https://robot.example:8080/?token=right"
    own, cookie = {"Host": "robot.example:8080"}, COOKIE
    assert status_of(guard, "/", own, cookie) == 200
    assert status_of(guard, "/", OWN, cookie) == 403, "of another name of this machine"
    assert status_of(guard, "/drive/abc", own, cookie, SOCKET, {"Origin": "https://robot.example:8080"}) == 101
    assert status_of(guard, "/drive/abc", own, cookie, SOCKET, {"Origin": "http://robot.example:8080"}) == 403
    given = answer(guard, Request("/?token=right", Headers(own)), lambda request: None)
    assert given.headers["Set-Cookie"].endswith("; Secure")


@pytest.mark.parametrize(
    ("scheme", "port", "host", "status"),
    [
        ("http", 80, "robot.example", 200),
        ("https", 443, "Robot.Example", 200),
        ("https", 443, "robot.example:443", 200),
        ("https", 80, "robot.example", 403),
        ("http", 8080, "robot.example", 403),
        ("http", 8080, "ROBOT.example:8080", 200),
    ],
)
def test_browsers_leave_the_usual_port_out_and_names_have_no_case(scheme, port, host, status):
    guard = Guard("robot.example", "right", port, scheme)
    cookie = {"Cookie": f"gradiva_{port}=right"}
    assert status_of(guard, "/", {"Host": host}, cookie) == status
    socket = SOCKET | {"Origin": f"{scheme}://{host}"}
    assert status_of(guard, "/drive/abc", {"Host": host}, cookie, socket) == (101 if status == 200 else 403)


@pytest.mark.parametrize("host", ["::1", "[::1]", "LOCALHOST"])
def test_the_loopback_has_several_names(host):
    guard = Guard.of(PageAddress(8080, host, token="right"))
    guard.port = 8080
    assert PageAddress(8080, host).interface == host.strip("[]")
    assert guard.link.startswith(f"http://{'localhost' if host == 'LOCALHOST' else '[::1]'}:8080/")
    assert status_of(guard, "/", OWN, COOKIE) == status_of(guard, "/", {"Host": "[::1]:8080"}, COOKIE) == 200


@pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl makes the key")
def test_an_encrypted_key_is_refused_without_a_question(tmp_path):
    certificate, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-subj", "/CN=a"]
    files = ["-passout", "pass:secret", "-out", certificate, "-keyout", key]
    subprocess.run([*command, *files], check=True, capture_output=True)
    with pytest.raises(ConfigError, match="the key is encrypted"):
        PageAddress(8080, "robot.example", certificate, key).encryption()


def test_the_past_is_shown_as_soon_as_it_is_there():
    shown = ShownPictures()
    shown.replay(True)
    assert not shown.replays
    assert shown.due(1.0) is None
    shown.replays = True  # without pictures: no error ends the process
    assert shown.due(1.0) is None
    shown.add({"time": 0.5})
    shown.replay(True)
    assert shown.due(2.0) == {"time": 0.5}


def test_the_driver_alone_replays():
    page = RobotPage.__new__(RobotPage)
    page._wheel, page._shown, page._pages = Wheel(lambda message: None), ShownPictures(), {}
    page._links, page._status = [], {}
    page._shown.add({"time": 0.5})
    page._wheel.join("driver")
    page._take("viewer", None, json.dumps({"replay": True}))
    assert not page._shown.replays
    page._take("driver", None, json.dumps({"replay": True}))
    assert page._shown.replays


def test_a_saved_run_is_given_to_who_has_the_token_alone(guard, tmp_path):
    run = tmp_path / "play-g1"
    run.mkdir()
    (run / "result.json").write_text("{}", encoding="utf-8")
    given = answer(
        guard,
        Request("/run.zip", Headers(OWN | COOKIE)),
        lambda request: None,
        lambda: archive_response(run.name, archive_of(run)),
    )
    assert given.headers["Content-Disposition"] == 'attachment; filename="play-g1.zip"'
    assert zipfile.ZipFile(io.BytesIO(given.body)).namelist() == ["play-g1/result.json"]
    assert status_of(guard, "/run.zip", OWN) == 403
    assert status_of(guard, "/run.zip", OWN, COOKIE) == 404, "none has been saved"
