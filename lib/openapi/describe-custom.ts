import type { CompiledCustomAction } from '../core/compiled-resource.js'
import type { Route, RoutePath } from '../core/routes/route.js'
import { camelize } from '../core/resource/inflection.js'
import { capitalize } from '../core/util/words.js'
import type { DescribedResource, DescribedOperation, OperationDescription } from './described.js'
import { IF_NONE_MATCH, unchanged } from './describe-reads.js'
import { describeRequest, idOf, IF_MATCH, readsForms, redirect, REFUSED_WRITE } from './describe-writes.js'
import type { OverrideBody, Part } from './media.js'
import { requiredNames } from './resource-schemas.js'
import { answerRecord, defineHeader } from './responses.js'

/** Describes a custom action. */
export function describeCustom (
  subject: DescribedResource,
  { path, route, method }: DescribedOperation,
  own: CompiledCustomAction
): OperationDescription {
  const { compiled, compiled: { resource: { plural, singular } }, names: { one, many }, schemas, writer } = subject
  const name = camelize(own.name)
  const shown = answerRecord(subject, 'The result of the action', 'either')
  const purpose = {
    id: `${name}${{ collection: many, member: one, new: `New${one}` }[own.on]}${endingOf(path, route, method)}`,
    summary:
      typeof own.label === 'string'
        ? own.label
        : `${capitalize(own.name)} ${own.on === 'collection' ? plural : singular}`,
    query: describeQuery(schemas.queried(own), own)
  }
  if (route.readPayload === undefined) {
    return {
      ...purpose,
      headers: [IF_NONE_MATCH],
      answers: { 200: shown, ...unchanged(writer) },
      refusals: [400, 404, 406]
    }
  }
  const group = schemas.custom(own)
  const isWhole = own.attributes !== undefined && requiredNames({ attributes: own.supplied }).length > 0
  const isForForms = route.formOnly === true
  const overridden = method === 'POST' && readsForms(compiled) ? overrideCustom(subject, path) : undefined
  return {
    ...purpose,
    headers: [IF_MATCH],
    body: describeRequest(
      compiled,
      isForForms ? undefined : { group, isWhole, id: idOf(compiled) },
      overridden,
      isWhole || isForForms
    ),
    answers: {
      200: shown,
      201: answerRecord(subject, 'The row that was created', 'either', { Location: defineHeader(writer, 'Location') }),
      204: { description: 'The action was carried out; there is nothing to return' },
      ...redirect(subject)
    },
    refusals: REFUSED_WRITE
  }
}

/** Returns the ending of an operation id. If verbs of a path share a name, all but the first end with their verb. */
function endingOf ({ routes }: RoutePath, route: Route, method: string): string {
  if (route.formOnly === true) return 'ByForm'
  const first = routes.find(({ customAction: own }) => own?.name === route.customAction?.name)
  return first === route ? '' : `By${capitalize(method.toLowerCase())}`
}

function describeQuery (schemas: ReadonlyMap<string, Part>, { queried }: CompiledCustomAction): readonly Part[] {
  const demanded = requiredNames({ attributes: queried })
  return [...schemas].map(([name, { description, ...schema }]) => ({
    in: 'query',
    name,
    schema,
    ...(description !== undefined && { description }),
    ...(demanded.includes(name) && { required: true })
  }))
}

/** Describes the custom actions that a form may ask for by `_method`. Returns `undefined` if there are none. */
function overrideCustom ({ compiled, schemas }: DescribedResource, { routes }: RoutePath): OverrideBody | undefined {
  const asked = routes.flatMap(({ customAction: own, formOnly }) =>
    own === undefined || formOnly === true || !['PUT', 'DELETE'].includes(own.verb) ? [] : [own]
  )
  const [group, ...others] = [...new Set(asked.map((own) => schemas.custom(own)))]
  if (group === undefined) return undefined
  return {
    group: others.length === 0 ? group : { anyOf: [group, ...others] },
    isWhole: false,
    id: idOf(compiled),
    methods: asked.map(({ verb }) => verb)
  }
}
