/** Declares kinds of statements that change the service. Each kind is an entry in a file of this folder; statements.ts lists them. */
import type { ServiceStatement } from '../../language/statements.ts';
import type { Changing, Done } from './changing.ts';

export interface Kind<S> {
  /** Applies a statement in memory. @throws SvcError 400 if it is invalid, 403 without the required right */
  apply(context: Changing, statement: S): Promise<Done>;
}

/** Entries by the `kind` of their statements. */
export type Kinds<K extends ServiceStatement['kind'] = ServiceStatement['kind']> = {
  readonly [P in K]: Kind<Extract<ServiceStatement, { readonly kind: P }>>;
};
