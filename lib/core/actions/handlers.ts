import type { FastifyReply, preValidationHookHandler, RouteHandlerMethod } from 'fastify'
import { include } from '../relations/include/include.js'
import {
  InvalidError, InvalidQueryError, MalformedBodyError, NO_SUCH_REFERENCE, NothingHereError, PreconditionFailedError,
  UnavailableError
} from '../errors.js'
import { say } from '../messages.js'
import { isFile } from '../formats/files.js'
import { FILTER_FIELDS } from '../formats/form/condition.js'
import { applyMergePatch } from '../formats/json/json.js'
import { parseId, type PlacedValue, referenceTo } from '../resource/resource.js'
import { type Id, isId, type Row } from '../resource/row.js'
import type { Attributes } from '../schema/types.js'
import { countValues } from '../schema/validation/issues.js'
import type { Validation } from '../schema/validation/validation.js'
import { noStore } from '../stores/store.js'
import { ownMember } from '../util/own-property.js'
import type { CompiledCustomAction, CompiledResource } from '../compiled-resource.js'
import { checkQuery } from '../request/negotiate.js'
import type { Payload, WriteAction } from '../request/payload.js'
import { findPreconditions, findReadConditions } from '../request/preconditions.js'
import { COPIED } from '../request/prefill.js'
import { DRY_RUN } from '../request/rows.js'
import { ACCEPT_QUERY } from '../request/query-body.js'
import { type ActionState, type RequestState, STATE } from '../request/state.js'
import { nameEquivalent } from '../response/list-response.js'
import { respond } from '../response/responder.js'
import { logOutcome } from '../telemetry/action-log.js'
import { channel, traceAction } from '../telemetry/tracing.js'
import { findShown } from './authorize/authorize.js'
import { compileFindWrite, compilePayloadHook } from '../request/payload-hooks.js'
import type { CheckedReference } from '../relations/relations.js'
import { findRow, notFound, ofId } from '../modes.js'
import type { Outcome } from './outcome.js'
import { compileHandler } from './custom/custom-handlers.js'
import {
  compileDefaultActions, hasChanged, isMet, lacksVersion, NO_VERSION, type PerformAction, type RowAction, TRIES
} from './default-actions.js'
import type { Routing } from '../options/resolve/routing.js'
import { findChosen } from './chosen-rows.js'
import { performKept, performOnce } from './idempotency.js'
import { importRows } from './import-rows.js'
import { type RowActions, writeRows } from './write-rows.js'

type Perform = PerformAction<Outcome | undefined>

/** The state of a request that asks for a custom write. */
interface CustomState extends ActionState {
  customAction: CompiledCustomAction
  payload: Payload
}

/** The payload of a create, an update or a delete. */
type Write = Payload & { readonly action: WriteAction }

/** Makes a handler of Fastify. */
function handle (run: (state: ActionState) => Promise<FastifyReply>): RouteHandlerMethod {
  return ({ [STATE]: state }) => {
    const known = state as ActionState
    known.hasPassedHooks = true
    return run(known)
  }
}

/**
 * The handlers of a resource's routes. They validate the payload of a write, authorize the request, perform its action
 * and answer it, in this order. What depends on the stored row or on `scope` is validated after the authorization.
 */
export class Handlers {
  readonly #compiled: CompiledResource
  readonly #show: Perform
  readonly list: RouteHandlerMethod
  readonly show: RouteHandlerMethod
  readonly blank: RouteHandlerMethod
  readonly edit: RouteHandlerMethod
  readonly importForm: RouteHandlerMethod
  readonly import: RouteHandlerMethod
  readonly write: RouteHandlerMethod

