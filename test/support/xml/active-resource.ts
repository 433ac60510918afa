import type { FastifyInstance } from 'fastify'
import { SaxesParser } from 'saxes'

/*
 * A client like those of Rails 2 applications: it sends what ActiveResource 2.3 sends and reads answers the same way,
 * weaknesses included.
 * It knows nothing of the plugin.
 */

/** A Ruby Float. It is written with a decimal point even if it is whole. */
export class Float {
  readonly value: number
  constructor (value: number) { this.value = value }
  toString (): string { return String(this.value).replace(/^(-?\d+)(?=e|$)/, '$1.0') }
}

/** A Ruby Date: a day without a time. */
export class Day {
  readonly text: string
  constructor (text: string) { this.text = text }
  toString (): string { return this.text }
}

export type Value = string | number | bigint | boolean | null | Float | Day | Date | readonly Value[] | Hash | Resource
export interface Hash { [name: string]: Value }
export type Parameters = Readonly<Record<string, string | number | boolean | null>>

/** An answer. The body is absent if HTTP allows none. */
export interface Response {
  readonly status: number
  readonly headers: Readonly<Record<string, unknown>>
  readonly body: string | undefined
}

/** One request and its answer, as they were on the wire. */
export interface Exchange extends Response {
  readonly method: string
  readonly path: string
  readonly sent: Readonly<Record<string, string>>
  readonly payload: string | undefined
}

/** The error that every unsuccessful answer raises. Its name gives the kind. */
export class ConnectionError extends Error {
  readonly response: Response
  constructor (name: string, response: Response) {
    super(
      `Failed with ${response.status}${response.headers.location === undefined
        ? ''
        : ` => ${String(response.headers.location)}`}`
    )
    this.name = name
    this.response = response
  }
}

const NAMES: Readonly<Record<number, string>> = {
  301: 'Redirection',
  302: 'Redirection',
  303: 'Redirection',
  307: 'Redirection',
  400: 'BadRequest',
  401: 'UnauthorizedAccess',
  403: 'ForbiddenAccess',
  404: 'ResourceNotFound',
  405: 'MethodNotAllowed',
  409: 'ResourceConflict',
  410: 'ResourceGone',
  422: 'ResourceInvalid'
}

type Method = 'GET' | 'HEAD' | 'POST' | 'PUT' | 'DELETE'
/** The one header that names XML: reads send Accept, writes send Content-Type, never both. */
const FORMAT_HEADERS = {
  GET: 'accept', HEAD: 'accept', DELETE: 'accept', POST: 'content-type', PUT: 'content-type'
} as const
/** Net::HTTP reads no body of these statuses. */
const BODILESS = [204, 304]

export class Connection {
  readonly exchanges: Exchange[] = []
  readonly #app: FastifyInstance
  readonly #headers: Readonly<Record<string, string>>

  /** @param headers sent with each request; Ruby's own library adds `Accept: *\/*` unless another one is set */
  constructor (app: FastifyInstance, headers: Readonly<Record<string, string>> = {}) {
    this.#app = app
    this.#headers = headers
  }

  get last (): Exchange {
    return this.exchanges.at(-1) as Exchange
  }

  async get (path: string): Promise<Value> {
    return decode((await this.request('GET', path)).body as string)
  }

  head (path: string): Promise<Response> { return this.request('HEAD', path) }
  delete (path: string): Promise<Response> { return this.request('DELETE', path) }
  put (path: string, body = ''): Promise<Response> { return this.request('PUT', path, body) }
  post (path: string, body = ''): Promise<Response> { return this.request('POST', path, body) }

