import { isLegalValue } from '../../core/schema/legal-text.js'
import type { Attributes } from '../../core/schema/types.js'
import { isWithin } from '../../core/schema/validation/issues.js'
import { isSame, ownMember } from '../../core/util/own-property.js'
import { abbreviate } from '../../core/util/words.js'
import { findDigest, isUntouched } from '../../core/formats/form/read.js'
import { type FormNode, MARKER, markerOf } from '../../core/formats/form/parse.js'
import type { Input } from '../../core/formats/format.js'
import { markup, raw } from '../html-tag.js'
import type { PageMessages } from '../messages.js'
import { MAX_SHOWN_LENGTH } from '../values/beginning.js'
import type { ShownAttribute, ShownAttributes } from '../values/shown-attributes.js'
import type { Conflict } from '../views/model.js'
import { PARTIAL, textsIn } from './controls.js'
import type { FieldBuilder } from './field-builder.js'
import type { FieldPlan } from './field-plan.js'
import type { FormValues } from './form-values.js'

/** Says that only the user of the form has changed an attribute. */
export const YOURS: unique symbol = Symbol('yours')

/** A form that was sent, and the attributes as somebody else has saved them since it was opened. */
interface ConflictInput {
  readonly input: Input
  readonly attributes: Attributes
}

/** What the conflicts of a form depend on. */
interface ConflictSource {
  readonly values: FormValues
  readonly shown: ShownAttributes
  readonly messages: Pick<PageMessages, 'none' | 'yours'>
}

/**
 * Finds out who has changed an attribute since the form was opened. Returns the choice between the sent and the stored
 * value if somebody else has changed it, and `YOURS` if only the user has. Returns `undefined` if both values are the
 * same, or the form has none.
 */
export function findConflict (
  { values, shown, messages }: ConflictSource,
  builder: FieldBuilder,
  { plan, node }: { readonly plan: FieldPlan, readonly node: FormNode },
  { input, attributes }: ConflictInput
): Conflict | typeof YOURS | undefined {
  const { name } = plan.property
  const theirs = values.has(name) ? values.read(name, attributes) : PARTIAL
  if (theirs === PARTIAL || !isLegalValue(theirs)) return undefined
  const kept = markerOf(node, 'keep')
  // A user who has chosen before may change the choice.
  const by = kept === undefined ? findChanger(node, name, input, theirs) : markerOf(node, 'by') ?? 'both'
  if (by === undefined || by === YOURS) return by
  const changedBy = by === 'them' ? by : 'both'
  const keep = kept === 'theirs' || (kept === undefined && changedBy === 'them') ? 'theirs' : 'yours'
  const yours = ownMember(input.attributes, name)
  const { show } = shown.find(name) as ShownAttribute
  const stored = show.whole(theirs)
  const field = builder.build(plan, { node: withRemoval(node) })
  const mark = `${field.name}[${MARKER}]`
  return {
    changedBy,
    label: plan.label,
    yours: yours === undefined ? markup`${abbreviate(textsIn(node), MAX_SHOWN_LENGTH)}` : raw(show.whole(yours)),
    theirs: stored === '' ? markup`<span class="none">${messages.none}</span>` : raw(stored),
    field: {
      ...field,
      label: messages.yours,
      // A user who keeps theirs may leave this field blank.
      required: false,
      optional: false,
      hidden: changedBy === 'them' ? [...field.hidden, { name: `${mark}[by]`, value: 'them' }] : field.hidden
    },
    choice: { name: `${mark}[keep]`, id: `${field.id}!keep`, keep }
  }
}

/** Finds out who has changed an attribute. The form has digests of the values with which it was opened. */
function findChanger (
  node: FormNode,
  name: string,
  { attributes, errors, node: group }: Input,
  theirs: unknown
): 'both' | 'them' | typeof YOURS | undefined {
  // Without a schema, an attribute that was absent has no digest.
  const opened = group as FormNode
  const wasAbsent = markerOf(opened, 'was') !== undefined && findDigest(opened, name) === undefined
  const isStill = (value: unknown): boolean => isUntouched(opened, name, value) || (wasAbsent && value === null)
  const isRead = Object.hasOwn(attributes, name)
  const yours = attributes[name]
  if (isRead && isSame(yours, theirs)) return undefined
  // A value that could not be read must not be lost. Without a value or an error, a field was blank, or its value does
  // not fit the schema but has not been touched.
  const isGiven = isRead || Object.keys(errors).some((path) => isWithin(path, name))
  if (isStill(theirs ?? null)) return isGiven ? YOURS : undefined
  if (isGiven) return isStill(yours) ? 'them' : 'both'
  return textsIn(node) !== '' || isStill(null) ? 'them' : undefined
}

/** Returns a field that was blank from the start, so that it removes the value that somebody else has given. */
function withRemoval (node: FormNode): FormNode {
  const mark = node.children.get(MARKER)
  const removal = mark && REMOVALS.get(mark.texts.at(-1))
  if (mark === undefined || removal === undefined) return node
  return { ...node, children: new Map(node.children).set(MARKER, { ...mark, texts: [removal] }) }
}

/** The marks of a field that removes its attribute if it is blank, by the marks of one that leaves it. */
export const REMOVALS: ReadonlyMap<string | undefined, string> =
  new Map([['absent', 'removed'], ['json', 'json-removed']])
