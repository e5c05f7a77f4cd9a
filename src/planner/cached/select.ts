/** The SELECT whose rows the table of a cached cube has: partial aggregates of the cube by its dimensions (docs/design/caches.md#cached-cubes). */
import { quoteDouble } from '../../language/quote.ts';
import type { Concept } from '../../ontology/graph.ts';
import type { PropertyDef, ViewDef } from '../../ontology/model.ts';
import { fold } from '../../ontology/names.ts';
import type { CubeColumn } from '../bind/cubes.ts';
import { Resolver } from '../bind/resolve.ts';
import { collates, hasPlainCollation } from '../facts/column-types.ts';
import { lowerBlock } from '../lower/finish.ts';
import type { BoundBlock } from '../plan/block.ts';
import type { PlanContext } from '../plan/context.ts';
import { clone, type Node, type SelectStmt, target } from '../plan/tree.ts';
import { PlanState } from '../plan-state.ts';
import { printSelect } from '../print/index.ts';
import type { Declared } from '../verify/index.ts';
import { columnsOf, countStar, inTable, isExact, Partials, propertyOf, rowsIn, typeOfProperty } from './partials.ts';

/** A column of the cube that the table gives. */
export interface KeptColumn extends Pick<CubeColumn, 'name' | 'isMeasure'> {
  /** Its value over the columns of the table. */
  readonly template: Node;
  /** The property of a dimension. */
  readonly property?: PropertyDef;
}

/** The SELECT of the table of a cube. */
export interface CubeSelect {
  readonly sql: string;
  readonly declared: Declared;
  readonly datasource: string;
  /** The names of the columns of the table. */
  readonly columns: readonly string[];
  /** The columns of the cube, in order; undefined: the table cannot give it. */
  readonly kept: readonly (KeptColumn | undefined)[];
  /** The folded names of the columns that the table cannot give, and of those that differ only in case or not at all. */
  readonly lost: ReadonlySet<string>;
  /** The number of rows of the cube, over the columns of the table. */
  readonly rows: Node;
  /** The state after planning. */
  readonly state: PlanState;
}

/** Why a cube cannot be cached, or not for a caller. */
export type UncacheableCube = 'restricted' | 'paths' | 'volatile' | 'collation' | 'key' | 'measures';

/**
 * Plans the SELECT of the table of a cube. It depends only on the model as the context has it, and on the rights and policies of its caller.
 * @throws SvcError as a query on the cube
 */
export function cubeSelect(context: PlanContext, view: ViewDef): CubeSelect | UncacheableCube {
  // shapes of SQL that depend on counts and servers would change the text; what functions of the datasource return may depend on the time or the role
  const { rowsOf: _r, enforces: _e, keepsNames: _k, cached: _c, cubes: _u, allowedFunctions: _a, ...rest } = context;
  const state = new PlanState(rest);
  const parsed = state.texts.parse(`SELECT * FROM vsvc.${quoteDouble(view.name)}`, undefined);
  const { stmt } = parsed;
  new Resolver(state, parsed, state.seen).query(stmt, undefined);
  const [pending, ...others] = state.blocks.splice(0);
  const concept = pending?.block.relations[0]?.concept;
  if (pending === undefined || concept === undefined || others.length > 0 || pending.block.relations.length !== 1) return 'paths';
  let parts: Parts | undefined;
  pending.here(() =>
    lowerBlock(state, pending.block, () => {
      parts = partsOf(state, pending.block, stmt);
    }),
  );
  if (parts === undefined || pending.block.relations[0]?.root.all().length !== 1) return 'paths';
  const { facts } = state;
  if (facts.volatile || facts.clock) return 'volatile';
  const isOpen = !facts.hasRowPolicies && !facts.isMasked && !facts.readsHidden && !facts.hidesRows && !facts.readsCaller;
  if (!isOpen || state.params.length > 0 || state.late.length > 0 || state.barrierRefusal) return 'restricted';
  if (!hasPlainCollations(concept) || collates(stmt)) return 'collation';
  const { kept, lost, partials } = parts;
  if (isKeyed(concept, kept)) return 'key';
  if (!kept.some((k) => k?.isMeasure)) return 'measures';
  const dimensions = kept.filter((k) => k?.isMeasure === false).length;
  const columns = columnsOf(dimensions + 1 + partials);
  return { sql: printSelect(stmt), declared: state.declared, datasource: state.datasource, columns, kept, lost, rows: rowsIn(dimensions), state };
}

interface Parts {
  readonly kept: CubeSelect['kept'];
  readonly lost: CubeSelect['lost'];
  /** The number of partial aggregates, without the number of rows. */
  readonly partials: number;
}

/** Replaces the select list of a block, which has all columns of the cube, by that of the table. */
function partsOf(state: PlanState, { cubes, relations }: BoundBlock, stmt: SelectStmt): Parts {
  const columns = cubes[0]?.relation.columns ?? [];
  const root = relations[0]?.root;
  const values = (stmt.targetList ?? []).map((t) => ('ResTarget' in t ? t.ResTarget.val : undefined));
  const isDimension = (value: Node | undefined, i: number): value is Node =>
    value !== undefined && columns[i]?.isMeasure === false && isExact(typeOfProperty(state, value)) && nodeOf(state, value) === root;
  const dimensions = values.filter(isDimension);
  const partials = new Partials(state, dimensions.length + 1);
  const kept = columns.map(({ name, isMeasure }, i): KeptColumn | undefined => {
    const value = values[i];
    if (!isMeasure) {
      if (!isDimension(value, i)) return undefined;
      const property = propertyOf(state, value);
      return { name, isMeasure, template: inTable(dimensions.indexOf(value)), ...(property ? { property } : {}) };
    }
    const template = value && partials.template(value);
    return template && { name, isMeasure, template };
  });
  const names = columnsOf(dimensions.length + 1 + partials.all.length);
  stmt.targetList = [...dimensions.map((d) => clone(d)), countStar(), ...partials.all].map((value, i) => target(value, names[i]));
  if (dimensions.length > 0) stmt.groupClause = dimensions.map((d) => clone(d));
  else delete stmt.groupClause;
  const folded = columns.map((c) => fold(c.name));
  const lost = new Set(folded.filter((name, i) => kept[i] === undefined || folded.indexOf(name) !== folded.lastIndexOf(name)));
  return { kept, lost, partials: partials.all.length };
}

const nodeOf = ({ references }: PlanState, node: Node): object | undefined => ('ColumnRef' in node ? references.of(node.ColumnRef)?.node : undefined);

/** True if a group of the dimensions is one row: a query that is grouped by the key may then name columns that the key determines. */
function isKeyed({ key }: Concept, kept: CubeSelect['kept']): boolean {
  return key?.properties.every((p) => kept.some((k) => k?.property?.name === p.name)) === true;
}

/** True if the texts of a concept have no collation that may be nondeterministic. */
function hasPlainCollations({ rows }: Concept): boolean {
  if (rows.kind === 'logic') return hasPlainCollations(rows.source);
  return rows.sources.every((s) => s.mapping.columns.every(hasPlainCollation));
}