  async request (method: Method, path: string, payload?: string): Promise<Response> {
    const length = payload === undefined ? {} : { 'content-length': String(Buffer.byteLength(payload)) }
    const sent = { ...this.#headers, [FORMAT_HEADERS[method]]: 'application/xml', ...length }
    const {
      statusCode: status, headers, body
    } = await this.#app.inject({ method, url: path, headers: sent, ...(payload !== undefined && { payload }) })
    const response = { status, headers, body: BODILESS.includes(status) || method === 'HEAD' ? undefined : body }
    this.exchanges.push({ method, path, sent, payload, ...response })
    if (NAMES[status] !== undefined) throw new ConnectionError(NAMES[status], response)
    if (status < 200 || status >= 400) throw new ConnectionError(status < 500 ? 'ClientError' : 'ServerError', response)
    return response
  }
}

/** The names of a resource and its path. */
export interface Naming {
  readonly element: string
  readonly collection?: string
  /** The prefix with a trailing slash: `'/posts/:post_id/'`. */
  readonly prefix?: string
}

export interface FindOptions {
  /** A literal path, or the name of a custom method, written like a Ruby Symbol: `':recent'`. */
  readonly from?: string
  readonly params?: Parameters
}

/** Corresponds to a class in Ruby: `class Post < ActiveResource::Base`. */
export class Model {
  readonly connection: Connection
  readonly element: string
  readonly collection: string
  readonly #prefix: string
  readonly #prefixParameters: readonly string[]

  constructor (connection: Connection, { element, collection = `${element}s`, prefix = '/' }: Naming) {
    this.connection = connection
    this.element = element
    this.collection = collection
    this.#prefix = prefix
    this.#prefixParameters = (prefix.match(/:\w+/g) ?? []).map((parameter) => parameter.slice(1))
  }

  new (attributes: Hash = {}): Resource {
    return new Resource(this, attributes)
  }

  async create (attributes: Hash): Promise<Resource> {
    const resource = this.new(attributes)
    await resource.save()
    return resource
  }

  /** Returns a new resource with the defaults of the server. */
  async build (attributes: Hash = {}): Promise<Resource> {
    const blank = await this.connection.get(`${this.prefix({})}${this.collection}/new.xml`)
    if (!isHash(blank)) throw new TypeError('undefined method `merge\' for nil')
    return this.new({ ...blank, ...attributes })
  }

  find (id: number | string, options?: FindOptions): Promise<Resource> {
    return this.#findSingle(id, options)
  }

