import swagger, { type FastifyDynamicSwaggerOptions } from '@fastify/swagger'
import type { AnySchema } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import fastify, { type FastifyInstance } from 'fastify'
import type { Test } from 'tap'
import resources, { draw, type Mapper, type ResourceOptions } from '../../lib/index.js'

export type Part = Readonly<Record<string, unknown>>

export interface Operation {
  readonly operationId: string
  readonly tags: readonly string[]
  readonly summary: string
  readonly description?: string
  readonly parameters: ReadonlyArray<Part & {
    readonly name: string,
    readonly in: string,
    readonly required?: boolean,
    readonly schema: Part
  }>
  readonly requestBody?: {
    readonly required?: boolean,
    readonly content: Readonly<Record<string, { readonly schema?: Part, readonly encoding?: Part }>>
  }
  readonly responses: Readonly<Record<string, {
    readonly $ref?: string,
    readonly description: string,
    readonly headers?: Part,
    readonly content?: Readonly<Record<string, { readonly schema: Part }>>
  }>>
}

export interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: {
    readonly schemas: Readonly<Record<string, Part>>,
    readonly responses: Readonly<Record<string, Operation['responses'][string]>>,
    readonly headers: Part
  }
  readonly tags: unknown
}

export const info = { title: 'Blog', version: '1.0.0' }
export const V30 = '3.0.3'
export const V31 = '3.1.0'
export const FORM = 'application/x-www-form-urlencoded'

export type Register = (app: FastifyInstance) => unknown

export async function start (
  t: Test, register: Register, openapi: FastifyDynamicSwaggerOptions['openapi'] = {}
): Promise<FastifyInstance> {
  const app = fastify()
  t.teardown(() => app.close())
  await app.register(swagger, { openapi: { openapi: V31, info, ...openapi } })
  await register(app)
  await app.ready()
  return app
}

export const documentOf = (app: FastifyInstance): Document => app.swagger() as unknown as Document

export async function describe (
  t: Test, register: Register, openapi?: FastifyDynamicSwaggerOptions['openapi']
): Promise<Document> {
  return documentOf(await start(t, register, openapi))
}

export const one = (options: Partial<ResourceOptions>): Register => (app) => app.register(resources,
  { name: 'posts', ...options } as ResourceOptions)
export const drawn = (declare: (map: Mapper) => unknown, prefix = ''): Register => (app) => app.register(
  draw(declare), { prefix }
)
export const both = (...all: readonly Register[]): Register => (app) => { for (const register of all) register(app) }

export const operationsOf = ({
  paths
}: Document) => Object.entries(paths).flatMap(([path, operations]) => Object.entries(
  operations
).map(([method, operation]) => ({ method, path, operation })))
/** Returns lines such as `get /posts listPosts`. */
export const linesOf = (document: Document): string[] => operationsOf(document).map(({
  method, path, operation: { operationId }
}) => `${method} ${path} ${operationId}`)
export const statusesOf = ({ responses }: Operation): string => Object.keys(responses).join(' ')

/** Checks that every reference has a target. */
export function checkReferences (t: Test, document: Document): void {
  const references = [...JSON.stringify(document).matchAll(/"\$ref":"([^"]*)"/g)].map(([, reference]) =>
    reference as string)
  const missing = references.filter((reference) => reference
    .slice(2)
    .split('/')
    .reduce<unknown>((part, step) => (part as Part | undefined)?.[step], document) === undefined)
  t.strictSame(missing, [], 'every reference has a target')
}

export const text = { type: 'string' } as const
export const ref = (kind: string, name: string): Part => ({ $ref: `#/components/${kind}/${name}` })
export const schema = (name: string): Part => ref('schemas', name)
export const LAX = { strict: false, logger: false, validateFormats: false, validateSchema: false } as const

export type Fits = (value: unknown) => boolean

/** Compiles a function that tells whether a value fits a schema of a document. */
export function compileIn (document: unknown): (pointer: string) => Fits {
  const ajv = new Ajv2020(LAX)
  ajv.addSchema(document as AnySchema, 'document')
  return (pointer) => {
    const validate = ajv.compile({ $ref: `document#${pointer}` })
    return (value) => validate(value) as boolean
  }
}
