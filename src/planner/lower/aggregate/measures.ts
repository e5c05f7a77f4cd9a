/**
 * Measures. An aggregate call around a measure's column marks it, and its definition is expanded over the distinct things of its concept
 * (docs/design/aggregates-over-several-paths.md#measures).
 */
import { visited } from '../../../budget.ts';
import { badRequest } from '../../../errors.ts';
import type { Concept } from '../../../ontology/graph.ts';
import type { MappingDef, MeasureDef, PropertyDef } from '../../../ontology/model.ts';
import { sameName } from '../../../ontology/names.ts';
import { parseType } from '../../../ontology/types.ts';
import type { ConceptRelation } from '../../bind/relation.ts';
import { mayDivideByZero } from '../../facts/divisions.ts';
import { propertyOf } from '../../plan/concept-columns.ts';
import { isKeyHop } from '../../plan/hop.ts';
import { LocatedError } from '../../plan/located-error.ts';
import { type PathNode, pathOf } from '../../plan/path-node.ts';
import { calledMeasure, type MeasureReference, type References } from '../../plan/references.ts';
import { and, cast, clone, conjuncts, eachColumn, fieldsOf, lastName, type Node, nullValue, rewrite, type SelectStmt, walk } from '../../plan/tree.ts';
import type { PlanState } from '../../plan-state.ts';
import { divideAsDeclared } from '../../read/integer-division.ts';
import { refuseMasked } from '../../secure/policies.ts';
import { noteClock } from '../../secure/running-clock.ts';
import { ignoresDuplicates, isAggregateCall } from './calls.ts';

/** The aggregates that may mark a measure. */
const WRAPPERS = new Set(['sum', 'count', 'avg', 'min', 'max']);

/**
 * The measure that a call marks; undefined if the call does not mark one.
 * @throws SvcError 400 `bad_measure` if the call is not one of the aggregates that may mark a measure
 */
export function wrappedMeasure(node: Node, references: References): MeasureReference | undefined {
  if (!isAggregateCall(node)) return undefined;
  const arg = node.FuncCall.args?.[0];
  const measure = arg && 'ColumnRef' in arg ? references.measure(arg.ColumnRef) : undefined;
  if (!measure) return undefined;
  if (node.FuncCall.args?.length !== 1 || !WRAPPERS.has(lastName(node.FuncCall.funcname)) || node.FuncCall.agg_distinct || node.FuncCall.agg_order) {
    throw new LocatedError('bad_measure', `${calledMeasure(measure)} can only be the argument of SUM, COUNT, AVG, MIN or MAX`, node, {
      hint: 'The aggregate only marks the measure: its definition says what is computed.',
    });
  }
  return measure;
}

/** The hint for a measure outside an aggregate. @param marked the measure in an aggregate @param filters true: in a clause that filters rows before they are grouped */
export const hintOfBare = (marked: string, filters: boolean): string =>
  filters
    ? `A measure has a value for each group. Write GROUP BY, and filter the groups with HAVING ${marked}.`
    : `Write ${marked}. The aggregate only marks the measure.`;

/** The error for a measure in an aggregate in WHERE, which filters rows before they are grouped. */
export const aggregateInWhere = (n: Node): LocatedError =>
  new LocatedError('grouping_error', 'aggregate functions are not allowed in WHERE', n, { hint: 'Filter groups with HAVING, after GROUP BY.' });

/** Throws 400 `bare_measure` for a measure outside an aggregate. `filters`: the tree filters rows before they are grouped (WHERE, GROUP BY). */
export function refuseBareMeasures(tree: unknown, references: References, filters = false): void {
  if (!references.hasMeasures) return;
  walk(tree, (n) => {
    if (wrappedMeasure(n, references)) return false;
    const measure = 'ColumnRef' in n ? references.measure(n.ColumnRef) : undefined;
    if (measure) {
      const marked = `SUM(${measure.cubeColumn ?? `"measure.${[pathOf(measure.node), measure.def.name].filter((part) => part !== '').join('.')}"`})`;
      throw new LocatedError('bare_measure', `${calledMeasure(measure)} is used outside an aggregate`, n, { hint: hintOfBare(marked, filters) });
    }
    return undefined;
  });
}

