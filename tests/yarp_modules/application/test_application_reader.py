import pytest

from gradiva.common import ConfigError
from gradiva.yarp_modules.application import ApplicationConnection, PortDependency, read_application

FULL = """<?xml version="1.0"?>
<Application>
  <name>Two of them</name>
  <description>what
     they do</description>
  <version>1.2</version>
  <var name="robot">icub</var>
  <var name="part">/${robot}/head</var>
  <authors><author email="a@b.c">Somebody</author></authors>
  <dependencies><port>/clock</port></dependencies>
  <module>
    <name>second</name>
    <parameters>--name /second --part ${part} --text "two words"</parameters>
    <node>icub-head</node>
    <rank>2</rank>
    <workdir>/tmp</workdir>
    <deployer>python3</deployer>
    <prefix>/left</prefix>
    <environment>A=1; B=$ENV{GRADIVA_TEST}</environment>
    <display>:0</display>
    <dependencies>
      <port timeout="2.5" request="getState" reply="[ok] ready">${part}/rpc:i</port>
      <port>/first/rpc</port>
    </dependencies>
    <ensure><wait when="start">1.5</wait><wait when="stop">0.5</wait></ensure>
  </module>
  <module><name>first</name><rank>1</rank></module>
  <connection persist="true">
    <from external="true">/clock</from><to>/second/in</to><protocol>fast_tcp</protocol>
  </connection>
  <connection><output>/first/out</output><input>/second/in</input></connection>
</Application>
"""


@pytest.fixture
def full(written, monkeypatch):
    monkeypatch.setenv("GRADIVA_TEST", "two")
    return read_application(written(FULL))


def test_the_head_of_an_application_is_read(full):
    assert full.name == "Two_of_them"
    assert full.description == "what they do"
    assert full.authors == {"Somebody": "a@b.c"}
    assert full.dependencies == (PortDependency("/clock"),)
    assert full.notes == ()


def test_a_module_is_read_with_its_variables(full):
    module = full.modules[0]
    assert module.program == "second"
    assert module.arguments == ["--name", "/second", "--part", "/icub/head", "--text", "two words"]
    assert (module.node, module.rank, module.work_folder, module.deployer) == ("icub-head", 2, "/tmp", "python3")
    assert module.environment == {"A": "1", "B": "two", "DISPLAY": ":0"}
    assert module.dependencies == (
        PortDependency("/icub/head/rpc:i", 2.5, "getState", "[ok] ready"),
        PortDependency("/first/rpc"),
    )
    assert (module.wait_after_start, module.wait_after_stop) == (1.5, 0.5)


def test_the_port_of_a_module_is_its_name_behind_its_prefix(full):
    assert full.modules[0].port == "/left/second"
    assert full.modules[1].port == ""


def test_connections_are_read_in_both_spellings(full):
    clock, data = full.connections
    assert clock == ApplicationConnection("/clock", "/second/in", "fast_tcp", True, frozenset({"/clock"}))
    assert data == ApplicationConnection("/first/out", "/second/in")


def test_modules_start_by_rank_and_twins_get_numbers(written):
    modules = "".join(f"<module><name>m</name><rank>{rank}</rank></module>" for rank in (3, 1, 2))
    titles = read_application(written(f"<application><name>n</name>{modules}</application>")).titles()
    assert {title: module.rank for title, module in titles.items()} == {"m": 1, "m-2": 2, "m-3": 3}


def test_an_embedded_application_is_moved_by_its_prefix_but_for_what_belongs_to_others(written):
    inner = written(FULL.replace("$ENV{GRADIVA_TEST}", "2"), "inner")
    outer = written(
        "<application><name>o</name><application><name>x</name><prefix>/a</prefix></application></application>"
    )
    application = read_application(outer, lambda name: inner)
    assert [module.prefix for module in application.modules] == ["/a/left", "/a"]
    assert application.connections[0].source == "/clock"
    assert application.connections[0].destination == "/a/second/in"
    assert application.dependencies == (PortDependency("/clock"),)


def test_an_application_that_contains_itself_is_refused(written):
    path = written("<application><name>o</name><application><name>o</name></application></application>")
    with pytest.raises(ConfigError, match=r"file\.xml:1: <application>: 'o' contains itself"):
        read_application(path, lambda name: path)


def test_ignored_tags_are_reported_with_the_nearest_name(written):
    text = "<application><name>n</name>\n<module><name>m</name><paramters/><geometry/></module>\n</application>"
    (note,) = read_application(written(text)).notes
    assert ":2: <paramters> in <module> is ignored; did you mean 'parameters'?" in note


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<application>", r"file\.xml:1: not XML: no element found"),
        ("<application>\n<name>n</nam>", r"file\.xml:2: not XML: mismatched tag"),
        ("<module/>", r"file\.xml:1: <module>: the root of an application is <application>"),
        ("<application/>", r"<application>: <name> is missing"),
        ("<application>\n<name> </name></application>", r":2: <name>: must not be empty"),
        ('<!DOCTYPE a [<!ENTITY e "x">]><application/>', r":1: the entity 'e' is not accepted"),
    ],
)
def test_a_wrong_file_is_refused_in_one_line(written, text, message):
    with pytest.raises(ConfigError, match=message) as caught:
        read_application(written(text))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<module/>", r":2: <module>: <name> is missing"),
        ("<module><name>m</name><rank>x</rank></module>", r"<rank>: 'x': expected a whole number"),
        (
            "<module><name>m</name><parameters>'</parameters></module>",
            r"parameters ''': No closing quotation",
        ),
        ("<module><name>m</name><environment>A</environment></module>", r"environment 'A': expected NAME=value"),
        ("<module><name>${robt}</name></module>", r"<name>: \$\{robt\} is not defined; did you mean 'robot'\?"),
        ("<module><name>$ENV{NOT_SET_1}</name></module>", r"environment variable NOT_SET_1 is not set"),
        ('<module><name>m</name><ensure><wait when="once">1</wait></ensure></module>', r'when="once": expected start'),
        ("<module><name>m</name><ensure><wait>soon</wait></ensure></module>", r"<wait>: seconds 'soon': expected a"),
        ("<dependencies><port>a b</port></dependencies>", r"<port>: 'a b' is no name of a port"),
        ('<dependencies><port timeout="-1">/a</port></dependencies>', r"timeout '-1': expected a number of at least"),
        ('<dependencies><port reply="x">/a</port></dependencies>', r"<port>: a reply needs a request"),
        ("<connection><from>/a</from></connection>", r"<connection>: <to> or <input> is missing"),
        ("<connection><from>a</from><to>/b</to></connection>", r"<from>: 'a' is no name of a port"),
        ("<var>1</var>", r"<var>: a variable needs its name"),
        ("<application><name>x</name></application>", r"'x': an embedded application cannot be looked up here"),
    ],
)
def test_a_wrong_element_is_refused_with_its_line(written, text, message):
    path = written(f'<application><name>n</name><var name="robot">r</var>\n{text}</application>')
    with pytest.raises(ConfigError, match=message) as caught:
        read_application(path)
    assert str(caught.value).startswith(f"{path}:2: <")


def test_a_missing_file_is_an_error(tmp_path):
    with pytest.raises(ConfigError, match=r"none\.xml: No such file"):
        read_application(tmp_path / "none.xml")