  async all ({ from, params = {} }: FindOptions = {}): Promise<Resource[]> {
    const [prefix, query] = this.split(params)
    const path = from === undefined
      ? `${this.prefix(prefix)}${this.collection}.xml${queryString(query)}`
      : this.#from(from, params)
    const found = await this.connection.get(path)
    if (!Array.isArray(found)) throw new TypeError(`undefined method \`collect!' for ${JSON.stringify(found)}`)
    return found.map((record) => this.#instantiate(record, from === undefined ? prefix : {}))
  }

  async first (options?: FindOptions): Promise<Resource | undefined> {
    return (await this.all(options))[0]
  }

  async one ({ from, params = {} }: FindOptions & { readonly from: string }): Promise<Resource> {
    return this.#instantiate(await this.connection.get(this.#from(from, params)), {})
  }

  async exists (id: number | string, { params = {} }: FindOptions = {}): Promise<boolean> {
    try {
      const [prefix, query] = this.split(params)
      return (await this.connection.head(this.elementPath(id, prefix, query))).status === 200
    } catch (error) {
      if ((error as Error).name === 'ResourceNotFound') return false
      throw error
    }
  }

  /** Calls a custom method of the collection if given a name (`':drafts'`), else deletes a row by its id. */
  async delete (what: number | string, params: Parameters = {}): Promise<Response> {
    const [prefix] = this.split(params)
    return await this.connection.delete(isSymbol(what) ? this.#custom(what, params) : this.elementPath(what, prefix))
  }

  get (method: string, params: Parameters = {}): Promise<Value> {
    return this.connection.get(this.#custom(method, params))
  }

  post (method: string, params: Parameters = {}, body = ''): Promise<Response> {
    return this.connection.post(this.#custom(method, params), body)
  }

  put (method: string, params: Parameters = {}, body = ''): Promise<Response> {
    return this.connection.put(this.#custom(method, params), body)
  }

  prefix (options: Parameters): string {
    return this.#prefix.replace(/:(\w+)/g, (_, name: string) => encodeURI(String(options[name] ?? '')))
  }

  elementPath (id: number | string | null, prefix: Parameters, query: Parameters = {}): string {
    return `${this.prefix(prefix)}${this.collection}/${id ?? ''}.xml${queryString(query)}`
  }

  /** Separates the parameters of the prefix from the others. */
  split<T> (options: Readonly<Record<string, T>>): [Record<string, T>, Record<string, T>] {
    const part = (inPrefix: boolean): Record<string, T> =>
      Object.fromEntries(Object.entries(options).filter(([name]) => this.#prefixParameters.includes(name) === inPrefix))
    return [part(true), part(false)]
  }

  #custom (method: string, params: Parameters): string {
    const [prefix, query] = this.split(params)
    return `${this.prefix(prefix)}${this.collection}/${method.replace(/^:/, '')}.xml${queryString(query)}`
  }

  #from (from: string, params: Parameters): string {
    return isSymbol(from) ? this.#custom(from, params) : from + queryString(params)
  }

  async #findSingle (id: number | string, { params = {} }: FindOptions = {}): Promise<Resource> {
    const [prefix, query] = this.split(params)
    return this.#instantiate(await this.connection.get(this.elementPath(id, prefix, query)), prefix)
  }

  #instantiate (record: Value, prefix: Parameters): Resource {
    const resource = this.new(expectHash(record))
    resource.prefixOptions = prefix
    return resource
  }
}

/** Corresponds to an object in Ruby: a row that was read or is to be written. */
export class Resource {
  readonly attributes: Hash = Object.create(null) as Hash
  prefixOptions: Parameters = {}
  errors: Record<string, string[]> = {}
  readonly #model: Model

  constructor (model: Model, attributes: Hash) {
    this.#model = model
    this.load(attributes)
  }

  get id (): number | string | null {
    return (this.attributes.id ?? null) as number | string | null
  }

  get isNew (): boolean {
    return this.id === null
  }

  /** Tells whether the row was saved. `errors` has the validation errors. */
  async save (): Promise<boolean> {
    this.errors = {}
    try {
      await (this.isNew ? this.#create() : this.#update())
      return true
    } catch (error) {
      if ((error as Error).name !== 'ResourceInvalid') throw error
      this.#readErrors((error as ConnectionError).response.body as string)
      return false
    }
  }

  async updateAttribute (name: string, value: Value): Promise<boolean> {
    this.attributes[name] = value
    return await this.save()
  }

  async destroy (): Promise<Response> {
    return await this.#model.connection.delete(this.#path)
  }

  async exists (): Promise<boolean> {
    return !this.isNew && await this.#model.exists(this.id as number, { params: this.prefixOptions })
  }

  async reload (): Promise<this> {
    return this.load((await this.#model.find(this.id as number, { params: this.prefixOptions })).attributes)
  }

  async get (method: string, params: Parameters = {}): Promise<Value> {
    return await this.#model.connection.get(this.#custom(method, params))
  }

  async put (method: string, params: Parameters = {}, body = ''): Promise<Response> {
    return await this.#model.connection.put(this.#custom(method, params), body)
  }

  async delete (method: string, params: Parameters = {}): Promise<Response> {
    return await this.#model.connection.delete(this.#custom(method, params))
  }

  /** Sends the whole record if there is no other body. A new record has its own path. */
  async post (method: string, params: Parameters = {}, body = ''): Promise<Response> {
    return await this.#model.connection.post(this.#custom(method, params), body === '' ? this.toXml() : body)
  }

  toXml (): string {
    return `<?xml version="1.0" encoding="UTF-8"?>\n${writeHash(this.attributes, this.#model.element, '')}`
  }

  /** Loads attributes like Ruby: removes those of the prefix, and forgets the earlier ones. */
  load (given: Hash): this {
    const [prefix, attributes] = this.#model.split(given)
    this.prefixOptions = prefix as Parameters
    for (const [name, value] of Object.entries(attributes)) this.attributes[name] = this.#nest(name, value)
    return this
  }

  #nest (name: string, value: Value): Value {
    const model = (element: string): Model => new Model(this.#model.connection, { element })
    if (isHash(value)) return model(name).new(value)
    if (!Array.isArray(value)) return value
    const items = value as readonly Value[]
    return items.map(
      (item) => typeof item === 'string' || typeof item === 'number' || item instanceof Float
        ? item
        : model(singularize(name)).new(expectHash(item))
    )
  }

  get #path (): string {
    return this.#model.elementPath(this.id, this.prefixOptions)
  }

  #custom (method: string, params: Parameters): string {
    const { collection } = this.#model
    return `${this.#model.prefix(
      this.prefixOptions
    )}${collection}/${this.isNew ? 'new' : this.id}/${method}.xml${queryString(params)}`
  }

  async #create (): Promise<void> {
    const response = await this.#model.connection.post(
      `${this.#model.prefix(this.prefixOptions)}${this.#model.collection}.xml`, this.toXml()
    )
    const location = response.headers.location
    this.attributes.id = typeof location === 'string' ? /\/([^/]*?)(?:\.\w+)?$/.exec(location)?.[1] ?? null : null
    this.#loadFrom(response)
  }

  async #update (): Promise<void> {
    this.#loadFrom(await this.#model.connection.put(this.#path, this.toXml()))
  }

  #loadFrom ({ headers, body }: Response): void {
    if (headers['content-length'] === '0') return
    if (body === undefined) throw new TypeError('undefined method `strip\' for nil')
    if (body.trim() !== '') this.load(expectHash(decode(body)))
  }

