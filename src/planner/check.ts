/** Checks the SQL of a model when the model is changed: plans each piece once, as a query that uses it would. */
import { ahead, Budget, PLAN_LIMITS, visited } from '../budget.ts';
import { badRequest, SvcError } from '../errors.ts';
import type { SqlParser } from '../language/parser.ts';
import { quoteDouble } from '../language/quote.ts';
import type { Concept, Graph } from '../ontology/graph.ts';
import { push } from '../ontology/links.ts';
import { isRaw } from '../ontology/model.ts';
import { fold } from '../ontology/names.ts';
import type { Warning } from '../ontology/validate.ts';
import { resolveCondition } from './bind/condition.ts';
import { ConceptRelation } from './bind/relation.ts';
import { Resolver } from './bind/resolve.ts';
import { expandMeasure } from './lower/aggregate/measures.ts';
import { checkPaths } from './lower/calculated/calls.ts';
import { lowerBlocks } from './lower/finish.ts';
import { conceptSource } from './lower/sources.ts';
import type { Defined, PlanContext } from './plan/context.ts';
import { LocatedError } from './plan/located-error.ts';
import { PlanState } from './plan-state.ts';
import { dividesIntegers } from './read/integer-division.ts';

/** The constant part of the cost of planning a piece of SQL of a model, without what grows with it. */
export const STEPS_OF_A_PLAN = 1_500;

/** The least that the plan of a calculated property or a measure costs for a concept that lists it: 284 with the shortest expression. */
const STEPS_OF_A_SOURCE = 280;

/** A piece of SQL of the model, and its place in the script that creates it. */
export interface Piece {
  /** What the SQL belongs to. */
  readonly kind: 'view' | 'logic' | 'property' | 'measure' | 'mapping';
  readonly name: string;
  readonly offset: number;
  /** The place of the WHERE clause of a measure. */
  readonly filterOffset?: number | undefined;
}

/**
 * Plans the view, logic concept, calculated property, measure or mapping of each piece.
 * @param graph the whole model
 * @param options `graph`: the model as the author of the pieces sees it; default: all of `graph`
 * @throws SvcError the first error of a text, with its offset in the script
 */
export function checkModel(graph: Graph, parser: SqlParser, pieces: readonly Piece[], options: Partial<PlanContext> = {}): void {
  const context: PlanContext = { graph, whole: graph, parser, product: 'svc', activeDatasource: 'main', ...options };
  ahead(
    pieces.reduce((steps, { kind, name }) => steps + plansOf(graph, kind, name), 0),
    0,
  );
  for (const piece of pieces) {
    const own = (defined: Defined): Graph => (defined.name === piece.name ? context.graph : graph);
    const state = new PlanState({ ...context, definer: own });
    try {
      new Budget(PLAN_LIMITS, `the plan of the ${KINDS[piece.kind]} \`${piece.name}\``).run(() => checkPiece(state, graph, piece), piece.offset);
    } catch (e) {
      if (e instanceof SvcError && e.offset === undefined) throw e.at(piece.offset);
      if (e instanceof RangeError)
        throw badRequest('too_complex', `the ${KINDS[piece.kind]} \`${piece.name}\` is nested too deeply`, { offset: piece.offset, cause: e });
      throw e;
    }
  }
}

/**
 * Checks that older pieces do not depend on themselves, after a script has changed something that they read. A piece that did so before the script is left as it is.
 * @param before the model before the script
 * @throws SvcError 400 `circular_property`, `circular_concept`, with the offset of the piece
 */
export function checkCircles(before: Graph, graph: Graph, parser: SqlParser, pieces: readonly Piece[], options: Partial<PlanContext> = {}): void {
  const circleOf = (of: Graph, piece: Piece): SvcError | undefined => {
    try {
      checkModel(of, parser, [piece], options);
    } catch (error) {
      if (error instanceof SvcError && error.code.startsWith('circular_')) return error;
    }
    return undefined;
  };
  for (const piece of pieces) {
    const circle = circleOf(graph, piece);
    if (circle !== undefined && circleOf(before, piece) === undefined) throw circle.at(piece.offset);
  }
}

/**
 * Warnings about divisions of integers that are computed in the declared type of their property or measure, since PostgreSQL would truncate them.
 * @param graph a model whose pieces are valid
 */
export function divisionWarnings(graph: Graph, parser: SqlParser, pieces: readonly Piece[], options: Partial<PlanContext> = {}): readonly Warning[] {
  const { texts } = new PlanState({ graph, whole: graph, parser, product: 'svc', activeDatasource: 'main', ...options });
  return pieces.flatMap(({ kind, name, offset }): Warning[] => {
    const def = kind === 'property' ? graph.property(name) : kind === 'measure' ? graph.measure(name) : undefined;
    if (!def?.expression || !dividesIntegers(graph, texts.plainExpression(def, def.expression), def.type)) return [];
    const message = `the ${KINDS[kind]} \`${def.name}\` divides integers: the division is computed as ${def.type}, and not truncated as in plain PostgreSQL`;
    return [{ code: 'integer_division', message, object: `${kind} ${def.name}`, offset }];
  });
}

