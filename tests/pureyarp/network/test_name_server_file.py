from pureyarp.network.settings import (
    NameServerAddress,
    name_server_file,
    read_name_server_file,
    write_name_server_file,
)


def test_what_is_written_is_read(tmp_path):
    path = name_server_file({"YARP_CONFIG_HOME": str(tmp_path / "new"), "YARP_NAMESPACE": "/my-ns/a"})
    assert path == tmp_path / "new" / "_my_ns_a.conf"
    assert read_name_server_file(path) is None
    write_name_server_file(path, NameServerAddress("127.0.0.1", 10000))
    assert path.read_text() == "127.0.0.1 10000 yarp\n"
    assert read_name_server_file(path) == NameServerAddress("127.0.0.1", 10000)
