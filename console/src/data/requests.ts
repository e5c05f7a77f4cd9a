/** The requests of the data view. Each answers one action of the user. */
import { identifier, literal, product, query } from '../api/http.ts';
import type { Row } from '../api/rows.ts';
import type { Model } from '../model/model.ts';
import type { Relationship } from '../model/types.ts';
import { pattern } from './conditions.ts';
import type { Found, Link } from './graph.ts';

/** How many links one step adds. */
export const PAGE = 25;
/** How far a shortest path may lead. */
export const FARTHEST = 10;

export const asFound = (row: Row): Found => ({ id: String(row.id), type: String(row.type ?? ''), label: row.label == null ? null : String(row.label) });
export const FOUND = 'entity_id AS id, entity_type AS type, entity_label AS label';

/** Entities by their ids, such as `country:PRT`: the text before the colon is the concept whose key it is. */
export async function byIds(model: Model, ids: readonly string[]): Promise<readonly Found[]> {
  const groups = Map.groupBy(ids, (id) => {
    const concept = id.slice(0, id.indexOf(':'));
    return model.concepts.has(concept) ? concept : 'thing';
  });
  const answers = await Promise.all(
    [...groups].map(([concept, of]) =>
      query<Row>(model.name, `SELECT ${FOUND} FROM ${product}.${identifier(concept)} WHERE entity_id IN (${of.map(literal).join(', ')})`),
    ),
  );
  return answers.flat().map(asFound);
}

/** The values of an entity. */
export async function valuesOf(ontology: string, { id, type }: Found): Promise<Row | null> {
  const [row] = await query<Row>(ontology, `SELECT * FROM ${product}.${identifier(type)} WHERE entity_id = ${literal(id)} LIMIT 1`);
  return row ?? null;
}

/** The relationships of an entity's concept whose target the caller sees. */
const relationshipsOf = (model: Model, type: string): readonly Relationship[] =>
  (model.concepts.get(type)?.relationships ?? []).filter((r) => model.concepts.has(r.target));

const path = (r: Relationship, column: string): string => identifier(`${r.name}[${r.target}].${column}`);

const idsOf = (entities: readonly Found[]): string => entities.map((e) => literal(e.id)).join(', ');

/** To how many entities each relationship leads from some entities of a concept: one request. */
export async function counts(model: Model, type: string, entities: readonly Found[]): Promise<ReadonlyMap<Relationship, number>> {
  const all = relationshipsOf(model, type);
  if (all.length === 0) return new Map();
  const columns = all.map((r, i) => `COUNT(DISTINCT ${path(r, 'entity_id')}) AS n${i}`).join(', ');
  const [row] = await query<Row>(model.name, `SELECT ${columns} FROM d${product}.${identifier(type)} WHERE entity_id IN (${idsOf(entities)})`);
  return new Map(all.map((r, i) => [r, Number(String(row?.[`n${i}`] ?? 0))]));
}

export interface Expansion {
  readonly found: readonly Found[];
  readonly links: readonly Link[];
}

/** The next entities at the other end of a relationship of one entity: one request. */
export async function expand(ontology: string, { id, type }: Found, r: Relationship, offset: number, filter: string): Promise<Expansion> {
  const label = path(r, 'entity_label');
  const where = `entity_id = ${literal(id)} AND ${path(r, 'entity_id')} IS NOT NULL${filter.trim() === '' ? '' : ` AND ${label} ILIKE ${pattern(filter.trim())}`}`;
  const sql = `SELECT DISTINCT ${path(r, 'entity_id')} AS id, ${path(r, 'entity_type')} AS type, ${label} AS label FROM d${product}.${identifier(type)} WHERE ${where} ORDER BY label, id LIMIT ${PAGE} OFFSET ${offset}`;
  const found = (await query<Row>(ontology, sql)).map(asFound);
  return { found, links: found.map((f) => linkOf(id, f.id, r)) };
}

/** The most links that one step adds for all entities of a concept. */
export const MOST_LINKS = 1000;

