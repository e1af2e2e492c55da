"""The style sheet of the HTML forms; ``PAPER`` stands for the paper size.

Every pair of text and background colours has a contrast of at least 4.5 (WCAG 2.1, 1.4.3), which a test computes.
"""

LIGHT = {
    "paper": "#ffffff",
    "ink": "#1b1b1b",
    "faint": "#595959",
    "line": "#8a8a8a",
    "bar": "#2f5f98",
    "band": "#dfe7f1",
    "level": "#a33f00",
    "warn": "#8f1d1d",
}
DARK = {
    "paper": "#16181b",
    "ink": "#ececec",
    "faint": "#b0b0b0",
    "line": "#7d7d7d",
    "bar": "#7fb0ea",
    "band": "#28323f",
    "level": "#ffab6b",
    "warn": "#ff9d9d",
}


def _variables(colours: dict[str, str]) -> str:
    return " ".join(f"--{name}: {value};" for name, value in colours.items())


STYLE = f"""
:root {{ {_variables(LIGHT)} color-scheme: light dark; }}
@media (prefers-color-scheme: dark) {{ :root {{ {_variables(DARK)} }} }}
* {{ box-sizing: border-box; }}
body {{ margin: 0; background: var(--paper); color: var(--ink);
  font: 15px/1.4 system-ui, "Liberation Sans", "DejaVu Sans", sans-serif; }}
main {{ max-width: 62rem; margin: 0 auto; padding: 1.2rem; }}
article + article {{ margin-top: 2.5rem; border-top: 2px solid var(--line); padding-top: 1.5rem; }}
h1, h2 {{ font-size: 1.35rem; margin: 0 0 .7rem; overflow-wrap: anywhere; }}
dl {{ margin: .6rem 0; }}
dl div {{ display: grid; grid-template-columns: 10.5rem 1fr; gap: .8rem; padding: .1rem 0; }}
dt {{ color: var(--faint); }}
dd {{ margin: 0; white-space: pre-wrap; overflow-wrap: anywhere; }}
table {{ border-collapse: collapse; width: 100%; margin: .9rem 0; font-variant-numeric: tabular-nums; }}
caption {{ text-align: left; color: var(--faint); padding-bottom: .25rem; }}
th, td {{ padding: .22rem .55rem; text-align: right; border: 1px solid var(--line); vertical-align: top; }}
th.text, td.text {{ text-align: left; }}
thead th {{ border-bottom: 2px solid var(--ink); vertical-align: bottom; }}
tbody th {{ font-weight: normal; }}
tr.result th, tr.result td {{ font-weight: 600; }}
tbody tr:not(.result) + tr.result th, tbody tr:not(.result) + tr.result td {{ border-top: 2px solid var(--ink); }}
tr.warm-up th, tr.warm-up td {{ color: var(--faint); font-style: italic; }}
tr.rejected th, tr.rejected td, tr.put-back th, tr.put-back td, tr.failed th, tr.failed td {{ color: var(--warn); }}
tr.unusual th, tr.unusual td:not(.remark) {{ font-weight: 600; }}
tr.bottleneck th, tr.bottleneck td {{ font-weight: 700; }}
td.remark {{ overflow-wrap: anywhere; }}
figure {{ margin: 1rem 0 0; }}
svg {{ width: 100%; height: auto; display: block; }}
svg text {{ fill: var(--ink); font-size: 12px; }}
svg text.sign {{ font-size: 15px; font-weight: 700;
  paint-order: stroke; stroke: var(--paper); stroke-width: 4px; }}
svg .grid {{ stroke: var(--line); stroke-width: .5; }}
svg .band {{ fill: var(--band); stroke: var(--line); stroke-width: .5; stroke-dasharray: 1 3; }}
svg .bar {{ fill: var(--bar); }}
svg .hatch {{ fill: var(--warn); }}
svg .rejected {{ stroke: var(--warn); stroke-width: 1.5; stroke-dasharray: 4 3; }}
svg .least {{ fill: var(--level); }}
svg .unusual {{ fill: var(--paper); stroke: var(--bar); stroke-width: 3; }}
svg .mean {{ stroke: var(--level); stroke-width: 2; }}
svg .reference {{ stroke: var(--ink); stroke-width: 2; stroke-dasharray: 8 4; }}
svg .curve {{ stroke: var(--bar); stroke-width: 2; }}
svg .casing {{ stroke: var(--paper); stroke-width: 4; }}
svg .whisker {{ stroke: var(--ink); stroke-width: 1.5; }}
svg .frame {{ fill: none; stroke: var(--ink); stroke-width: 1.2; }}
svg text.title {{ font-weight: 600; }}
ul {{ padding-left: 1.2rem; }}
.blank dd {{ border-bottom: 1px solid var(--line); min-height: 1.5em; }}
.blank tbody td, .blank tbody th {{ height: 2.2em; }}
@page {{ size: PAPER portrait; margin: 14mm; }}
@media print {{
  :root {{ {_variables(LIGHT)} color-scheme: light; }}
  body {{ font-size: 8.5pt; line-height: 1.25; }}
  main {{ max-width: none; padding: 0 .5mm; }}
  article, article + article {{ break-after: page; margin: 0; padding: 0; border: 0; }}
  article:last-child {{ break-after: auto; }}
  figure, tr, li, dl div {{ break-inside: avoid; }}
  thead {{ display: table-header-group; }}
  h1, h2 {{ font-size: 13pt; }}
  dl, table, ul {{ margin: 2mm 0; }}
  dl div {{ padding: 0; }}
  figure {{ margin: 2mm 0 0; }}
  .long figure {{ max-width: 130mm; }}
  svg text {{ font-size: 12px; }}
  .long svg text {{ font-size: 13px; }}
  th, td {{ padding: .12rem .4rem; }}
  * {{ print-color-adjust: exact; }}
}}
""".strip()
