import { MalformedBodyError } from '../../errors.js'

/** What stands under one name of a form: texts of its own, and what its brackets hold. */
export interface FormNode {
  readonly texts: string[]
  /** By what stands between the brackets; `[]` is the empty string. */
  readonly children: Map<string, FormNode>
}

/** Far more than a page has; a megabyte of `a=&` is no form. */
export const MAX_FIELDS = 1000
const MAX_BRACKETS = 10

/**
 * The fields of a form (WHATWG URL §5.1) as a tree by the brackets of their names. Bytes that are not UTF-8, broken
 * percent escapes and names with unbalanced brackets are refused.
 * @throws MalformedBodyError
 */
export function parseForm (body: string): Map<string, FormNode> {
  const root = makeNode()
  let count = 0
  for (const field of body.split('&')) {
    if (field === '') continue
    if (++count > MAX_FIELDS) throw new MalformedBodyError(`the form has more than ${MAX_FIELDS} fields`)
    const equals = field.indexOf('=')
    const name = decode(equals === -1 ? field : field.slice(0, equals))
    // A browser sends every line break as CR LF (HTML §4.10.22.4).
    const text = equals === -1 ? '' : decode(field.slice(equals + 1)).replaceAll('\r\n', '\n')
    find(root, splitName(name)).texts.push(text)
  }
  return root.children
}

function makeNode (): FormNode {
  return { texts: [], children: new Map() }
}

/** `post[tags][0]` → `post`, `tags`, `0`. A name that is too deep is split no further than where that is known. */
function splitName (name: string): string[] {
  const open = name.indexOf('[')
  const steps = open === -1 ? [name] : [name.slice(0, open), ...name.slice(open + 1, -1).split('][', MAX_BRACKETS)]
  const isWhole = open === -1 || name.endsWith(']')
  if (!isWhole || steps[0] === '' || steps.some(hasBracket)) {
    throw new MalformedBodyError(`the field name "${name.slice(0, 100)}" is malformed`)
  }
  if (steps.length > MAX_BRACKETS) {
    throw new MalformedBodyError(`the field name "${name.slice(0, 100)}" is nested too deep`)
  }
  return steps
}

function hasBracket (step: string): boolean {
  return step.includes('[') || step.includes(']')
}

function find (root: FormNode, steps: readonly string[]): FormNode {
  let node = root
  for (const step of steps) {
    let child = node.children.get(step)
    if (child === undefined) node.children.set(step, child = makeNode())
    node = child
  }
  return node
}

function decode (text: string): string {
  // U+FFFD as it stands is what Fastify's decoder left of bytes that are not UTF-8.
  if (text.includes('\ufffd')) throw new MalformedBodyError('the body is not valid UTF-8')
  try {
    // `replaceAll` would take five times as long for a megabyte of them.
    return decodeURIComponent(text.includes('+') ? text.split('+').join(' ') : text)
  } catch {
    throw new MalformedBodyError('the form has a percent escape that is not valid UTF-8')
  }
}
