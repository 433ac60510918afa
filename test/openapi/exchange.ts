import { createInstance, getHttpOperationsFromSpec } from '@stoplight/prism-http'

/** A request and its answer, as `record.mjs` has recorded them. */
export interface Exchange {
  readonly file: string
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  readonly answer: {
    readonly status: number, readonly headers: Readonly<Record<string, string>>, readonly body: string
  }
}

/** A deviation of an exchange from its description. */
export interface Violation {
  readonly of: 'request' | 'answer'
  readonly path: string
  readonly message: string
}

export type Document = Readonly<Record<string, unknown>> & {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>,
  readonly components?: { readonly responses?: Readonly<Record<string, Described>> }
}

interface Operation {
  readonly requestBody?: Described
  readonly responses?: Readonly<Record<string, Described>>
}

interface Described {
  readonly content?: Readonly<Record<string, { schema?: unknown }>>
}

/** Prism reads XML as a string and only flat forms. XSD and our own tests validate these bodies. */
const NOT_READ = /\bxml$|x-www-form-urlencoded$/

/** Returns the description without the schemas that Prism would apply wrongly. */
export function readableByPrism (document: Document): Document {
  const copy = structuredClone(document)
  const operations = Object.values(copy.paths).flatMap((path) => Object.values(path))
  const described = [
    ...operations.flatMap(({ requestBody = {}, responses = {} }) => [requestBody, ...Object.values(responses)]),
    ...Object.values(copy.components?.responses ?? {})
  ]
  for (const { content = {} } of described) {
    for (const [mediaType, media] of Object.entries(content)) if (NOT_READ.test(mediaType)) delete media.schema
  }
  return copy
}

const nothing = (): void => {}
const silent = {
  info: nothing,
  success: nothing,
  warn: nothing,
  error: nothing,
  debug: nothing,
  trace: nothing,
  fatal: nothing,
  child: () =>
    silent
}

/** Returns the deviations that `prism proxy --errors` would find in exchanges of an app with this description. */
export async function findViolations (
  document: Document, exchanges: readonly Exchange[]
): Promise<ReadonlyArray<readonly [
  Exchange, Violation
]>> {
  const operations = await getHttpOperationsFromSpec(readableByPrism(document))
  let answer: unknown
  const forward = () => () => async () => ({ _tag: 'Right', right: answer })
  const config = {
    isProxy: true,
    upstream: new URL('http://localhost'),
    upstreamProxy: undefined,
    validateRequest: true,
    validateResponse: true,
    checkSecurity: false,
    errors: true,
    mock: { dynamic: false }
  }
  // The cast adds `forward`, which replaces the network and is unknown to Prism's types.
  const prism = createInstance(config, { logger: silent, forward } as unknown as Parameters<typeof createInstance>[1])
  const found: Array<readonly [Exchange, Violation]> = []
  const check = async (exchange: Exchange): Promise<Outcome> => {
    try {
      return await prism.request(inputOf(exchange), operations, config)() as Outcome
    } catch (error) {
      return { _tag: 'Left', left: { detail: (error as Error).message } }
    }
  }
  for (const exchange of exchanges) {
    answer = {
      statusCode: exchange.answer.status, headers: exchange.answer.headers, body: bodyOf(exchange.answer) ?? undefined
    }
    const { _tag, left, right } = await check(exchange)
    if (_tag === 'Left') found.push([exchange, { of: 'request', path: '', message: left?.detail ?? String(left) }])
    for (const { message, path = [] } of right?.validations.input ?? []) {
      found.push([exchange, { of: 'request', path: path.join('.'), message }])
    }
    for (const { message, path = [] } of right?.validations.output ?? []) {
      found.push([exchange, { of: 'answer', path: path.join('.'), message }])
    }
  }
  return found
}

interface Fault { readonly message: string, readonly path?: readonly string[] }

interface Outcome {
  readonly _tag: 'Left' | 'Right'
  readonly left?: { readonly detail?: string }
  readonly right?: { readonly validations: { readonly input: readonly Fault[], readonly output: readonly Fault[] } }
}

type Input = Parameters<ReturnType<typeof createInstance>['request']>[0]

/** Returns the request with `?format=` in place of a suffix, because only that is described. */
function inputOf (exchange: Exchange): Input {
  const { pathname, searchParams } = new URL(exchange.url, 'http://localhost')
  const [, path = pathname, suffix] = /^(.*)\.(xml|html|json|csv|txt)$/.exec(pathname) ?? []
  const query = { ...(suffix !== undefined && { format: suffix }), ...Object.fromEntries(searchParams) }
  return {
    method: exchange.method.toLowerCase() as Input['method'],
    url: { path, query },
    headers: exchange.headers,
    body: bodyOf(exchange)
  }
}

function bodyOf ({
  headers, body
}: { readonly headers: Readonly<Record<string, string>>, readonly body?: string }): unknown {
  if (body === undefined || body === '') return null
  return /json/i.test(headers['content-type'] ?? '') ? JSON.parse(body) : body
}
