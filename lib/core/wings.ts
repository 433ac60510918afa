import type { Format } from './formats/format.js'

/** The parts of the package that the core does not know. The main entry hands over what loads them. */
export interface Wings {
  /** Loads the format of pages, which `'html'` stands for. */
  readonly loadHtml: () => Promise<Format>
}
