/** Checks calculated properties, measures and views at the end of a script. */
import { visited } from '../../budget.ts';
import { badRequest, quoted } from '../../errors.ts';
import type { Concept, Graph } from '../graph.ts';
import type { Pairs } from '../links.ts';
import { isRaw, type Model, type PropertyDef } from '../model.ts';
import { fold, THING } from '../names.ts';
import { followPath, isPath, propertyAtEnd, relationshipsIn } from '../paths.ts';
import { unknown } from './checks.ts';
import { type ApplyContext, keyOf, neutralSchema, type Reference } from './context.ts';
import { type Expression, Expressions } from './expressions.ts';
import { findCycle, isPlain } from './finish-concepts.ts';
import { checkJoins } from './finish-joins.ts';
import { checkReach } from './finish-reach.ts';

/**
 * Checks that names in the expressions that the script wrote exist, that expressions have no cycles, and that concepts have what they read.
 *
 * @throws SvcError 400 `unknown_property`, `unknown_relationship`, `circular_expression`, and the errors of `checkReach` and `checkJoins`
 */
export function checkExpressions(before: Model, graph: Graph, pairs: Pairs, context: ApplyContext): void {
  const { model } = graph;
  const expressions = new Expressions(before, context);
  const changed: Expression[] = [
    ...model.properties.filter((def) => def.expression !== null).map((def): Expression => ({ kind: 'property', def })),
    ...model.measures.map((def): Expression => ({ kind: 'measure', def })),
  ].filter((e) => expressions.isNew(e));
  for (const e of changed) checkNames(e, graph, pairs, expressions.namesIn(e));
  checkCycles([...changed, ...expressionsOverEntities(model)], graph, expressions, context);
  checkReach(before, graph, expressions, context);
  checkJoins(graph, expressions, context.places);
}

/** Checks that the names in an expression are names of the ontology, whichever concepts have them. */
function checkNames(e: Expression, graph: Graph, pairs: Pairs, names: readonly Reference[]): void {
  const { model } = graph;
  const of = `, used by the ${e.kind} ${quoted(e.def.name)}`;
  for (const { name, qualifier, offset } of names) {
    if (qualifier !== null) continue;
    const lost = relationshipsIn(name).find((r) => !pairs.named.has(fold(r).replace(/^~+/, '')));
    if (isPath(name) && lost !== undefined) {
      const near = pairs.all.flatMap((p) => [p.def.name, p.inverseName]);
      throw unknown('relationship', lost, offset, near, ` in the path ${quoted(name)}${of}`);
    }
    if (!isPlain(name) || graph.property(name) || (e.kind === 'measure' && graph.measure(name))) continue;
    const near = [...model.properties, ...(e.kind === 'measure' ? model.measures : [])].map((p) => p.name);
    throw unknown('property', name, offset, near, of);
  }
}

function checkCycles(changed: readonly Expression[], graph: Graph, expressions: Expressions, { places }: ApplyContext): void {
  const nodes = new Map<object, Expression>();
  const node = (e: Expression): Expression => {
    if (!nodes.has(e.def)) nodes.set(e.def, e);
    return nodes.get(e.def) ?? e;
  };
  const named = (e: Expression): Expression[] =>
    expressions.namesIn(e).flatMap(({ name, qualifier }) => {
      const last = isPath(name) && e.kind === 'property' ? propertyAtEnd(name) : name;
      if (qualifier !== null || last === undefined) return [];
      if (e.kind === 'property' && isPath(name) && ENTITY_COLUMN.test(last))
        return shownAtEnd(graph, e.def, name).map((def) => node({ kind: 'property', def }));
      if (!isPlain(last)) return [];
      const property = graph.property(last);
      if (property) return property.expression === null ? [] : [node({ kind: 'property', def: property })];
      const measure = e.kind === 'measure' ? graph.measure(name) : undefined;
      return measure ? [node({ kind: 'measure', def: measure })] : [];
    });
  const cycle = findCycle(changed.map(node), named);
  if (!cycle) return;
  const names = cycle.map((e) => e.def.name);
  const labelled = graph.concepts.filter((c) => cycle.some((e) => [...c.label, ...(c.key?.properties ?? [])].some((p) => p === e.def)));
  throw badRequest('circular_expression', `circular definition: ${[...names, names[0] ?? ''].map(quoted).join(' reads ')}`, {
    offset: [...cycle.map((e) => places.get(e.kind, e.def.name)), ...labelled.map((c) => places.get('concept', c.name))].find((o) => o !== undefined),
  });
}