  constructor (compiled: CompiledResource) {
    const { options: { routing: { handlers } }, validation, prefill } = compiled
    const defaults = compileDefaultActions(compiled)
    const compile = (action: RowAction): Perform => compileAction(action, defaults[action], handlers)
    const list = compileInclude(compile('list'))
    const show = this.#show = compile('show')
    const showIncluded = compileInclude(show)
    const performs = { create: compile('create'), update: compile('update'), delete: compile('delete') }
    const { create, update } = performs
    const writes = { ...performs, create: withReferenceCheck(create), update: withReferenceCheck(update) }
    this.#compiled = compiled
    this.list = handle((state) => {
      readConditionForm(state)
      select(state)
      state.reply.header('accept-query', ACCEPT_QUERY)
      if (state.route.hasQueryBody) nameEquivalent(state)
      return this.#run(state, undefined, list)
    })
    this.show = handle((state) => {
      select(state)
      return this.#read(state, showIncluded)
    })
    this.blank = handle((state) =>
      this.#run(state, undefined, async ({ request, attempt: { target } }) => {
        state.attributes = { ...await this.#copy(state), ...prefill.read(request.query, target.scope) }
        const attributes = { ...validation.defaults(), ...state.attributes }
        return { kind: 'blank', row: { id: '', version: '', attributes } }
      })
    )
    this.edit = handle((state) =>
      this.#read(state, async (state) => {
        const outcome = await show(state)
        return outcome?.kind === 'found' ? { ...outcome, kind: 'edit' } : outcome
      })
    )
    this.importForm = handle((state) => this.#run(state, undefined, async () => ({ kind: 'importing' })))
    const actionsFor = (action: WriteAction, match: Payload['match']): RowActions => ({
      prepare: (row) => validate(row, CHECKS),
      perform: (row) => performs[(row.payload as Write).action](row),
      runsHandler: handlers.has(action) || (match?.creates === true && handlers.has('create'))
    })
    this.import = handle((state) => {
      const { action, match } = state.payload as Write
      return this.#answer(state, () => importRows(state, actionsFor(action, match)))
    })
    // The validation follows all hooks, because a faulty form comes back with its row, which a hook may have refused.
    this.write = handle((state) => {
      const { action, id, isRevised, rows, match } = state.payload as Write
      if (isRevised) checkRevisable(state)
      // The rows that a form has chosen are shown for the next step.
      if (rows !== undefined && isRevised) {
        return this.#answer(state, async () => ({ kind: 'selected', chosen: await findChosen(state, rows) }))
      }
      if (checkDryRun(action, state) || rows !== undefined) {
        return this.#answer(state, () => writeRows(state, actionsFor(action, match)))
      }
      if (isRevised) return this.#run(state, id, action === 'update' ? defaults.redisplay : defaults.redisplayNew)
      return this.#run(state, id, validate(state, writes))
    })
  }

  /** Makes the handler that sends the bytes of an attribute of a row. */
  file (attribute: string): RouteHandlerMethod {
    const { resource } = this.#compiled
    return handle((state) => this.#read(state, async (state) => {
      const outcome = await this.#show(state)
      if (outcome?.kind !== 'found') return outcome
      // The path also exists for requests whose roles do not see the attribute.
      const value = resource.attributes.has(attribute) ? outcome.row.attributes[attribute] : undefined
      if (!isFile(value)) throw new NothingHereError(attribute)
      return { ...outcome, kind: 'file', attribute }
    }))
  }

  /** Makes the hook that reads the payload of a write on a path that serves these actions. */
  readPayload (actions: ReadonlySet<string>): preValidationHookHandler {
    return compilePayloadHook(this.#compiled, compileFindWrite(actions))
  }

  /** Makes the handler of a custom action that is a GET. */
  readCustom (action: CompiledCustomAction): RouteHandlerMethod {
    const perform = compileHandler(action.handler)
    return handle((state) => {
      state.customAction = action
      state.query = action.readQuery(state.request.query)
      return this.#read(state, perform)
    })
  }

  /**
   * Makes the hook and the handler of the custom writes on a path.
   * @param hasManyRows whether their requests name several rows
   */
  writeCustom (
    byMethod: ReadonlyMap<string, CompiledCustomAction>,
    hasManyRows: boolean
  ): { readonly readPayload: preValidationHookHandler, readonly handler: RouteHandlerMethod } {
    const performs = new Map([...byMethod.values()].map((action) => {
      const perform = compileHandler(action.handler)
      return [action, hasManyRows ? perform : withReferenceCheck(perform)]
    }))
    return {
      readPayload: compilePayloadHook(this.#compiled, (method) => byMethod.get(method), hasManyRows),
      handler: handle((state) => {
        const { customAction, payload, request: { query } } = state as CustomState
        const { validate, parameters, readQuery } = customAction
        const perform = performs.get(customAction) as Perform
        if (hasManyRows) checkDryRun(undefined, state)
        else validate(payload.attributes, payload.issues)
        // The path of a form takes the parameters of each action that the form may ask for.
        if (state.route.formDecides) checkQuery(query, ['format', ...hasManyRows ? [DRY_RUN] : [], ...parameters])
        state.query = readQuery(query)
        if (!hasManyRows) return this.#run(state, this.#memberId(state) ?? payload.id, perform)
        return this.#answer(state, () => writeRows(state, {
          prepare (row) {
            const { attributes, issues } = row.payload as Payload
            validate(attributes, issues)
            return checkOwnReferences
          },
          perform,
          runsHandler: true
        }))
      })
    }
  }

  /** Runs a GET, whose answer may have an entity tag. */
  #read (state: ActionState, perform: Perform): Promise<FastifyReply> {
    return this.#run(state, this.#memberId(state), perform)
  }

  #memberId ({ negotiated: { member } }: RequestState): Id | undefined {
    return member === undefined ? undefined : this.#parseId(member)
  }

  /** @throws NotFoundError if it is an id that no row could have */
  #parseId (text: string): Id {
    const { resource, isId } = this.#compiled
    const id = parseId(resource.idType, text)
    if (id === undefined || isId?.(id) === false) throw notFound(resource, id ?? text)
    return id
  }

  /**
   * Returns the values of the row that the query names, if the request may see it.
   * @throws NotFoundError, ForbiddenError
   */
  async #copy (state: ActionState): Promise<Attributes> {
    const { request: { query: { [COPIED]: from } }, attempt: { target: { scope } } } = state
    if (from === undefined) return {}
    const { accessChecks, target: all, resource, prefill } = this.#compiled
    const id = this.#parseId(from)
    const { authorizedRow, target = all } =
      await accessChecks.row?.({ action: 'show', id, isCustom: false }, state) ?? {}
    const row = authorizedRow ?? await findRow(target, id, state)
    if (row === undefined) throw notFound(resource, id)
    return prefill.copy(row.attributes, scope)
  }

  #run (state: ActionState, id: Id | undefined, perform: Perform): Promise<FastifyReply> {
    const { request, payload } = state
    state.id = id
    // Before authorization: whether a header is well-formed must not tell a hidden row from one that does not exist.
    if (payload === undefined) state.readConditions = findReadConditions(request.headers)
    else state.preconditions = findPreconditions(request.headers, payload.version, this.#compiled.representations)
    return this.#answer(state, () => this.#attempt(state, perform))
  }

  /** Performs an action, and answers with its outcome. */
  async #answer (state: ActionState, act: () => Promise<Outcome | undefined>): Promise<FastifyReply> {
    const { idempotency } = this.#compiled.options
    const run = idempotency === undefined ? act : async () => performOnce(state, idempotency, act)
    const outcome = channel.hasSubscribers ? await traceAction(state, run) : await run()
    const shown = await hideUnauthorized(outcome, state)
    if (!state.route.safe) logOutcome(shown, state)
    // An await here would hold the rows of the outcome until the client has read the whole answer.
    return shown === undefined ? state.reply : respond(shown, state)
  }

  /**
   * Authorizes the request, and then does what it asks for. Begins again if the row has changed since `authorize` or
   * the preconditions decided about it: they then decide about the new row. A handler of the app is not called again,
   * because it may have written something.
   */
  async #attempt (state: ActionState, perform: Perform): Promise<Outcome | undefined> {
    const { checkAccess, compiled: { resource } } = state
    for (let tries = 0; tries <= TRIES; tries++) {
      state.attempt = checkAccess === undefined ? state.makeAttempt() : { ...await checkAccess(state, state) }
      // Another database takes no part in the transaction of a write with a key.
      if (state.keyed !== undefined && state.action !== 'delete') await checkOwnReferences(state)
      const outcome = await (state.keyed === undefined ? perform(state) : performKept(state.keyed, state, perform))
      if (!hasChanged(outcome, state)) return outcome
      // The next attempt finds the row of a singleton anew, which may have another id by then.
      state.id = ofId(resource, state.id)
    }
    throw new UnavailableError()
  }
}

