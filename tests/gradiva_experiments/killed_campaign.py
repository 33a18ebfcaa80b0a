"""A campaign whose workers are killed five times, the scheduler once, the driver twice: all are processes of their own.

With real walks, of a campaign's file, for so many minutes at most; figures as JSON at the end, and status 1 where a
process has grown with its walks:

    python -m tests.gradiva_experiments.killed_campaign FILE.toml --minutes 60
"""

import argparse
import json
import os
import signal
import socket
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from gradiva_experiments.campaign.campaign import WALK
from gradiva_experiments.campaign.campaign_file import read_campaign
from gradiva_experiments.campaign.engine import dask_environment
from gradiva_experiments.campaign.trial_rows import row_keys

EVENTS = (
    *((2.0 + 4.0 * number, "worker") for number in range(5)),
    *((4.0, "driver"), (12.0, "scheduler"), (20.0, "driver")),
)
"""Twenty-fourths of the rows after which a process is killed, and which."""
_SETTLED = 15.0  # [s] in which a process imports, and compiles what it needs
_ROWS = 50  # in which growth differs from the noise of a process that has settled
LARGEST_GROWTH = 0.03  # [MB] a row: 0.006 was measured of walks, 2 before what they leave in cycles was freed


@dataclass
class KilledCampaign:
    """Kills what a campaign runs on, and looks at its rows.

    Attributes:
        file: Of the campaign; its folder lies beside it.
        function: That walks.
        timeout: After which the campaign is interrupted, [s].
        poll: Time between looks at the keys of all rows, [s].
        worker_count: Number of workers.
        killed: Processes that were killed so far, by the number of rows before.
        memory: Samples: time since the begin, [s], and memory of each process, [MB].
    """

    file: Path
    function: str
    timeout: float
    poll: float = 0.1
    worker_count: int = 2
    killed: list = field(default_factory=list)
    memory: list = field(default_factory=list)

    def run(self, count):
        """Walk, with all kills within so many rows from now on; return whether all trials have ended."""
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        self.begin, self.seen = time.monotonic(), set()
        before = self.look()
        self.start_cluster()
        self.driver = self.start_driver()
        try:
            for part, which in sorted(EVENTS):
                if not self.wait_for(before + part * count / 24.0):
                    break
                self.kill(which)
            return self.wait_for(sys.maxsize)
        finally:
            self.end()

    @property
    def folder(self):
        return self.file.parent / f"campaign-{self.file.stem}"

    def look(self):
        """Return the number of rows; each key is there once, and none is lost that was there before."""
        keys = row_keys(self.folder / "rows")
        assert len(keys) == len(set(keys)), "a row is there twice"
        assert self.seen.issubset(keys), "a row was lost"
        self.seen = set(keys)
        return len(keys)

    def wait_for(self, least):
        """Wait for so many rows, or until the driver ends; return False when the time is up or it has failed."""
        while self.look() < least:
            self.sample_memory()
            if self.driver.poll() is not None:
                return self.driver.returncode == 0
            if time.monotonic() - self.begin > self.timeout:
                return False
            time.sleep(self.poll)
        return True

    def sample_memory(self):
        """Add a sample of the scheduler, the driver, each worker and the process in which it walks."""
        sample = {"time_s": round(time.monotonic() - self.begin, 1), "rows": len(self.seen)}
        for name, process in (("scheduler", self.scheduler), ("driver", self.driver), *self.named_workers):
            try:
                known = psutil.Process(process.pid)
                sample[f"{name} {process.pid}"] = known.memory_info().rss / 2**20
                sample |= {f"walks {child.pid}": child.memory_info().rss / 2**20 for child in known.children()}
            except psutil.Error:
                continue  # it ends at the moment
        self.memory.append(sample)

    def growth(self):
        """Return by how much each process has grown a row in the later half of its rows, if that is long enough, [MB].

        When all rows are there, the driver packs them: that does not count.
        """
        end, samples = self.memory[-1]["rows"], {}
        for sample in self.memory:
            for name in sample.keys() - {"time_s", "rows"} if sample["rows"] < end else ():
                samples.setdefault(name, []).append((sample["time_s"], sample["rows"], sample[name]))
        return {name: found for name, those in samples.items() if (found := growth_of(those)) is not None}

    @property
    def named_workers(self):
        return [("worker", worker) for worker in self.workers]

    # -- processes -----------------------------------------------------------------------------------------------------

    def start(self, *words):
        environment = {**os.environ, **dask_environment()}
        return subprocess.Popen([sys.executable, *words], cwd=Path(__file__).parents[2], env=environment)

    def start_cluster(self):
        self.scheduler = self.start(
            "-m", "distributed.cli.dask_scheduler", "--port", str(self.port), "--no-dashboard"
        )  # fmt: skip
        self.workers = [self.start_worker() for _ in range(self.worker_count)]

    def start_worker(self):
        words = ("--nthreads", "1", "--no-nanny", "--no-dashboard")
        return self.start("-m", "distributed.cli.dask_worker", self.address, *words)

    def start_driver(self):
        words = (str(self.file), self.address, self.function)
        return self.start("-m", "tests.gradiva_experiments.campaign_driver", *words)

    @property
    def address(self):
        return f"tcp://127.0.0.1:{self.port}"

    def kill(self, which):
        """Kill a process and start another in its place; workers end with their scheduler."""
        self.killed.append((len(self.seen), which))
        if which == "worker":
            end_process(self.workers.pop(0))
            self.workers.append(self.start_worker())
        elif which == "scheduler":
            for process in (self.scheduler, *self.workers):
                end_process(process)
            self.start_cluster()
        else:
            end_process(self.driver)
            self.driver = self.start_driver()

    def end(self):
        """End all: the driver as by Ctrl-C, which writes what it has."""
        self.driver.terminate()
        self.driver.wait(120.0)
        for process in (*self.workers, self.scheduler):
            end_process(process)


def growth_of(samples):
    """Return the growth of samples of time [s], rows and memory [MB]; None of those that have not settled for long."""
    (begin, first, _), (_, last, _) = samples[0], samples[-1]
    settled = [
        (rows, memory) for time_s, rows, memory in samples if time_s > begin + _SETTLED and 2 * rows > first + last
    ]
    if not settled or last - settled[0][0] < _ROWS:
        return None
    return (max(memory for _, memory in settled) - settled[0][1]) / (last - settled[0][0])


def end_process(process):
    process.kill()
    process.wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("--minutes", type=float, default=600.0)
    parser.add_argument("--within", type=int, help="rows within which all kills happen; all of the campaign by default")
    parser.add_argument("--workers", type=int, default=2)
    given = parser.parse_args()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    count = read_campaign(given.file).count
    run = KilledCampaign(given.file.resolve(), WALK, 60.0 * given.minutes, 15.0, given.workers)
    try:
        is_whole = run.run(given.within or count)
    except KeyboardInterrupt:
        is_whole = False
    figures = {"trials": count, "rows": run.look(), "is_whole": is_whole, "killed": run.killed, "memory": run.memory}
    growth = run.growth()
    print(json.dumps({**figures, "growth_mb": growth}))
    sys.exit(any(each > LARGEST_GROWTH for each in growth.values()))


if __name__ == "__main__":
    main()
