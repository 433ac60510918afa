/** The rules for the page of a row. */
export const RECORD_RULES = `
.blank { margin-block-start: .75rem }
.blank .record { margin-block-start: .6rem }
.related { margin-block-start: 2rem }
.related .title { margin-block-end: .6rem }
.related .total { margin-inline-start: .35rem; font-weight: 400 }
.related p { margin: .6rem 0 0 }

/* The deletion asks once more in a box below its button. */
details.danger { position: relative }
details.danger > summary { list-style: none; color: var(--danger) }
details.danger > summary::-webkit-details-marker { display: none }
details.danger > .card { position: absolute; inset-inline-end: 0; inset-block-start: calc(100% + .4rem); z-index: 3;
  inline-size: max-content; max-inline-size: min(22rem, 100vw - 2rem); margin: 0; padding: 1rem 1.25rem;
  box-shadow: 0 8px 24px #0003 }
details.danger p { margin: 0 }
details.danger .actions { margin-block-start: .9rem }

/* The form takes the place of the row once the link to it is followed. */
.edit:target { margin-block-start: 0; scroll-margin-block-start: 8rem }
main:has(> .edit:target) > :is(.record, .blank, .children, .related), main:has(> .edit:target) .tools { display: none }
@media (max-width: 40rem) {
  details.danger[open] { flex-basis: 100% }
  details.danger > .card { position: static; inline-size: auto; max-inline-size: none; margin-block-start: .5rem;
    box-shadow: none }
}
`