/** Compiles the handler of the app for an action, or returns the default one. */
function compileAction (action: RowAction, perform: PerformAction, handlers: Routing['handlers']): Perform {
  const handler = handlers.get(action)
  return handler === undefined ? perform : compileHandler(handler, { action, perform })
}

/** Reads the fields of one more condition of a list. The links of the page repeat only those that ask for something. */
function readConditionForm (state: ActionState): void {
  const { request: { query }, compiled: { listQuery }, choice: { format } } = state
  const isBlankSearch = query.q === '' && format.browser === true
  if (!isBlankSearch && query.blank === undefined && FILTER_FIELDS.every((name) => query[name] === undefined)) return
  const read = listQuery.readForm(query)
  state.request.query = read.query
  state.openCondition = read.open
}

/**
 * Checks that the format of the answer has the parameters that only some formats have.
 * @throws InvalidQueryError
 */
function checkOwnParameters ({ request: { query }, compiled, choice: { format } }: ActionState): void {
  const { listQuery: { ownParameters }, representations } = compiled
  const foreign = ownParameters.find((name) => query[name] !== undefined && format.parameters?.includes(name) !== true)
  if (foreign === undefined) return
  const others = representations.filter(({ parameters }) => parameters?.includes(foreign))
  const types = others.map(({ mediaTypes: [type] }) => type).join(' or ')
  throw new InvalidQueryError(`"${foreign}" is not a parameter of ${format.name}; leave it out, or ask for ${types}`)
}

