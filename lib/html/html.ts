import { assetPath } from '../core/resource/asset-path.js'
import { lazy } from '../core/util/functions.js'
import type { Asset, Format, View } from '../core/formats/format.js'
import { compileLanguageChoice } from './languages/choose-language.js'
import type { HtmlOptions, PageLanguage } from './options.js'
import { canSplit } from './pages/page-frame.js'
import { Pages } from './pages/pages.js'
import { makeSecurityHeaders } from './security-headers.js'
import { type Brand, dependsOnRequest } from './style/brand.js'
import { makeStylesheet, type StyleOptions } from './style/make-stylesheet.js'

type PageRequest = Pick<View, 'request'>

/** The stylesheet that was made last. Nearly always, all resources have the same one. */
let last: StyleOptions & { readonly stylesheet: Asset } | undefined

function findStylesheet (accent: string, { font, density }: Brand): Asset {
  if (last?.accent !== accent || last.font !== font || last.density !== density) {
    const style = { accent, font, density }
    last = { ...style, stylesheet: makeStylesheet(style) }
  }
  return last.stylesheet
}

/**
 * Makes the format of pages for browsers. XML parsers can read the pages too. The format `form` reads what browsers
 * send.
 */
export function makeHtmlFormat ({ languages, ...options }: HtmlOptions): Format {
  const stylesheet = findStylesheet(options.accent, options.brand)
  const { stem, hash, extension } = stylesheet
  const file = `${stem}.${hash}.${extension}`
  const choose = compileLanguageChoice(languages.map(({ tag }) => tag))
  const [{ tag }] = languages as readonly [PageLanguage]
  const languageOf = ({ headers }: Pick<View['request'], 'headers'>): string => choose(headers['accept-language'])
  return {
    name: 'html',
    mediaTypes: ['text/html', 'application/xhtml+xml'],
    browser: true,
    settings: { ...options, languages },
    ...(languages.length > 1 && { languageOf }),
    compileWriter (resource, context) {
      const owner = context.assetOwner(file)
      const path = assetPath(owner, file)
      // The pages of a resource take 24 KiB, so they are only made once somebody opens one.
      const all = new Map(languages.map((language) =>
        [language.tag, lazy(() => new Pages(resource, context, { ...options, language }, path))]))
      const [first] = all.values()
      const pagesFor = (languages.length === 1
        ? first
        : ({ request }: PageRequest) => all.get(languageOf(request))?.()) as (view: PageRequest) => Pages
      return {
        page: (rows, view) => pagesFor(view).list.write(rows, view),
        frame: canSplit(resource, options) ? (first, view) => pagesFor(view).list.frame(first, view) : undefined,
        record: (row, view) => pagesFor(view).record(row, view),
        stale: (current, view) => pagesFor(view).stale(current, view),
        revised: (view) => pagesFor(view).revised(view),
        blank: (view) => pagesFor(view).blank(view),
        edit: (row, view) => pagesFor(view).edit(row, view),
        problem: (problem, view) => pagesFor(view).problem(problem, view),
        title: (row, page) => pagesFor(page).title(row),
        table: (rows, view) => pagesFor(view).table(rows, view),
        headers: makeSecurityHeaders(options),
        assets: owner === resource.path ? [stylesheet] : [],
        showsRefusedConditions: options.views.list === undefined,
        // The version of a row does not change when the bar does.
        get volatile (): boolean {
          return Object.keys(options.views).length > 0 || dependsOnRequest(options.brand) ||
            context.navigation(tag) !== undefined
        }
      }
    }
  }
}
