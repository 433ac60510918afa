/** The rules of the pages. Distances follow the direction of the text (`inline`, `block`), so they suit both. */
export const RULES = `
*, ::before, ::after { box-sizing: border-box }
html { color-scheme: light dark; -webkit-text-size-adjust: 100%; text-size-adjust: 100% }
body { margin: 0; background: var(--page); color: var(--text); font: .9375rem/1.5 system-ui, -apple-system, "Segoe UI",
  Roboto, "Noto Sans", sans-serif; overflow-wrap: anywhere }
main, header, footer { max-inline-size: 80rem; margin-inline: auto; padding-inline: clamp(1rem, 4vw, 2.5rem) }
main { padding-block: 1rem 1.5rem }
header { padding-block-start: 1.25rem }
footer { padding-block: 1rem 2.5rem; color: var(--muted); font-size: .875rem }
h1 { margin: 0 0 1rem; font-size: 1.625rem; line-height: 1.2; letter-spacing: -.015em; text-wrap: balance;
  overflow-wrap: break-word }
h2 { margin: 0 0 .8rem; font-size: 1.1rem; line-height: 1.3 }
p { margin: 0 0 1rem }
a { color: var(--accent); text-underline-offset: .18em; text-decoration-thickness: .07em }
a:hover { text-decoration-thickness: .14em }
footer a, a:not([href]) { color: inherit }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; border-radius: 4px }
.skip { position: fixed; inset-inline-start: 1rem; inset-block-start: -4rem; padding: .5rem 1rem;
  background: var(--fill); color: var(--on-fill); z-index: 3 }
.skip:focus { inset-block-start: .5rem }
.bar { background: var(--surface); border-block-end: 1px solid var(--line) }
.bar ul { display: flex; max-inline-size: 80rem; margin: 0 auto; padding: 0 clamp(1rem, 4vw, 2.5rem); gap: 0 1.25rem;
  overflow-x: auto; list-style: none; white-space: nowrap; scrollbar-width: none }
.bar a, .bar span { display: block; padding-block: .625rem; border-block-end: 2px solid transparent;
  line-height: 1.3125rem;
  color: var(--muted); text-decoration: none }
.bar a:hover { color: var(--text); text-decoration: underline }
.bar [aria-current] { border-color: var(--accent); color: var(--text) }
.bar img { height: 1em; margin-inline-end: 8px; vertical-align: middle }
.bar .brand > * { max-inline-size: 16rem; overflow: hidden; border-color: transparent; font-weight: 700;
  text-overflow: ellipsis; color: var(--text) }
.breadcrumb, .children, .conditions, .values { margin: 0; padding: 0; list-style: none }
.breadcrumb { gap: .4rem; font-size: .9rem; color: var(--muted) }
.breadcrumb li { max-inline-size: min(20rem, 60vw); margin: -4px; padding: 4px; overflow: hidden;
  text-overflow: ellipsis; white-space: nowrap }
.breadcrumb li + li::before { content: "/"; margin-inline-end: .4rem; color: var(--edge) }
.title { display: flex; gap: .75rem 1.5rem; align-items: center; justify-content: space-between;
  margin-block-end: 1.25rem }
.title h1 { margin: 0; min-inline-size: 0 }
.tools { flex: none; gap: .6rem .75rem; max-inline-size: 60% }
.children { gap: .5rem 1.5rem; margin-block-end: 1.25rem }
.lead { font-size: 1.1rem; max-inline-size: 44rem }
.card { margin-block: 2rem 0; padding: clamp(1rem, 3vw, 1.75rem); scroll-margin-block-start: 1rem }

/* The notice after a write: the fragment of the URL shows it. */
.notice:target { display: block; margin-block-end: 1.25rem; padding: .6rem 1rem; background: var(--good-wash);
  border: 1px solid var(--good); border-inline-start-width: 4px; border-radius: 6px; color: var(--good);
  font-weight: 600; outline: 0; scroll-margin-block-start: 8rem }

/* Tables: lines between the rows, and on a narrow screen a card for each. */
table { border-collapse: collapse; inline-size: 100% }
th, td { padding: .5rem .8rem; text-align: start; vertical-align: top }
th { font-size: .8125rem; font-weight: 600; color: var(--muted); vertical-align: bottom }
.scroll { max-block-size: max(85vh, 20rem); overflow: auto }
.list { border-collapse: separate; border-spacing: 0 }
.list th, .list td { white-space: nowrap }
.list td { max-inline-size: 16rem; overflow: hidden; text-overflow: ellipsis;
  border-block-start: 1px solid var(--line) }
.list th { position: sticky; inset-block-start: 0; z-index: 1; background: var(--surface) }
.list tr > :first-child { position: sticky; inset-inline-start: 0; background: inherit }
.list tr > th:first-child { z-index: 2 }
.list tr { background: var(--surface) }
/* Values have their own direction (dir=auto), but stand at the side where the page begins. */
.record dd, .list td:not(.number) { text-align: left }
[dir=rtl] [type=number] { direction: ltr; text-align: right }
[dir=rtl] .record dd, [dir=rtl] .list td:not(.number) { text-align: right }
/* A number or a time is never cut off: beside a label that leaves no room, it begins a line of its own. */
.list td:is(.number, :has(> time)) { max-inline-size: none; white-space: normal; overflow-wrap: normal }
time { display: inline-block; white-space: nowrap }
.list td:empty::before { content: "\\2013"; color: var(--muted) }
.list td:first-child { max-inline-size: 24rem }
.list td:first-child:has(> :is(a, button)) { padding: 0 }
.list td:first-child > :is(a, button) { display: block; padding: .5rem .8rem; overflow: hidden; font-weight: 600;
  text-overflow: ellipsis; text-decoration: none; unicode-bidi: plaintext }
.list td > button { inline-size: 100%; background: none; border: 0; color: var(--accent); text-align: inherit }
.list td:first-child > :hover, .related h2 a:hover { text-decoration: underline }
.list .id, .record .id dd { font-size: .8125rem; color: var(--muted) }
.bar :focus-visible, .list :focus-visible { outline-offset: -3px }
.scroll:not(:has(th a)) { max-block-size: none }
th a, .related h2 a { color: inherit; text-decoration: none }
th a { padding-block: .5rem }
th a:hover { color: var(--accent); text-decoration: underline }
th a::after { content: "\\2195"; position: absolute; padding-inline-start: .2rem; opacity: 0 }
th a:hover::after, th a:focus-visible::after { opacity: .6 }
[aria-sort] a { color: var(--accent) }
[aria-sort=ascending] a::after { content: "\\2191"; opacity: 1 }
[aria-sort=descending] a::after { content: "\\2193"; opacity: 1 }
.badge { display: inline-block; padding-inline: .55rem; border-radius: 1rem; font-size: .8125rem; font-weight: 600;
  line-height: 1.3125rem; background: color-mix(in srgb, var(--hue, var(--muted)) 15%, var(--surface));
  color: color-mix(in srgb, var(--hue, var(--text)) 50%, var(--text)) }
.b1 { --hue: #26d }
.b2 { --hue: #94c }
.b3 { --hue: #088 }
.b4 { --hue: #b38 }
/* Digits go from left to right in every language, so that the units of a column stand at the right. */
.number { text-align: right; font-variant-numeric: tabular-nums }
.empty { padding: 2.5rem 1rem; text-align: center; background: var(--surface); border: 1px dashed var(--edge);
  border-radius: 10px }
.empty p::first-letter, .problem li::first-letter { text-transform: uppercase }
.pages { gap: 1rem; justify-content: space-between; margin-block: 1rem }
.pages > :is([rel=next], button) { margin-inline-start: auto }

/* A record: names beside values. */
dl, dd, .related h2 { margin: 0 }
.record > div { display: grid; grid-template-columns: minmax(7rem, 14rem) minmax(0, 1fr); gap: .25rem 1.5rem;
  padding: .5rem clamp(1rem, 3vw, 1.5rem) }
.record > div + div { border-block-start: 1px solid var(--line) }
.record dd { white-space: pre-wrap; max-inline-size: 50rem }
.record > div > dd:target { outline: 3px solid var(--accent); outline-offset: 4px; border-radius: 4px }
.values { white-space: normal }
ul.values { gap: .35rem }
ul.values > li { padding: .05rem .6rem; border: 1px solid var(--line); border-radius: 1rem }
ul.values > li:has(> .badge) { padding: 0; border: 0 }
ul.values > li:has(dl) { flex: 1 0 100%; padding: .5rem .9rem; border-radius: 8px }
dl.values > div { gap: 0 .6rem }

summary { cursor: pointer; font-weight: 600 }
.filter, .condition { gap: .5rem .75rem }
.filter { margin-block-end: 1rem }
.filter .error { flex-basis: 100%; margin: 0 }
.filter details[open], .condition { inline-size: 100% }
.filter summary { inline-size: fit-content; font-weight: 400; list-style: none }
details > .condition { margin-block-start: .5rem }
.condition > input, .condition > select { inline-size: auto; max-inline-size: 100% }
.total, .range, .empty p:last-child { margin: 0; color: var(--muted) }
.total { flex: 1; white-space: nowrap }
.search { display: flex; flex: 0 1 25rem; gap: .5rem }
.search input { min-inline-size: 5rem }
.search button { flex: none }
.conditions { gap: .4rem .75rem }
.chip { display: inline-block; padding: .15rem .7rem; background: var(--hover); border-radius: 1rem; font-size: .875rem;
  color: inherit; text-decoration: none }
.chip:hover { box-shadow: inset 0 0 0 1px var(--edge) }
.danger .primary { background: var(--danger); border-color: var(--danger); color: var(--on-danger) }
.danger .primary:hover { box-shadow: inset 0 0 0 2px var(--on-danger) }
.problem { margin-block-end: 1.75rem; padding: 1.1rem 1.25rem; background: var(--wash);
  border: 2px solid var(--danger); border-radius: 10px; max-inline-size: 46rem }
.problem ul { margin: 0; padding-inline-start: 1.2rem }
.problem li { padding-block: .15rem }
.problem a { color: var(--danger); font-weight: 600 }

@media (max-width: 40rem) {
  .bar li:not(.brand, :has([aria-current])) { order: 1 }
  .title { flex-wrap: wrap }
  .tools { max-inline-size: 100% }
  .scroll { max-block-size: none }
  .list thead tr { display: flex; padding: .4rem; overflow-x: auto }
  th a::after { position: static; opacity: .6 }
  .list th, .list tr > :first-child { position: static }
  .list th { padding: .25rem .5rem }
  .list, .list thead, .list tbody, .list tbody tr { display: block }
  .list thead:not(:has(a)) { display: none }
  .list td, .list td:first-child { display: block; max-inline-size: none; padding: .3rem .8rem; border: 0;
    direction: inherit; unicode-bidi: plaintext }
  .list .number { text-align: start; unicode-bidi: normal }
  .list td::before { content: attr(data-label); float: inline-start; font-family: system-ui; inline-size: 7rem;
    margin-inline-end: .75rem; font-size: .85rem; white-space: normal; color: var(--muted) }
  .list td:empty { display: none }
  .list td:first-child::before { content: none }
  .list tbody tr { padding-block: .6rem; border-block-start: 1px solid var(--line) }
  .list thead:not(:has(a)) + tbody > tr:first-child { border: 0 }
  .record > div { grid-template-columns: minmax(0, 1fr) }
}
@media (prefers-reduced-motion: no-preference) {
  html { scroll-behavior: smooth }
}
@media (forced-colors: active) {
  .primary, .button { border: 2px solid }
}
@media print {
  :root { --page: #fff; --surface: #fff; --text: #000; --muted: #444; --accent: #000 }
  .skip, .bar, .notice:target, header, footer, form, .card, .pages,
  .tools, .children, th a::after { display: none }
  .scroll { max-block-size: none; overflow: visible }
  .scroll, .record { border: 0 }
  .list tr, .record > div { break-inside: avoid }
}
`
