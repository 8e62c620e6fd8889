"""The report's style sheet: light, dark by the reader's preference, and paper."""

CSS = """
:root {
  color-scheme: light dark;
  --paper: #ffffff; --panel: #f6f7f9; --line: #dfe3e8; --ink: #1b2330; --muted: #5d6877;
  --grid: #d9dee5; --accent: #0b62a8; --window: #f2c879; --reset: #b4234a;
  --series0: #6a7380; --series1: #0b62a8; --series2: #c04f0d; --series3: #1f7a56;
  --series4: #7a3fb0; --series5: #a8336b;
  --good: #17663f; --good-bg: #dff3e7; --bad: #9a1c3b; --bad-bg: #fbe3e8;
  --flat: #4d5866; --flat-bg: #e9ecf0; --note-bg: #fff7e3; --note-line: #e3b341;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #12161c; --panel: #1a2028; --line: #303945; --ink: #e7ebf0; --muted: #9ba7b5;
    --grid: #333d49; --accent: #6cb6ff; --window: #6b5320; --reset: #ff7b9c;
    --series0: #a3adb9; --series1: #6cb6ff; --series2: #ff9e64; --series3: #5fd0a0;
    --series4: #c9a0f5; --series5: #ff8fc0;
    --good: #7fe0ad; --good-bg: #16382a; --bad: #ff9db2; --bad-bg: #431c28;
    --flat: #b6c0cc; --flat-bg: #29313b; --note-bg: #2b2514; --note-line: #8f7429;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0; background: var(--paper); color: var(--ink);
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif;
}
main { max-width: 1240px; margin: 0 auto; padding: 2.5rem 1.5rem 4rem; }
header .kicker { color: var(--muted); font-size: .85rem; letter-spacing: .04em; margin: 0 0 .4rem; }
h1 { font-size: 1.9rem; line-height: 1.25; margin: 0 0 .6rem; letter-spacing: -.01em; }
h2 { font-size: 1.2rem; margin: 2.8rem 0 .7rem; padding-top: .9rem; border-top: 1px solid var(--line); }
h3 { font-size: 1rem; margin: 0 0 .6rem; }
p { margin: .5rem 0; max-width: 74ch; }
.lead { font-size: 1.05rem; color: var(--muted); }
.caption { color: var(--muted); font-size: .88rem; max-width: 100ch; }
.headline { border-left: 4px solid var(--accent); padding: .2rem 0 .2rem 1rem; margin: 1.2rem 0; }
.headline p { margin: .35rem 0; font-size: 1.05rem; max-width: none; }
.verdict { padding-left: 1.2rem; max-width: 90ch; }
.verdict li { margin: .3rem 0; }
.notes { background: var(--note-bg); border: 1px solid var(--note-line); border-radius: 8px;
  padding: .7rem 1rem; margin: 1.4rem 0; }
.notes ul { margin: .3rem 0; padding-left: 1.2rem; }
.scroll { overflow-x: auto; margin: .8rem 0; }
.scroll:focus-visible, summary:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
table { border-collapse: collapse; width: 100%; font-size: .9rem; }
caption { text-align: left; color: var(--muted); font-size: .88rem; padding: 0 0 .4rem; }
th, td { text-align: left; padding: .42rem .75rem .42rem 0; border-bottom: 1px solid var(--line);
  vertical-align: top; }
thead th { color: var(--muted); font-weight: 600; border-bottom: 2px solid var(--line);
  vertical-align: bottom; }
td.number { font-variant-numeric: tabular-nums; white-space: nowrap; }
td.fact { overflow-wrap: anywhere; min-width: 11rem; font-variant-numeric: tabular-nums; }
td.why { min-width: 14rem; }
td.name { min-width: 6rem; }
td small { display: block; color: var(--muted); }
td .range { color: var(--muted); font-size: .88em; margin-left: .35em; }
td.mark { padding-top: .55rem; }
tbody tr.first td, tbody tr.first th { border-top: 2px solid var(--line); }
tbody th { font-weight: 600; min-width: 7.6rem; max-width: 16rem; overflow-wrap: anywhere;
  position: sticky; left: 0; background: var(--paper); }
tbody th small { display: block; color: var(--muted); font-weight: 400; }
.chip { display: inline-block; border-radius: 999px; padding: .05rem .6rem; font-size: .82rem;
  background: var(--flat-bg); color: var(--flat); white-space: nowrap; }
td .chip.flat { white-space: normal; border-radius: .7rem; line-height: 1.3; min-width: 5.2rem; }
.chip.higher, .chip.sustained { background: var(--good-bg); color: var(--good); }
.chip.lower, .chip.diminish { background: var(--bad-bg); color: var(--bad); }
.chip.plateau { background: var(--note-bg); color: var(--ink); }
details { border: 1px solid var(--line); border-radius: 8px; padding: .5rem .9rem; margin: .9rem 0; }
summary { cursor: pointer; font-weight: 600; }
.ids code { font-size: .84rem; background: var(--panel); border-radius: 4px; padding: 0 .3em;
  margin-right: .2em; overflow-wrap: anywhere; }
.ids { max-width: none; line-height: 1.8; }
.legend { display: flex; flex-wrap: wrap; gap: .3rem 1.3rem; margin: .4rem 0 .6rem; font-size: .9rem; }
.legend span { display: inline-flex; align-items: center; gap: .45em; overflow-wrap: anywhere; }
svg.key { width: 34px; height: 12px; flex: none; }
.legend i { flex: none; width: 1.5em; border-top: 2px solid var(--series1); }
.legend i.dash { border-top-style: dashed; }
.legend i.dot { width: .6em; height: .6em; border: 2px solid var(--series2); border-radius: 50%; }
.legend i.block { height: .9em; border: 0; background: var(--window); opacity: .55; }
.legend i.reset { border-top: 2px dashed var(--reset); }
.panels { display: grid; gap: .8rem 1.2rem; margin: .6rem 0;
  grid-template-columns: repeat(auto-fill, minmax(min(100%, 290px), 1fr)); }
figure { margin: 0; min-width: 0; }
figcaption { font-weight: 600; font-size: .9rem; overflow-wrap: anywhere; }
svg.panel { display: block; width: 100%; max-width: 420px; height: auto; overflow: visible; }
svg.panel text { fill: var(--muted); font-size: 11px; font-family: inherit; }
svg.panel text.y { text-anchor: end; }
svg.panel text.x { text-anchor: middle; }
svg .grid { stroke: var(--grid); stroke-width: .7; fill: none; }
svg .tick, svg .zero { stroke: var(--muted); stroke-width: .8; fill: none; }
svg .near { fill: var(--muted); opacity: .13; }
svg .window { fill: var(--window); opacity: .35; }
svg .reset { stroke: var(--reset); stroke-width: 1.3; stroke-dasharray: 4 2; }
svg .ceiling { stroke: var(--muted); stroke-width: 1; stroke-dasharray: 3 3; }
.s0 { --c: var(--series0); } .s1 { --c: var(--series1); } .s2 { --c: var(--series2); }
.s3 { --c: var(--series3); } .s4 { --c: var(--series4); } .s5 { --c: var(--series5); }
svg .line { stroke: var(--c); stroke-width: 1.8; fill: none; stroke-linejoin: round; }
svg .line.s0, .s0 .line { stroke-dasharray: 5 3; }
svg .line.s2, .s2 .line { stroke-dasharray: 9 2; }
svg .line.s3, .s3 .line { stroke-dasharray: 2 2; }
svg .line.s4, .s4 .line { stroke-dasharray: 8 2 2 2; }
svg .line.s5, .s5 .line { stroke-dasharray: 5 2 1 2 1 2; }
svg .line.second { stroke-dasharray: 4 3; }
svg .mark { fill: var(--c); stroke: var(--c); stroke-width: 1; }
svg .mark.s0:not(.open), .s0 .mark { fill: var(--paper); }
svg .mark.open { fill-opacity: .35; }
svg .band { fill: var(--c); opacity: .15; }
svg .whisker { stroke: var(--c); stroke-width: 2; fill: none; opacity: .6; }
svg .bar { fill: var(--c); }
svg .bar.s0 { fill-opacity: .3; stroke: var(--c); stroke-width: .7; }
svg.strip { width: 104px; height: 12px; display: block; }
td svg.strip { margin-top: .1rem; }
svg.strip .sure { stroke: var(--accent); fill: var(--accent); stroke-width: 2.4; }
svg.strip .unsure { stroke: var(--muted); fill: var(--paper); stroke-width: 1.6; }
.example { background: var(--panel); border: 1px solid var(--line); border-radius: 8px;
  padding: .9rem 1rem; margin: 1rem 0; }
.example .answers { display: grid; gap: .8rem; margin-top: .8rem; grid-template-columns: repeat(auto-fit, minmax(270px, 1fr)); }
pre { white-space: pre-wrap; overflow-wrap: anywhere; margin: .3rem 0 0; padding: .6rem .7rem;
  background: var(--paper); border: 1px solid var(--line); border-radius: 6px; max-height: 22rem;
  overflow-y: auto; font: .84rem/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
footer { margin-top: 3rem; color: var(--muted); font-size: .88rem; }
@media print {
  :root {
    color-scheme: light;
    --paper: #ffffff; --panel: #ffffff; --line: #c8ced6; --ink: #000000; --muted: #444c57;
    --grid: #cfd5dc; --accent: #0b62a8; --window: #f2c879; --reset: #b4234a;
    --series0: #5f6874; --series1: #0b62a8; --series2: #b54a0b; --series3: #1b6f4e;
    --series4: #6c35a0; --series5: #98285f;
    --good: #17663f; --good-bg: #ffffff; --bad: #9a1c3b; --bad-bg: #ffffff;
    --flat: #4d5866; --flat-bg: #ffffff; --note-bg: #ffffff; --note-line: #8f7429;
  }
  @page { margin: 14mm 12mm; }
  html { font-size: 9pt; }
  body { font-size: 9pt; }
  main { max-width: none; padding: 0; }
  h1 { font-size: 16pt; }
  h2, h3, summary, figcaption { break-after: avoid; }
  .notes, figure, tr, .headline { break-inside: avoid; }
  .example h3, .example strong { break-after: avoid; }
  .example .answers { grid-template-columns: repeat(3, 1fr); }
  .panels { grid-template-columns: repeat(3, 1fr); }
  table { font-size: 7.6pt; }
  td .range { display: block; margin: 0; white-space: nowrap; }
  th, td { padding-right: .5rem; }
  td.number { white-space: normal; }
  td.why, td.fact, td.name { min-width: 0; }
  tbody th { position: static; min-width: 4.6rem; overflow-wrap: break-word; }
  svg.strip { width: 64px; height: 8px; }
  details { border: 0; padding: 0; }
  details::details-content { content-visibility: visible; display: block; height: auto; }
  summary { list-style: none; }
  pre { max-height: none; overflow: visible; }
  .scroll { overflow: visible; }
  .chip { border: 1px solid currentColor; }
}
@media (max-width: 560px) {
  main { padding: 1.2rem .9rem 3rem; }
  h1 { font-size: 1.35rem; }
  .lead, .headline p { font-size: 1rem; }
  details { padding: .4rem .6rem; }
}
"""
