"""What samples of a machine say of a run: of its own time alone, with the kernel's part apart from others'."""

from app.isolation.run_resources import ResourceWatch, with_resources
from app.server.host_activity import ProcessorTicks
from app.server.resources import ResourceSample
from storage.isolation import Layer, LayerRun


def sample(at: float, *, moved: int = 0, busy: int = 0, **changes: int) -> ResourceSample:
    processors = ProcessorTicks(user=busy, idle=round(200 * at) - busy, interrupts=changes.get("interrupts", 0))
    return ResourceSample(
        at_seconds=at, uptime_seconds=at, processors=processors, server_ticks=busy // 2,
        kernel_ticks=changes.get("kernel_ticks", 0), interfaces={"eth0": (moved, 2 * moved), "eth1": (1, 1)},
    )  # fmt: skip


class Sampler:
    """Counters of a link that stands still until the run begins."""

    problem = None

    def samples(self, since: float, until: float) -> list[ResourceSample]:
        half_seconds = [step / 2 for step in range(20)]
        everything = [sample(at, moved=round(6e6 * max(0.0, at - 5))) for at in half_seconds]
        return [one for one in everything if since <= one.at_seconds <= until]


def test_the_cards_rates_are_those_of_the_run_alone():
    run = LayerRun(round=1, layer=Layer.SERVER, clients=4)
    found = ResourceWatch(Sampler(), None).run_with_use(run, 5.0, 8.0)  # type: ignore[arg-type]
    assert (found.in_bytes_per_second, found.out_bytes_per_second) == (6e6, 12e6)


def test_the_kernels_part_is_its_threads_and_its_interrupts():
    samples = [sample(0), sample(1, busy=100, kernel_ticks=10, interrupts=20)]
    run = with_resources(LayerRun(round=1, layer=Layer.SERVER, clients=4), samples)
    assert run.processes == {"server": 25.0, "kernel": 15.0}