/** What one relationship leads to from several entities of a concept: one request, at most MOST_LINKS links. @param inside only links among these entities */
export async function expandAll(ontology: string, type: string, entities: readonly Found[], r: Relationship, inside?: readonly Found[]): Promise<Expansion> {
  const end = path(r, 'entity_id');
  const where = inside === undefined ? `${end} IS NOT NULL` : `${end} IN (${idsOf(inside)})`;
  const sql = `SELECT DISTINCT entity_id AS source, ${end} AS id, ${path(r, 'entity_type')} AS type, ${path(r, 'entity_label')} AS label FROM d${product}.${identifier(type)} WHERE entity_id IN (${idsOf(entities)}) AND ${where} ORDER BY label, id, source LIMIT ${MOST_LINKS}`;
  const rows = await query<Row>(ontology, sql);
  return { found: rows.map(asFound), links: rows.map((row) => linkOf(String(row.source), String(row.id), r)) };
}

/** The values of some properties of entities of a concept, by entity id: one request. */
export async function propertiesOf(ontology: string, type: string, ids: readonly string[], names: readonly string[]): Promise<ReadonlyMap<string, Row>> {
  const columns = names.map(identifier).join(', ');
  const where = `entity_id IN (${ids.map(literal).join(', ')})`;
  const rows = await query<Row>(ontology, `SELECT entity_id, ${columns} FROM ${product}.${identifier(type)} WHERE ${where}`);
  return new Map(rows.map((row) => [String(row.entity_id), row]));
}

/** A link in the direction of the relationship that is not an inverse one. */
function linkOf(from: string, to: string, r: Relationship): Link {
  return r.is_inverse && r.inverse !== null ? { from: to, to: from, relationship: r.inverse } : { from, to, relationship: r.name };
}

/** The transitive relationships that lead from an entity to entities of its own kind. */
export const walkable = (model: Model, type: string): readonly Relationship[] => relationshipsOf(model, type).filter((r) => r.transitivity !== null);

/** A shortest path between two entities along a transitive relationship, the first that has one; null if each path has more than FARTHEST links. */
export async function shortestPath(model: Model, from: Found, to: Found): Promise<Expansion | null> {
  for (const r of walkable(model, from.type).filter((w) => model.isOfKind(to.type, w.target))) {
    const along = await pathAlong(model, from, to, r);
    if (along !== null) return along;
  }
  return null;
}

async function pathAlong(model: Model, from: Found, to: Found, r: Relationship): Promise<Expansion | null> {
  const walk = (column: string): string => identifier(`${r.name}[${r.target}*${FARTHEST}].${column}`);
  const level = identifier(`${r.name}[${r.target}*${FARTHEST}]_transitivity_level`);
  const reached = await query<Row>(
    model.name,
    `SELECT ${walk('entity_id')} AS id, ${walk('entity_type')} AS type, ${walk('entity_label')} AS label, ${level} AS level FROM d${product}.${identifier(from.type)} WHERE entity_id = ${literal(from.id)}`,
    { limit: 100_000 },
  );
  const levels = new Map(reached.filter((row) => row.id != null).map((row) => [String(row.id), { ...asFound(row), level: Number(row.level) }]));
  const end = levels.get(to.id);
  if (end === undefined) return null;
  const found: Found[] = [];
  const links: Link[] = [];
  // backwards: an entity of the level before that links to the current one
  for (let current: Found = end, at = end.level; at >= 1; at--) {
    const before = [...levels.values()].filter((e) => e.level === at - 1);
    const candidates = at === 1 ? [from] : before;
    const ids = candidates.map((c) => literal(c.id)).join(', ');
    const [row] = await query<Row>(
      model.name,
      `SELECT entity_id AS id FROM d${product}.${identifier(r.target)} WHERE entity_id IN (${ids}) AND ${path(r, 'entity_id')} = ${literal(current.id)} LIMIT 1`,
    );
    const previous = candidates.find((c) => c.id === String(row?.id));
    if (previous === undefined) return null;
    found.push(current);
    links.push(linkOf(previous.id, current.id, r));
    current = previous;
  }
  return { found: [from, ...found], links };
}