/** Selects the attributes and relations that the query names. */
function select (state: ActionState): void {
  checkOwnParameters(state)
  const { request: { query: { only, include } }, compiled, choice } = state
  if (only === undefined && include === undefined) return
  if (include !== undefined) state.included = compiled.relations.parse(include, state.request)
  state.choice = compiled.select(only, state.included, choice)
}

/** Adds the relations that the query names to the rows of an action. */
function compileInclude (perform: Perform): Perform {
  const performWhole: Perform = async (state) => include(await perform(state), state.included, state)
  return (state) => state.included.length === 0 ? perform(state) : performWhole(state)
}

/**
 * Returns whether a write is a dry run.
 * @throws InvalidQueryError if it cannot be one
 */
function checkDryRun (action: WriteAction | undefined, state: ActionState): boolean {
  const { request: { query }, compiled: { options: { store, routing: { handlers, manyRows } } }, choice } = state
  const asked = query[DRY_RUN]
  if (asked === undefined || asked === 'false') return false
  const why = asked !== 'true'
    ? 'must be true or false'
    : store.transaction === undefined
      ? 'needs a store with transactions'
      : action !== undefined && handlers.has(action) && !manyRows.has(action)
        ? `cannot undo what the app does when it handles "${action}" itself`
        : choice.format.browser === true
          ? 'is not answered by a page; ask for another format'
          : undefined
  if (why === undefined) return true
  throw new InvalidQueryError(`"${DRY_RUN}" ${why}`)
}

