"""Names, addresses and numbers that a name server remembers."""

import pytest

from pureyarp.network import Contact
from pureyarp.network.name_registry import FreeNumbers, NameRegistry, PortNumbers, RefusedRegistration, RegistryLimits
from pureyarp.network.peers import CHOOSE

OWN = Contact("/root", "tcp", "127.0.0.1", 10000)


@pytest.fixture
def registry() -> NameRegistry:
    return NameRegistry(OWN)


def register(registry: NameRegistry, name: str, carrier=CHOOSE, host=CHOOSE, port=None) -> Contact:
    return registry.register(name, carrier, host, port, requester="127.0.0.1")


def test_what_is_left_out_is_chosen(registry):
    assert register(registry, "/a") == Contact("/a", "tcp", "127.0.0.1", 10002)
    assert registry.register("/b", CHOOSE, CHOOSE, None, requester="10.0.0.7") == Contact(
        "/b", "tcp", "10.0.0.7", 10003
    )


def test_a_number_that_is_listened_on_is_passed_over_but_not_where_the_name_itself_is_registered():
    listened = {("127.0.0.1", 10002), ("127.0.0.1", 10003), ("10.0.0.7", 10005)}
    registry = NameRegistry(OWN, is_listened=lambda *address: address in listened)
    assert register(registry, "/a").getPort() == 10004
    assert register(registry, "/b", host="10.0.0.7").getPort() == 10006
    listened.add(("127.0.0.1", 10004))  # /a opens
    assert register(registry, "/a").getPort() == 10004
    registry.unregister("/a")
    assert register(registry, "/a").getPort() == 10007


def test_an_address_that_was_given_is_taken(registry):
    assert register(registry, "/a", "udp", "10.0.0.1", 12345) == Contact("/a", "udp", "10.0.0.1", 12345)
    assert registry.query("/a") == Contact("/a", "udp", "10.0.0.1", 12345)


def test_anonymous_names_count_and_are_used_again(registry):
    assert [register(registry, name).getRegName() for name in (CHOOSE, "", "=bar")] == [
        "/tmp/port/1",
        "/tmp/port/2",
        "/tmp/port/3=bar",
    ]
    registry.unregister("/tmp/port/3=bar")
    registry.unregister("/tmp/port/1")
    assert [register(registry, CHOOSE).getRegName() for _ in range(3)] == ["/tmp/port/1", "/tmp/port/3", "/tmp/port/4"]


def test_an_anonymous_name_that_is_taken_is_skipped(registry):
    register(registry, "/tmp/port/1", port=12345)
    assert register(registry, CHOOSE).getRegName() == "/tmp/port/2"


def test_a_multicast_gets_a_free_group_and_gives_it_back(registry):
    assert register(registry, CHOOSE, "mcast") == Contact("/tmp/port/1", "mcast", "224.1.1.3", 10002)
    assert register(registry, "/b", "mcast").getHost() == "224.1.1.4"
    assert register(registry, "/b", "mcast").getHost() == "224.1.1.4"
    registry.unregister("/tmp/port/1")
    assert register(registry, CHOOSE, "mcast").getHost() == "224.1.1.3"


def test_what_a_port_owns_goes_with_it(registry):
    register(registry, "/a")
    register(registry, "/tmp/port/1", "mcast")
    registry.set_property("/a", "owns", ["/tmp/port/1"])
    assert registry.unregister("/a")
    assert registry.query("/tmp/port/1") is None


def test_owning_each_other_ends(registry):
    register(registry, "/a")
    register(registry, "/b")
    registry.set_property("/a", "owns", ["/b", "/a"])
    registry.set_property("/b", "owns", ["/a"])
    assert registry.unregister("/a")
    assert [contact.getRegName() for contact in registry.contacts()] == ["/root", "fallback"]


def test_a_prefix_is_the_name_itself_or_what_continues_it(registry):
    for name in ("/a", "/a/b", "/ab", "/c"):
        register(registry, name)
    assert [contact.getRegName() for contact in registry.contacts("/a")] == ["/a", "/a/b"]
    assert [contact.getRegName() for contact in registry.contacts("/a/")] == ["/a/b"]


def test_the_name_server_itself_cannot_be_moved_or_removed(registry):
    assert register(registry, "/root", "tcp", "10.0.0.1", 1) == OWN
    assert not registry.unregister("/root")
    assert not registry.unregister("fallback")
    assert registry.query("/root") == OWN


def test_values_of_a_property_come_back_sorted_and_once(registry):
    register(registry, "/a")
    assert registry.set_property("/a", "key", ["b", 3, "a", "b"]) == [3, "a", "b"]
    assert registry.property("/a", "key") == [3, "a", "b"]
    assert registry.property("/a", "other") == []
    assert registry.property("/b", "key") is None
    assert registry.set_property("/b", "key", ["a"]) is None


def test_properties_survive_a_new_registration_but_not_the_end_of_one(registry):
    register(registry, "/a")
    registry.set_property("/a", "key", ["v"])
    register(registry, "/a", "tcp", "127.0.0.1", 12345)
    assert registry.property("/a", "key") == ["v"]
    registry.unregister("/a")
    register(registry, "/a")
    assert registry.property("/a", "key") == []


