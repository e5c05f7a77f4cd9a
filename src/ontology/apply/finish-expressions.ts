/** Checks calculated properties, measures and views at the end of a script. */
import { badRequest } from '../../errors.ts';
import type { Concept, Graph } from '../graph.ts';
import { isRaw, type MeasureDef, type Model, type PropertyDef } from '../model.ts';
import { fold, sameName, THING } from '../names.ts';
import { quoted, unknown } from './checks.ts';
import { type ApplyContext, keyOf, neutralSchema, type Reference } from './context.ts';
import { findCycle, isPlain } from './finish-concepts.ts';

type Expression = { readonly kind: 'property'; readonly def: PropertyDef } | { readonly kind: 'measure'; readonly def: MeasureDef };

/**
 * Checks that names in the expressions that the script wrote exist, that expressions have no cycles, and that a concept has the
 * properties that its calculated properties read.
 *
 * @throws SvcError 400 `unknown_property`, `circular_expression`
 */
export function checkExpressions(before: Model, graph: Graph, context: ApplyContext): void {
  const { model } = graph;
  const old = new Set<object>([...before.properties, ...before.measures, ...before.concepts]);
  const known = new Map<object, readonly Reference[]>();
  // the script's own expressions were parsed with their offsets; others are parsed when a path leads to them
  const references = (e: Expression): readonly Reference[] => {
    let refs = known.get(e.def);
    if (!refs) {
      const stored = (text: string | null) => (text === null ? [] : context.referencesOf({ text, offset: 0 }, 'expression'));
      const filter = e.kind === 'measure' ? e.def.filter : null;
      refs = (old.has(e.def) ? undefined : context.places.references.get(keyOf([e.kind, e.def.name]))) ?? [...stored(e.def.expression), ...stored(filter)];
      known.set(e.def, refs);
    }
    return refs.filter((r) => !r.nested && r.qualifier === null && isPlain(r.name));
  };
  const changed: Expression[] = [
    ...model.properties.filter((def) => def.expression !== null && !old.has(def)).map((def): Expression => ({ kind: 'property', def })),
    ...model.measures.filter((def) => !old.has(def)).map((def): Expression => ({ kind: 'measure', def })),
  ];

  for (const e of changed) {
    for (const ref of references(e)) {
      if (graph.property(ref.name) || (e.kind === 'measure' && graph.measure(ref.name))) continue;
      const near = [...model.properties, ...(e.kind === 'measure' ? model.measures : [])].map((p) => p.name);
      throw unknown('property', ref.name, ref.offset, near, `, used by the ${e.kind} ${quoted(e.def.name)}`);
    }
  }

  const nodes = new Map<object, Expression>();
  const node = (e: Expression): Expression => {
    if (!nodes.has(e.def)) nodes.set(e.def, e);
    return nodes.get(e.def) ?? e;
  };
  const named = (e: Expression): Expression[] =>
    references(e).flatMap(({ name }) => {
      const property = graph.property(name);
      if (property) return property.expression === null ? [] : [node({ kind: 'property', def: property })];
      const measure = e.kind === 'measure' ? graph.measure(name) : undefined;
      return measure ? [node({ kind: 'measure', def: measure })] : [];
    });
  const cycle = findCycle(changed.map(node), named);
  if (cycle) {
    const names = cycle.map((e) => e.def.name);
    throw badRequest('circular_expression', `circular definition: ${[...names, names[0] ?? ''].map(quoted).join(' reads ')}`, {
      offset: cycle.map((e) => context.places.get(e.kind, e.def.name)).find((o) => o !== undefined),
    });
  }

  const touched = (c: Concept): boolean => [c, ...c.ancestors].some((a) => a.def && !old.has(a.def));
  for (const c of graph.concepts) {
    const own = (c.def?.properties ?? []).flatMap((name) => graph.property(name) ?? []).filter((p) => p.expression !== null);
    if (own.length === 0) continue;
    const changedConcept = touched(c);
    for (const def of own) if (changedConcept || !old.has(def)) checkReach(c, def, references({ kind: 'property', def }), context);
  }
}

/** Checks that a concept that lists a calculated property has the properties that it reads. */
function checkReach(c: Concept, def: PropertyDef, refs: readonly Reference[], { places }: ApplyContext): void {
  for (const { name } of refs) {
    if ([...c.properties, ...c.multi].some((p) => sameName(p.def.name, name))) continue;
    throw unknown(
      'property',
      name,
      places.near('concept', c.name, 'property', def.name) ?? places.get('property', def.name),
      c.properties.map((p) => p.def.name),
      ` of concept ${quoted(c.name)}, used by its calculated property ${quoted(def.name)}`,
    );
  }
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
