r"""Transport of sensor samples and commands: sampling periods, delays with jitter, lost and late packets.

A stream is sampled every period, from a phase that the seed draws. Packet k, sent at :math:`t_k`, arrives at

.. math:: a_k = \max(a_{k-1}, t_k + \max(0, d + \sigma n_k) + l_k), \qquad n_k \sim N(0, 1),

with the delay d, its jitter :math:`\sigma` and the extra delay :math:`l_k` of a late packet: packets keep their order,
as those of a TCP connection or of a bus do, and a late one holds up those behind it. Of what has arrived the newest
counts. The age of a sample at a random instant is then d + T/2 in the mean, with T the period.
"""

from __future__ import annotations

import math
import zlib
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np
import numpy.typing as npt

from gradiva.common import LowPass, NDArray, configuration, setting

T = TypeVar("T")
_ROUNDING = 1e-9  # [s] sums of time steps are not exact
_BLOCK = 256  # [-] random numbers drawn at once


def effect_generator(seed: int, effect: str) -> np.random.Generator:
    """Return the random numbers of one effect: to switch another effect on does not draw these anew."""
    return np.random.default_rng([seed, zlib.crc32(effect.encode())])


@dataclass(frozen=True, slots=True, eq=False)
class DrawnValues:
    """Constants of one effect that the seed has chosen, so that a fall can be understood.

    Attributes:
        effect: Its name.
        unit: Of the values.
        labels: Of which joint, body or axis each value is.
        values: Shape (n,).
        fractions: Where they lie in the range from which they were drawn, from −1 to 1, shape (n,).
    """

    effect: str
    unit: str
    labels: Sequence[str]
    values: NDArray
    fractions: NDArray

    @classmethod
    def within(
        cls, effect: str, unit: str, labels: Sequence[str], values: NDArray, reach: npt.ArrayLike
    ) -> DrawnValues:
        """Return values that were drawn within ± ``reach``, which may be 0: then nothing was drawn."""
        values, reach = np.broadcast_arrays(np.ravel(values), np.ravel(reach))
        is_drawn = reach > 0.0
        kept = [label for label, is_one in zip(labels, is_drawn, strict=True) if is_one]
        return cls(effect, unit, kept, values[is_drawn], values[is_drawn] / reach[is_drawn])


_LATE_DELAY = (0.005, 0.02)  # [s] least and largest extra delay of a late packet, uniform


@configuration
class TransportConfig:
    """Delays and losses of packets between robot and controller.

    Attributes:
        delay: Mean, [s].
        jitter: Standard deviation of the delay, drawn for each packet; no delay is negative, [s].
        loss: Probability that a packet is lost, [-].
        late_interval: Mean time between packets that come late; 0 for none, [s].
    """

    delay: float = setting("s", least=0.0)
    jitter: float = setting("s", least=0.0)
    loss: float = setting("-", least=0.0, below=1.0)
    late_interval: float = setting("s", least=0.0)

    @property
    def is_immediate(self) -> bool:
        """Whether each packet arrives at once."""
        return self.delay == self.jitter == self.loss == self.late_interval == 0.0


@configuration
class StreamConfig(TransportConfig):
    """Sampling and transport of one stream of sensor samples.

    Attributes:
        period: Between two samples, a whole number of physics steps; 0: sampled at the reading where nothing delays
            it, else at each physics step, [s].
    """

    period: float = setting("s", least=0.0)

    @property
    def is_sampled_at_reading(self) -> bool:
        """Whether a sample is taken when the controller reads it, so that its age is zero."""
        return self.period == 0.0 and self.is_immediate


class PacketLine(Generic[T]):
    """Carries packets in order, each with a delay of its own; some are lost. It keeps no more than it needs."""

    def __init__(self, config: TransportConfig, seed: int, name: str) -> None:
        """Begin empty.

        Args:
            config: Delays and losses.
            seed: Of their random numbers.
            name: Of the line, which has random numbers of its own.
        """
        self._config = config
        jitter, loss, late = (effect_generator(seed, f"{name}.{effect}") for effect in ("jitter", "loss", "late"))
        self._jitter, self._loss, self._late = _drawn(jitter.standard_normal), _drawn(loss.random), _drawn(late.random)
        self._waiting: deque[tuple[float, T]] = deque()
        self._last_sent = -math.inf

    def put(self, time: float, packet: T) -> None:
        """Send a packet at ``time`` [s], which must not decrease."""
        config = self._config
        interval = time - self._last_sent if self._last_sent > -math.inf else 0.0
        self._last_sent = time
        delay = config.delay
        if config.jitter > 0.0:
            delay = max(0.0, delay + config.jitter * next(self._jitter))
        if config.late_interval > 0.0 and next(self._late) * config.late_interval < interval:
            least, largest = _LATE_DELAY
            delay += least + (largest - least) * next(self._late)
        if config.loss > 0.0 and next(self._loss) < config.loss:
            return
        self._waiting.append((time + delay, packet))  # in its turn: take() waits for those before it

    def take(self, time: float) -> T | None:
        """Return the newest packet that has arrived by ``time`` [s]; forget it and all before; None if none has."""
        arrived = None
        while self._waiting and self._waiting[0][0] <= time + _ROUNDING:
            arrived = self._waiting.popleft()[1]
        return arrived


