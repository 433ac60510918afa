import { abbreviate } from '../../util/truncate.js'
import { checkValueCount } from '../limits.js'

/** What is wrong with which attribute, gathered while a payload is read and checked. */
export class Issues extends Map<string, string[]> {
  #values = 0

  /**
   * Notes that so many more values have been read than the body had fields.
   * @throws TooManyValuesError
   */
  countValues (more: number): void {
    checkValueCount(this.#values += more)
  }
}

/** A body of a million faults gets an answer of bounded length. */
const LIMIT = 100
/** In characters; no path that a schema has is longer. */
const MAX_PATH_LENGTH = 500

/** Whether so much is wrong that more is not noted, and need not be looked for. */
export function isFull (issues: Issues): boolean {
  return issues.size >= LIMIT
}

/** Whether something is wrong with an attribute or within it. */
export function hasIssue (issues: Iterable<string>, attribute: string): boolean {
  for (const path of issues) if (path === attribute || path.startsWith(`${attribute}.`)) return true
  return false
}

/** Notes that the attribute at `path` (`title`, `author.name`, `tags.0`) is not as it should be. */
export function addIssue (issues: Issues, path: string, message: string): void {
  if (isFull(issues)) return
  const at = abbreviate(path, MAX_PATH_LENGTH)
  const messages = issues.get(at)
  if (messages === undefined) issues.set(at, [message])
  else if (messages.length < LIMIT && !messages.includes(message)) messages.push(message)
}
