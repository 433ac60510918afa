/** The rules of the pages. Distances follow the direction of the text (`inline`, `block`), so they suit both. */
export const RULES = `
.scroll, .record, .card, .conflict, .empty, .selection { background: var(--surface); border: 1px solid var(--line);
  border-radius: 10px }
.tools, .filter, [open], .condition, .conditions, .actions, .selection, th:has(> form) { align-items: center }
.tools, .filter, [open]:has(.conditions), .condition, .conditions, .actions, .selection, .breadcrumb, .children,
.pages, .pages > div, .inline, ul.values, .values > div, .add {
  display: flex; flex-wrap: wrap }
/* Forms: a label above each control. */
.form > * { max-inline-size: 46rem }
.form > .table:has(.line) { max-inline-size: 60rem }
fieldset { min-inline-size: 0; margin: 0 0 1.25rem; padding: 0; border: 0 }
.field { margin-block-end: 1.1rem }
label, legend { font-weight: 600 }
legend { padding: 0; margin-block-end: .25rem }
.field > label { display: block; margin-block-end: .25rem }
.optional { font-weight: 400; font-size: .85rem }
.explanation { margin: 0 0 .35rem; font-size: .9rem }
.error { margin: 0 0 .35rem; font-weight: 600; color: var(--danger) }
input, select, textarea, button, .button { font: inherit; color: inherit; border-radius: 6px }
input:not([type=radio], [type=checkbox]), select, textarea { inline-size: 100%; padding: .42rem .65rem;
  background: var(--surface); border: 1px solid var(--edge) }
input:is([type^=date], [type=time]), .form select { inline-size: auto; max-inline-size: 100%;
  min-inline-size: 9rem; min-block-size: 2.4rem }
.w4 > input { max-inline-size: 6rem }
.w10 > input { max-inline-size: 9rem }
.w20 > input { max-inline-size: 16rem }
textarea { display: block; min-block-size: 2.4rem; max-block-size: 40rem; resize: vertical; field-sizing: content }
textarea[rows="5"] { min-block-size: 8rem }
.code, .list .id, .record .id dd { font-family: ui-monospace, "Cascadia Mono", Menlo, Consolas, monospace;
  font-size: .9rem }
.wrong { padding-inline-start: 1rem; border-inline-start: 4px solid var(--danger) }
[aria-invalid][aria-invalid] { border-color: var(--danger) }
.choice { display: flex; gap: .6rem; align-items: start; padding-block: .2rem }
.choice label { font-weight: 400 }
.inline { gap: 0 1.5rem }
.checkbox .choice label { font-weight: 600 }
[type=radio], [type=checkbox] { inline-size: 1.15rem; block-size: 1.15rem; flex: none; margin: .2rem 0 0;
  accent-color: var(--accent) }
.offset { margin-block-start: .3rem; font-size: .9rem }
.offset summary, .blank summary { color: var(--muted); font-weight: 400 }
.group, .rows, .free { padding: 1rem 1.1rem .25rem; border: 1px solid var(--line); border-radius: 10px }
.group legend, .rows legend, .free legend { padding-inline: .4rem; margin-inline-start: -.4rem }
.row { display: flex; gap: .5rem; align-items: start; margin-block-end: .5rem }
.row > .field { flex: 1; inline-size: 100%; margin: 0; padding: 0; border: 0 }
.row > .group > legend { margin: 0 0 .4rem; padding: 0 }
.rows:not(.table) > .row { flex-direction: column; margin-block-end: 1rem; padding-block-end: 1rem;
  border-block-end: 1px solid var(--line) }
.line { display: flex; gap: .5rem; align-items: start }
.line > .field { flex: 99 1 11rem; min-inline-size: 0; margin: 0 }
.line > .w4 { flex: 1 1 6rem }
.line > :is(.w10, .select, .checkbox) { flex: 1 1 8.5rem }
.line > .w20 { flex: 1 1 12rem }
.line :is(input:not([type=checkbox]), select) { inline-size: 100%; max-inline-size: 100%; min-inline-size: 0 }
.line [type=number] { text-align: end }
.heads { align-items: end }
.heads .line { align-items: end; color: var(--muted); font-size: .8rem; font-weight: 600 }
.heads .button { block-size: 0; padding-block: 0; border-block: 0; visibility: hidden }
.optional, .explanation, .kept, dt, th, .chip span, .none, footer, .breadcrumb { color: var(--muted) }
.kept strong { color: var(--text) }
blockquote { margin: 0 0 1rem; white-space: pre-wrap }
img { max-inline-size: 100% }
button, .button { display: inline-block; padding: .42rem 1rem; background: var(--surface);
  border: 1px solid var(--edge); font-weight: 600; text-decoration: none; cursor: pointer }
button:hover, .button:hover, .list tbody tr:hover { background: var(--hover) }
.primary, .button { background: var(--fill); border-color: var(--accent); color: var(--on-fill) }
.primary:hover, .button:hover { background: var(--fill); box-shadow: inset 0 0 0 2px }
.plain { background: var(--surface); border-color: var(--edge); color: var(--text) }
.plain:hover { background: var(--hover); box-shadow: none }
.actions { gap: .5rem .75rem; margin: 1.5rem 0 0 }
.long > .actions { position: sticky; inset-block-end: 0; z-index: 1; max-inline-size: none; padding-block: .75rem;
  background: var(--page); border-block-start: 1px solid var(--line) }
.card > .long > .actions { background: var(--surface) }
html:has(.long, .notice, .pick :checked) { scroll-padding-block: 4rem 5rem }
.default, .search label, :is(.side, .change) > .field > :is(label, legend), .theirs .label {
  position: absolute; inline-size: 1px; block-size: 1px; padding: 0; border: 0;
  overflow: hidden; clip-path: inset(50%) }
/* Yours beside theirs. */
.conflict { padding: 1rem clamp(.9rem, 2vw, 1.25rem) }
.form > .conflict { max-inline-size: none }
.conflict > legend { padding-inline: .4rem; margin-inline-start: -.4rem; font-size: 1.05rem }
.sides { display: grid; grid-template-columns: repeat(2, minmax(0, 1fr)); gap: 1rem 2rem }
.side > .choice, .problem :is(h1, h2) { margin-block-end: .5rem }
.side > .choice label { font-weight: 600 }
.side { padding-inline-start: .9rem; border-inline-start: 4px solid var(--line) }
.side:has(> .choice > :checked) { border-color: var(--accent) }
.theirs .value { padding: .5rem .7rem; min-block-size: 2.6rem; border: 1px dashed var(--edge); border-radius: 8px;
  white-space: pre-wrap }

@media (max-width: 60rem) {
  .sides { grid-template-columns: minmax(0, 1fr) }
  .bar:has(.all) li:not(.brand, :has([aria-current])) { order: 1 }
}
@media (min-width: 40.01rem) {
  .table > .row > .field > :is(label, legend), .row .line > .field > :is(label, .explanation), .row .choice label {
    position: absolute; inline-size: 1px; block-size: 1px; overflow: hidden; clip-path: inset(50%) }
  .row .line > .field { display: grid }
  .add { align-items: end }
  .line > .wrong { padding: 0; border: 0 }
  .line .error { order: 1; margin: .2rem 0 0; font-size: .85rem }
}
@media (max-width: 40rem) {
  .heads { display: none }
  .row { flex-direction: column; margin-block-end: 1rem; padding-block-end: 1rem;
    border-block-end: 1px solid var(--line) }
  /* Only the main one of three buttons stays in view, unless the keyboard is among them. */
  .long > .actions:has([name]):not(:has(:focus-visible)) { inset-block-end: -3.2rem }
  .long > .actions:has([name]) > .primary { flex-basis: 100% }
  .line { flex-direction: column; gap: .75rem }
  .line > .field { flex: none; inline-size: 100% }
  .free thead { display: none }
  .free table, .free tbody, .free tr, .free td { display: block; padding-inline: 0 }
}
*, ::before, ::after { box-sizing: border-box }
html { color-scheme: light dark; -webkit-text-size-adjust: 100% }
body { margin: 0; background: var(--page); color: var(--text); font: .9375rem/1.5 system-ui, -apple-system, "Segoe UI",
  Roboto, "Noto Sans", sans-serif; overflow-wrap: anywhere }
main, header, footer { inline-size: 100%; max-inline-size: 100rem; margin-inline: auto;
  padding-inline: clamp(1rem, 4vw, 2.5rem) }
main { padding-block: 1rem 1.5rem }
header { padding-block-start: 1.25rem }
footer { padding-block: .75rem 1.5rem; font-size: .875rem }
h1 { margin: 0 0 1rem; font-size: 1.625rem; line-height: 1.2; letter-spacing: -.015em; text-wrap: balance;
  overflow-wrap: break-word }
h2 { margin: 0 0 .8rem; font-size: 1.1rem; line-height: 1.3 }
p { margin: 0 0 1rem }
a { color: var(--accent); text-underline-offset: .18em; text-decoration-thickness: .07em }
a:hover { text-decoration-thickness: .14em }
footer a, a:not([href]) { color: inherit }
:focus-visible, dd:target { outline: 3px solid var(--accent); outline-offset: 2px; border-radius: 4px }
.skip { position: fixed; inset-inline-start: 1rem; inset-block-start: -4rem; padding: .5rem 1rem;
  background: var(--fill); color: var(--on-fill); z-index: 3 }
.skip:focus { inset-block-start: .5rem }
.bar { background: var(--surface); border-block-end: 1px solid var(--line) }
.bar ul { display: flex; max-inline-size: 100rem; margin: 0 auto; padding: 0 clamp(1rem, 4vw, 2.5rem); gap: 0 1.25rem;
  overflow-x: auto; list-style: none; white-space: nowrap; scrollbar-width: none }
.bar a, .bar span { display: block; padding-block: .625rem; border-block-end: 2px solid transparent;
  line-height: 1.3125rem;
  color: var(--muted); text-decoration: none }
.bar a:hover { color: var(--text); text-decoration: underline }
.bar [aria-current] { border-color: var(--accent); color: var(--text) }
.bar img { height: 1em; margin-inline-end: 8px; vertical-align: middle }
.bar:has(.all) ul { padding-inline-end: 0; scroll-padding-inline-end: 9rem }
.bar .all { position: sticky; inset-inline-end: 0; padding-inline: 1rem; background: var(--surface);
  border-inline-start: 1px solid var(--line); box-shadow: 0 0 .75rem .5rem var(--surface) }
.bar .brand > * { max-inline-size: 16rem; overflow: hidden; border-color: transparent; font-weight: 700;
  text-overflow: ellipsis; color: var(--text) }
.breadcrumb, .children, .conditions, .values { margin: 0; padding: 0; list-style: none }
.breadcrumb { gap: .4rem; font-size: .9rem }
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

/* The notice after a write. */
.notice { position: sticky; top: 0; z-index: 2; margin-block-end: 1.25rem; padding: .6rem 1rem;
  border: 1px solid; border-inline-start-width: 4px;
  border-radius: 6px; font-weight: 600; outline: 0 }

/* Tables: lines between the rows, and on a narrow screen a card for each. */
table { border-collapse: collapse; inline-size: 100% }
th, td { padding: .5rem .8rem; text-align: start; vertical-align: top }
th { font-size: .8rem; font-weight: 600; vertical-align: bottom }
.list { border-collapse: separate; border-spacing: 0; white-space: nowrap }
tbody th { font: inherit; color: inherit; vertical-align: top }
.list tbody tr > * { max-inline-size: 16rem; overflow: hidden; text-overflow: ellipsis;
  border-block-start: 1px solid var(--line) }
.list thead th { position: sticky; inset-block-start: 0; z-index: 1; overflow: clip; background: var(--surface) }
.list tr > :first-child { position: sticky; inset-inline-start: 0; background: inherit }
.list thead th:first-child { z-index: 2 }
.list tr { background: var(--surface) }
/* Values have their own direction (dir=auto), but stand at the side where the page begins. */
:root { --start: left }
[dir=rtl] { --start: right }
.record dd, .list tbody tr > :not(.number) { text-align: var(--start) }
[dir=rtl] [type=number] { direction: ltr; text-align: right }
/* A number or a time is never cut off: beside a label that leaves no room, it begins a line of its own. */
.list tbody :is(.number, :has(> time)), .import tbody tr > * { max-inline-size: none; white-space: normal;
  overflow-wrap: normal }
time { display: inline-block; white-space: nowrap }
.list tbody td:empty::before { content: "\\2013"; color: var(--muted) }
tfoot tr > * { border-block-start: 1px solid var(--line); font-weight: 600 }
.list tbody th { max-inline-size: 24rem }
.list tbody th:has(> :is(a, button)) { padding: 0 }
.list tbody th > :where(a, button) { display: block; flex: 1; padding: .5rem .8rem; overflow: hidden;
  font-weight: 600; text-overflow: ellipsis; text-decoration: none; unicode-bidi: plaintext }
.list tbody th:has(> form) { display: flex; max-inline-size: none; padding-inline-end: .8rem }
.list form button { padding-block: .1rem }
.list th > button { inline-size: 100%; background: none; border: 0; color: var(--accent); text-align: inherit }
.list th > :hover, .related h2 a:hover { text-decoration: underline }
.list .id, .record .id dd { font-size: .8rem; color: var(--muted) }
.bar :focus-visible, .list :focus-visible { outline-offset: -3px }
thead a, .related h2 a, .chip { color: inherit; text-decoration: none }
thead a { padding-block: .5rem }
thead a:hover { color: var(--accent) }
thead a::after { content: "\\2195" / ""; position: absolute; padding-inline-start: .1rem; opacity: .65 }
[aria-sort] a, .chip[aria-current] { color: var(--accent) }
[aria-sort=ascending] a::after { content: "\\2191" / ""; opacity: 1 }
[aria-sort=descending] a::after { content: "\\2193" / ""; opacity: 1 }
.badge { display: inline-block; padding-inline: .55rem; border-radius: 1rem; font-size: .8rem; font-weight: 600;
  line-height: 1.3125rem; background: color-mix(in srgb, var(--muted) 15%, var(--surface)); color: var(--text) }
.notice, .badge.good { background: var(--good-wash); color: var(--good) }
.badge.bad { background: var(--wash); color: var(--danger) }
/* Digits go from left to right in every language, so that the units of a column stand at the right. */
.number { text-align: right; font-variant-numeric: tabular-nums; overflow-wrap: normal }
.empty { padding: 2.5rem 1rem; text-align: center; border: 1px dashed var(--edge) }
.empty p::first-letter, .problem li::first-letter { text-transform: uppercase }
.pages { gap: 1rem; justify-content: space-between; margin-block: 1rem }
.pages > button { margin-inline-start: auto }
nav.pages { display: grid; grid-template-columns: 1fr auto 1fr; align-items: center }
.pages > * { grid-row: 1 }
.pages > .range { grid-column: 2 }
.pages > div { gap: .25rem 1rem }
.pages > :last-child { grid-column: 3; justify-content: end }

/* A record: names beside values. */
dl, dd, .related h2, .danger p { margin: 0 }
.record > div { display: grid; grid-template-columns: minmax(7rem, 14rem) minmax(0, 1fr); gap: .25rem 1.5rem;
  padding: .5rem clamp(1rem, 3vw, 1.5rem) }
.record > div + div { border-block-start: 1px solid var(--line) }
.record dd { white-space: pre-wrap; max-inline-size: 50rem }
.values { white-space: normal }
ul.values { gap: .35rem }
ul.values > li { padding: .05rem .6rem; border: 1px solid var(--line); border-radius: 1rem }
ul.values > li:has(> .badge) { padding: 0; border: 0 }
ul.values > li:has(dl) { flex: 1 0 100%; padding: .5rem .9rem; border-radius: 8px }
dl.values > div { gap: 0 .6rem }

summary { cursor: pointer; font-weight: 600 }
.filter, [open], .condition, .selection { gap: .5rem .75rem }
.filter { margin-block-end: 1rem }
.filter .error { flex-basis: 100%; margin: 0 }
[open]:has(.condition), .condition { width: 100% }
.filter summary { inline-size: fit-content; font-weight: 400 }
.filter summary, .danger > summary { list-style: none }
.condition > :is(input, select) { inline-size: auto; max-inline-size: 100% }
.total, .range, .empty p:last-child { margin: 0; color: var(--muted) }
.total { flex: 1; white-space: nowrap }
.search { display: flex; flex: 0 1 25rem; gap: .5rem }
.search input { min-inline-size: 5rem }
.search button { flex: none }
::placeholder { color: var(--muted) }
.conditions { gap: .4rem .75rem }
.chip { display: inline-block; padding: .15rem .7rem; background: var(--hover);
  border-radius: 1rem; font-size: .875rem }
.chip:hover { box-shadow: inset 0 0 0 1px var(--edge) }
.danger .primary { background: var(--danger); border-color: var(--danger); color: var(--on-danger) }
.problem { margin-block-end: 1.75rem; padding: 1.1rem 1.25rem; background: var(--wash);
  border: 2px solid var(--danger); border-radius: 10px; max-inline-size: 46rem }
.problem ul { margin: 0 }
.problem ul, .chosen { padding-inline-start: 1.2rem }
.problem li { padding-block: .15rem }
.problem h1:last-child { margin: 0 }
.problem a { color: var(--danger); font-weight: 600 }

/* The boxes that choose rows, and the bar below the table that counts them. */
.pick { float: left; float: inline-start; padding-block: .6rem .5rem; padding-inline-start: .8rem }
.pick + a { margin-inline-start: 2.2rem }
.pick:not(:last-child) { margin-inline-end: -2.2rem }
.pick:last-child { padding: .2rem 0 0; margin-inline-end: .6rem }
.pick input { display: block; margin: 0 }
.pick :checked { counter-increment: chosen }
main { counter-reset: chosen }
tr:has(.pick :checked) { background: color-mix(in srgb, var(--accent) 8%, var(--surface)) }
.selection { position: sticky; inset-block-end: 0; z-index: 2; margin-block-start: .75rem; padding: .6rem .8rem;
  border-color: var(--edge) }
.selection p { flex: 1 0 auto; margin: 0; font-weight: 600 }
.selection p::after { content: counter(chosen) }
@supports selector(:has(*)) {
  main:not(:has(.pick :checked)) > .selection, .change:has([value=theirs]:checked) > .field { display: none }
}
.import { margin-block-end: 1rem }
.related, .form + :is(.form, details) { margin-block-start: 2rem }
.form > .explanation { margin-block-end: .9rem }
.change { padding-block-end: 1rem; border-block-end: 1px solid var(--line) }

/* A list scrolls between what is above and below it, so that the page does not. */
@media screen and (width > 40rem) and (height > 36rem) {
  body:has(#rows):not(:has(#new:not(.new), .new:target, .new :target)) { display: flex; flex-direction: column;
    block-size: 100dvh;
    > main { display: flex; flex-direction: column; flex: 1; min-block-size: 0 }
    .scroll { flex: none }
    tfoot tr > * { position: sticky; inset-block-end: 0; background: inherit }
    .scroll:has(tr:nth-child(3)) { flex: 0 1 auto; min-block-size: 9rem }
  }
}
/* A table and the bar fade at their edge as long as there is more. */
.scroll { overflow: auto }
.scroll, .list thead tr, .bar:not(:has(.all)) ul { animation: more; animation-timeline: scroll(self inline) }
@keyframes more { 0%, 99% { mask: linear-gradient(to var(--start), #0003, #000 2.5rem) } }
@media (prefers-reduced-motion: no-preference) {
  html { scroll-behavior: smooth }
}
@media (forced-colors: active) {
  .primary, .button { border: 2px solid }
}
@media print {
  :root { --page: #fff; --surface: #fff; --text: #000; --muted: #444; --accent: #000 }
  .skip, .bar, .notice, header, footer, form, .card, .pages, .pick,
  .tools, .children, thead a::after { display: none }
  .scroll { overflow: visible; animation: none }
  .scroll, .record { border: 0 }
  .list tr, .record > div { break-inside: avoid }
}

/* The page of a row. */
.blank { margin-block-start: .75rem }
.related .title { margin-block-end: .6rem }
.related .total { margin-inline-start: .35rem; font-weight: 400 }
.related > p, .blank .record, .add { margin: .6rem 0 0 }

/* The deletion asks once more in a box below its button. */
.danger { position: relative }
.danger > summary, .selection [value=delete] { color: var(--danger) }
.danger > summary::-webkit-details-marker { display: none }
.danger p + form { margin-block-start: .6rem }
.danger > .card { position: absolute; inset-inline-end: 0; inset-block-start: calc(100% + .4rem); z-index: 3;
  inline-size: max-content; max-inline-size: min(22rem, 100vw - 2rem); margin: 0; padding: 1rem 1.25rem;
  box-shadow: 0 8px 24px #0003 }

/* The form takes the place of the row once the link to it is followed. */
.edit:not(:target), .new:not(:target, :has(:target)) { display: none }
.edit:target { margin-block-start: 0; scroll-margin-block-start: 8rem }
main:has(> .edit:target) > :is(.record, .blank, .children, .related), main:has(> .edit:target) .tools { display: none }
@media (max-width: 40rem) {
  .bar li:not(.brand, :has([aria-current])) { order: 1 }
  .title { flex-wrap: wrap }
  .tools { max-inline-size: 100% }
  .list thead tr { display: flex; padding: .4rem; overflow-x: auto }
  thead a::after { position: static; opacity: .6 }
  .list th, .list tr > :first-child { position: static }
  .list thead th { padding: .25rem .5rem }
  .list, .list > *, .list tr { display: block }
  .list thead:not(:has(a)) { display: none }
  .list :not(thead) > tr > * { display: block; max-inline-size: none; padding: .3rem .8rem; border: 0;
    direction: inherit; unicode-bidi: plaintext }
  .list .number { text-align: start; unicode-bidi: normal }
  .list td::before, .import tbody th::before { content: attr(data-label); float: inline-start; inline-size: 7rem;
    margin-inline-end: .75rem; font-family: system-ui; font-size: .85rem; white-space: normal; color: var(--muted) }
  .list td:empty { display: none }
  /* The card of a row that has a page shows the name and three values. */
  .list tr:has(> th > :is([href], button)) > :is(.id, .part, :nth-child(n + 4 of td:not(:empty, .id, .part))) {
    display: none }
  .list :not(thead) > tr { padding-block: .6rem; border-block-start: 1px solid var(--line) }
  .list thead:not(:has(a)) + tbody > tr:first-child { border: 0 }
  .record > div { grid-template-columns: minmax(0, 1fr) }
  nav.pages > .range { grid-area: 2 / 1 / auto / -1; justify-self: center }
  .danger[open] { flex-basis: 100% }
  .danger > .card { position: static; inline-size: auto; max-inline-size: none; margin-block-start: .5rem;
    box-shadow: none }
}
`

/** The rules of home pages: narrow tables, beside each other where there is room. */
export const HOME_RULES = `
.index { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(24rem, 100%), 1fr)); gap: 1.5rem 2rem;
  align-items: start }
.index > .scroll { max-inline-size: 40rem }
.index tbody > tr > * { border-block-start: 1px solid var(--line) }
.index tbody th { text-align: var(--start) }
.index td + td { inline-size: 0; text-align: end; white-space: nowrap }
.index :is(thead th, .number) { overflow-wrap: normal }
.index a { text-decoration: none }
.index a:hover { text-decoration: underline }
.index tbody tr:hover { background: var(--hover) }
`
