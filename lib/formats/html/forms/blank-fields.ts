import { isObject, isStructure } from '../../../util/own-property.js'
import { markerOf } from '../../form/parse.js'
import { keywordsOf } from './constraints.js'
import type { Current, FieldMode, FieldPlan } from './field-plan.js'

/** The facts about a field that decide what it means if it is blank. */
interface BlankField {
  /** Whether the form must give a value. */
  readonly isDemanded: boolean
  /** Whether the form is for a new row. */
  readonly isNew: boolean
  /** Whether the field is a member of an object. */
  readonly isMember: boolean
}

/** Returns the mark that says how a field is parsed, or `undefined` if it needs none. */
export function findMark (mode: FieldMode, plan: FieldPlan, current: Current, field: BlankField): string | undefined {
  if (current.node !== undefined) {
    const sent = markerOf(current.node)
    return mode !== 'json' || sent?.startsWith('json') === true ? sent : 'json-null'
  }
  const { value } = current
  const { isDemanded, isNew, isMember } = field
  if (value === undefined && mode === 'json') return 'json'
  if (value === undefined && !isDemanded) return 'absent'
  // A create would fill in the default of an attribute that is left out.
  const isRemovable = !isDemanded && (isMember || !isNew) && canRemove(mode, plan, value)
  if (isRemovable && isMember) return mode === 'json' ? 'json' : 'absent'
  if (mode === 'json') return isRemovable ? 'json-removed' : 'json-null'
  if (isRemovable) return 'removed'
  if (isObject(value)) return undefined
  const isEmpty = value === '' || (Array.isArray(value) && value.length === 0)
  return plan.property.shape.types.has('null') && !isEmpty ? 'null' : undefined
}

/**
 * Returns whether a blank field stands for no value, because the schema allows neither null nor a blank value. A stored
 * value that is blank itself must stay if nobody touches it.
 */
function canRemove (mode: FieldMode, plan: FieldPlan, value: unknown): boolean {
  const { takesEmpty, property: { schema, shape: { types } } } = plan
  if (types.has('null') || mode === 'flag') return false
  if (mode === 'json') return true
  return hasContent(value) && (Array.isArray(value) ? Number(keywordsOf(schema).minItems) > 0 : !takesEmpty)
}

/** Returns whether the fields of a value are not all blank. */
function hasContent (value: unknown): boolean {
  return isStructure(value) ? Object.values(value).some(hasContent) : (value ?? '') !== ''
}
