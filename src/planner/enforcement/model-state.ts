/** Plans parts of a model for no particular caller, to compare two versions of the model. */
import { SvcError } from '../../errors.ts';
import type { Graph } from '../../ontology/graph.ts';
import type { MappingDef } from '../../ontology/model.ts';
import { settleBarriers } from '../plan/barriers.ts';
import type { Defined, PlanContext } from '../plan/context.ts';
import type { SelectStmt } from '../plan/tree.ts';
import { PlanState } from '../plan-state.ts';
import { printSelect } from '../print/index.ts';
import type { Access } from '../secure/access.ts';

/** The plan context without the parts that depend on the version or the caller. */
export type ModelContext = Omit<PlanContext, 'graph' | 'whole' | 'access' | 'definer' | 'caller'> & {
  /** Called with each tree that may call svc_username(), svc_has_role() or svc_claim(). */
  readonly onCallerFunctions?: ((tree: unknown) => void) | undefined;
  /** Called if SQL becomes too complex to be planned. It may still be planned in another version, so it must not count as SQL that enforces nothing. */
  readonly onTooComplex?: (() => void) | undefined;
};

/** An access with these policies and without a caller. */
export const accessFor = (policies: Partial<Pick<Access, 'rows' | 'masks'>>): Access => ({
  rows: [],
  masks: [],
  ...policies,
  caller: { username: '', roles: [], claims: {} },
  maskKey: '',
});

/** A plan without a caller: calls of svc_username(), svc_has_role() and svc_claim() remain in the SQL, so that texts with different roles or claims differ. */
export class ModelState extends PlanState {
  readonly #definers = new Map<string, string | undefined>();
  readonly #onCallerFunctions: ModelContext['onCallerFunctions'];

  constructor(context: ModelContext, graph: Graph, access: Access) {
    super({ ...context, graph, whole: graph, access, definer: () => graph });
    this.#onCallerFunctions = context.onCallerFunctions;
  }

  /** Notes the definer of a text, since texts with different definers differ. Policies read the whole model. */
  override asDefined(defined: Defined): undefined {
    this.#definers.set('sql' in defined ? defined.name : `concept ${defined.name}`, defined.definer);
  }

  protected override bindCaller<T>(tree: T): T {
    this.#onCallerFunctions?.(tree);
    return tree;
  }

  /** The SQL with barriers, its parameters, and the definers of the views and conditions that it reads. */
  textOf(stmt: SelectStmt): string {
    if (this.barrierRefusal) throw this.barrierRefusal;
    return JSON.stringify([printSelect(settleBarriers(stmt, this, true)), this.params, [...this.#definers].sort(([a], [b]) => (a < b ? -1 : 1))]);
  }
}

/** The text of the plan that `make` makes; null if it cannot be planned. @throws what `onTooComplex` throws */
export function planned(context: ModelContext, graph: Graph, access: Access, make: (state: ModelState) => SelectStmt): string | null {
  const state = new ModelState(context, graph, access);
  try {
    return state.textOf(make(state));
  } catch (error) {
    if (!(error instanceof SvcError || error instanceof RangeError)) throw error;
    if (!(error instanceof SvcError) || error.code === 'too_complex') context.onTooComplex?.();
    return null;
  }
}

/** True if a mapping may leave out rows of its tables, or if it cannot be planned. */
export function leavesOut(context: ModelContext, graph: Graph, mapping: MappingDef): boolean {
  try {
    return new ModelState(context, graph, accessFor({})).texts.leavesOut(mapping);
  } catch (error) {
    if (error instanceof SvcError) return true;
    throw error;
  }
}

/** The definition of a mapping without its name. */
export const definitionOf = ({ kind, concept, property, link, datasource, sql }: MappingDef): string =>
  JSON.stringify([kind, concept, property, link, datasource, sql]);
