"""Comparisons, an experiment and worksheets, filled, with a text from outside where one can stand."""

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import Any

from forms.comparison.judged_sides import Sides
from forms.comparison.report import comparison_report
from forms.comparison.summary import comparisons
from forms.diagnosis.report import diagnosis_report
from forms.experiments.kinds_report import experiment_report
from forms.isolation.report import isolation_report
from forms.load.report import load_report
from forms.quick.comparison import compare_quick_tests
from forms.quick.comparison_report import quick_comparison_report
from forms.quick.report import quick_report
from forms.report import Report
from forms.series.report import series_report
from forms.series.summary import run_form
from forms.who.report import who_report
from forms.worksheets.bottleneck_report import bottleneck_report
from forms.worksheets.users import UserGroup, UsersCalculation
from forms.worksheets.users_report import users_report
from storage.looks import Diagnosis, StageName
from storage.quick.records import Quick
from storage.records import Change, Command, Decision, Evidence, Series, Target
from tests.builders import example_isolation, interleaved, random_series, series
from tests.diagnoses import healthy_but, long_run_stage, small_files_stage
from tests.forms.worksheets.table_b5 import B5
from tests.loads import golden_load, golden_prediction
from tests.quick_tests import RND_Q1, SEQ_Q8, quick_test
from tests.recordings import WHO


def one_of(index: int, rate: float, **fields: Any) -> Series:
    rates = [rate * (1 + step / 1000) for step in (0, 2, -1, 1, 3)]
    usual: dict[str, Any] = {
        "id": f"{index:012x}",
        "created_at": f"2026-01-31T1{index}:00:00.000Z",
        "experiment": "nic",
    }
    return series(rates, **{**usual, **fields})


def experiment(text: str = "strict sync") -> list[Series]:
    return [
        one_of(0, 100e6, label="as found"),
        one_of(
            1, 112e6, change=Change(name=text, value="no", previous="Yes", evidence=Evidence.CONFIRMED, remark="seen")
        ),
        one_of(
            2,
            90e6,
            base_id=f"{1:012x}",
            decision=Decision.REVERTED,
            change=Change(name="mtu", value="9000", evidence=Evidence.UNCONFIRMED, also_changed=(f"kernel {text}",)),
        ),
    ]


def book_b1() -> list[Series]:
    """Table B-1's SPARC rows: FTP, untuned and tuned Samba, get and put, in KB/s as printed."""
    found: list[Series] = []
    rows = ((Command.GET, (1014.5, 645.3, 866.7)), (Command.PUT, (379.8, 386.1, 329.5)))
    for command, rates in rows:
        for label, rate in zip(("", "untuned Samba", "tuned Samba"), rates, strict=True):
            protocol = "smb" if label else "ftp"
            target = Target(protocol=protocol, host="sparc", share="data" if label else None, path="big")
            number = len(found)
            made = series([rate * 1000] * 5, id=f"{number:012x}", label=label, command=command, target=target)
            found.append(made)
    return found


def three_months(text: str) -> list[Series]:
    """The same file in March, April and May: at first a shaper on this machine let less through than was given."""
    shaped = {"link.rate_bits_per_second": 500_000_000, "link.shaper_bits_per_second": 500_000_000}
    opened = {"link.rate_bits_per_second": 1_000_000_000, "link.shaper_bits_per_second": 1_000_000_000}
    months = ((3, "march", 59e6, shaped), (4, "april", 119e6, opened), (5, text, 119.2e6, opened))
    all_series = []
    for month, label, rate, path in months:
        # One run stands out, which the judged average leaves out.
        rates = [rate, 1.001 * rate, 0.9 * rate, 1.002 * rate, 0.999 * rate]
        facts = {"path": {**path, "link.shaper": "tbf"}, "client": {"host.name": "alpha", "measured.by": "Anna"}}
        moment = f"2026-0{month}-02T10:00:00.000Z"
        all_series.append(series(rates, id=f"{month:012x}", label=label, created_at=moment, environment=facts))
    return all_series


def several(text: str) -> Report:
    """Each month beside March, and beside the one before."""
    march, april, may = three_months(text)
    beside_march = comparisons([Sides(base=(march,), other=(other,)) for other in (april, may)])
    neighbours = comparisons([Sides(base=(base,), other=(other,)) for base, other in ((march, april), (april, may))])
    return comparison_report([march, april, may], beside_march, neighbours)


@cache
def diagnosis(folder: str) -> Diagnosis:
    """Small files as fast as their path, but a long run that becomes slow."""
    return healthy_but(
        small_files_stage(0.0026),
        long_run_stage(100e6, 10e6),
        complaint=StageName.SMALL_FILES,
        folder=folder,
    )


def faster_quick_test() -> Quick:
    """One line became faster and one slower, of a smaller file."""
    rates = {
        (SEQ_Q8, Command.GET): (290e6, 287e6, 292e6),
        (RND_Q1, Command.PUT): (3e6, 3.1e6, 3.05e6),
    }
    fields = {"id": "bb77bb77bb77", "created_at": "2026-01-31T11:00:00.000Z", "file_bytes": 64 << 20}
    return quick_test(rates, **fields)


@cache
def reports(text: str = "strict sync") -> Mapping[str, Report]:
    """By their names; made once for all tests, of which most look at one of them."""
    base, other, _ = experiment(text)
    office = UserGroup(name=text, clients=36, transfers_per_second=2.3, file_bytes=12_000)
    return {
        "comparison": comparison_report(interleaved(base, replace(other, label=text))),
        "matrix": comparison_report(book_b1()),
        "several": several(text),
        "experiment": experiment_report(text, experiment(text)),
        "load": load_report(golden_load(text), golden_prediction(text)),
        "isolation": isolation_report(replace(example_isolation(), label=text)),
        "diagnosis": diagnosis_report(diagnosis(text)),
        "who": who_report(replace(WHO, sessions=(replace(WHO.sessions[0], users=(text,)), *WHO.sessions[1:]))),
        "quick": quick_report(quick_test(label=text)),
        "quick_comparison": quick_comparison_report(compare_quick_tests(quick_test(label=text), faster_quick_test())),
        "random": series_report(run_form(random_series([2000, 2020, 1990, 2010, 2000], read_percent=70, label=text))),
        "bottleneck": bottleneck_report(B5, text),
        "clients": users_report(
            UsersCalculation(capacity_bytes_per_second=960e3, capacity_source=text, groups=(office, office)), text
        ),
    }
