import { createHash } from 'node:crypto'
import type { FastifyBodyParser, FastifyReply, preValidationHookHandler } from 'fastify'
import { notFound } from '../modes.js'
import { InvalidError, InvalidMethodError, MalformedBodyError, ManyRowsError, TooManyRowsError } from '../errors.js'
import { type CsvFile, FAULTS, parseCsvFile } from '../formats/csv/parse.js'
import type { Entries, Reader } from '../formats/format.js'
import { KEY, LIST, OF_ALL, STEP } from '../formats/form/parse.js'
import type { ImportForm } from '../formats/importing.js'
import { say } from '../messages.js'
import type { BodyFormat, CompiledCustomAction, CompiledImport, CompiledResource } from '../compiled-resource.js'
import { refuseMethod } from './negotiate.js'
import { CREATE, MATCH, readMatch } from './match.js'
import type { Payload, WriteAction } from './payload.js'
import { type GivenRows, IDS, makeRowsPayload, type RowsPayloadParts } from './rows.js'
import { type ActionState, type RequestState, STATE } from './state.js'

/** Fastify's parser of bodies: the reader of the negotiated format reads them. An empty body counts as no body. */
export const parseBody: FastifyBodyParser<Buffer> = (request, body, done) => {
  const { negotiated } = request[STATE] as RequestState
  done(null, body.length === 0 ? undefined : negotiated.body?.reader.parse(body))
}

/**
 * Returns a parser that keeps the bodies of QUERY, which are no payload, and parses others. If requests with a key are
 * kept, it notes the digest of a body, by which a request that is sent again is recognized.
 */
export function parsePayload (parse: FastifyBodyParser<Buffer>): FastifyBodyParser<Buffer> {
  return (request, body, done) => {
    const state = request[STATE] as RequestState
    if (state.route.hasQueryBody) return done(null, body)
    const { idempotency } = state.compiled.options
    if (idempotency !== undefined) state.bodyDigest = createHash('sha256').update(body).digest('base64url')
    return parse(request, body, done)
  }
}

/** Compiles a function that finds the default write that a method asks for, if it is one of these actions. */
export function compileFindWrite (actions: ReadonlySet<string>): (method: string) => WriteAction | undefined {
  return (method) => {
    const action = method === 'POST' ? 'create' : method === 'DELETE' ? 'delete' : 'update'
    return actions.has(action) ? action : undefined
  }
}

/**
 * Compiles the hook that reads the payload of the writes on one path. The app's later hooks see the same body for every
 * format.
 * @param find finds the action that a method asks for, a default one or one of the app's own
 * @param hasManyRows whether requests for an action of the app name several rows
 */
export function compilePayloadHook (
  { resource, isId, bodiless }: CompiledResource,
  find: (method: string) => WriteAction | CompiledCustomAction | undefined,
  hasManyRows = false
): preValidationHookHandler {
  const { singular } = resource
  return ({ [STATE]: given }, reply, done) => {
    const state = given as ActionState
    const { request, negotiated: { member, body = bodiless } } = state
    // A form without fields has no members, like a request without a body.
    const { body: entries = {} } = request
    const step = readStep(request.method, entries, body.reader)
    const asked = find(step ?? readMethod(request.method, entries, body.reader))
    if (asked === undefined) return refuseAction(state)
    const isDefault = typeof asked === 'string'
    state.action = isDefault ? asked : asked.name
    if (body.reader.form && entries[KEY] !== undefined) state.formKey = body.reader.scalar(entries[KEY])
    state.customAction = isDefault ? undefined : asked
    if (step !== undefined && (!isDefault || member !== undefined || resource.singleton)) {
      throw new InvalidMethodError(`"${STEP}" is about many rows, which this path does not have`)
    }
    if (isDefault ? member === undefined : hasManyRows) {
      const reading = readRows(state, asked, body, entries)
      if (reading !== undefined) {
        reading.then(() => { done() }, done)
        return
      }
      if (!isDefault) throw new InvalidError({ id: ['must be a list of ids'] })
    }
    const read = isDefault ? body.readPayload : asked.payloadReader(body)
    const payload = read(entries, { action: isDefault ? asked : undefined, member, query: request.query.id })
    const { id, attributes } = payload
    noteIgnored(payload, reply)
    if (id !== undefined && isId?.(id) === false) throw notFound(resource, id)
    state.payload = payload
    state.attributes = attributes
    // A literal with a computed name would add a twentieth to an update's time (`npm run bench -- in-process`).
    const shown: Record<string, unknown> = {}
    if (id !== undefined) shown.id = id
    shown[singular] = attributes
    request.body = shown
    done()
  }
}

