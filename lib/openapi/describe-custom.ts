import type { CompiledCustomAction } from '../http/compiled-resource.js'
import type { Route, RoutePath } from '../http/route.js'
import { camelize, capitalize } from '../resource/inflection.js'
import type { DescribedResource, Operated, Purpose } from './described.js'
import { IF_NONE_MATCH, unchanged } from './describe-reads.js'
import { describeRequest, idOf, IF_MATCH, readsForms, redirect, REFUSED_WRITE } from './describe-writes.js'
import { describeContent, type Overridden, type Part } from './media.js'
import { demandedOf } from './resource-schemas.js'
import { defineEtag, defineLocation } from './responses.js'

/** Describes what an action of the app's own does. */
export function describeCustom (
  subject: DescribedResource,
  { path, route, method }: Operated,
  own: CompiledCustomAction
): Purpose {
  const { compiled, names: { one, many }, schemas, writer } = subject
  const { plural, singular } = compiled.resource
  const name = camelize(own.name)
  const content = describeContent(compiled, 'either', schemas.record())
  const seen = { description: 'What it answers', headers: { ETag: defineEtag(writer) }, content }
  const purpose = {
    id: `${name}${{ collection: many, member: one, new: `New${one}` }[own.on]}${endingOf(path, route, method)}`,
    summary:
      typeof own.label === 'string'
        ? own.label
        : `${capitalize(own.name)} ${own.on === 'collection' ? plural : singular}`,
    query: describeQuery(schemas.queried(own), own)
  }
  if (route.payload === undefined) {
    return {
      ...purpose,
      headers: [IF_NONE_MATCH],
      answers: { 200: seen, ...unchanged(writer) },
      refusals: [400, 404, 406]
    }
  }
  const group = schemas.custom(own)
  const isWhole = own.attributes !== undefined && demandedOf({ attributes: own.supplied }).length > 0
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
      200: seen,
      201: {
        description: 'What it has made',
        headers: { Location: defineLocation(writer), ETag: defineEtag(writer) },
        content
      },
      204: { description: 'It is done' },
      ...redirect(subject)
    },
    refusals: REFUSED_WRITE
  }
}

/** Where several verbs of a path have one name, the first has it alone. */
function endingOf ({ routes }: RoutePath, route: Route, method: string): string {
  if (route.formOnly === true) return 'ByForm'
  const first = routes.find(({ customAction: own }) => own?.name === route.customAction?.name)
  return first === route ? '' : `By${capitalize(method.toLowerCase())}`
}

function describeQuery (schemas: ReadonlyMap<string, Part>, { queried }: CompiledCustomAction): readonly Part[] {
  const demanded = demandedOf({ attributes: queried })
  return [...schemas].map(([name, { description, ...schema }]) => ({
    in: 'query',
    name,
    schema,
    ...(description !== undefined && { description }),
    ...(demanded.includes(name) && { required: true })
  }))
}

/** What a form asks for by `_method` of actions of the app's own; undefined: of nothing. */
function overrideCustom ({ compiled, schemas }: DescribedResource, { routes }: RoutePath): Overridden | undefined {
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
