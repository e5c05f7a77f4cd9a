/** The entities that the data view draws, and their links. Values are never changed in place, so that every step can be undone. Pure: no DOM, no request. */
import { readStyles, type Styles } from './style.ts';

export interface Entity {
  readonly id: string;
  /** The name of its concept. */
  readonly type: string;
  readonly label: string | null;
  readonly x: number;
  readonly y: number;
  readonly pinned: boolean;
}

export interface Link {
  readonly from: string;
  readonly to: string;
  readonly relationship: string;
}

export interface DataGraph {
  readonly entities: ReadonlyMap<string, Entity>;
  readonly links: readonly Link[];
  /** How the entities of each concept look. */
  readonly styles: Styles;
}

export const EMPTY: DataGraph = { entities: new Map(), links: [], styles: new Map() };
/** The most entities of a drawing. */
export const MOST = 500;

export type Found = Pick<Entity, 'id' | 'type' | 'label'>;

/** The text that names an entity: its label, cut where nobody reads on, or its identity if the label shows nothing. */
export function nameOf({ id, label }: Pick<Entity, 'id' | 'label'>): string {
  const text = label === null || /^[\s\p{C}]*$/u.test(label) ? id : label;
  return text.length > 200 ? `${text.slice(0, 199)}\u2026` : text;
}

/** A link is drawn once, whichever end it was found from: the inverse of `r` is `~r` unless it has a name of its own. */
const keyOf = ({ from, to, relationship }: Link): string => JSON.stringify([from, to, relationship]);

/** Adds entities around a place, at most up to MOST. Entities that are there stay where they are. */
export function add(
  graph: DataGraph,
  found: readonly Found[],
  links: readonly Link[] = [],
  around: { readonly x: number; readonly y: number } = { x: 0, y: 0 },
): DataGraph {
  const entities = new Map(graph.entities);
  for (const [i, f] of found.entries()) {
    if (entities.has(f.id) || entities.size >= MOST) continue;
    // a spiral: no two new entities are at the same place, and entities that are added one by one are not on one line, which no force would change
    const angle = entities.size * 2.399963;
    const distance = 60 + 14 * Math.sqrt(i);
    entities.set(f.id, { ...f, x: around.x + Math.cos(angle) * distance, y: around.y + Math.sin(angle) * distance, pinned: false });
  }
  const known = new Set(graph.links.map(keyOf));
  const added = links.filter((l) => entities.has(l.from) && entities.has(l.to) && !known.has(keyOf(l)));
  return { ...graph, entities, links: [...graph.links, ...new Map(added.map((l) => [keyOf(l), l])).values()] };
}

/** Removes an entity and its links. */
export function remove(graph: DataGraph, id: string): DataGraph {
  const entities = new Map(graph.entities);
  entities.delete(id);
  return { ...graph, entities, links: graph.links.filter((l) => l.from !== id && l.to !== id) };
}

/** Changes entities. */
export function change(graph: DataGraph, changes: ReadonlyMap<string, Partial<Entity>>): DataGraph {
  const entities = new Map(graph.entities);
  for (const [id, part] of changes) {
    const known = entities.get(id);
    if (known !== undefined) entities.set(id, { ...known, ...part });
  }
  return { ...graph, entities };
}

/** The graph as a file. */
export const toJson = (ontology: string, { entities, links, styles }: DataGraph): string =>
  JSON.stringify({ ontology, entities: [...entities.values()], links, styles: Object.fromEntries(styles) }, null, 1);

/** Reads a file. @returns null if it is not a saved drawing */
export function fromJson(text: string): { readonly ontology: string; readonly graph: DataGraph } | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  const { ontology, entities, links, styles } = (value ?? {}) as { ontology?: unknown; entities?: unknown; links?: unknown; styles?: unknown };
  if (typeof ontology !== 'string' || !Array.isArray(entities) || !Array.isArray(links)) return null;
  const isEntity = (e: Entity): boolean => typeof e?.id === 'string' && typeof e.type === 'string' && Number.isFinite(e.x) && Number.isFinite(e.y);
  const isLink = (l: Link): boolean => typeof l?.from === 'string' && typeof l.to === 'string' && typeof l.relationship === 'string';
  if (!entities.every(isEntity) || !links.every(isLink)) return null;
  const read = (entities as readonly Entity[])
    .slice(0, MOST)
    .map(({ id, type, label, x, y, pinned }): [string, Entity] => [
      id,
      { id, type, label: typeof label === 'string' ? label : null, x, y, pinned: pinned === true },
    ]);
  const known = new Map(read);
  const kept = (links as readonly Link[]).filter((l) => known.has(l.from) && known.has(l.to)).map(({ from, to, relationship }) => ({ from, to, relationship }));
  return { ontology, graph: { entities: known, links: kept, styles: readStyles(styles) } };
}

/** Steps that can be undone. */
export interface Steps {
  readonly past: readonly DataGraph[];
  readonly now: DataGraph;
  readonly future: readonly DataGraph[];
}

const MOST_STEPS = 300;
export const begin = (now: DataGraph): Steps => ({ past: [], now, future: [] });
export const step = ({ past, now }: Steps, next: DataGraph): Steps => ({ past: [...past, now].slice(-MOST_STEPS), now: next, future: [] });
export const undo = ({ past, now, future }: Steps): Steps => {
  const before = past.at(-1);
  return before === undefined ? { past, now, future } : { past: past.slice(0, -1), now: before, future: [now, ...future] };
};
export const redo = ({ past, now, future }: Steps): Steps => {
  const [next, ...rest] = future;
  return next === undefined ? { past, now, future } : { past: [...past, now], now: next, future: rest };
};
