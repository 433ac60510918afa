import { createHash } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { compileAccessCheck } from '../actions/authorize/authorize.js'
import { constrainParents, type GuardedResource, isGuarded, passesChecks } from '../actions/authorize/level.js'
import { compileRefusals } from '../actions/authorize/refused-actions.js'
import type { Target } from '../actions/list.js'
import { InvalidOptionError } from '../errors.js'
import type { ActionLink, Format, Selection, Writer, WriterContext } from '../formats/format.js'
import { csv } from '../formats/csv/csv.js'
import { filesOf, MULTIPART } from '../formats/files.js'
import { form } from '../formats/form/read.js'
import { hideWriteOnly } from '../formats/hide-write-only.js'
import { compileJsonReader, json, mergePatch } from '../formats/json/json.js'
import type { BodyFormat, CompiledImport, CompiledResource, Representation } from '../compiled-resource.js'
import { compileCustomAction } from '../actions/custom/compile-action.js'
import { compileListQuery, type ListQueryParser } from '../request/list-query.js'
import { compilePayload, compilePayloadLater, type ReadPayload } from '../request/payload.js'
import { compileFindRows } from '../request/rows.js'
import { compileSelect } from '../request/selection.js'
import { matchableGroups } from '../request/match.js'
import { canCopy, compilePrefill, COPIED } from '../request/prefill.js'
import { Relations } from '../relations/relations.js'
import { compileLocation } from '../resource/location.js'
import { compileVisibleRow, publish } from '../resource/visible.js'
import { nameOf } from '../modes.js'
import type { Resource } from '../resource/resource.js'
import { keepDeleted, onlyDeleted } from '../stores/soft-delete.js'
import { stampStore } from '../stores/stamp.js'
import { withRules } from '../rules/ruled-store.js'
import type { Rules } from '../rules/rules.js'
import { compileCacheControl } from '../options/cache-control.js'
import type { ActionScope, CustomAction } from '../actions/custom/custom-action.js'
import type { ResolvedOptions } from '../options/resolve/options.js'
import type { Routing } from '../options/resolve/routing.js'
import { compileConstraint } from '../schema/validation/parameter.js'
import { compileValidation } from '../schema/validation/validation.js'
import type { Validators } from '../schema/validation/validators.js'
import { noStore, type Store } from '../stores/store.js'
import { Cache } from '../util/cache.js'
import { didYouMean } from '../util/words.js'
import { lazy } from '../util/functions.js'
import { asObject, findMember, ownMember } from '../util/own-property.js'
import { completeCreates, type VariantOf } from './roles.js'
import {
  checkCapabilities, checkForeignKey, checkTypesKept, checkKeptRequests, checkSoftDelete, checkWriter
} from './check-resource.js'

const NO_TRANSITIONS: Rules['transitions'] = new Map()

/** The surroundings of a resource: its place, its relatives and the settings of the app. */
export interface ResourceContext
  extends
  Pick<CompiledResource, 'resourcePaths' | 'parent' | 'listChecks' | 'paths' | 'appHooks' | 'neighbors' | 'variants'>,
  Pick<WriterContext, 'children' | 'assetOwner' | 'navigation'> {
  readonly customActions: readonly CustomAction[]
  /** The resource of which it is a variant, and what that lacks; `undefined` for the resource itself. */
  readonly variantOf?: VariantOf
  /** The validators that it shares with other resources. */
  readonly validators: Validators
  /** Its rules about whole rows, or `undefined` if there are none. */
  readonly rules: Rules | undefined
}

