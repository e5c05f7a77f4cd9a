/** The rows of a mapping from which calculated properties follow paths. */
import type { ColumnRef } from '@pgsql/types';
import type { Concept, Graph } from '../../../ontology/graph.ts';
import type { PropertyDef } from '../../../ontology/model.ts';
import { isPath } from '../../../ontology/paths.ts';
import { ConceptRelation } from '../../bind/relation.ts';
import type { Frame } from '../../plan/position.ts';
import { column, fieldsOf, join, type Node, nullValue, rewrite, type SelectStmt, select, subselect, target } from '../../plan/tree.ts';
import type { Wanted } from '../../plan/wanted.ts';
import type { MappedRows } from '../../read/mapped.ts';
import { isAggregateCall } from '../aggregate/calls.ts';
import { ownerOf, type RowsOfMapping, readsCalculatedAlong } from './reads.ts';
import { RowPaths } from './row-paths.ts';

/** How a value is read. */
export interface Reading {
  /** True for the value without masks. */
  readonly actual: boolean;
  /** The concept whose calculated properties apply. */
  readonly reader: Concept;
  /** The model as the reader sees it; undefined: the whole model. */
  readonly by: Graph | undefined;
}

/** The reading of a true value. */
export const actual = (reader: Concept): Reading => ({ actual: true, reader, by: undefined });

/** A calculated property whose expression is made. */
interface Expanded {
  readonly def: PropertyDef;
  /** The property in messages. */
  readonly called: string;
  readonly reading: Reading;
  /** The value of a property of the row. */
  readonly propertyAt: (ref: ColumnRef) => Node;
}

/** The rows of a mapping, and their columns. */
interface Rows extends RowsOfMapping {
  readonly rows: MappedRows;
  readonly column: (wanted: Wanted) => Node;
}

/** The sub-select of the rows from which paths are followed. */
interface Base {
  readonly alias: string;
  /** The names of the mapping's columns in the sub-select. */
  readonly columns: Map<string, string>;
  readonly paths: Map<string, RowPaths>;
}

/** The paths that start from the rows of a mapping. */
export class BranchPaths {
  readonly #branch: Rows;
  readonly #readsAll: boolean;
  /** The position of the reader. The caller's values are also made below the condition of a policy, which reads more than the caller. */
  readonly #isTrusted: boolean;
  readonly #here: Frame;
  /** Undefined outside of a SELECT that follows paths. */
  #base: Base | undefined;

  /** @param readsAll whether all rows are read, as far as the planner knows */
  constructor(branch: Rows, readsAll: boolean) {
    const { position } = branch.state;
    this.#branch = branch;
    this.#readsAll = readsAll;
    this.#isTrusted = position.isTrusted;
    this.#here = position.here();
  }

  /**
   * A SELECT of columns that follow paths. The rows become a sub-select, so that no name of a table can be confused with a name of a joined path.
   * @param targets makes the select list
   * @param rows makes the SELECT of the mapping's own columns, which may be joined with paths
   */
  select(targets: () => Node[], rows: (columns: Node[], isJoined: boolean) => SelectStmt): SelectStmt {
    const base: Base = { alias: this.#branch.state.alias(), columns: new Map(), paths: new Map() };
    this.#base = base;
    const targetList = targets();
    const joins = [...base.paths.values()].flatMap((p) => p.joins());
    this.#base = undefined;
    const columns = [...base.columns].map(([name, own]) => target(this.#branch.rows.column(name), own));
    const from = subselect(rows(columns, joins.length > 0), base.alias);
    return select({ targetList, fromClause: [joins.reduce((left, { item, condition }) => join('JOIN_LEFT', left, item, condition), from)] });
  }

  /** The value of a column of the mapping. */
  given(name: string): Node {
    const { rows, state } = this.#branch;
    if (!this.#base) return rows.column(name);
    const { alias, columns } = this.#base;
    const own = columns.get(name) ?? state.alias();
    columns.set(name, own);
    return column(alias, own);
  }

  /**
   * An expression with the values of its paths (in place); NULL for a reader who may not read all that it names.
   * @throws SvcError as the methods of RowPaths
   */
  over(tree: Node, { def, called, reading, propertyAt }: Expanded): Node {
    const paths = this.#pathsFor(def, reading);
    if (!paths) return nullValue();
    return rewrite(tree, (n) => {
      if (isAggregateCall(n)) return paths.aggregate(n, propertyAt, called);
      if (!('ColumnRef' in n)) return undefined;
      return isPath(fieldsOf(n.ColumnRef).at(-1) ?? '') ? paths.single(n.ColumnRef, called) : propertyAt(n.ColumnRef);
    }) as Node;
  }

  #pathsFor(def: PropertyDef, { actual, reader, by }: Reading): RowPaths | undefined {
    const { state, mapped } = this.#branch;
    const base = this.#base;
    if (!base) throw new Error('paths are followed outside of a SELECT over the rows of a mapping');
    const owner = ownerOf(def, mapped, reader, by ?? state.graph);
    if (!owner) return undefined;
    // A property does not share the nodes of its paths with one that reads other columns there, if these are calculated over paths: they might read this one.
    const own = readsCalculatedAlong(state, def) ? def.name : '';
    const key = JSON.stringify([owner.name, state.sightKey(owner.graph), actual, own]);
    let paths = base.paths.get(key);
    if (!paths) {
      const relation = new ConceptRelation(state, { concept: owner, schema: 'dsvc', alias: state.alias() });
      paths = new RowPaths({ relation, at: this.#position(actual), readsAll: this.#readsAll, near: (wanted) => this.#branch.column(wanted) });
      base.paths.set(key, paths);
    }
    return paths;
  }

  /** Masks, and joins of the model, read true values of all rows. Other values are read with the rights of the caller. */
  #position(actual: boolean): Frame {
    const { position } = this.#branch.state;
    return (make) => {
      if (actual) return position.isTrusted ? make() : position.asTrusted(make);
      return position.isTrusted === this.#isTrusted ? make() : this.#here(make);
    };
  }
}