/**
 * Reads the rows of a request with many rows, if it is one.
 * @throws ManyRowsError, TooManyRowsError, MalformedBodyError, InvalidError
 */
function readRows (
  state: ActionState,
  asked: WriteAction | CompiledCustomAction,
  body: BodyFormat,
  entries: Entries
): Promise<void> | undefined {
  const { request, compiled, compiled: { resource } } = state
  const [action, findRows] = typeof asked === 'string' ? [asked, body.findRows] : [undefined, asked.rowsFinder(body)]
  const { id, [IDS]: ids } = request.query as { readonly id?: string, readonly [IDS]?: string | readonly string[] }
  const isMatched = MATCH in request.query || CREATE in request.query
  const match = isMatched ? readMatch(request.query, compiled, state.route.isMember) : undefined
  const step = readField(entries, STEP, body.reader)
  const isStep = step !== undefined
  const named = { query: id, ids: ids === undefined ? undefined : [ids].flat(), isMatched: match !== undefined }
  // The next step of an update has no changes yet.
  const found = findRows(entries, { action: isStep ? 'delete' : action, ...named }) ?? (isStep ? NO_ROWS : undefined)
  if (match !== undefined && (found === undefined || entries[resource.plural] === undefined)) {
    throw new MalformedBodyError(`"${MATCH}" needs a list of rows under "${resource.plural}"`)
  }
  if (found === undefined) return undefined
  const acts = match?.creates === true ? ['update', 'create'] as const : [action]
  checkCount(found.count, acts, state)
  const parts = { isStep, match, list: readField(entries, LIST, body.reader), isOfAll: step?.endsWith(OF_ALL) === true }
  return takeRows(found, { action, ...parts }, state)
}

const NO_ROWS: GivenRows = { count: 0, read: async () => [] }

/**
 * Checks that a request may have this many rows.
 * @param acts the default actions that it asks for
 * @throws ManyRowsError, TooManyRowsError
 */
function checkCount (count: number, acts: ReadonlyArray<WriteAction | undefined>, state: ActionState): void {
  const { action, request: { headers }, compiled: { options, resource: { singular } } } = state
  const { store, maxRows, routing: { handlers, manyRows } } = options
  if (maxRows === 0) throw new ManyRowsError(`the option maxRows is 0; send one ${singular} in each request`)
  if (store.transaction === undefined) {
    throw new ManyRowsError(`the store has no transactions; send one ${singular} in each request`)
  }
  if (acts.some((name) => name !== undefined && handlers.has(name) && !manyRows.has(name))) {
    throw new ManyRowsError(
      `the app handles "${action}" itself, without "many"; send one ${singular} in each request`
    )
  }
  if (headers['if-match'] !== undefined || headers['if-none-match'] !== undefined) {
    throw new ManyRowsError('If-Match and If-None-Match are about one row; send "_version" beside each id')
  }
  if (count > maxRows) {
    throw new TooManyRowsError(
      `the request has more than ${maxRows} rows; send fewer in each request, or raise the option maxRows`
    )
  }
}

/**
 * Reads the rows of a request. The app's later hooks see them as `{ posts: [{ id, post }] }`, without those that cannot
 * be read.
 */
async function takeRows (
  given: GivenRows,
  { action, ...parts }: RowsPayloadParts & { readonly action: WriteAction | undefined },
  state: RequestState
): Promise<void> {
  const { request, reply, compiled: { resource: { plural, singular } } } = state
  const rows = await given.read()
  const payload = state.payload = makeRowsPayload(action, rows, parts)
  noteIgnored(payload, reply)
  request.body = {
    [plural]: rows.flatMap(({ payload }) => payload === undefined
      ? []
      : [{ ...(payload.id !== undefined && { id: payload.id }), [singular]: payload.attributes }])
  }
}

/** Returns the text of a field of a form that stands beside its groups. */
function readField (entries: Entries, name: string, reader: Reader): string | undefined {
  const text = reader.form && entries[name] !== undefined ? reader.scalar(entries[name]) : undefined
  return typeof text === 'string' ? text : undefined
}