/** The columns of a row that show its key or its label. */
const ENTITY_COLUMN = /^entity_(?:id|label)$/i;

/** The calculated properties that read such a column along a path. A concept that the script gives another label may close a cycle through them. */
const expressionsOverEntities = (model: Model): Expression[] =>
  model.properties.filter(({ expression }) => expression !== null && /\]\.entity_(?:id|label)"/i.test(expression)).map((def) => ({ kind: 'property', def }));

/** The calculated properties in the keys and labels of the rows to which a path in an expression leads. */
function shownAtEnd(graph: Graph, def: PropertyDef, path: string): readonly PropertyDef[] {
  visited(graph.concepts.length);
  const starts = graph.concepts.filter((c) => c.properties.some((p) => p.def === def));
  const targets = starts.flatMap((c) => mappedBelow(followPath(c, path)?.hops.at(-1)?.rows));
  const isLabel = fold(propertyAtEnd(path) ?? '') === 'entity_label';
  return [...new Set(targets)].flatMap((t) => (isLabel && t.label.length > 0 ? t.label : (t.key?.properties ?? []))).filter((p) => p.expression !== null);
}

/** The concepts whose mappings have, or may get, the rows of a concept. */
function mappedBelow(concept: Concept | undefined): readonly Concept[] {
  const passed = new Set<Concept>();
  let at = concept;
  while (at?.rows.kind === 'logic' && !passed.has(at)) {
    passed.add(at);
    at = at.rows.source;
  }
  if (at === undefined) return [];
  return [at, ...at.descendants, ...(at.rows.kind === 'mappings' ? at.rows.sources.map((s) => s.target) : [])];
}

/**
 * Checks that the concepts, views and measures that the script's views refer to exist, and that views have no cycles. The planner
 * checks the columns.
 *
 * @throws SvcError 400 `unknown_concept`, `unknown_view`, `unknown_measure`, `circular_view`
 */
export function checkViews(graph: Graph, context: ApplyContext): void {
  const { places, product } = context;
  const written = new Set(graph.model.views.filter((v) => places.relations.has(fold(v.name))).map((v) => fold(v.name)));
  for (const name of written) {
    for (const relation of places.relations.get(name) ?? []) {
      const schema = relation.schema === null ? null : neutralSchema(relation.schema, product);
      if (schema === 'vsvc' && !graph.view(relation.name)) {
        throw unknown(
          'view',
          relation.name,
          relation.offset,
          graph.model.views.map((v) => v.name),
        );
      }
      const concepts = schema === 'svc' || schema === 'esvc' || schema === 'dsvc';
      if (concepts && !graph.concept(relation.name) && !/^sys_/i.test(relation.name)) {
        throw unknown('concept', relation.name, relation.offset, [THING, ...graph.concepts.map((c) => c.name)]);
      }
    }
  }
  for (const name of written) {
    for (const ref of places.references.get(keyOf(['view', name])) ?? []) {
      const measure = /^measure\.(?:.*\]\.)?([^\]]+)$/is.exec(ref.name)?.[1];
      if (measure === undefined || measure === '*' || graph.measure(measure)) continue;
      throw unknown(
        'measure',
        measure,
        ref.offset,
        graph.model.measures.map((m) => m.name),
      );
    }
  }
  const reads = (name: string): string[] => {
    const view = graph.view(name);
    if (view === undefined || isRaw(view)) return [];
    const { sql } = view;
    const relations = written.has(name) ? places.relations.get(name) : context.relationsOf({ text: sql, offset: 0 });
    return (relations ?? []).flatMap((r) => {
      const isView = r.schema === null ? !graph.concept(r.name) : neutralSchema(r.schema, product) === 'vsvc';
      return isView && graph.view(r.name) ? [fold(r.name)] : [];
    });
  };
  const cycle = findCycle(written, reads);
  if (!cycle) return;
  throw badRequest('circular_view', `circular views: ${[...cycle, cycle[0] ?? ''].map((n) => quoted(graph.view(n)?.name ?? n)).join(' reads ')}`, {
    offset: cycle.map((n) => places.get('view', n)).find((o) => o !== undefined),
  });
}
