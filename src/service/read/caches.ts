/** The cached mappings and cubes that a statement may read (docs/design/caches.md#cached-mappings). Loaded if the ontology of a request has some. */
import { ByteStore } from '../../cache.ts';
import { cubeOfKey } from '../../catalog/caches.ts';
import type { CacheRow } from '../../catalog/snapshot.ts';
import { DatasourceFault } from '../../engine/errors.ts';
import { SvcError } from '../../errors.ts';
import type { Graph } from '../../ontology/graph.ts';
import type { MappingDef } from '../../ontology/model.ts';
import { fold } from '../../ontology/names.ts';
import { CachedCubes } from '../../planner/cached/reading.ts';
import type { CachedTable, CubeTables, Plan } from '../../planner/index.ts';
import { cubeDigest } from '../caller/cube-digest.ts';
import { connectionDigest } from '../caller/datasource.ts';
import { mappingDigest } from '../caller/mapping-digest.ts';
import type { Session } from '../session.ts';
import type { Caches } from './read.ts';

// the tables that have turned out to be gone; the next snapshot names others
const gone = new ByteStore(16 * 1024).view<true>('gone');

/** True if rows that were read at a moment are not too old. The age is the larger one by the clocks of this isolate and of the catalog. */
const isYoung = ({ request, caller }: Pick<Session, 'request' | 'caller'>, { asOf, maxAge }: CacheRow): boolean =>
  Math.max(request.runtime.now(), caller.snapshot.verifiedAt) - asOf < maxAge;

/** Finds the cached tables that a statement may read: they are young enough, and made of the same mapping on the same database. */
export async function cachesOf(session: Session, graph: Graph): Promise<Caches> {
  const { caller, request } = session;
  const tables = new Map<MappingDef, CachedTable>();
  const cubes: CubeTable[] = [];
  for (const row of session.draft?.row.caches ?? []) {
    const cube = cubeOfKey(row.mapping);
    if (cube !== undefined) {
      if (!graph.whole.view(cube)?.cube || gone.get(row.table) || !isYoung(session, row)) continue;
      const datasources = await datasourcesOf(session, row.connection);
      if (datasources.length > 0) cubes.push({ cube, row, datasources });
      continue;
    }
    const mapping = graph.whole.mapping(row.mapping);
    if (mapping === undefined || gone.get(row.table) || !isYoung(session, row) || (await mappingDigest(mapping)) !== row.digest) continue;
    if ((await connectionDigest(request.runtime, caller, mapping.datasource)) !== row.connection) continue;
    tables.set(mapping, { mapping: mapping.name, schema: row.schema, name: row.table, asOf: row.asOf });
  }
  const key = [...[...tables.values()].map((t) => t.name), ...cubes.map((c) => JSON.stringify([c.row.table, ...c.datasources]))].join();
  return { of: (mapping) => tables.get(mapping), key, ...(cubes.length > 0 ? { cubes: cubeTables(cubes) } : {}) };
}

/** The table of a cube that is young enough. */
interface CubeTable {
  /** The folded name of the cube. */
  readonly cube: string;
  readonly row: CacheRow;
  /** The keys of the datasources with the connection of the table. */
  readonly datasources: readonly string[];
}

async function datasourcesOf({ request, caller }: Session, connection: string): Promise<readonly string[]> {
  const found: string[] = [];
  for (const { key } of caller.snapshot.datasources) if ((await connectionDigest(request.runtime, caller, key)) === connection) found.push(key);
  return found;
}

/** The tables of cubes: one may be read if the SELECT of its rows, planned for the caller, is the one that made it. */
const cubeTables = (tables: readonly CubeTable[]): CubeTables =>
  new CachedCubes(new Set(tables.map((t) => t.cube)), (view, select) => {
    const found = tables.find((t) => t.cube === fold(view.name) && t.datasources.includes(fold(select.datasource)) && t.row.digest === cubeDigest(select));
    return found && { mapping: view.name, schema: found.row.schema, name: found.row.table, asOf: found.row.asOf, isCube: true };
  });

const messageOf = (error: unknown): string => (error instanceof SvcError && error.cause instanceof Error ? error.cause.message : '');

/** A missing schema or table. */
const MISSING = new Set(['3F000', '42P01']);
/** A right that the reader lacks. */
const DENIED = '42501';

/**
 * True if a statement failed because a cached table that it reads may be gone; it must then be planned again, without any cached table. This isolate does not read
 * a table again that the database names as missing; what is missing may also be a table of another mapping.
 */
export function lostCaches(error: unknown, { caches }: Plan): boolean {
  const state = error instanceof SvcError && error.cause instanceof DatasourceFault ? (error.cause.sqlstate ?? '') : '';
  if (caches.length === 0 || (state !== DENIED && !MISSING.has(state))) return false;
  if (state !== DENIED) for (const { name } of caches) if (messageOf(error).includes(name)) gone.set(name, true, 100);
  return true;
}
