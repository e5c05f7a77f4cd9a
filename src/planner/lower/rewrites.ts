/**
 * Rewrites of a bound block: they complete GROUP BY, and let PostgreSQL read less. They do not change the result. They run in this order, before the slots of the block's concepts are
 * filled (docs/adding.md#a-rewrite).
 */
import type { ConceptRelation } from '../bind/relation.ts';
import { conceptOfSlot } from '../plan/slots.ts';
import type { Node, SelectStmt } from '../plan/tree.ts';
import type { PlanState } from '../plan-state.ts';
import { readAllRows } from './calculated/reads-all.ts';
import { countKeys } from './counted.ts';
import { coverByKey } from './cover.ts';
import { narrow } from './narrow.ts';
import { noteShownTypes, noteTypes } from './prune.ts';
import { firstOfEach, sortByTable } from './sort.ts';

/** A rewrite of a block. `relations` are the concepts of its FROM. */
export interface Rewrite {
  /** A description for readers of the list. */
  readonly does: string;
  apply(state: PlanState, stmt: SelectStmt, relations: readonly ConceptRelation[]): void;
}

const readsOneConcept = ({ fromClause = [] }: SelectStmt): boolean => fromClause.length === 1 && conceptOfSlot(fromClause[0] as Node) !== undefined;

/** All rewrites, in the order in which they run. */
export const REWRITES: readonly Rewrite[] = [
  {
    does: 'adds to GROUP BY the columns that a key in it determines',
    apply: (state, stmt, relations) => coverByKey(state, stmt, relations),
  },
  {
    does: 'repeats conditions of WHERE on single columns in the SELECT of each mapping',
    apply: (state, stmt, relations) => {
      narrow(state, stmt.whereClause, relations);
      if (!readsOneConcept(stmt)) for (const { root } of relations) root.isRestricted = true;
    },
  },
  {
    does: 'leaves out mappings of other types than WHERE asks for',
    apply: (state, stmt, relations) => noteTypes(state, stmt, relations),
  },
  {
    does: 'reads the mappings of one table in one SELECT, also if they have different types, where the types are only shown',
    apply: (state, stmt, relations) => noteShownTypes(state, stmt, relations),
  },
  {
    does: 'computes the aggregates of calculated properties once for all rows, if WHERE and LIMIT leave out none',
    apply: (_, stmt, relations) => readAllRows(stmt, relations),
  },
  {
    does: 'sorts ORDER BY an integer with LIMIT by the column of the table, so that PostgreSQL can use its index',
    apply: (_, stmt, relations) => sortByTable(stmt, relations),
  },
  {
    does: 'takes the first rows of each mapping for ORDER BY with LIMIT over mappings of several integer types',
    apply: (_, stmt, relations) => {
      if (readsOneConcept(stmt)) firstOfEach(stmt, relations);
    },
  },
  {
    does: 'counts the keys of rows instead of the texts of their ids',
    apply: (state, stmt, relations) => {
      if (readsOneConcept(stmt)) countKeys(state, stmt, relations);
    },
  },
];