/** Throws 400 `grouping_error` for a measure in an aggregate in WHERE, which filters rows before they are grouped. @param relations those of the block */
export function refuseInWhere(where: Node | undefined, relations: readonly ConceptRelation[], references: References): void {
  if (!references.hasMeasures) return;
  walk(where, (n) => {
    if ('SelectStmt' in n) return false;
    const measure = wrappedMeasure(n, references);
    if (measure && relations.includes(measure.relation)) throw aggregateInWhere(n);
    return undefined;
  });
}

/** Throws 400 `bare_measure` for a measure that no block has expanded, which happens if a sub-query aggregates a measure of the outer query. */
export function refuseOuterMeasures(query: SelectStmt, references: References): void {
  eachColumn(query, (ref) => {
    if (references.measure(ref) === undefined) return;
    // The message does not name the measure: a cube may read a measure that is hidden from the caller.
    throw badRequest('bare_measure', 'a sub-query uses a measure of the outer query', {
      hint: 'Aggregate it in the query that has the concept or cube in FROM.',
    });
  });
}

/**
 * The definition of a measure as an expression. `columnOf` gives the column of a property; `filters` are added to the WHERE of the definition as FILTER of each
 * of its calls.
 * @throws SvcError 400 `circular_measure`, `unknown_property`, 403 `masked`
 */
export function expandMeasure(state: PlanState, measure: MeasureReference, columnOf: (def: PropertyDef) => Node, filters: () => readonly Node[]): Node {
  return state.grows(
    () => calledFor(state, measure),
    () => expand(state, measure.def, measure, columnOf, filters),
  );
}

/** The name of a measure in messages. A view may read measures that are hidden from the caller, and its text, which names them, may be hidden too. */
export const calledFor = (state: PlanState, measure: MeasureReference): string =>
  measure.cubeColumn !== undefined || state.position.isTrusted || (state.mayName && state.seen.measure(measure.def.name)) ? calledMeasure(measure) : HIDDEN;

/** The name in messages of a measure that is hidden from the caller. */
export const HIDDEN = 'a measure';

function expand(state: PlanState, def: MeasureDef, measure: MeasureReference, columnOf: (def: PropertyDef) => Node, filters: () => readonly Node[]): Node {
  const called = calledFor(state, { ...measure, def });
  const circular = (): Error => badRequest('circular_measure', `${called} depends on itself`);
  return state.position.expanding(def, circular, () => expandOnce(state, def, called, measure, columnOf, filters));
}

function expandOnce(
  state: PlanState,
  def: MeasureDef,
  called: string,
  measure: MeasureReference,
  columnOf: (def: PropertyDef) => Node,
  filters: () => readonly Node[],
): Node {
  const { concept } = measure;
  const names = (node: Node): Node =>
    rewrite(node, (n) => {
      if (!('ColumnRef' in n)) return undefined;
      const name = fieldsOf(n.ColumnRef).at(-1) ?? '';
      const property = propertyOf(concept, name.toLowerCase(), true) ?? state.graph.property(name);
      if (!property) throw badRequest('unknown_property', `unknown property \`${name}\` in ${called}`);
      refuseMasked(state, concept, property, called);
      return columnOf(property);
    }) as Node;
  const measureNamed = (n: Node): MeasureDef | undefined => {
    if (!('ColumnRef' in n)) return undefined;
    const name = fieldsOf(n.ColumnRef).at(-1) ?? '';
    if (propertyOf(concept, name.toLowerCase(), true)) return undefined;
    return state.graph.measure(name);
  };
  const where = (): Node[] => (def.filter === null ? [] : conjuncts(names(state.texts.plainExpression(def, def.filter))));
  const all = (): Node[] => [...filters(), ...where()];
  const value = rewrite(divideAsDeclared(state.graph.whole, state.texts.plainExpression(def, def.expression), def.type), (n) => {
    const nested = measureNamed(n);
    if (nested) return expand(state, nested, measure, columnOf, all);
    if (!isAggregateCall(n)) return undefined;
    const arg = n.FuncCall.args?.[0];
    const inner = arg && n.FuncCall.args?.length === 1 ? measureNamed(arg) : undefined;
    const { agg_filter, ...rest } = n.FuncCall;
    const own = (): Node[] => (agg_filter ? conjuncts(names(clone(agg_filter))) : []);
    if (inner) return expand(state, inner, measure, columnOf, () => [...own(), ...all()]);
    const call = names({ FuncCall: rest } as Node) as { FuncCall: typeof rest & { agg_filter?: Node } };
    const filter = and([...own(), ...all()]);
    if (filter) call.FuncCall.agg_filter = filter;
    return call as Node;
  }) as Node;
  if (called !== HIDDEN && !state.position.isTrusted && mayDivideByZero(def.expression, () => state.texts.sharedExpression(def, def.expression)))
    state.dividing.add(called);
  const { sql } = parseType(def.type);
  noteClock(state, value, def.filter === null ? null : state.texts.sharedExpression(def, def.filter));
  state.facts.noteMeasure(state.texts.sharedExpression(def, def.expression), sql);
  return cast(value, sql);
}

