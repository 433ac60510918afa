import { markText } from '../../core/schema/legal-text.js'
import { findInexactNumber } from '../../core/util/decimal.js'

/** How a column of a type keeps values of a kind. No function receives null. */
export interface Codec {
  /**
   * Returns the message about a value that the column would change, or `undefined` if it keeps the value as it is.
   * @default every value is kept
   */
  readonly findFault?: (value: unknown) => string | undefined
  /** Encodes a value for the driver. @default the value unchanged */
  readonly encode?: (value: unknown) => unknown
  /** Encodes a value that is only compared with the column. The column need not keep it. @default `encode` */
  readonly compare?: (value: unknown) => unknown
  /** Decodes a value of the driver. A value that is not of the kind is returned as it is, so that it can be shown. */
  readonly decode: (raw: unknown) => unknown
}

/** Returns a text that stands for stored bytes. */
export function markBytes (bytes: Buffer): string {
  return markText(`x'${bytes.toString('hex')}'`)
}

/** Returns bytes as a driver of SQLite returns them: libsql as an ArrayBuffer, the others as an Uint8Array. */
export function bytesOf (raw: object): Buffer {
  if (raw instanceof Uint8Array) return Buffer.from(raw.buffer, raw.byteOffset, raw.length)
  return Buffer.from(raw as ArrayBuffer)
}

/** Decodes a JSON text. If it is none, or a double would round one of its numbers, the text itself is returned. */
export function decodeJson (text: string): unknown {
  if (findInexactNumber(text) !== undefined) return markText(text)
  try {
    return JSON.parse(text)
  } catch {
    return markText(text)
  }
}

/** Decodes an integer of the database that may be beyond 2^53 − 1. It is then a text. */
export function decodeLongInteger (raw: unknown): number | string {
  const value = Number(raw)
  return Number.isSafeInteger(value) ? value : String(raw)
}

/**
 * Decodes an integer of the database, such as the result of `count`.
 * @throws RangeError if a double cannot keep it
 */
export function decodeInteger (raw: unknown): number {
  const value = Number(raw)
  if (raw !== null && Number.isSafeInteger(value)) return value
  throw new RangeError(`the database returned the integer ${String(raw)}, ` +
    'which JavaScript cannot represent exactly as an integer')
}
