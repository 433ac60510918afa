import { isObject } from '../core/util/own-property.js'

/** Any part of an OpenAPI document. */
export type Part = Readonly<Record<string, unknown>>

/** Returns the part if it is an object, else one without members. */
export function membersOf (part: unknown): Part {
  return isObject(part) ? part : {}
}
