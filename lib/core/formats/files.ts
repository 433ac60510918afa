import type { Resource } from '../resource/resource.js'
import { isBytesShape } from '../schema/convert-text.js'
import { isBase64 } from '../schema/legal-text.js'
import type { Property } from '../schema/shape.js'

/** The media type of forms with files. */
export const MULTIPART = 'multipart/form-data'

/** The segment of the files of a row, after the path of the row. */
export const FILES = 'files'

/** The longest base64 of a file whose schema has no `maxLength`, in characters: that of 5 MiB. */
export const LONGEST_FILE = 6_990_508

/** A kind of file that its first bytes tell. */
export interface FileType {
  /** The name for people: `PNG`. */
  readonly name: string
  readonly mediaType: string
  /** The extension, without a dot. */
  readonly extension: string
  /** Whether browsers show it as a picture, which cannot run scripts. */
  readonly isPicture: boolean
}

/** The kinds of files, with expressions for their first 16 bytes as hexadecimal digits. */
const TYPES: ReadonlyArray<readonly [RegExp, FileType]> = [
  [/^89504e470d0a1a0a/, { name: 'PNG', mediaType: 'image/png', extension: 'png', isPicture: true }],
  [/^ffd8ff/, { name: 'JPEG', mediaType: 'image/jpeg', extension: 'jpg', isPicture: true }],
  [/^47494638(?:37|39)61/, { name: 'GIF', mediaType: 'image/gif', extension: 'gif', isPicture: true }],
  [/^52494646.{8}57454250/, { name: 'WebP', mediaType: 'image/webp', extension: 'webp', isPicture: true }],
  [/^.{8}6674797061766966/, { name: 'AVIF', mediaType: 'image/avif', extension: 'avif', isPicture: true }],
  [/^255044462d/, { name: 'PDF', mediaType: 'application/pdf', extension: 'pdf', isPicture: false }]
]

/** The number of characters of base64 that have the first bytes of a file. */
const BEGINNING = 24

/** Returns the kind of a file by its first bytes, or `undefined` for any other file. */
export function findFileType (base64: string): FileType | undefined {
  const start = Buffer.from(base64.slice(0, BEGINNING), 'base64').toString('hex')
  return TYPES.find(([signature]) => signature.test(start))?.[1]
}

/** Returns whether a file is of a media type, as far as the bytes of both are known. */
export function isOfMediaType (base64: string, declared: string): boolean {
  const [mediaType = ''] = declared.toLowerCase().split(/\s*;/)
  const isKnown = TYPES.some(([, type]) => type.mediaType === mediaType)
  return !isKnown || (findFileType(base64)?.mediaType ?? mediaType) === mediaType
}

/** Returns the number of bytes that base64 stands for. */
export function countBytes (base64: string): number {
  return Buffer.byteLength(base64, 'base64')
}

/** Returns whether a value is a file that is not empty. A database may have something else in a column for bytes. */
export function isFile (value: unknown): value is string {
  return typeof value === 'string' && value !== '' && isBase64(value)
}

/** Returns whether an attribute is a file: bytes that clients may read. */
export function isFileAttribute ({ shape, writeOnly }: Property): boolean {
  return isBytesShape(shape) && !writeOnly
}

/** Returns the attributes of a resource that are files. */
export function filesOf ({ attributes }: Pick<Resource, 'attributes'>): readonly Property[] {
  return [...attributes.values()].filter(isFileAttribute)
}

/** The most files for which a body has room. The bodies of wide tables of files would fill the memory. */
const MOST_FILES = 2
/** The size of a file in a body, as a part of the length of its base64: as it is carried, and as another is chosen. */
const ROOM = 1 + 3 / 4

/** Returns the size of the largest body with these files, in bytes, besides the size of all other values. */
export function bodyLimitOf (files: readonly Property[], others: number): number {
  const lengths = files.map(({ schema: { maxLength } }) => typeof maxLength === 'number' ? maxLength : LONGEST_FILE)
  const largest = lengths.sort((a, b) => b - a).slice(0, MOST_FILES)
  return others + Math.ceil(largest.reduce((sum, length) => sum + length, 0) * ROOM)
}
