/** The lines of `kg doctor` about where a datasource on Citus has its tables. The service gets the same from them (docs/design/sql-shapes.md#where-a-datasource-has-its-tables). */
import type { Datasource } from '../engine/datasource.ts';
import { placementsOf } from '../engine/placements.ts';
import { type PlacedTable, readPlaced } from './advise-read.ts';
import type { Diagnosis, Line } from './doctor-role.ts';

const TIMEOUT_MS = 15_000;
/** A line names at most so many tables. */
const MOST_NAMES = 20;

/**
 * Reads where the tables are, and stores it.
 * @param keep stores it in the catalog; null: the datasource is not on Citus
 * @returns no line for an undistributed datasource @throws SvcError
 */
export async function layoutLines(
  datasource: Datasource,
  isDistributed: boolean,
  line: Line,
  keep: (placements: string | null) => Promise<void>,
): Promise<Diagnosis[]> {
  if (!isDistributed) {
    await keep(null);
    return [];
  }
  const placements = await placementsOf(datasource, TIMEOUT_MS);
  await keep(placements === undefined ? null : JSON.stringify([...placements]));
  return linesOf(await readPlaced(datasource), line);
}

/** One line for each group of distributed tables, and one for the reference tables. */
export function linesOf(tables: readonly PlacedTable[], line: Line): Diagnosis[] {
  const distributed = tables.filter((t) => t.kind === 'distributed');
  const groups = Map.groupBy(distributed, (t) => t.group);
  const references = tables.filter((t) => t.kind === 'reference');
  if (tables.length === 0) return [line('warn', 'on Citus, but no table is distributed: kg advise proposes a layout')];
  return [
    ...[...groups].map(([group, of]) =>
      line('ok', `on Citus, tables of the co-location group ${group}: ${named(of.map((t) => `${t.key} by ${t.column ?? 'no column'}`))}`),
    ),
    ...(references.length > 0 ? [line('ok', `on Citus, reference tables: ${named(references.map((t) => t.key))}`)] : []),
  ];
}

function named(all: readonly string[]): string {
  const sorted = [...all].sort();
  const more = sorted.length - MOST_NAMES;
  return more > 0 ? `${sorted.slice(0, MOST_NAMES).join(', ')} and ${more} more` : sorted.join(', ');
}
