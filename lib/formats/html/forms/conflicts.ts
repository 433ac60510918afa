import { isLegalValue } from '../../../schema/legal-text.js'
import type { Attributes } from '../../../schema/types.js'
import { hasIssue } from '../../../schema/validation/issues.js'
import { ownMember } from '../../../util/own-property.js'
import { abbreviate } from '../../../util/truncate.js'
import { isSame, isUntouched } from '../../form/change-digest.js'
import { type FormNode, MARKER, markerOf } from '../../form/parse.js'
import type { Input } from '../../format.js'
import { html, type Markup, raw } from '../html-tag.js'
import type { PageMessages } from '../messages.js'
import { MAX_SHOWN_LENGTH } from '../values/beginning.js'
import type { ShownAttribute, ShownAttributes } from '../values/shown-attributes.js'
import type { Conflict } from '../views/model.js'
import { PARTIAL, textsIn } from './controls.js'
import type { FieldBuilder } from './field-builder.js'
import type { FieldPlan } from './field-plan.js'
import type { FormValues } from './form-values.js'

/** Finds the attributes that two users have changed at the same time. */
export class Conflicts {
  readonly #values: FormValues
  readonly #shown: ShownAttributes
  readonly #messages: PageMessages

  constructor (values: FormValues, shown: ShownAttributes, messages: PageMessages) {
    this.#values = values
    this.#shown = shown
    this.#messages = messages
  }

  /** Returns the choice between the sent and the stored value, or `undefined` if they are the same. */
  find (
    builder: FieldBuilder,
    plan: FieldPlan,
    node: FormNode,
    { input, attributes }: { readonly input: Input, readonly attributes: Attributes }
  ): Conflict | undefined {
    const { name } = plan.property
    if (!this.#values.has(name)) return undefined
    const theirs = this.#values.read(name, attributes)
    const kept = markerOf(node, 'keep')
    const yours = ownMember(input.attributes, name)
    // An attribute that was not sent stays as it is. A value that could not be parsed must not be lost.
    // A user who has chosen before may change the choice.
    const isRead = Object.hasOwn(input.attributes, name)
    const differs =
      kept !== undefined || (isRead ? !isSame(yours, theirs) : hasIssue(Object.keys(input.errors), name))
    if (!differs || theirs === PARTIAL || !isLegalValue(theirs)) return undefined
    const field = builder.build(plan, { node })
    const { show } = this.#shown.find(name) as ShownAttribute
    const markup = (value: unknown): Markup => raw(show.whole(value))
    const isUnchanged = kept === undefined && isUntouched(input.node as FormNode, name, yours)
    return {
      label: plan.label,
      yours: yours === undefined ? html`${abbreviate(textsIn(node), MAX_SHOWN_LENGTH)}` : markup(yours),
      theirs: markup(theirs),
      // A user who keeps theirs may leave this field blank.
      field: { ...field, label: this.#messages.yours, required: false, optional: false },
      choice: {
        name: `${field.name}[${MARKER}][keep]`,
        id: `${field.id}!keep`,
        keep: kept === 'theirs' || isUnchanged ? 'theirs' : 'yours'
      }
    }
  }
}