/**
 * Compiles the hook that reads an imported file. Its rows are found by their ids, or else by the unique attributes that
 * the form names. Those that are not found by these are created, and so are all rows of a file without ids.
 * @throws InvalidError, InvalidQueryError, MalformedBodyError, TooManyRowsError
 */
export function compileImportHook (compiled: CompiledResource): preValidationHookHandler {
  const { resource, resource: { plural } } = compiled
  const { actions, body, rows: most } = compiled.importing as CompiledImport
  return async ({ [STATE]: given }) => {
    const state = given as ActionState
    // A request without a body has not passed the parser.
    const { importing: form } = state
    if (form === undefined) throw new InvalidError({ file: [say('mustBeGiven')] })
    noteForm(form, state)
    const file = await parseCsvFile(form.content)
    const isMatched = form.match !== ''
    const action = isMatched || file.columns.includes('id') ? 'update' : 'create'
    if (!actions.has(action)) return refuseAction(state)
    state.action = action
    if (file.rows.length === 0) throw new MalformedBodyError(say('fileIsEmpty'))
    if (file.rows.length > most) throw new TooManyRowsError(say('fileHasTooManyRows', { most }))
    const parsed = isMatched ? withoutColumn(file, 'id') : file
    const csv = resource.attributes.has(FAULTS) ? parsed : withoutColumn(parsed, FAULTS)
    state.importing = { ...form, csv }
    const asked = { [MATCH]: form.match, [CREATE]: String(actions.has('create')) }
    const match = isMatched ? readMatch(asked, compiled, false) : undefined
    const left = new Set(form.without)
    const entries = { [plural]: csv.rows.filter(({ line }) => !left.has(line)) }
    const rows = body.findRows(entries, { action, query: undefined, ids: undefined, isMatched }) as GivenRows
    return takeRows(rows, { action, match, isStep: false, list: undefined, isOfAll: false }, state)
  }
}

/** Notes the key of a form, and its digest. A browser sends a form twice with different bytes around its parts. */
function noteForm ({ key, content, match, without }: ImportForm, state: RequestState): void {
  state.formKey = key
  if (state.compiled.options.idempotency === undefined) return
  state.bodyDigest = createHash('sha256').update(JSON.stringify([match, without])).update(content).digest('base64url')
}

/** Leaves out a column, if there is one. */
function withoutColumn (file: CsvFile, name: string): CsvFile {
  const position = file.columns.indexOf(name)
  if (position === -1) return file
  const columns = file.columns.toSpliced(position, 1)
  const rows = file.rows.map((row) => ({ ...row, columns, fields: row.fields.toSpliced(position, 1) }))
  return { ...file, columns, rows }
}

function noteIgnored ({ ignored }: Payload, reply: FastifyReply): void {
  if (ignored.length > 0) reply.header('ignored-attributes', ignored.map(encodeURIComponent).join(', '))
}

/** Refuses an action that a form asks for, and that its path does not serve. */
function refuseAction (state: RequestState): never {
  state.action = undefined
  refuseMethod(state.request, state.reply, state.route.allow)
}

/**
 * Returns the method that a body asks for. A form can only POST: its `_method` names another one.
 * @throws InvalidMethodError
 */
function readMethod (method: string, entries: Entries, reader: Reader): string {
  if (!reader.form || entries._method === undefined) return method
  if (method !== 'POST') throw new InvalidMethodError('"_method" is allowed in a POST only; leave it out')
  const value = reader.scalar(entries._method)
  const override = typeof value === 'string' ? value.toUpperCase() : ''
  if (override !== 'PUT' && override !== 'DELETE') {
    throw new InvalidMethodError('"_method" must be PUT or DELETE, and given once')
  }
  return override
}

/**
 * Returns the method of the write that the next page of a form is about, if the form asks for such a page.
 * @throws InvalidMethodError
 */
function readStep (method: string, entries: Entries, reader: Reader): string | undefined {
  if (!reader.form || entries[STEP] === undefined) return undefined
  const step = reader.scalar(entries[STEP])
  const isAlone = method === 'POST' && entries._method === undefined
  if (isAlone && (step === 'delete' || step === `delete${OF_ALL}`)) return 'DELETE'
  if (isAlone && (step === 'change' || step === `change${OF_ALL}`)) return 'PUT'
  throw new InvalidMethodError(
    `"${STEP}" must be delete, change, delete-all or change-all, given once, in a POST without "_method"`
  )
}