/**
 * True if each thing at the node is reached at most once from the rows of a FROM that is one concept: the path consists of inverse foreign keys that reference
 * the whole primary key.
 */
export function reachedOnce(node: PathNode): boolean {
  for (let at: PathNode = node; at.parent; at = at.parent) {
    if (at.step?.kind !== 'hop') return false;
    const { relationship } = at.step.hop;
    if (!isKeyHop(at.step.hop) || !relationship.isInverse) return false;
    const key = relationship.from.key?.properties.map((p) => p.name) ?? [];
    const referenced = new Set(relationship.source.map((p) => p.name));
    if (key.length === 0 || key.length !== referenced.size || !key.every((k) => referenced.has(k))) return false;
  }
  return true;
}

/** True if each row of the concept has its key. A concept that uses the rows of an ancestor's mappings may have a key that those rows lack. */
export function isKeyed(concept: Concept): boolean {
  let { rows } = concept;
  while (rows.kind === 'logic') rows = rows.source.rows;
  return concept.key !== null && rows.sources.every((s) => s.target.key !== null);
}

/** A mapping that does not provide a column of a concept's key. */
export interface KeyGap {
  readonly mapping: MappingDef;
  readonly column: string;
}

/**
 * A mapping with rows of the concept that, by the model, the key does not distinguish: it lacks columns of the key, and no logic concept excludes rows where one of these is
 * NULL. Columns of a mapping that are not known are taken to provide the key.
 */
export function keyGap(state: PlanState, concept: Concept): KeyGap | undefined {
  let { rows } = concept;
  const excluded: string[] = [];
  for (; rows.kind === 'logic'; rows = rows.source.rows)
    for (const n of conjuncts(state.texts.plainExpression(rows, rows.condition)))
      if ('NullTest' in n && n.NullTest.nulltesttype === 'IS_NOT_NULL' && n.NullTest.arg && 'ColumnRef' in n.NullTest.arg)
        excluded.push(fieldsOf(n.NullTest.arg.ColumnRef).at(-1) ?? '');
  const key = (concept.key?.properties ?? []).filter((p) => p.expression === null);
  visited(rows.sources.length * key.length);
  for (const { mapping } of rows.sources) {
    const lacking = mapping.columns.length === 0 ? [] : key.filter((p) => !mapping.columns.some((c) => sameName(c.name, p.name)));
    const [first] = lacking;
    if (first && !lacking.some((p) => excluded.some((name) => sameName(name, p.name)))) return { mapping, column: first.name };
  }
  return undefined;
}

/** True if the value of a measure depends on how often equal rows of its concept are counted. */
export function countsDuplicates(state: PlanState, measure: MeasureReference): boolean {
  let counts = false;
  walk(
    expandMeasure(state, measure, nullValue, () => []),
    (n) => {
      counts ||= isAggregateCall(n) && !ignoresDuplicates(n.FuncCall);
      return !counts;
    },
  );
  return counts;
}
