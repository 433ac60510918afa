import type { AttributesOf, MismatchedNames, VisibleOf } from '../schema/infer.js'
import type { Attributes } from '../schema/types.js'
import type { Store } from './store.js'

/** The attributes of the rows of a store, or `Attributes` if the type of the store does not declare them. */
export type RowsOf<T extends Store<unknown>> = Known<NonNullable<Awaited<ReturnType<T['get']>>>['attributes']>

type Known<A> = unknown extends A ? Attributes : A

/** The attributes of a resource's rows: those of its own schema, or else those of its store. */
export type ResourceAttributes<S, T extends Store<unknown>> = string extends keyof AttributesOf<S>
  ? RowsOf<T>
  : AttributesOf<S>

/** The attributes that a list can be filtered by: those that are not `writeOnly`, as far as the compiler knows. */
export type ListedAttributes<S, T extends Store<unknown>> = string extends keyof VisibleOf<S>
  ? RowsOf<T>
  : VisibleOf<S>

/**
 * A store `T` for rows with the attributes `A`. A store whose rows lack an attribute, or have it with another type,
 * does not compile. A store may keep more attributes.
 *
 * @example
 * declare function keep<const S extends AttributesSchema, T extends Store<unknown>> (
 *   options: { attributes: S, store: StoreFor<AttributesOf<S>, T> }
 * ): void
 */
export type StoreFor<A, T extends Store<unknown>> = T &
  ([MismatchedNames<A, RowsOf<T>>] extends [never] ? unknown : MismatchedRows<MismatchedNames<A, RowsOf<T>>>)

/** The attributes that the rows of a store lack or have with another type, as the compiler's message shows them. */
export interface MismatchedRows<Names> {
  /** The names of these attributes. */
  readonly rowsDifferIn: Names
}
