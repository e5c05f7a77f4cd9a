/** Planning what a model says, whoever asks: what the comparison of two versions of a model is made of. */
import { SvcError } from '../../errors.ts';
import type { Graph } from '../../ontology/graph.ts';
import type { MappingDef } from '../../ontology/model.ts';
import type { Access } from '../access.ts';
import { printSelect } from '../print.ts';
import type { SelectStmt } from '../tree.ts';
import { type PlanContext, Work } from '../work.ts';

/** What SQL of a model is planned with. */
export type ModelContext = Omit<PlanContext, 'graph' | 'whole' | 'access' | 'definer' | 'caller'> & {
  /** Called with each tree in which svc_username() and its like may be called. */
  readonly asks?: ((tree: unknown) => void) | undefined;
};

/** Policies as they are compared: for no caller in particular. */
export const accessFor = (policies: Partial<Pick<Access, 'rows' | 'masks'>>): Access => ({
  rows: [],
  masks: [],
  ...policies,
  caller: { username: '', roles: [], claims: {} },
  maskKey: '',
});

/** A plan for no caller: svc_username() and its like stay calls, so that two texts that ask for different roles or claims differ. */
export class ModelWork extends Work {
  readonly #definers: Map<string, string | undefined>;
  readonly #asks: ModelContext['asks'];

  constructor(context: ModelContext, graph: Graph, access: Access) {
    const definers = new Map<string, string | undefined>();
    const definer: PlanContext['definer'] = (view) => {
      definers.set(view.name, view.definer);
      return graph;
    };
    super({ ...context, graph, whole: graph, access, definer }, [], true);
    this.#definers = definers;
    this.#asks = context.asks;
  }

  override bindCaller<T>(tree: T): T {
    this.#asks?.(tree);
    return tree;
  }

  /** The SQL, its parameters, and whose rights the views that it reads depend on. */
  textOf(stmt: SelectStmt): string {
    return JSON.stringify([printSelect(stmt), this.params, [...this.#definers].sort(([a], [b]) => (a < b ? -1 : 1))]);
  }
}

/** The text of what `make` plans; null where it cannot be planned. */
export function planned(context: ModelContext, graph: Graph, access: Access, make: (work: ModelWork) => SelectStmt): string | null {
  const work = new ModelWork(context, graph, access);
  try {
    return work.textOf(make(work));
  } catch (error) {
    if (error instanceof SvcError || error instanceof RangeError) return null;
    throw error;
  }
}

/** Whether a mapping may leave out rows of its tables. */
export function leavesOut(context: ModelContext, graph: Graph, mapping: MappingDef): boolean {
  try {
    return new ModelWork(context, graph, accessFor({})).mapping(mapping).leavesOut;
  } catch (error) {
    if (error instanceof SvcError) return true;
    throw error;
  }
}

/** What a mapping says, its name aside. */
export const definitionOf = ({ kind, concept, property, link, datasource, sql }: MappingDef): string =>
  JSON.stringify([kind, concept, property, link, datasource, sql]);