/** What follows the validation of a write. */
type Writes = Readonly<Record<WriteAction, Perform>>

/**
 * Validates the payload of a write, as far as that needs no row. Returns what follows.
 * @throws InvalidError
 */
function validate (state: ActionState, writes: Writes): Perform {
  const { compiled: { validation } } = state
  const { action, attributes, merged, issues, isUntouched, compareWith } = state.payload as Write
  if (merged.length > 0) return withMergedRow(writes.update, validation)
  if (compareWith !== undefined) {
    validation.check(attributes, issues)
    return withForgiveness(writes.update, validation)
  }
  if (action === 'create') return withValidation(writes.create, state)
  if (action === 'update') validation.update(attributes, issues, isUntouched)
  return writes[action]
}

/**
 * Validates a new row, at once or after `scope` has given what it lacks.
 * @throws InvalidError
 */
function withValidation (perform: Perform, { compiled: { validation, level }, payload }: ActionState): Perform {
  const { attributes, issues } = payload as Payload
  if (level.scope.length === 0 || !validation.lacks(attributes)) {
    validation.create(attributes, issues)
    return perform
  }
  return async (state) => {
    validation.create(attributes, issues, state.attempt.target.scope)
    return perform(state)
  }
}

/**
 * Merges a patch with the row before an update, and validates the result. The write then demands the version of that
 * row. If the row has another one meanwhile, `Handlers` begins again.
 */
function withMergedRow (perform: Perform, validation: Validation): Perform {
  return async (state) => {
    const { attempt, attempt: { target, target: { resource, store }, authorizedRow }, id, payload } = state
    const { attributes, merged: names, issues, checkMerged } = payload as Payload
    const row = authorizedRow ?? await findRow(target, id, state)
    if (row === undefined) throw store === noStore ? refuseMerge(names) : notFound(resource, id)
    const changes = { ...attributes }
    for (const name of names) {
      // The validator fills in defaults, and the values of a store may be frozen.
      changes[name] = applyMergePatch(structuredClone(ownMember(row.attributes, name)), attributes[name])
      checkMerged(name, changes[name], issues)
    }
    countValues(changes)
    validation.update(changes, issues)
    state.attributes = changes
    attempt.checked = attempt.merged = row
    return perform(state)
  }
}

/**
 * Lets an update pass whose only faults are in values that the row shows already. These are left out, so that nothing
 * is lost if another write changes them before this one.
 */
function withForgiveness (perform: Perform, validation: Validation): Perform {
  return async (state) => {
    const { attempt: { target, authorizedRow }, id, payload } = state
    const { attributes, issues, compareWith } = payload as Payload
    if (issues.size > 0) {
      const row = authorizedRow ?? await findRow(target, id, state)
      validation.conclude(attributes, issues, row && compareWith?.(row))
    }
    return perform(state)
  }
}

function refuseMerge (names: readonly string[]): InvalidError {
  const message = 'cannot be merged, because the resource has no store; send the whole value by PUT'
  return new InvalidError(Object.fromEntries(names.map((name) => [name, [message]])))
}

/**
 * Leaves out the stored row that a write without effect shows, if `authorize` does not let the client see it.
 * @throws PreconditionFailedError if nothing remains to be shown
 */
async function hideUnauthorized (outcome: Outcome | undefined, state: RequestState): Promise<Outcome | undefined> {
  const { compiled: { resource }, checkAccess } = state
  const isWithoutWrite = outcome?.kind === 'stale' || outcome?.kind === 'revised'
  if (!isWithoutWrite || outcome.row === undefined || checkAccess === undefined) return outcome
  const { row } = outcome
  const shown = await findShown(checkAccess, ofId(resource, row.id), state, () => row)
  if (outcome.kind === 'revised') return { ...outcome, row: shown }
  // A handler's row without a version may be another state of the row than `authorize` was shown.
  if (shown !== undefined) {
    return row.version === NO_VERSION || row.version === shown.version ? outcome : { ...outcome, row: shown }
  }
  state.outcome = 'stale'
  throw new PreconditionFailedError(say('changedMeanwhile', { resource: resource.singular }))
}