const LISTING = new WeakMap<Graph, ReadonlyMap<string, readonly Concept[]>>();

/** The concepts that list a property or measure themselves. */
function listing(graph: Graph, name: string): readonly Concept[] {
  let known = LISTING.get(graph);
  if (known === undefined) {
    const all = new Map<string, Concept[]>();
    for (const concept of graph.concepts) {
      const own = [...(concept.def?.properties ?? []), ...(concept.def?.measures ?? [])];
      visited(1 + own.length);
      for (const each of new Set(own.map(fold))) push(all, each, concept);
    }
    known = all;
    LISTING.set(graph, known);
  }
  return known.get(fold(name)) ?? [];
}

/** The least that the plans of a piece cost, in steps. */
function plansOf(graph: Graph, kind: Piece['kind'], name: string): number {
  if (kind === 'mapping') return 0;
  return STEPS_OF_A_PLAN + (kind === 'property' || kind === 'measure' ? STEPS_OF_A_SOURCE * listing(graph, name).length : 0);
}

const KINDS: Readonly<Record<Piece['kind'], string>> = {
  view: 'view',
  logic: 'concept',
  property: 'calculated property',
  measure: 'measure',
  mapping: 'mapping',
};

function checkPiece(state: PlanState, graph: Graph, piece: Piece): void {
  if (piece.kind !== 'mapping') visited(STEPS_OF_A_PLAN);
  switch (piece.kind) {
    case 'view':
      checkView(state, graph, piece);
      break;
    case 'logic':
      checkLogicConcept(state, graph, piece);
      break;
    case 'property':
      checkProperty(state, graph, piece);
      break;
    case 'measure':
      checkMeasure(state, graph, piece);
      break;
    case 'mapping': {
      const mapping = graph.mapping(piece.name);
      if (mapping) state.texts.checkTables(mapping, piece.offset);
    }
  }
}

function checkView(state: PlanState, graph: Graph, { name, offset }: Piece): void {
  const view = graph.view(name);
  if (!view) return;
  if (isRaw(view)) {
    state.texts.checkTables(view, offset);
    return;
  }
  if (view.cube) {
    state.texts.offsets.set(view.name, offset);
    const all = state.texts.parse(`SELECT * FROM vsvc.${quoteDouble(view.name)}`, undefined);
    new Resolver(state, all).query(all.stmt, undefined);
  } else {
    const parsed = state.texts.parse(view.sql, offset);
    state.position.reading(view.name, () => new Resolver(state, parsed, state.seen).query(parsed.stmt, undefined));
  }
  lowerBlocks(state);
}

function checkLogicConcept(state: PlanState, graph: Graph, { name, offset }: Piece): void {
  const concept = graph.concept(name);
  const rows = concept?.rows;
  if (!concept || rows?.kind !== 'logic') return;
  const source = state.seen.concept(rows.source.name) ?? rows.source;
  const relation = new ConceptRelation(state, { concept: source, schema: rows.schema, alias: state.alias() });
  resolveCondition(state, concept, rows.condition, relation, offset, state.seen);
  lowerBlocks(state);
  conceptSource(state, concept, new Map([['id', { kind: 'entity_id' }]]));
}

function checkMeasure(state: PlanState, graph: Graph, { name, offset, filterOffset }: Piece): void {
  const measure = graph.measure(name);
  if (measure) state.texts.plainExpression(measure, measure.expression, offset);
  if (measure?.filter != null) state.texts.plainExpression(measure, measure.filter, filterOffset);
  for (const concept of listing(graph, name)) {
    const own = concept.measures.find((m) => m.owner === concept && m.def === measure);
    if (!own) continue;
    visited(concept.measures.length);
    const relation = new ConceptRelation(state, { concept, schema: 'dsvc', alias: state.alias() });
    expandMeasure(
      state,
      { relation, node: relation.root, concept, def: own.def },
      (def) => relation.columnAt(relation.root, { kind: 'property', def }),
      () => [],
    );
  }
}

function checkProperty(state: PlanState, graph: Graph, { name, offset }: Piece): void {
  const def = graph.property(name);
  if (!def?.expression) return;
  const { node, offsetOf } = state.texts.located(def, def.expression, offset);
  for (const concept of listing(graph, name)) {
    const relation = new ConceptRelation(state, { concept: state.seen.concept(concept.name) ?? concept, schema: 'dsvc', alias: state.alias() });
    try {
      checkPaths(relation, node, `the calculated property \`${def.name}\``);
    } catch (error) {
      throw error instanceof LocatedError && error.location !== undefined ? error.at(offsetOf(error.location)) : error;
    }
    conceptSource(state, concept, new Map([['v', { kind: 'property', def }]]));
  }
}
