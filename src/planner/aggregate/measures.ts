/**
 * Measures: an aggregate around a measure's column marks it; its definition is expanded over the distinct things of its concept
 * (docs/design/aggregates-over-several-paths.md#measures).
 */
import { badRequest } from '../../errors.ts';
import type { Concept } from '../../ontology/graph.ts';
import type { MeasureDef, PropertyDef } from '../../ontology/model.ts';
import { parseType } from '../../ontology/types.ts';
import type { PathNode } from '../joins.ts';
import { refuseMasked } from '../policies.ts';
import { calledMeasure, type MeasureReference, measureOf } from '../references.ts';
import { propertyOf } from '../relation.ts';
import { and, cast, clone, fieldsOf, lastName, type Node, rewrite, type SelectStmt, walk } from '../tree.ts';
import type { Work } from '../work.ts';
import { isAggregateCall } from './calls.ts';
import { conjuncts } from './conditions.ts';

/** How the wrapper of a measure may be written: it only marks. */
const WRAPPERS = new Set(['sum', 'count', 'avg', 'min', 'max']);

/** The measure that a call wraps; undefined: the call is none of a measure. */
export function wrappedMeasure(node: Node): MeasureReference | undefined {
  if (!isAggregateCall(node)) return undefined;
  const arg = node.FuncCall.args?.[0];
  const measure = arg && 'ColumnRef' in arg ? measureOf(arg.ColumnRef) : undefined;
  if (!measure) return undefined;
  if (node.FuncCall.args?.length !== 1 || !WRAPPERS.has(lastName(node.FuncCall.funcname)) || node.FuncCall.agg_distinct || node.FuncCall.agg_order) {
    throw badRequest('bad_measure', `${calledMeasure(measure)} can only be the argument of SUM, COUNT, AVG, MIN or MAX`);
  }
  return measure;
}

/** Refuses measures that stand outside an aggregate. */
export function refuseBareMeasures(tree: unknown): void {
  walk(tree, (n) => {
    if (wrappedMeasure(n)) return false;
    const measure = 'ColumnRef' in n ? measureOf(n.ColumnRef) : undefined;
    if (measure) {
      throw badRequest('bare_measure', `${calledMeasure(measure)} is used outside an aggregate`, {
        hint: `write SUM(${measure.cubeColumn ?? `"measure.…${measure.def.name}"`}): the aggregate only marks it`,
      });
    }
    return undefined;
  });
}

/** Refuses measures that no block has expanded: a sub-query aggregates a measure of the query around it. */
export function refuseOuterMeasures(query: SelectStmt): void {
  walk(query, (n) => {
    if ('ColumnRef' in n && measureOf(n.ColumnRef)) {
      // without the name: a cube may read a measure that is hidden from the caller
      throw badRequest('bare_measure', 'a sub-query uses a measure of the query around it', {
        hint: 'Aggregate it in the query whose FROM names the concept or cube',
      });
    }
    return undefined;
  });
}

/**
 * The definition of a measure as an expression: `columnOf` gives the column of a property of the thing, `filters` narrow
 * each of its calls (beside the WHERE of the definition).
 */
export function expandMeasure(work: Work, measure: MeasureReference, columnOf: (def: PropertyDef) => Node, filters: () => readonly Node[]): Node {
  return work.grows(
    () => calledFor(work, measure),
    () => expand(work, measure.def, measure, columnOf, filters),
  );
}

/** The name of a measure for messages. Views may read measures that are hidden from the caller. */
const calledFor = (work: Work, measure: MeasureReference): string =>
  measure.cubeColumn === undefined && work.seen.measure(measure.def.name) === undefined ? 'a measure' : calledMeasure(measure);

function expand(work: Work, def: MeasureDef, measure: MeasureReference, columnOf: (def: PropertyDef) => Node, filters: () => readonly Node[]): Node {
  const called = calledFor(work, { ...measure, def });
  if (work.expanding.has(def)) throw badRequest('circular_measure', `${called} depends on itself`);
  work.expanding.add(def);
  const { concept } = measure;
  const names = (node: Node): Node =>
    rewrite(node, (n) => {
      if (!('ColumnRef' in n)) return undefined;
      const name = fieldsOf(n.ColumnRef).at(-1) ?? '';
      const property = propertyOf(concept, name.toLowerCase(), true) ?? work.graph.property(name);
      if (!property) throw badRequest('unknown_property', `unknown property \`${name}\` in ${called}`);
      refuseMasked(work, concept, property, called);
      return columnOf(property);
    }) as Node;
  const measureNamed = (n: Node): MeasureDef | undefined => {
    if (!('ColumnRef' in n)) return undefined;
    const name = fieldsOf(n.ColumnRef).at(-1) ?? '';
    if (propertyOf(concept, name.toLowerCase(), true)) return undefined;
    return work.graph.measure(name);
  };
  const where = (): Node[] => (def.filter === null ? [] : conjuncts(names(work.plainExpression(def, def.filter))));
  const all = (): Node[] => [...filters(), ...where()];
  const value = rewrite(work.plainExpression(def, def.expression), (n) => {
    const nested = measureNamed(n);
    if (nested) return expand(work, nested, measure, columnOf, all);
    if (!isAggregateCall(n)) return undefined;
    const arg = n.FuncCall.args?.[0];
    const inner = arg && n.FuncCall.args?.length === 1 ? measureNamed(arg) : undefined;
    const { agg_filter, ...rest } = n.FuncCall;
    const own = (): Node[] => (agg_filter ? conjuncts(names(clone(agg_filter))) : []);
    if (inner) return expand(work, inner, measure, columnOf, () => [...own(), ...all()]);
    const call = names({ FuncCall: rest } as Node) as { FuncCall: typeof rest & { agg_filter?: Node } };
    const filter = and([...own(), ...all()]);
    if (filter) call.FuncCall.agg_filter = filter;
    return call as Node;
  }) as Node;
  work.expanding.delete(def);
  const { sql } = parseType(def.type);
  work.weighMeasure(work.plainExpression(def, def.expression), sql);
  return cast(value, sql);
}

/**
 * Whether each thing at the node is reached in one way at most from the rows of a FROM that is one concept: by inverses of foreign
 * keys alone that reference the whole key, so that each thing has one row on the way.
 */
export function reachedOnce(node: PathNode): boolean {
  for (let at: PathNode = node; at.parent; at = at.parent) {
    if (at.step?.kind !== 'hop') return false;
    const { relationship, depth } = at.step.hop;
    if (depth !== null || relationship.kind !== 'fk' || !relationship.isInverse) return false;
    const key = relationship.from.key?.properties.map((p) => p.name) ?? [];
    const referenced = new Set(relationship.source.map((p) => p.name));
    if (key.length === 0 || key.length !== referenced.size || !key.every((k) => referenced.has(k))) return false;
  }
  return true;
}

/** Whether each row of a concept has its key: a concept that stands for rows mapped above may have one that they do not. */
export function isKeyed(concept: Concept): boolean {
  let { rows } = concept;
  while (rows.kind === 'logic') rows = rows.source.rows;
  return concept.key !== null && rows.sources.every((s) => s.target.key !== null);
}