/** @throws MalformedBodyError if the answer has no page that could show the form again */
function checkRevisable ({ payload, choice: { format: { writer } } }: RequestState): void {
  if (payload?.rows !== undefined && writer.selected === undefined) {
    throw new MalformedBodyError('the form asks for the next step, which only a page (text/html) can show')
  }
  if (writer.revised === undefined) {
    throw new MalformedBodyError('the form asks to add or remove a row, which only a page (text/html) can show')
  }
}

/**
 * Checks first that the request may see the rows to which the supplied attributes refer. A row that is hidden is
 * answered as one that does not exist, because a reference to it would tell that it exists, and keep it from being
 * deleted. A write with a key was checked already.
 */
function withReferenceCheck (perform: Perform): Perform {
  const performChecked: Perform = async (state) => {
    await checkOwnReferences(state)
    return perform(state)
  }
  return (state) => state.compiled.relations.checked.length === 0 || state.keyed !== undefined
    ? perform(state)
    : performChecked(state)
}

const checkOwnReferences: Perform = async (state) => {
  const named = state.compiled.relations.checked.filter(({ place: { key }, valuesIn }) =>
    key?.some((name) => Object.hasOwn(state.attributes, name)) ??
      valuesIn(state.attributes).some(({ value }) => isId(value)))
  if (named.length > 0) await checkReferences(named, state)
  return undefined
}

/** The checks of the rows of a request, which are written later. */
const CHECKS: Writes = { create: checkOwnReferences, update: checkOwnReferences, delete: async () => undefined }

/** @throws InvalidError */
async function checkReferences (named: readonly CheckedReference[], state: ActionState): Promise<void> {
  const { payload, attempt: { target, authorizedRow, checked }, id, action, customAction } = state
  const isNew = target.store === noStore || (customAction === undefined ? action === 'create' : id === undefined)
  const read = async (): Promise<Row | undefined> =>
    isNew ? undefined : authorizedRow ?? checked ?? await findRow(target, id, state)
  // A write may change a part of a key.
  const known = named.some(({ place }) => place.key !== undefined) ? await read() : undefined
  const attributes = { ...known?.attributes, ...state.attributes }
  const missing = await Promise.all(named.map((reference) => findMissing(reference, attributes, state)))
  if (missing.every(({ values }) => values.length === 0)) return
  const row = known ?? await read()
  // What the action answers to these requests comes first.
  if (!isNew && (row === undefined || lacksVersion(state) || !isMet(row, state))) return
  const changed = missing.flatMap(({ reference: { attribute, place: { member, key }, valuesIn }, values }) => {
    const stored = new Set((row === undefined ? [] : valuesIn(row.attributes)).map(({ value }) => value))
    const isPlain = member === undefined && key === undefined
    return values.filter(({ value }) =>
      !stored.has(value) && !(isPlain && payload?.isUntouched?.(attribute, value) === true))
  })
  if (changed.length === 0) return
  throw new InvalidError(Object.fromEntries(changed.map(({ path }) => [path, [NO_SUCH_REFERENCE]])))
}

/** Finds the values that reference no row, as far as the request may see the rows. */
async function findMissing (
  reference: CheckedReference,
  attributes: Attributes,
  state: ActionState
): Promise<{ readonly reference: CheckedReference, readonly values: readonly PlacedValue[] }> {
  const { target, valuesIn, find } = reference
  const values = valuesIn(attributes).filter(({ value }) => isId(value))
  const found = new Set<unknown>()
  for await (const row of find(values.map(({ value }) => value), state)) found.add(referenceTo(row, target))
  // A database may find a row by another spelling of its key.
  const isFound = values.length === 1 && found.size === 1
  return { reference, values: isFound ? [] : values.filter(({ value }) => !found.has(value)) }
}
