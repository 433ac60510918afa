import { assetPath } from '../core/resource/path-pattern.js'
import { lazy } from '../core/util/functions.js'
import { filesOf } from '../core/formats/files.js'
import type { ConfiguredResource, Format, View, WriterContext } from '../core/formats/format.js'
import { prepareContent, prepareProblem, withContent } from './content.js'
import { compileLanguageChoice } from './languages/language.js'
import { checkNamedAttributes, resolveHtmlOptions } from './check-options.js'
import { compileWords } from './languages/make-messages.js'
import type { HtmlOptions, PageLanguage, ResolvedHtmlOptions } from './options.js'
import { makeImporting, parseFiles } from './multipart.js'
import { writeNotice } from './notices.js'
import { Pages } from './pages/pages.js'
import { SUM } from './pages/sums.js'
import { makeSecurityHeaders } from './security-headers.js'
import { dependsOnRequest } from './style/brand.js'
import { makeStylesheet } from './style/stylesheet.js'
import type { Views } from './views/types.js'

type PageRequest = Pick<View, 'request'>

/** Matches the query parameters that advertisements, mails and scripts add to the URLs of pages. */
export const TRACKERS: RegExp = /^(?:utm_.*|fbclid|gclid|msclkid|_ga|_)$/s

const HTML = {
  name: 'html',
  mediaTypes: ['text/html', 'application/xhtml+xml'],
  browser: true,
  ignored: TRACKERS,
  parameters: [SUM],
  hidesWriteOnly: true
} as const satisfies Format

/** The format `html` with the options of the app, from which the home page of a database takes its face. */
export interface HtmlFormat extends Format {
  /** The options that it was called with. */
  readonly options: HtmlOptions
}

/**
 * Returns the format of pages for browsers, `text/html`. XML parsers can read the pages too.
 * @param options the options of all resources with this format, which those of a resource precede
 *
 * @example
 * app.register(resources, { name: 'posts', formats: [xml(), html({ lang: 'de' }), json()] })
 */
export function html (options: HtmlOptions = {}): HtmlFormat {
  return {
    ...HTML,
    options,
    async configure (own: HtmlOptions, names) {
      const joined = { ...options, ...own }
      const { pageSize } = joined
      const resolved = await resolveHtmlOptions(joined)
      const importing = resolved.import && await makeImporting(resolved.import)
      return { ...makeHtmlFormat(resolved, names), importing, parseFiles, ...(pageSize !== undefined && { pageSize }) }
    }
  }
}

/** The views that render a list. */
const LIST_VIEWS: ReadonlyArray<keyof Views> = ['layout', 'list', 'form', 'field']

/** Returns whether lists offer to do something with several rows. */
function offersRows ({ manyActions, importActions, memberActions }: WriterContext): boolean {
  return manyActions.has('update') || manyActions.has('delete') || importActions.size > 0 ||
    memberActions.some(({ many }) => many === true)
}

/** Makes the format of the pages of a resource. The format `form` reads what browsers send. */
export function makeHtmlFormat ({ languages, ...options }: ResolvedHtmlOptions, names: ConfiguredResource): Format {
  const { accent, brand: { font, density } } = options
  const stylesheet = makeStylesheet({ accent, font, density })
  const { stem, hash, extension } = stylesheet
  const file = `${stem}.${hash}.${extension}`
  const choose = compileLanguageChoice(languages.map(({ tag }) => tag))
  const [{ tag }] = languages as readonly [PageLanguage]
  const languageOf = ({ headers }: Pick<View['request'], 'headers'>): string => choose(headers['accept-language'])
  const words = compileWords(names, languages)
  return {
    ...HTML,
    settings: { ...options, languages },
    ...(languages.length > 1 && { languageOf }),
    compileWriter (resource, context) {
      const own = checkNamedAttributes(resource, options)
      const owner = context.assetOwner(file)
      const path = assetPath(owner, file)
      // The pages of a resource take 24 KiB, so they are only made once somebody opens one.
      const all = new Map(languages.map((language) =>
        [language.tag, lazy(() => new Pages(resource, context, { ...own, language, names }, path))]))
      const [first] = all.values()
      const pagesFor = (languages.length === 1
        ? first
        : ({ request }: PageRequest) => all.get(languageOf(request))?.()) as (view: PageRequest) => Pages
      return {
        async prepare (outcome, services) {
          const prepared = await prepareContent(outcome, resource, services, offersRows(context))
          const figures = services.listed && await pagesFor(services).list.findFigures(services.listed)
          // The version of a row does not change when the bar does.
          const isVolatile = Object.keys(options.views).length > 0 || dependsOnRequest(options.brand) ||
            context.navigation(tag) !== undefined || prepared.isVolatile === true
          return { ...prepared, content: { ...prepared.content, figures }, isVolatile }
        },
        prepareProblem: async (problem, services) => prepareProblem(problem, resource, services),
        redirected: writeNotice,
        page: (rows, view) => pagesFor(view).list.write(rows, withContent(view)),
        // A list whose view is the app's own, or whose columns no schema declares, is not written in chunks.
        frame: !resource.open && LIST_VIEWS.every((name) => options.views[name] === undefined)
          ? (first, view) => pagesFor(view).list.frame(first, withContent(view))
          : undefined,
        record: (row, view) => pagesFor(view).record(row, withContent(view)),
        stale: (current, view) => pagesFor(view).stale(current, withContent(view)),
        revised: (view) => pagesFor(view).revised(withContent(view)),
        selected: (view) => pagesFor(view).chosen(withContent(view)),
        imported: (view) => pagesFor(view).import(withContent(view)),
        blank: (view) => pagesFor(view).blank(withContent(view)),
        edit: (row, view) => pagesFor(view).edit(row, withContent(view)),
        problem: (problem, view) => pagesFor(view).problem(problem, withContent(view)),
        title: (row, page) => pagesFor(page).title(row),
        words,
        table: (rows, view) => pagesFor(view).table(rows, view),
        add: async (view) => pagesFor(view).add(view),
        choices: (rows, view) => pagesFor(view).choices(rows, view),
        headers: makeSecurityHeaders(options, filesOf(resource).length > 0),
        assets: owner === resource.path ? [stylesheet] : [],
        showsRefusedConditions: options.views.list === undefined
      }
    }
  }
}