export function compileResource (
  options: ResolvedOptions,
  resource: Resource,
  context: ResourceContext
): CompiledResource {
  const { resourcePaths, parent, customActions, validators, rules, variantOf, variants } = context
  checkTypesKept(resource, options.store.attributes)
  if (parent !== undefined) checkForeignKey(resource, parent.resource, options.store.attributes)
  checkCapabilities(options.store)
  // Refuses an invalid schema, which the following steps rely on.
  const validation = completeCreates(compileValidation(resource, validators), variantOf, options)
  const listQuery = compileListQuery(options, resource)
  const relations = variantOf?.whole.relations.narrow(resource) ?? new Relations(resource)
  const { references } = relations
  const writerContext = makeWriterContext(options, resource, listQuery, { ...context, references })
  const representations = compileRepresentations(options, resource, writerContext)
  const bodies = compileBodies(options, resource, representations)
  const bodiless = bodies.find(({ reader }) => reader.onlyLists !== true) ??
    compileBody(resource, json().mediaTypes, compileJsonReader, undefined)
  const target: Target = { resource, store: stamp(ruleStore(options, rules), options), scope: {} }
  const access = compileAccess(target, options.routing, context)
  checkKeptRequests(options, variants !== undefined || access.levels.some(isGuarded))
  return {
    options,
    resource,
    name: nameOf(resource),
    parent,
    target,
    rules,
    resourcePaths,
    findLocation: compileLocation(resourcePaths),
    ...access,
    representations,
    bodies,
    patches: compilePatches(resource, representations),
    importing: compileImport(resource, representations, writerContext),
    bodiless,
    validation,
    listQuery,
    prefill: compilePrefill(resource, { validation, listQuery, references, unique: writerContext.unique }),
    select: compileSelect(resource),
    relations,
    customActions: customActions.map((action) =>
      compileCustomAction(action, { resource, validation, bodies: [...bodies, bodiless], validators })),
    refusals: compileRefusals(
      options.routing.authorize,
      resource,
      [...writerContext.collectionActions, ...writerContext.deletedSegment === undefined ? [] : [{ name: 'deleted' }]],
      writerContext.memberActions
    ),
    listChecks: context.listChecks,
    paths: context.paths,
    appHooks: context.appHooks,
    neighbors: context.neighbors,
    variants,
    cacheControl: compileCacheControl(options.cacheControl, [
      ...new Set([...resource.actions, ...customActions.map(({ name }) => name)])
    ])
  }
}

/**
 * Returns the store of a resource, which refuses rows that break its rules, and may keep what is deleted.
 * @throws InvalidOptionError
 */
function ruleStore (options: ResolvedOptions, rules: Rules | undefined): Store {
  const { store, check, rowSchema, softDelete } = options
  if (softDelete !== undefined) checkSoftDelete(options, softDelete)
  const own = softDelete === undefined
    ? store
    : (softDelete.rows === 'live' ? keepDeleted : onlyDeleted)(store, softDelete.attribute)
  if (rules === undefined) return own
  if (store !== noStore) return withRules(own, rules)
  const option = check !== undefined ? 'check' : rowSchema !== undefined ? 'attributes' : 'transitions'
  throw new InvalidOptionError(option, 'has rules about whole rows, which need a "store" whose rows they check')
}

/**
 * Returns a store that stamps what is written, before its rules are checked.
 * @throws InvalidOptionError
 */
function stamp (store: Store, { stamp: stamps, schema }: ResolvedOptions): Store {
  for (const name of stamps.keys()) {
    const declared = asObject(ownMember(asObject(schema?.properties) ?? {}, name))
    if (declared === undefined || declared.readOnly === true) continue
    throw new InvalidOptionError('stamp', `names "${name}", which clients can write; make it readOnly`)
  }
  return stamps.size === 0 ? store : stampStore(store, stamps)
}

