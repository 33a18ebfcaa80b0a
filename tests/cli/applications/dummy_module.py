"""A module of the tests' applications: the ports that a module has, and nothing to do."""

import subprocess
import sys

from gradiva.middleware import yarp


class DummyModule(yarp.RFModule):
    def configure(self, rf):
        name = sys.argv[sys.argv.index("--name") + 1]
        self.ports = [yarp.Port() for _ in range(3)]
        for port, suffix in zip(self.ports, ("out", "in", "rpc"), strict=True):
            if suffix == "rpc":
                self.attach(port)
            assert port.open(f"{name}/{suffix}")
        self.child = subprocess.Popen(["sleep", "1000"])  # forgotten: the end of the application has to find it
        print(f"ready {name}", flush=True)
        return True

    def getPeriod(self):  # noqa: N802
        return 0.05

    def updateModule(self):  # noqa: N802
        return True

    def close(self):
        for port in self.ports:
            port.close()
        print("closed", flush=True)
        return True


yarp.Network.init()
status = DummyModule().runModule(yarp.ResourceFinder())
yarp.Network.fini()
sys.exit(int(status))
