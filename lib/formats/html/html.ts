import { assetPath } from '../../resource/asset-path.js'
import { lazy } from '../../util/functions.js'
import type { Asset, Format } from '../format.js'
import type { PageOptions } from './options.js'
import { canPrepareFrame } from './pages/page-frame.js'
import { Pages } from './pages/pages.js'
import { makeSecurityHeaders } from './security-headers.js'
import { makeStylesheet } from './style/make-stylesheet.js'

/** The stylesheet that was made last. Nearly always, all resources have the same accent colour. */
let last: { readonly accent: string, readonly stylesheet: Asset } | undefined

function findStylesheet (accent: string): Asset {
  if (last?.accent !== accent) last = { accent, stylesheet: makeStylesheet(accent) }
  return last.stylesheet
}

/**
 * Makes the format of pages for browsers. XML parsers can read the pages too. The format `form` reads what browsers
 * send.
 */
export function makeHtmlFormat (options: PageOptions): Format {
  const stylesheet = findStylesheet(options.accent)
  const { stem, hash, extension } = stylesheet
  return {
    name: 'html',
    mediaTypes: ['text/html', 'application/xhtml+xml'],
    browser: true,
    compileWriter (resource, context) {
      const path = assetPath(resource.path, `${stem}.${hash}.${extension}`)
      // The pages of a resource take 24 KiB, so they are only made once somebody opens one.
      const pages = lazy(() => new Pages(resource, context, options, path))
      return {
        page: (rows, view) => pages().list.write(rows, view),
        frame: canPrepareFrame(resource, options) ? (first, view) => pages().list.frame(first, view) : undefined,
        record: (row, view) => pages().record(row, view),
        stale: (current, view) => pages().stale(current, view),
        revised: (view) => pages().revised(view),
        blank: (view) => pages().blank(view),
        edit: (row, view) => pages().edit(row, view),
        problem: (problem, view) => pages().problem(problem, view),
        title: (row) => pages().title(row),
        headers: makeSecurityHeaders(options),
        assets: [stylesheet],
        showsRefusedConditions: options.views.list === undefined,
        // The version of a row does not change when the bar does.
        get volatile (): boolean {
          return Object.keys(options.views).length > 0 || context.navigation() !== undefined
        }
      }
    }
  }
}
