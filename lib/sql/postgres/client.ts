/** The key of the last `statement_timeout` that a connection got. */
export const TIMEOUT: unique symbol = Symbol('fastify-resources.statement_timeout')

/** A query of pg. `types` replaces the type parsers of the app. */
export interface PostgresQuery {
  /** The name of the prepared statement. */
  readonly name?: string | undefined
  /** The statement, with the placeholders `$1`, `$2`… */
  readonly text: string
  /** The values of the placeholders, in their order. */
  readonly values: readonly unknown[]
  /** The parsers of values, if not those of the app. `oid` is the number of a type (pg_type.oid). */
  readonly types?: { getTypeParser (oid: number): (text: string) => unknown }
}

/** The result of a query of pg. */
export interface PostgresResult {
  /** The rows, if there are any. */
  readonly rows: readonly unknown[]
  /** The command that the database has run, such as `COMMIT`. The store reads only that of a COMMIT. */
  readonly command?: string
}

/** The members of a pg connection that a store uses. */
export interface PostgresClient {
  /** Runs a statement. */
  query (query: PostgresQuery): Promise<PostgresResult>
  /** Returns the connection to its pool, or, with `true`, closes it. */
  release (destroy?: boolean): void
  /** Adds a listener for the loss of an idle connection. */
  on (event: 'error', listener: (error: Error) => void): unknown
  /** Returns the current listeners. */
  listeners (event: 'error'): unknown[]
  [TIMEOUT]?: number
}

/** The members of a pg pool that a store uses. */
export interface PostgresPool {
  /** Waits for a connection. */
  connect (): Promise<PostgresClient>
  /** Adds a listener for lost connections, or for connections that the pool hands out. */
  on (event: 'error', listener: (error: Error) => void): unknown
  on (event: 'acquire', listener: (client: PostgresClient) => void): unknown
  /** Returns the current listeners. */
  listeners (event: 'error' | 'acquire'): unknown[]
}