def _drawn(draw: Callable[[int], NDArray]) -> Iterator[float]:
    """Yield numbers drawn in blocks: the same ones as drawn one by one, at a tenth of the time."""
    while True:
        yield from draw(_BLOCK).tolist()


class SampledStream(Generic[T]):
    """Samples one kind of sensor at its period and holds the newest sample that has arrived."""

    def __init__(self, config: StreamConfig, timestep: float, seed: int, name: str, first: T) -> None:
        """Begin with the sample ``first``; the period has to be a whole number of time steps [s]."""
        self._newest = first
        self._line: PacketLine[T] = PacketLine(config, seed, name)
        self._period = max(1, round(config.period / timestep))  # [physics steps]
        self._phase = int(effect_generator(seed, f"{name}.phase").integers(self._period))

    def is_due(self, step: int) -> bool:
        """Return whether a physics step is one of those at which a sample is taken."""
        return step % self._period == self._phase

    def put(self, time: float, sample: T) -> None:
        """Send a sample at ``time`` [s]."""
        self._line.put(time, sample)

    def arrived(self, time: float) -> T:
        """Return the newest sample that has arrived by ``time`` [s]."""
        sample = self._line.take(time)
        if sample is not None:
            self._newest = sample
        return self._newest


@dataclass(frozen=True, slots=True, eq=False)
class WrenchSample:
    """Readings of the force-torque sensors without errors.

    Attributes:
        step: Physics step at which they were taken.
        wrenches: Mean since the last sample, behind the low pass, [N, N·m], shape (sensors, 6).
    """

    step: int
    wrenches: NDArray


class WrenchSampler:
    """Averages the wrenches of the physics steps between two samples and passes the means through a low pass."""

    def __init__(self, time_constant: float, timestep: float, wrenches: NDArray) -> None:
        """Begin at rest with ``wrenches``, shape (sensors, 6); the time constant is 0 for no low pass, [s]."""
        self._timestep = timestep
        self._low_pass = LowPass(time_constant, wrenches) if time_constant > 0.0 else None
        self._sum, self._last_sum = np.zeros_like(wrenches), np.zeros_like(wrenches)
        self._last = WrenchSample(0, wrenches)

    def add(self, wrenches: NDArray) -> None:
        """Take the wrenches of one physics step."""
        self._sum += wrenches

    def sample(self, step: int) -> WrenchSample:
        """Return the sample at the end of physics step ``step``, the last one if no step has passed since."""
        steps = step - self._last.step
        if steps > 0:
            mean = (self._sum - self._last_sum) / steps
            self._last_sum = self._sum.copy()
            if self._low_pass is not None:
                mean = self._low_pass.update(mean, steps * self._timestep)
            self._last = WrenchSample(step, mean)
        return self._last


class SensorStreams:
    """Samples joints, force-torque sensors and inertial unit, each at its period, and holds what has arrived."""

    def __init__(
        self,
        configs: Mapping[str, StreamConfig],
        takers: Mapping[str, Callable[[int], Any]],
        timestep: float,
        seed: int,
    ) -> None:
        """Take a first sample of each stream, which arrives at once.

        Args:
            configs: Of the streams, by name.
            takers: By the same names: takes a sample after a physics step.
            timestep: Of the physics, [s].
            seed: Of phases, jitter, losses and late packets.
        """
        self._takers = dict(takers)
        self._timestep = timestep
        self._streams = {
            name: SampledStream(config, timestep, seed, name, self._takers[name](0))
            for name, config in configs.items()
            if not config.is_sampled_at_reading
        }

    def advance(self, step: int) -> None:
        """Take the samples that are due after a physics step."""
        for name, stream in self._streams.items():
            if stream.is_due(step):
                stream.put(step * self._timestep, self._takers[name](step))

    def newest(self, step: int) -> list[Any]:
        """Return the newest sample of each stream that has arrived by a physics step, in the order of the takers."""
        streams, time = self._streams, step * self._timestep
        return [streams[name].arrived(time) if name in streams else take(step) for name, take in self._takers.items()]
