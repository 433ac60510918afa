/** The rules of forms, and of the conflicts in them. */
export const FORM_RULES = `
.scroll, .record, .card, .conflict { background: var(--surface); border: 1px solid var(--line); border-radius: 10px }
.tools, .filter, .condition, .conditions, .actions { align-items: center }
.tools, .filter, .condition, .conditions, .actions, .breadcrumb, .children, .pages, .inline, ul.values, .values > div {
  display: flex; flex-wrap: wrap }
/* Forms: a label above each control. */
.form > * { max-inline-size: 46rem }
.form > .table:has(.line) { max-inline-size: 60rem }
fieldset { min-inline-size: 0; margin: 0 0 1.25rem; padding: 0; border: 0 }
.field { margin-block-end: 1.1rem }
label, legend { font-weight: 600 }
legend { padding: 0; margin-block-end: .25rem }
.field > label { display: block; margin-block-end: .25rem }
.optional { font-weight: 400; font-size: .85rem; color: var(--muted) }
.explanation { margin: 0 0 .35rem; font-size: .9rem; color: var(--muted) }
.error { margin: 0 0 .35rem; font-weight: 600; color: var(--danger) }
input, select, textarea, button, .button { font: inherit; color: inherit; border-radius: 6px }
input:not([type=radio], [type=checkbox]), select, textarea { inline-size: 100%; padding: .42rem .65rem;
  background: var(--surface); border: 1px solid var(--edge) }
input:is([type=date], [type=datetime-local], [type=time]), .form select { inline-size: auto; max-inline-size: 100%;
  min-inline-size: 9rem; min-block-size: 2.4rem }
.w4 > input { max-inline-size: 6rem }
.w10 > input { max-inline-size: 10rem }
.w20 > input { max-inline-size: 16rem }
textarea { display: block; min-block-size: 2.4rem; max-block-size: 40rem; resize: vertical; field-sizing: content }
textarea[rows="5"] { min-block-size: 8.5rem }
.code, .list .id, .record .id dd { font-family: ui-monospace, "Cascadia Mono", Menlo, Consolas, monospace;
  font-size: .9rem }
.wrong { padding-inline-start: 1rem; border-inline-start: 4px solid var(--danger) }
[aria-invalid][aria-invalid] { border-color: var(--danger) }
.choice { display: flex; gap: .6rem; align-items: flex-start; padding-block: .2rem }
.choice label { font-weight: 400 }
.inline { gap: 0 1.5rem }
.checkbox .choice label { font-weight: 600 }
input[type=radio], input[type=checkbox] { inline-size: 1.15rem; block-size: 1.15rem; flex: none; margin: .2rem 0 0;
  accent-color: var(--accent) }
.offset { margin-block-start: .3rem; font-size: .9rem }
.offset summary, .blank summary { font-weight: 400; color: var(--muted) }
.group, .rows, .free { padding: 1rem 1.1rem .25rem; border: 1px solid var(--line); border-radius: 10px }
.group legend, .rows legend, .free legend { padding-inline: .4rem; margin-inline-start: -.4rem }
.row { display: flex; gap: .5rem; align-items: flex-start; margin-block-end: .5rem }
.row > .field { flex: 1; inline-size: 100%; margin: 0; padding: 0; border: 0 }
.row > .group > legend { margin: 0 0 .4rem; padding: 0 }
.rows:not(.table) > .row { flex-direction: column; margin-block-end: 1rem; padding-block-end: 1rem;
  border-block-end: 1px solid var(--line) }
.line { display: flex; gap: .5rem; align-items: flex-start }
.line > .field { flex: 99 1 11rem; min-inline-size: 0; margin: 0 }
.line > .w4 { flex: 1 1 6rem }
.line > :is(.w10, .select, .checkbox) { flex: 1 1 8.5rem }
.line > .w20 { flex: 1 1 12rem }
.form .line :is(input:not([type=checkbox]), select) { inline-size: 100%; max-inline-size: 100%; min-inline-size: 0 }
.line [type=number] { text-align: end }
.heads { align-items: flex-end }
.heads .line { align-items: flex-end; color: var(--muted); font-size: .8125rem; font-weight: 600 }
.heads .button { block-size: 0; padding-block: 0; border-block: 0; visibility: hidden }
.kept, dt, .chip span, .none { color: var(--muted) }
.kept strong { color: var(--text) }
blockquote { margin: 0 0 1.1rem; white-space: pre-wrap }
button, .button { display: inline-block; padding: .42rem 1rem; background: var(--surface);
  border: 1px solid var(--edge); font-weight: 600; text-decoration: none; cursor: pointer }
button:hover, .button:hover, .list tbody tr:hover { background: var(--hover) }
.primary, .button { background: var(--fill); border-color: var(--accent); color: var(--on-fill) }
.primary:hover, .button:hover { background: var(--fill); box-shadow: inset 0 0 0 2px var(--on-fill) }
.plain { background: var(--surface); border-color: var(--edge); color: var(--text) }
.plain:hover { background: var(--hover); box-shadow: none }
.actions { gap: .5rem .75rem; margin: 1.5rem 0 0 }
.long > .actions { position: sticky; inset-block-end: 0; z-index: 1; max-inline-size: none; padding-block: .75rem;
  background: var(--page); border-block-start: 1px solid var(--line) }
.card > .long > .actions { background: var(--surface) }
html:has(.long) { scroll-padding-block-end: 5rem }
.default, .search label, .side > .field > :is(label, legend), .theirs .label {
  position: absolute; inline-size: 1px; block-size: 1px; padding: 0; border: 0;
  overflow: hidden; clip-path: inset(50%) }
/* Yours beside theirs. */
.conflict { padding: 1rem clamp(.9rem, 2vw, 1.25rem) }
.form > .conflict { max-inline-size: none }
.conflict > legend { padding-inline: .4rem; margin-inline-start: -.4rem; font-size: 1.05rem }
.sides { display: grid; grid-template-columns: repeat(2, minmax(0, 1fr)); gap: 1rem 2rem }
.side > .choice, .problem h2 { margin-block-end: .5rem }
.side > .choice label { font-weight: 600 }
.side { padding-inline-start: .9rem; border-inline-start: 4px solid var(--line) }
.side:has(> .choice > :checked) { border-color: var(--accent) }
.theirs .value { padding: .5rem .7rem; min-block-size: 2.6rem; border: 1px dashed var(--edge); border-radius: 8px;
  white-space: pre-wrap }

@media (max-width: 60rem) {
  .sides { grid-template-columns: minmax(0, 1fr) }
}
@media (min-width: 40.01rem) {
  .table > .row > .field > :is(label, legend), .line > .field > :is(label, .explanation), .line .choice label {
    position: absolute; inline-size: 1px; block-size: 1px; overflow: hidden; clip-path: inset(50%) }
  .line > .field { display: flex; flex-direction: column }
  .line > .wrong { padding: 0; border: 0 }
  .line .error { order: 1; margin: .2rem 0 0; font-size: .85rem }
}
@media (max-width: 40rem) {
  .heads { display: none }
  .row { flex-direction: column; margin-block-end: 1rem; padding-block-end: 1rem;
    border-block-end: 1px solid var(--line) }
  /* Of three buttons, only the main one stays in view, unless the keyboard is among them. */
  .long > .actions:has([name]):not(:has(:focus-visible)) { inset-block-end: -3.2rem }
  .long > .actions:has([name]) > .primary { flex-basis: 100% }
  .line { flex-direction: column; gap: .75rem }
  .line > .field { flex: none; inline-size: 100% }
  .free thead { display: none }
  .free table, .free tbody, .free tr, .free td { display: block; padding-inline: 0 }
}
`