  /**
   * Corresponds to `ActiveResource::Errors#from_array`: "First name must …" belongs to first_name, the longest name
   * first. A message that does not begin with the name of a known attribute belongs to `base`.
   */
  #readErrors (body: string): void {
    const { errors } = fromXml(body)
    const messages = isHash(errors) ? [errors.error].flat() : []
    const names = Object.keys(this.attributes).map((name) => [`${humanize(name)} `, name] as const)
      .sort(([one], [other]) =>
        other.length - one.length)
    for (const message of messages as string[]) {
      const [beginning, name] = names.find(([beginning]) => message.startsWith(beginning)) ?? ['', 'base']
      ;(this.errors[name] ??= []).push(message.slice(beginning.length))
    }
  }
}

function isSymbol (text: number | string): text is string {
  return typeof text === 'string' && text.startsWith(':')
}

export function isHash (value: Value | undefined): value is Hash {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === null
}

function expectHash (value: Value): Hash {
  if (!isHash(value)) throw new TypeError(`expected an attributes Hash, got ${JSON.stringify(value)}`)
  return value
}

function singularize (name: string): string {
  return name.replace(/s$/, '')
}

/** Corresponds to Ruby's `'first_name'.gsub(/_id$/, '').gsub(/_/, ' ').capitalize`: `First name`. */
function humanize (name: string): string {
  const words = name.replace(/_id$/, '').replaceAll('_', ' ')
  return words.charAt(0).toUpperCase() + words.slice(1).toLowerCase()
}

function queryString (params: Parameters): string {
  const pairs = Object.entries(params).map(([name, value]) =>
    new URLSearchParams([[name, String(value ?? '')]]).toString())
  return pairs.length === 0 ? '' : `?${pairs.sort().join('&')}`
}

/** Returns the value of the document's root, without its name. */
export function decode (xml: string): Value {
  const hash = fromXml(xml)
  const values = Object.values(hash)
  return values.length === 1 ? values[0] as Value : hash
}

interface Node {
  /** The XML attributes and the child elements. Several elements of one name become a list. */
  readonly members: Record<string, string | Node | Node[]>
  text: string
  hasElements: boolean
}

/**
 * Corresponds to Ruby's `Hash.from_xml`: the type says what a text is, and an element with neither type nor text is
 * nil.
 */
export function fromXml (xml: string): Hash {
  const root: Node = { members: Object.create(null) as Node['members'], text: '', hasElements: false }
  const open: Node[] = [root]
  const parser = new SaxesParser()
  const append = (text: string): void => { (open.at(-1) as Node).text += text }
  parser.on('error', (error) => { throw error })
  parser.on('text', append)
  parser.on('cdata', append)
  parser.on('closetag', () => { open.pop() })
  parser.on('opentag', ({ name, attributes }) => {
    const node: Node = {
      members: Object.assign(Object.create(null) as Node['members'], attributes), text: '', hasElements: false
    }
    const parent = open.at(-1) as Node
    const key = name.replaceAll('-', '_')
    const before = parent.members[key]
    parent.members[key] = before === undefined ? node : [before, node].flat() as Node[]
    parent.hasElements = true
    open.push(node)
  })
  parser.write(xml).close()
  return castMembers(root.members)
}

