/** Checks of what a model's SQL refers to, when the model is made: each piece is planned once, as a query would. */
import { Budget, PLAN_LIMITS, visited } from '../budget.ts';
import { SvcError } from '../errors.ts';
import type { SqlParser } from '../language/parser.ts';
import { quoteDouble } from '../language/quote.ts';
import type { Graph } from '../ontology/graph.ts';
import { isRaw, type ViewDef } from '../ontology/model.ts';
import { expandMeasure } from './aggregate/measures.ts';
import { resolveCondition } from './logic.ts';
import { ConceptRelation } from './relation.ts';
import { Resolver } from './resolve.ts';
import { conceptSource } from './sources.ts';
import { tableQuery } from './tables.ts';
import { type PlanContext, Work } from './work.ts';

/** Where a piece of SQL of the model stands in the script that makes it. */
export interface Piece {
  readonly kind: 'view' | 'logic' | 'property' | 'measure' | 'mapping';
  readonly name: string;
  readonly offset: number;
  /** Where the WHERE of a measure begins. */
  readonly filterOffset?: number | undefined;
}

/**
 * Plans every view, logic concept, calculated property and mapping among `pieces`; throws the first error, at its place in the script.
 * `options.graph`: the model as their writer sees it, where that is not all of `graph`.
 */
export function checkModel(graph: Graph, parser: SqlParser, pieces: readonly Piece[], options: Partial<PlanContext> = {}): void {
  const context: PlanContext = { graph, whole: graph, parser, product: 'svc', activeDatasource: 'main', ...options };
  for (const piece of pieces) {
    const own = (view: ViewDef): Graph => (view.name === piece.name ? context.graph : graph);
    const work = new Work({ ...context, definer: own });
    try {
      new Budget(PLAN_LIMITS, `the plan of the ${KINDS[piece.kind]} \`${piece.name}\``).run(() => checkPiece(work, graph, piece), piece.offset);
    } catch (e) {
      if (e instanceof SvcError && e.offset === undefined) throw e.at(piece.offset);
      throw e;
    }
  }
}

const KINDS: Readonly<Record<Piece['kind'], string>> = {
  view: 'view',
  logic: 'concept',
  property: 'calculated property',
  measure: 'measure',
  mapping: 'mapping',
};

/** SQL over tables, with the place of a fault in it. */
function checkTables(work: Work, { sql }: { readonly sql: string }, offset: number): void {
  const { stmt, offsetOf } = work.parse(sql, offset, false, false);
  tableQuery(stmt, offsetOf);
}

function checkPiece(work: Work, graph: Graph, piece: Piece): void {
  if (piece.kind === 'view') {
    const view = graph.view(piece.name);
    if (!view) return;
    if (isRaw(view)) {
      checkTables(work, view, piece.offset);
      return;
    }
    if (view.cube) {
      work.textOffsets.set(view.name, piece.offset);
      const all = work.parse(`SELECT * FROM vsvc.${quoteDouble(view.name)}`, undefined);
      new Resolver(work, all).query(all.stmt, undefined);
      return;
    }
    const parsed = work.parse(view.sql, piece.offset);
    work.reading.push(view.name);
    new Resolver(work, parsed, work.seen).query(parsed.stmt, undefined);
    return;
  }
  if (piece.kind === 'logic') {
    const concept = graph.concept(piece.name);
    const rows = concept?.rows;
    if (!concept || rows?.kind !== 'logic') return;
    const source = work.seen.concept(rows.source.name) ?? rows.source;
    resolveCondition(work, concept, rows.condition, new ConceptRelation(work, source, rows.schema, work.alias()), piece.offset, work.seen);
    conceptSource(work, concept, new Map([['id', { kind: 'entity_id' }]]));
    return;
  }
  if (piece.kind === 'mapping') {
    const mapping = graph.mapping(piece.name);
    if (mapping) checkTables(work, mapping, piece.offset);
    return;
  }
  if (piece.kind === 'measure') {
    const measure = graph.measure(piece.name);
    if (measure) work.plainExpression(measure, measure.expression, piece.offset);
    if (measure?.filter != null) work.plainExpression(measure, measure.filter, piece.filterOffset);
    for (const concept of graph.concepts) {
      visited(concept.measures.length);
      const own = concept.measures.find((m) => m.owner === concept && m.def.name.toLowerCase() === piece.name.toLowerCase());
      if (!own) continue;
      const relation = new ConceptRelation(work, concept, 'dsvc', work.alias());
      expandMeasure(
        work,
        { relation, node: relation.root, concept, def: own.def },
        (def) => relation.columnAt(relation.root, { kind: 'property', def }),
        () => [],
      );
    }
    return;
  }
  const def = graph.property(piece.name);
  if (!def?.expression) return;
  work.plainExpression(def, def.expression, piece.offset);
  for (const concept of graph.concepts) {
    visited(concept.properties.length);
    if (concept.properties.some((p) => p.def === def && p.owner === concept)) conceptSource(work, concept, new Map([['v', { kind: 'property', def }]]));
  }
}
