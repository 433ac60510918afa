import type { LinkedRows } from '../../core/formats/format.js'

/** Functions that render the values of an attribute as markup. */
export interface Show {
  /**
   * Renders a value. A value that is too long is cut, with a note below it. The id of a row among the links is a link
   * with its name. A file is a link or a picture, if the path before the names of the row's files is given.
   */
  whole (value: unknown, links?: LinkedRows, files?: string): string
  /** Renders the beginning of a value in one line, with links as those of the whole value. */
  cell (value: unknown, links?: LinkedRows, files?: string): string
  /** Whether the values are numbers, which a column aligns at its end; `undefined` if any value may be one. */
  readonly numeric: boolean | undefined
}
