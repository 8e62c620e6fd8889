"""The report's style sheet: light, dark by the reader's preference, and paper."""

CSS = """
:root {
  color-scheme: light dark;
  --paper: #ffffff; --panel: #f6f7f9; --line: #dfe3e8; --ink: #1b2330; --muted: #5d6877;
  --grid: #d9dee5; --accent: #0b62a8; --window: #f2c879; --reset: #b4234a;
  --series0: #76808d; --series1: #0b62a8; --series2: #c65311; --series3: #23805c;
  --good: #17663f; --good-bg: #dff3e7; --bad: #9a1c3b; --bad-bg: #fbe3e8;
  --flat: #4d5866; --flat-bg: #e9ecf0; --note-bg: #fff7e3; --note-line: #e3b341;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #12161c; --panel: #1a2028; --line: #303945; --ink: #e7ebf0; --muted: #9ba7b5;
    --grid: #333d49; --accent: #6cb6ff; --window: #6b5320; --reset: #ff7b9c;
    --series0: #95a0ad; --series1: #6cb6ff; --series2: #ff9e64; --series3: #5fd0a0;
    --good: #7fe0ad; --good-bg: #16382a; --bad: #ff9db2; --bad-bg: #431c28;
    --flat: #b6c0cc; --flat-bg: #29313b; --note-bg: #2b2514; --note-line: #8f7429;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0; background: var(--paper); color: var(--ink);
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif;
}
main { max-width: 1060px; margin: 0 auto; padding: 2.5rem 1.5rem 4rem; }
header .kicker { color: var(--muted); font-size: .85rem; letter-spacing: .04em; margin: 0 0 .4rem; }
h1 { font-size: 1.9rem; line-height: 1.25; margin: 0 0 .6rem; letter-spacing: -.01em; }
h2 { font-size: 1.2rem; margin: 2.8rem 0 .7rem; padding-top: .9rem; border-top: 1px solid var(--line); }
h3 { font-size: 1rem; margin: 0 0 .6rem; }
p { margin: .5rem 0; max-width: 74ch; }
.lead { font-size: 1.05rem; color: var(--muted); }
.caption { color: var(--muted); font-size: .88rem; }
.headline { border-left: 4px solid var(--accent); padding: .2rem 0 .2rem 1rem; margin: 1.2rem 0; }
.headline p { margin: .35rem 0; font-size: 1.05rem; max-width: none; }
.notes { background: var(--note-bg); border: 1px solid var(--note-line); border-radius: 8px;
  padding: .7rem 1rem; margin: 1.4rem 0; }
.notes ul { margin: .3rem 0; padding-left: 1.2rem; }
.scroll { overflow-x: auto; margin: .8rem 0; }
table { border-collapse: collapse; width: 100%; font-size: .92rem; }
th, td { text-align: left; padding: .42rem .8rem .42rem 0; border-bottom: 1px solid var(--line);
  vertical-align: top; }
thead th { color: var(--muted); font-weight: 600; border-bottom: 2px solid var(--line); }
td.number { font-variant-numeric: tabular-nums; white-space: nowrap; }
td .range { color: var(--muted); font-size: .86em; margin-left: .35em; }
tbody tr.first td, tbody tr.first th { border-top: 2px solid var(--line); }
tbody th { font-weight: 600; }
tbody th small { display: block; color: var(--muted); font-weight: 400; }
.chip { display: inline-block; border-radius: 999px; padding: .05rem .6rem; font-size: .82rem;
  background: var(--flat-bg); color: var(--flat); white-space: nowrap; }
.chip.higher { background: var(--good-bg); color: var(--good); }
.chip.lower { background: var(--bad-bg); color: var(--bad); }
.legend { display: flex; flex-wrap: wrap; gap: .3rem 1.3rem; margin: .4rem 0 .2rem; font-size: .9rem; }
.legend span::before { content: ""; display: inline-block; width: 1.1em; height: .28em;
  border-radius: 2px; margin-right: .5em; vertical-align: .2em; background: var(--key); }
.legend span.block::before { height: .9em; vertical-align: -.12em; opacity: .55; }
.legend span.dash::before { background: repeating-linear-gradient(90deg,
  var(--key) 0 .3em, transparent .3em .5em); }
.legend span.dot::before { width: .55em; height: .55em; border-radius: 50%; vertical-align: .03em; }
svg.figure { display: block; width: 100%; height: auto; max-width: 1010px; margin: .3rem 0 .6rem; }
svg.figure text { font-family: inherit !important; }
.example { background: var(--panel); border: 1px solid var(--line); border-radius: 8px;
  padding: .9rem 1rem; margin: 1rem 0; }
.example .answers { display: grid; gap: .8rem; grid-template-columns: repeat(auto-fit, minmax(270px, 1fr)); }
pre { white-space: pre-wrap; overflow-wrap: anywhere; margin: .3rem 0 0; padding: .6rem .7rem;
  background: var(--paper); border: 1px solid var(--line); border-radius: 6px; max-height: 22rem;
  overflow-y: auto; font: .84rem/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
footer { margin-top: 3rem; color: var(--muted); font-size: .88rem; }
@media print {
  :root {
    color-scheme: light;
    --paper: #ffffff; --panel: #ffffff; --line: #c8ced6; --ink: #000000; --muted: #444c57;
    --grid: #cfd5dc; --accent: #0b62a8; --window: #f2c879; --reset: #b4234a;
    --series0: #76808d; --series1: #0b62a8; --series2: #c65311; --series3: #23805c;
    --good: #17663f; --good-bg: #ffffff; --bad: #9a1c3b; --bad-bg: #ffffff;
    --flat: #4d5866; --flat-bg: #ffffff; --note-bg: #ffffff; --note-line: #8f7429;
  }
  body { font-size: 10.5pt; }
  main { max-width: none; padding: 0; }
  h2 { break-after: avoid; }
  .example, .notes, svg.figure, tr { break-inside: avoid; }
  pre { max-height: none; overflow: visible; }
  .scroll { overflow: visible; }
  .chip { border: 1px solid currentColor; }
}
"""
