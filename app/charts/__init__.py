"""Terminal pictures of forms: pure functions that give lines of text, with or without colour."""

from app.charts.compared import compared_chart
from app.charts.ladder import ladder_chart
from app.charts.rates import rates_chart
from app.charts.sweep import SweepPoint, sweep_chart
from app.charts.within import within_chart

__all__ = ["SweepPoint", "compared_chart", "ladder_chart", "rates_chart", "sweep_chart", "within_chart"]