/** Compiles the checks of ids and access, and the levels that nested resources build on. */
function compileAccess (
  target: Target,
  { authorize, scope, constraints, param }: Routing,
  { resourcePaths: { collection, members, isShallow, parent: link }, parent, validators }: ResourceContext
): Pick<CompiledResource, 'isId' | 'accessChecks' | 'levels' | 'level'> {
  // A scope may also give constraints on the ids of its other resources.
  const names = [...collection.names, param]
  const checks = new Map(
    Object.entries(constraints).map(([name, schema]) => {
      if (!names.includes(name)) {
        throw new InvalidOptionError(
          'constraints',
          `names "${name}", which is not a parameter of the path${didYouMean(name, names)}`
        )
      }
      return [name, compileConstraint(name, schema, validators)]
    })
  )
  const idChecks = [...checks].flatMap(([name, isFit]) => (name === param ? [isFit] : []))
  const parameterChecks = [...checks].filter(([name]) => collection.names.includes(name))
  const levels =
    parent?.levels.map((level, index, { length }): GuardedResource =>
      index === length - 1 ? { ...level, param: link?.param } : level
    ) ?? []
  const above = levels.at(-1)
  const parentLink =
    above === undefined || link === undefined
      ? undefined
      : { level: above, foreignKey: link.foreignKey, param: link.param, idChecks: above.idChecks }
  const nested = constrainParents(
    { target, authorize, scope, param: undefined, idChecks, parameterChecks, foreignKey: link?.foreignKey, parentLink },
    parameterChecks
  )
  // A shallow row also keeps the constraints of its parents on parameters that its path has.
  const self: GuardedResource = {
    ...nested,
    parameterChecks: [...levels, nested]
      .flatMap(({ parameterChecks }) => parameterChecks)
      .filter(([name]) => members.names.includes(name)),
    foreignKey: undefined
  }
  const atCollection = compileAccessCheck(levels, nested)
  return {
    isId: idChecks.length === 0 ? undefined : (id) => passesChecks(idChecks, id),
    accessChecks: { collection: atCollection, row: isShallow ? compileAccessCheck([], self) : atCollection },
    levels: isShallow ? [self] : [...levels, nested],
    level: nested
  }
}

function makeWriterContext (
  options: ResolvedOptions,
  resource: Resource,
  { sortable, filterable, searchable, parameters }: ListQueryParser,
  context: ResourceContext & Pick<WriterContext, 'references'>
): WriterContext {
  const { customActions, children, references, paths, assetOwner, navigation } = context
  const { store, maxRows, writes, singleton, routing: { actions, authorize, handlers, manyRows, pathNames } } = options
  // The path of a shallow row does not lead back to a list.
  const { isShallow } = context.resourcePaths
  const canMany = store.transaction !== undefined && maxRows > 0 && !singleton
  const hasMany = canMany && writes !== 'member' && !isShallow
  const linksTo = (scope: ActionScope): ActionLink[] =>
    customActions.flatMap(({ name, on, verb, segment, label, attributes, query, many }): ActionLink[] => {
      // A button sends no input, and a form cannot ask for PATCH.
      const isSimple =
        on === scope && verb !== 'PATCH' && label !== false && attributes === undefined && query?.required === undefined
      return isSimple ? [{ name, label, method: verb, segment: encodeURI(segment), many: many && hasMany }] : []
    })
  const isMany = (action: 'create' | 'update' | 'delete'): boolean =>
    canMany && actions.has(action) && (!handlers.has(action) || manyRows.has(action))
  // The path of a shallow list creates rows only.
  const imported = isShallow ? ['create'] as const : ['create', 'update'] as const
  const imports = options.formats.some(({ importing }) => importing !== undefined) && actions.has('list')
  const importActions = new Set(imports ? imported.filter(isMany) : [])
  const segmentOf = (action: 'new' | 'edit'): string | undefined =>
    actions.has(action) ? encodeURI(pathNames[action]) : undefined
  return {
    formats: options.formats,
    selection: undefined,
    sortable,
    filterable: filterable.flatMap(({ attribute: { name }, isPlain }) => (isPlain ? [name] : [])),
    conditions: filterable.flatMap(({ attribute: { name: attribute }, operators }) =>
      operators.map((operator) => ({ parameter: `${attribute}[${operator}]`, attribute, operator }))),
    searchable,
    hasLast: parameters.includes('before') && !handlers.has('list'),
    manyActions: new Set((hasMany ? ['create', 'update', 'delete'] as const : ['create'] as const).filter(isMany)),
    importActions,
    importMatches: importActions.has('update') ? matchableGroups({ resource, options }) : [],
    collectionActions: linksTo('collection'),
    memberActions: linksTo('member'),
    children,
    references,
    unique: uniqueAttributes(options),
    transitions: context.rules?.transitions ?? NO_TRANSITIONS,
    softDelete: options.softDelete?.rows,
    deletedSegment: options.softDelete?.rows === 'live' && authorize.length > 0 ? 'deleted' : undefined,
    hasKeys: options.idempotency !== undefined,
    newSegment: segmentOf('new'),
    copySegment: canCopy(resource, options.routing) ? `${encodeURI(pathNames.new)}?${COPIED}=` : undefined,
    editSegment: segmentOf('edit'),
    paths,
    assetOwner,
    navigation
  }
}

