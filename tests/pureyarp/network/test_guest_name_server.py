import logging
from dataclasses import replace

from pureyarp.network.peers import NameClient
from pureyarp.network.registrations import serve_names, serves_names, stop_serving_names
from pureyarp.network.settings import NetworkSettings
from tests.pureyarp.network.raw_sockets import free_port
from tests.pureyarp.network.running_threads import threads_named
from tests.waiting import wait_until


def free_address() -> NetworkSettings:
    return NetworkSettings(name_server_port=free_port())


def test_this_process_serves_names_until_it_stops(caplog):
    settings = free_address()
    with caplog.at_level(logging.WARNING, "pureyarp"):
        assert serve_names(settings)
        assert serve_names(settings)
    assert len(caplog.records) == 1
    assert f"this process now serves names at 127.0.0.1:{settings.name_server_port}" in caplog.text
    assert NameClient(settings).register("/a").isValid()
    stop_serving_names()
    assert not serves_names()
    wait_until(lambda: not threads_named("yarp"))


def test_who_comes_second_leaves_it_to_the_first(name_server):
    assert not serve_names(name_server.settings)
    assert not serves_names()


def test_names_are_served_on_loopback_alone():
    assert not serve_names(replace(free_address(), name_server_host="203.0.113.9"))
    assert not serves_names()
