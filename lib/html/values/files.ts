import { countBytes, findFileType, isFile } from '../../core/formats/files.js'
import { escapeAttribute } from '../../core/formats/escape.js'
import type { PageMessages } from '../messages.js'
import type { Show } from './show.js'

/** The largest picture that a list shows, in bytes. */
const LARGEST_PICTURE = 100_000
/** The height of a picture in a list, in pixels of CSS. */
const HEIGHT = 40

/** Makes a function that says in words what a file is: `PNG, 48 kB`. */
export function makeFileText (lang: string, { file }: PageMessages): (base64: string) => string {
  const write = (number: number, unit: string, unitDisplay: 'long' | 'short'): string =>
    new Intl.NumberFormat(lang, { style: 'unit', unit, unitDisplay, maximumSignificantDigits: 3 }).format(number)
  return (base64) => {
    const bytes = countBytes(base64)
    const size = bytes < 1e3
      ? write(bytes, 'byte', 'long')
      : bytes < 1e6 ? write(bytes / 1e3, 'kilobyte', 'short') : write(bytes / 1e6, 'megabyte', 'short')
    return `${findFileType(base64)?.name ?? file}, ${size}`
  }
}

/**
 * Returns functions that show files: a picture, and a link to any other file. Without the path of a file, they say what
 * it is. Values that are no files are shown as others are.
 */
export function showFiles (describe: (base64: string) => string, { whole, cell }: Show, label: string): Show {
  const show = (other: Show['whole'], isWhole: boolean): Show['whole'] => (value, links, path) => {
    if (!isFile(value)) return other(value, links)
    const text = escapeAttribute(describe(value))
    if (path === undefined) return text
    const href = escapeAttribute(path)
    const isPicture = findFileType(value)?.isPicture === true && (isWhole || countBytes(value) <= LARGEST_PICTURE)
    if (!isPicture) return `<a href="${href}">${text}</a>`
    const image = `<img src="${href}" loading="lazy"`
    return isWhole
      ? `<a href="${href}">${image} alt="${escapeAttribute(label)}"/></a> ${text}`
      : `<a href="${href}">${image} alt="${text}" height="${HEIGHT}"/></a>`
  }
  return { numeric: false, whole: show(whole, true), cell: show(cell, false) }
}

/** Returns the same functions for the attribute, given the path before the names of a row's files. */
export function linkFiles ({ whole, cell }: Show, attribute: string): Show {
  const name = encodeURIComponent(attribute)
  const link = (show: Show['whole']): Show['whole'] => (value, links, files) =>
    show(value, links, files === undefined ? undefined : files + name)
  return { numeric: false, whole: link(whole), cell: link(cell) }
}
