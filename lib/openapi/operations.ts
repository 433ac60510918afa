import { nameOf } from '../core/resource/resource.js'
import { PRIVATE } from '../core/options/cache-control.js'
import type { DescribedResource, DescribedOperation, OperationDescription } from './described.js'
import { describeCustom } from './describe-custom.js'
import { describeBlank, describeList, describeSelection, describeShow } from './describe-reads.js'
import { describeCreate, describeDelete, describeSubmit, describeUpdate } from './describe-writes.js'
import { membersOf, type Part } from './media.js'
import { defineHeader, describeRefusals } from './responses.js'

export function describeOperation (subject: DescribedResource, operated: DescribedOperation): Part {
  const { compiled, parameters } = subject
  const { path: { pattern }, isSuffixed } = operated
  const { id, summary, description, query = [], headers = [], body, answers, refusals } =
    describePurpose(subject, operated)
  const inPath = pattern.names.map((name) => ({
    in: 'path',
    name,
    required: true,
    schema: parameters.get(name) ?? { type: 'string' }
  }))
  const format = { name: 'format', schema: { type: 'string', enum: compiled.representations.map(({ name }) => name) } }
  return {
    operationId: isSuffixed ? `${id}As` : id,
    tags: [nameOf(compiled.resource)],
    summary,
    ...(description !== undefined && { description }),
    parameters: [
      ...inPath,
      isSuffixed
        ? { in: 'path', required: true, ...format }
        : { in: 'query', description: 'The format of the answer. It takes precedence over Accept.', ...format },
      ...query,
      ...headers
    ],
    ...body,
    responses: {
      ...withCacheControl(subject, answers, operated),
      ...describeRefusals(subject, refusals, answers[201] === undefined || operated.route.customAction !== undefined)
    }
  }
}

/**
 * Adds the header `Cache-Control` to answers. If actions share the operation, the example is the value of the first
 * one.
 */
function withCacheControl (
  { compiled, writer }: DescribedResource,
  answers: OperationDescription['answers'],
  { route: { actions: [{ name }] } }: DescribedOperation
): OperationDescription['answers'] {
  const example = compiled.cacheControl.answers.get(name) ?? PRIVATE
  const header = { 'Cache-Control': defineHeader(writer, 'CacheControl', example) }
  return Object.fromEntries(
    Object.entries(answers).map(([status, { headers, ...answer }]) => [
      status,
      { ...answer, headers: { ...header, ...membersOf(headers) } }
    ])
  )
}

function describePurpose (subject: DescribedResource, operated: DescribedOperation): OperationDescription {
  const { path, route, method } = operated
  const [{ name: action }] = route.actions
  if (route.customAction !== undefined) return describeCustom(subject, operated, route.customAction)
  if (route.formOnly === true) return describeSubmit(subject, path, route)
  switch (action) {
    case 'list':
      return describeList(subject)
    case 'show':
      return {
        ...describeShow(subject, `show${subject.names.one}`, `Show ${subject.compiled.resource.singular}`),
        query: describeSelection(subject.compiled)
      }
    case 'edit':
      return describeShow(subject, `edit${subject.names.one}`, `Show ${subject.compiled.resource.singular} in a form`)
    case 'new':
      return describeBlank(subject)
    case 'create':
      return describeCreate(subject, route)
    case 'delete':
      return describeDelete(subject, path)
    default:
      return describeUpdate(subject, path, method)
  }
}
