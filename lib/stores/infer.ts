import type { AttributesOf, Misfits } from '../schema/infer.js'
import type { Attributes } from '../schema/types.js'
import type { Store } from './store.js'

/** The attributes of the rows that a store keeps; `Attributes` where it does not say. */
// `any`: whatever its rows are, they are found by inference.
export type RowsOf<T extends Store<any>> = Known<NonNullable<Awaited<ReturnType<T['get']>>>['attributes']>

type Known<A> = unknown extends A ? Attributes : A

/** The attributes of a resource's rows: by its own schema, or else those of its store, which it takes over. */
export type ResourceAttributes<S, T extends Store<any>> = string extends keyof AttributesOf<S>
  ? RowsOf<T>
  : AttributesOf<S>

/**
 * A store `T` that keeps rows with the attributes `A`, or of which that is not known: beside an option typed so, a store
 * whose rows lack an attribute, or have it as another type, does not compile. It may keep more attributes.
 *
 * @example
 * declare function keep<const S extends AttributesSchema, T extends Store<any>> (options: { attributes: S, store: StoreFor<AttributesOf<S>, T> }): void
 */
export type StoreFor<A, T extends Store<any>> = T &
  ([Misfits<A, RowsOf<T>>] extends [never] ? unknown : OtherRows<Misfits<A, RowsOf<T>>>)

/** What no store is, for the compiler's message: the attributes that the rows of a store lack, or have as another type. */
export interface OtherRows<Names> {
  /** The names of these attributes. */
  readonly rowsDifferIn: Names
}
