import { type Message, say } from '../../messages.js'
import { abbreviate, findNear } from '../../util/words.js'
import { isObject } from '../../util/own-property.js'
import { isLongShape, LONG_AS_NUMBER, UNSAFE_INTEGER } from '../convert-text.js'
import { findNameFault, isStorableValue, MAX_NAME_LENGTH, MAX_OPEN_NAMES, UNSTORABLE_TEXT } from '../legal-text.js'
import { isDeeper, type Issues, MAX_DEPTH } from './issues.js'
import { compilePerShape, openShape, type Shape } from '../shape.js'

const MAX_OPEN_DEPTH = 8
/** The largest number of names in an object whose schema allows undeclared names. */
const MAX_NAMES = 1000

/**
 * Notes the faults of the value at `path` in `issues`. `depth` is the number of arrays and objects around the value.
 */
export type ValueCheck = (value: unknown, path: string, issues: Issues, depth: number) => void

/**
 * Returns a compiler of checks. A check ensures that every store can keep a value and return it unchanged: storable
 * text, exact integers, known names, bounded size. It also deletes `readOnly` properties of nested objects.
 */
export function makeCheckCompiler (): (shape: Shape) => ValueCheck {
  return compilePerShape(makeCheck)
}

function makeCheck (shape: Shape, compile: (shape: Shape) => ValueCheck): ValueCheck {
  const { types } = shape
  const isInteger = types.has('integer') && !types.has('number')
  const checkItems = types.has('array') ? compileArrayCheck(shape, compile) : checkUnfit
  const checkMembers = types.has('object') ? compileObjectCheck(shape, compile) : checkUnfit
  return (value, path, issues, depth) => {
    if (Array.isArray(value)) checkItems(value, path, issues, depth)
    else if (isObject(value)) checkMembers(value, path, issues, depth)
    else if (!isStorableValue(value)) issues.add(path, UNSTORABLE_TEXT)
    else if (isInteger && Number.isInteger(value) && !Number.isSafeInteger(value)) {
      issues.add(path, isLongShape(shape) ? LONG_AS_NUMBER : UNSAFE_INTEGER)
    }
  }
}

/**
 * Checks an array or object that the validator usually refuses later. Until then, recursive functions may read it. A
 * member that no pattern of `patternProperties` matches may have any type.
 */
function checkUnfit (value: unknown, path: string, issues: Issues, depth: number): void {
  if (isDeeper(value, MAX_DEPTH - depth)) issues.add(path, say('isNestedTooDeep', { most: MAX_DEPTH }))
  else if (!isStorableValue(value)) issues.add(path, UNSTORABLE_TEXT)
}

function compileArrayCheck (shape: Shape, compile: (shape: Shape) => ValueCheck): ValueCheck {
  const check = compile(shape.items)
  return (value, path, issues, depth) => {
    if (isTooDeep(depth + 1, shape, path, issues)) return
    for (const [index, item] of (value as readonly unknown[]).entries()) {
      if (issues.isFull) return
      check(item, `${path}.${index}`, issues, depth + 1)
    }
  }
}

function compileObjectCheck (shape: Shape, compile: (shape: Shape) => ValueCheck): ValueCheck {
  const { properties, rest } = shape
  const checks = new Map(
    [...properties].map(([name, property]) => [name, property.readOnly ? undefined : compile(property.shape)])
  )
  const checkRest = rest === undefined ? undefined : compile(rest)
  const names = [...properties.keys()]
  return (value, path, issues, depth) => {
    const below = depth + 1
    if (isTooDeep(below, shape, path, issues)) return
    const members = value as Record<string, unknown>
    const present = Object.keys(members)
    const excess = findExcess(shape, present.length)
    if (excess !== undefined) return issues.add(path, excess)
    for (const name of present) {
      if (issues.isFull) return
      const at = `${path}.${abbreviate(name, MAX_NAME_LENGTH)}`
      if (checks.has(name)) {
        const check = checks.get(name)
        if (check === undefined) delete members[name]
        else check(members[name], at, issues, below)
      } else if (checkRest === undefined) {
        issues.add(at, say('isUnknown', { near: findNear(name, names) }))
      } else {
        const fault = findNameFault(name)
        if (fault === undefined) checkRest(members[name], at, issues, below)
        else issues.add(at, fault)
      }
    }
  }
}

/** Returns why an object may not have `count` names, or `undefined` if it may. */
export function findExcess (shape: Shape, count: number): Message | undefined {
  const most = shape === openShape ? MAX_OPEN_NAMES : shape.rest === undefined ? Infinity : MAX_NAMES
  return count > most ? say('mustHaveAtMostNames', { most }) : undefined
}

function isTooDeep (depth: number, shape: Shape, path: string, issues: Issues): boolean {
  const limit = shape === openShape ? MAX_OPEN_DEPTH : MAX_DEPTH
  if (depth <= limit) return false
  issues.add(path, say('isNestedTooDeep', { most: limit }))
  return true
}

/** Returns whether a resource without a schema may have so many attributes. Notes an issue if it may not. */
export function checkOpenNames (names: readonly string[], group: string, issues: Issues): boolean {
  if (names.length <= MAX_OPEN_NAMES) return true
  issues.add(group, say('mustHaveAtMostAttributes', { most: MAX_OPEN_NAMES }))
  return false
}
