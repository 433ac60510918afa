import { isOfParent } from '../../core/actions/authorize/authorize.js'
import type { SaidProblem } from '../../core/errors.js'
import { Message } from '../../core/messages.js'
import type { Resource } from '../../core/resource/resource.js'
import { capitalize, wordsOf } from '../../core/util/words.js'
import type { PageMessages, Translate } from '../messages.js'
import type { ErrorPage } from '../views/model.js'

/** The most characters of a message that is a heading. */
const LONGEST_HEADING = 80

/** The words of the page of an error. */
export interface ProblemWords {
  readonly messages: PageMessages
  readonly translate: Translate
  /** The resource, or `undefined` if the path belongs to none. */
  readonly resource?: Resource
}

/** Returns the heading of the page of an error, and the messages below it. A short message is the heading itself. */
export function describeProblem (
  problem: SaidProblem,
  words: ProblemWords,
  thrown?: unknown
): Pick<ErrorPage, 'title' | 'texts'> {
  const { messages: { problem: heading } } = words
  const texts = textsOf(problem, words)
  const missing = problem.status === 404 ? findMissing(problem, words, thrown) : undefined
  if (missing !== undefined) return { title: missing, texts: problem.detail === problem.title ? [] : texts }
  const [text = '', ...others] = texts
  return others.length === 0 && text.length <= LONGEST_HEADING
    ? { title: capitalize(text), texts: [] }
    : { title: heading, texts }
}

/** Returns whether an error says that other rows refer to the row. An app may have thrown a message of its own. */
export function isReferenced ({ detail }: Pick<SaidProblem, 'detail'>): boolean {
  return detail instanceof Message && detail.code === 'stillReferenced'
}

/** Returns the messages of an error in the words of the page. */
export function textsOf (
  { detail, errors }: SaidProblem,
  { messages, translate }: Pick<ProblemWords, 'messages' | 'translate'>
): string[] {
  if (errors === undefined) return [translate(detail)]
  return Object.entries(errors).flatMap(([path, all]) =>
    all.map((message) => messages.fieldError(path, translate(message))))
}

/** Returns the sentence that says what does not exist, or `undefined` if the app has thrown a message of its own. */
function findMissing (
  { detail, title }: SaidProblem,
  { messages, translate, resource }: ProblemWords,
  thrown: unknown
): string | undefined {
  const { code, params } = detail instanceof Message ? detail : { code: undefined, params: undefined }
  if (code === undefined && detail !== title) return undefined
  const { resource: name = '' } = Object(params) as { readonly resource?: string }
  const isOwn = name === resource?.singular
  // The same message says that there is no such page.
  const isRow = code === 'idUnknown' || isOfParent(thrown) || (isOwn && resource.singleton)
  return isRow ? messages.noRecord(isOwn ? messages.singular : translate(wordsOf(name))) : messages.noPage
}