function uniqueAttributes ({ store: { key = [], unique }, unique: declared }: ResolvedOptions): ReadonlySet<string> {
  const groups = (unique ?? declared).map((group) => [group].flat())
  return new Set([...key, ...groups.filter(({ length }) => length === 1).flat()])
}

function compileRepresentations (
  { formats, pageSize }: ResolvedOptions,
  resource: Resource,
  context: WriterContext
): readonly Representation[] {
  const represent = (format: Format): Representation => {
    const selecting = (selection?: Selection): WriterContext =>
      selection === undefined ? context : { ...context, selection }
    const compile = (resource: Resource, selection?: Selection): Writer => {
      const compileWriter = format.compileWriter as NonNullable<Format['compileWriter']>
      const writer = compileWriter(resource, selecting(selection))
      if (format.hidesWriteOnly === true) return writer
      checkWriter(format.name, writer)
      const see = compileVisibleRow(selection?.resource ?? resource)
      // The responder has made the version of a singleton, which names its row.
      return hideWriteOnly(writer, resource.singleton ? see : (row) => see(publish(row, resource)))
    }
    const writer = compile(resource)
    const whole: Representation = {
      ...format,
      headers: Object.entries(writer.headers ?? {}),
      pageSize: writer.page && pageSize,
      spreadsheet: format.spreadsheet && represent(format.spreadsheet),
      writer,
      blank: lazy(() => compile({ ...resource, singleton: true })),
      shape: compileShape(format, resource, context),
      select: (selection) => ({
        ...whole,
        writer: compile(resource, selection),
        shape: compileShape(format, resource, selecting(selection))
      })
    }
    return whole
  }
  return formats.map(represent)
}

function compileBodies (
  { readers }: ResolvedOptions,
  resource: Resource,
  representations: readonly Representation[]
): readonly BodyFormat[] {
  const browser = representations.find((representation) => representation.browser === true)
  // A format of the app's own may read the type.
  const hasForms = browser?.parseFiles !== undefined &&
    ![...representations, ...readers].some(({ mediaTypes }) => mediaTypes.includes(MULTIPART))
  return [...representations, ...readers].flatMap((format): BodyFormat[] => {
    const { name, mediaTypes, compileReader, compileWriter, hidesWriteOnly } = format
    if (compileReader === undefined) return []
    const answer = representations.find((other) => other.name === name) ?? browser
    const body = compileBody(resource, mediaTypes, compileReader, answer)
    // An app's own reader may refuse the shape of an attribute. It is called here, so that it fails at registration.
    // The readers of the package refuse none. Its formats have `hidesWriteOnly`, or no writer as that of forms.
    const isOwn = compileWriter !== undefined && hidesWriteOnly !== true
    return [
      isOwn ? makeBody(resource, body, compilePayload(resource, body.reader)) : body,
      // The fields of a form with files are read as those of other forms.
      ...(compileReader === form.compileReader && hasForms && filesOf(resource).length > 0
        ? [{ ...body, mediaTypes: [MULTIPART] }]
        : [])
    ]
  })
}