function castMembers (members: Node['members']): Hash {
  const hash = Object.create(null) as Hash
  for (const [name, member] of Object.entries(members)) {
    hash[name.replaceAll('-', '_')] = Array.isArray(member) ? member.map(cast) : cast(member)
  }
  return hash
}

const CASTS: Readonly<Record<string, (text: string) => Value>> = {
  // A Ruby Integer has any number of digits.
  integer: (text) => Number.isSafeInteger(Number(text)) ? Number.parseInt(text, 10) : BigInt(text),
  float: (text) => new Float(Number.parseFloat(text)),
  double: (text) => new Float(Number.parseFloat(text)),
  decimal: (text) => new Float(Number.parseFloat(text)),
  boolean: (text) => ['1', 'true'].includes(text.trim()),
  date: (text) => new Day(text),
  datetime: (text) => new Date(text),
  dateTime: (text) => new Date(text)
}

function cast (node: string | Node): Value {
  if (typeof node === 'string') return node
  const { members, text, hasElements } = node
  const { type, nil } = members
  if (type === 'array') return castArray(node)
  if (text !== '' && !hasElements) return (typeof type === 'string' ? CASTS[type] : undefined)?.(text) ?? text
  const names = Object.keys(members)
  if (type === 'string' && nil !== 'true') return ''
  if (names.length === 0 || nil === 'true' || (typeof type === 'string' && names.length === 1)) return null
  return castMembers(members)
}

/** Takes the first member other than the type as the items, whatever it is. */
function castArray ({ members, text, hasElements }: Node): Value[] {
  const [, entries] = Object.entries(members).find(([name]) => name !== 'type') ?? []
  if (entries === undefined && (hasElements || text.trim() === '')) return []
  if (typeof entries === 'string' || entries === undefined) {
    throw new TypeError(`can't typecast ${JSON.stringify(entries ?? text)}`)
  }
  return [entries].flat().map(cast)
}

/** Corresponds to Ruby's `Hash#to_xml`, with the indentation and escapes of Builder. */
function writeHash (hash: Hash, name: string, indent: string): string {
  const inner = Object.entries(hash).map(([key, value]) => writeValue(key, value, `${indent}  `)).join('')
  return `${indent}<${dasherize(name)}>\n${inner}${indent}</${dasherize(name)}>\n`
}

function writeValue (name: string, value: Value, indent: string): string {
  if (value instanceof Resource) return writeHash(value.attributes, name, indent)
  if (isHash(value)) return writeHash(value, name, indent)
  if (Array.isArray(value)) return writeArray(name, value as readonly Value[], indent)
  return `${indent}<${dasherize(name)}${typeOf(value)}>${escape(textOf(value))}</${dasherize(name)}>\n`
}

function writeArray (name: string, items: readonly Value[], indent: string): string {
  if (items.length === 0) return `${indent}<${dasherize(name)} type="array"/>\n`
  const inner = items.map((item) => {
    if (!(item instanceof Resource)) throw new TypeError('Not all elements respond to to_xml')
    return writeHash(item.attributes, singularize(name), `${indent}  `)
  })
  return `${indent}<${dasherize(name)} type="array">\n${inner.join('')}${indent}</${dasherize(name)}>\n`
}

function typeOf (value: Value): string {
  if (value === null) return ' nil="true"'
  if (typeof value === 'number' || typeof value === 'bigint') return ' type="integer"'
  if (typeof value === 'boolean') return ' type="boolean"'
  if (value instanceof Float) return ' type="float"'
  if (value instanceof Day) return ' type="date"'
  return value instanceof Date ? ' type="datetime"' : ''
}

function textOf (value: Value): string {
  if (value === null) return ''
  return value instanceof Date ? value.toISOString().replace(/\.\d+/, '') : String(value)
}

function dasherize (name: string): string {
  return name.replaceAll('_', '-')
}

/** Writes each character outside ASCII as a numeric reference. */
function escape (text: string): string {
  const escaped = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
  return escaped.replace(/[^\0-\x7f]/gu, (character) => `&#${character.codePointAt(0)};`)
}
