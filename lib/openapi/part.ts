/** Any part of an OpenAPI document. */
export type Part = Readonly<Record<string, unknown>>