/** Compiles the formats that only a PATCH of a row may have. */
function compilePatches (resource: Resource, representations: readonly Representation[]): readonly BodyFormat[] {
  const answer = representations.find(({ compileReader }) => compileReader === json().compileReader)
  return answer === undefined ? [] : [compileBody(resource, mergePatch.mediaTypes, mergePatch.compileReader, answer)]
}

/** Compiles the import of rows by pages. The options of the resource's own format CSV hold for its files. */
function compileImport (
  resource: Resource,
  representations: readonly Representation[],
  { importActions: actions }: WriterContext
): CompiledImport | undefined {
  const answer = representations.find(({ importing }) => importing !== undefined)
  if (answer?.importing === undefined || actions.size === 0) return undefined
  const settings = representations.find(({ name }) => name === 'csv')?.settings
  const options = { escapeFormulas: findMember(settings, 'escapeFormulas') === true }
  const { compileReader } = csv(options)
  const body = compileBody(resource, [MULTIPART], compileReader as BodyFormat['compileReader'], answer)
  return { ...answer.importing, actions, body: { ...body, reader: { ...body.reader, form: true } } }
}

function compileBody (
  resource: Resource,
  mediaTypes: readonly string[],
  compileReader: BodyFormat['compileReader'],
  answer: Representation | undefined
): BodyFormat {
  const reader = compileReader(resource)
  return makeBody(resource, { mediaTypes, reader, answer, compileReader }, compilePayloadLater(resource, reader))
}

function makeBody (
  resource: Resource,
  body: Omit<BodyFormat, 'readPayload' | 'findRows'>,
  readPayload: ReadPayload
): BodyFormat {
  return { ...body, readPayload, findRows: compileFindRows(resource, body.reader, readPayload) }
}

/** Raise it whenever a format of the package writes rows in another way, so that clients drop their copies. */
const WRITING = 1
/** The length of a shape, in hexadecimal digits. */
const LENGTH = 8

/**
 * Compiles the function that returns the shape of an answer: a short digest of what a format writes besides the values
 * of a row. It is part of the entity tag, which must change when the representation does (RFC 9110 §8.8.1).
 */
function compileShape (
  { name, browser, settings, languageOf }: Format,
  { plural, singular, singleton, path, idType, key, schema, actions, memberWrites, foreignKey }: Resource,
  context: WriterContext
): (request: Pick<FastifyRequest, 'headers'>) => string {
  // A page has links and forms beside its row. Other references are known once the app is ready.
  const describePage = (): readonly unknown[] => {
    const { formats, collectionActions, memberActions, children, references } = context
    const names = formats.map(({ name }) => name)
    const links = [names, collectionActions, memberActions, children, references]
    const forms = [context.newSegment, context.copySegment, context.editSegment]
    return [path, idType, key, actions, memberWrites, foreignKey, ...links, ...forms]
  }
  const known = new Cache<string | undefined, string>()
  const text = lazy(() => {
    const { only, include } = context.selection ?? {}
    const parts = [WRITING, name, settings, plural, singular, singleton, schema, only, include]
    return JSON.stringify([...parts, ...(browser === true ? describePage() : [])], spellOut)
  })
  return (request) => {
    const language = languageOf?.(request)
    return known.get(language, () =>
      createHash('sha256').update(`${text()} ${language}`).digest('hex').slice(0, LENGTH))
  }
}

/** Replaces what JSON has no spelling for. A function of the app is known by its source. */
function spellOut (_name: string, value: unknown): unknown {
  if (value instanceof Map || value instanceof Set) return [...value]
  return typeof value === 'function' ? String(value) : value
}