def test_changes_are_reported():
    changes = []
    registry = NameRegistry(OWN, on_change=lambda is_there, name: changes.append((is_there, name)))
    register(registry, "/a")
    registry.unregister("/a")
    registry.unregister("/a")
    assert changes == [(True, "/a"), (False, "/a")]


def test_memory_is_bounded_and_refusals_leave_no_trace():
    limits = RegistryLimits(most_names=4, longest_name=20, most_properties=2, longest_value=10)
    registry = NameRegistry(OWN, limits)
    register(registry, "/a")
    register(registry, CHOOSE)
    for name in (CHOOSE, "/c"):
        with pytest.raises(RefusedRegistration, match="4 names are registered"):
            register(registry, name)
    registry.unregister("/a")
    assert register(registry, CHOOSE).getRegName() == "/tmp/port/2"
    registry.set_property("/tmp/port/1", "k1", [1])
    registry.set_property("/tmp/port/1", "k2", [1])
    with pytest.raises(RefusedRegistration, match="more than 2 properties"):
        registry.set_property("/tmp/port/1", "k3", [1])
    with pytest.raises(RefusedRegistration, match="longer than 10 characters"):
        registry.set_property("/tmp/port/1", "k1", ["a" * 11])


@pytest.mark.parametrize("name", ["/" + "a" * 255, "/a b", "/a\nb", "/a\x00"])
def test_names_that_are_long_or_would_break_a_line_are_refused(registry, name):
    with pytest.raises(RefusedRegistration, match="name "):
        register(registry, name)


@pytest.mark.parametrize("port", [-1, 0, 65536])
def test_port_numbers_out_of_range_are_refused(registry, port):
    with pytest.raises(RefusedRegistration, match="is no TCP port"):
        register(registry, "/a", port=port)


def test_a_refused_anonymous_name_is_free_again():
    registry = NameRegistry(Contact("/root", "tcp", "127.0.0.1", 65533))
    assert register(registry, "/a").getPort() == 65535
    with pytest.raises(RefusedRegistration, match="no port number is left"):
        register(registry, CHOOSE)
    assert register(registry, CHOOSE, port=12345).getRegName() == "/tmp/port/1"


def test_all_properties_together_are_bounded():
    registry = NameRegistry(OWN, RegistryLimits(most_characters=10))
    for name in ("/a", "/b"):
        register(registry, name)
    registry.set_property("/a", "key", ["12345678"])
    with pytest.raises(RefusedRegistration, match="more than 10 characters in all properties"):
        registry.set_property("/b", "key", ["123"])
    registry.set_property("/a", "key", ["1234567"])  # in the place of the former value
    assert registry.set_property("/b", "key", ["123"]) == ["123"]
    register(registry, "/a")
    with pytest.raises(RefusedRegistration):
        registry.set_property("/b", "other", ["1"])
    registry.unregister("/a")
    assert registry.set_property("/b", "other", ["1234567"]) == ["1234567"]


def test_a_long_chain_of_owners_goes_with_the_first(registry):
    for number in range(3000):
        register(registry, f"/{number}", port=12345)
        registry.set_property(f"/{number}", "owns", [f"/{number + 1}"])
    assert registry.unregister("/0")
    assert registry.contacts("/2999") == []


def test_numbers_count_up_and_skip_used_ones():
    numbers = PortNumbers(10002, 19999)
    assert [numbers.take(name, {10003}) for name in ("/a", "/b", "/c")] == [10002, 10004, 10005]


def test_a_name_gets_its_former_number_back_while_it_is_free():
    numbers = PortNumbers(10002, 19999)
    assert numbers.take("/a", set()) == 10002
    assert numbers.take("/b", set()) == 10003
    assert numbers.take("/a", set()) == 10002
    assert numbers.take("/a", {10002}) == 10004
    assert numbers.take("/a", set()) == 10004


def test_numbers_of_others_are_given_away_only_at_the_end_oldest_first():
    numbers = PortNumbers(1, 3)
    for name in ("/a", "/b", "/c"):
        numbers.take(name, set())
    numbers.take("/a", set())
    assert numbers.take("/d", {3}) == 2
    assert numbers.take("/e", {2}) == 3
    assert numbers.take("/f", {1, 2, 3}) is None
    assert numbers.take("/a", {2, 3}) == 1


def test_numbers_that_were_passed_over_are_handed_out_at_the_end():
    numbers = PortNumbers(10002, 10005)
    assert [numbers.take("/a", {10002}), numbers.take("/b", ())] == [10003, 10004]
    assert numbers.take("/a", {10003, 10004}) == 10005
    assert [numbers.take(name, {10004, 10005}) for name in ("/c", "/d")] == [10002, 10003]


def test_freed_numbers_are_taken_again_the_smallest_first():
    numbers = FreeNumbers(1)
    assert [numbers.take() for _ in range(4)] == [1, 2, 3, 4]
    numbers.give_back(3)
    numbers.give_back(2)
    numbers.give_back(0)
    assert [numbers.take() for _ in range(3)] == [2, 3, 5]
