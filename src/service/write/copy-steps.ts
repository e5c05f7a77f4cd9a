/** Copies of rows of another datasource that go on in the next step of a job (docs/design/caches.md#steps-of-a-copy). */
import { beginTable, continueTable, failTable, type NewTable } from '../../catalog/caches.ts';
import { type Copied, type Copy, CopyPaused, CopyTooLong } from '../../engine/transfer.ts';
import { conflict, SvcError } from '../../errors.ts';
import type { MappingDef } from '../../ontology/model.ts';
import { cachedColumn } from '../../planner/read/cached-rows.ts';
import type { Runtime, Steps } from '../runtime.ts';
import { INTEGER } from './increments.ts';

/** A copy ends a step, or fails outside of a job, after this time. Its statements may take 10 minutes, and a step has 14. */
const [STEP_MS, COPY_MS] = [8 * 60_000, 9.5 * 60_000];
/** The indexes of a copy that took longer are made in the next step. */
const LATE_MS = 4 * 60_000;
/** A step sends at most so many parts: the platform limits requests. */
const MOST_PARTS = 800;
/** So many tables of one datasource are made at once. */
const MOST_REFRESHES = 4;

const CHANGED = 'the mapping, its connection or the options of the cache have changed during the copy';

/** Types with one order, in which equal values are equal in all databases. */
const ORDERED = /^(int[248]|numeric|text|varchar|uuid|date|timestamp|timestamptz)$/;

/** What a step leaves for the next one. */
type State = { readonly id: string; readonly table: NewTable; readonly copied: Copied; readonly by: string | undefined } | { readonly isOrdered: true };

/** The table of a refresh, and where its copy goes on. */
export interface Begun {
  readonly id: string;
  readonly table: string;
  readonly after: Copied | undefined;
}

/**
 * Notes the table of a refresh, or finds that of the earlier step.
 * @param seconds how long a refresh may take
 * @throws SvcError 409 if what decides the rows has changed since that step; 503
 */
export async function beginRefresh({ db }: Pick<Runtime, 'db'>, of: NewTable, seconds: number, steps: Steps | undefined): Promise<Begun> {
  const state = steps?.state as State | undefined;
  if (state !== undefined && 'id' in state) {
    const { id, table, copied } = state;
    const isSame = JSON.stringify({ ...table, table: '' }) === JSON.stringify({ ...of, table: '' });
    if (isSame && (await continueTable(db, id))) return { id, table: table.table, after: copied };
    await failTable(db, id, CHANGED, true);
    throw conflict('cache_changed', CHANGED);
  }
  const id = await beginTable(db, of, { most: MOST_REFRESHES, seconds });
  if (id !== undefined) return { id, table: of.table, after: undefined };
  throw new SvcError(503, 'busy', `${MOST_REFRESHES} mappings, cubes and views of this datasource are being read into tables`, {
    hint: 'Try again when one of these statements has ended',
    headers: { 'retry-after': '60' },
  });
}

/** How a copy of a mapping is divided. @throws SvcError 409 if it cannot go on in the way of the earlier step */
export function copyOf(runtime: Pick<Runtime, 'now'>, { mapping, rowKey, incremental }: Divided, after: Copied | undefined, steps: Steps | undefined): Copy {
  const begun = runtime.now();
  const [position, another] = rowKey ?? [];
  const typeOf = (at: number | undefined): string => mapping?.columns[at ?? -1]?.type ?? '';
  // the highest integer that was read may be higher than one that is assigned to rows that were read before
  const mayMiss = INTEGER.test(typeOf(mapping?.columns.findIndex((c) => c.name === incremental?.column)));
  const by = position !== undefined && another === undefined && ORDERED.test(typeOf(position)) && !mayMiss ? cachedColumn(position) : undefined;
  const state = steps?.state as State | undefined;
  // the column of increments may be another one by now
  if (state !== undefined && 'id' in state && state.by !== by) throw conflict('cache_changed', CHANGED);
  return {
    by: steps && by,
    isStep: steps !== undefined,
    isOrdered: by !== undefined && state !== undefined,
    after,
    isOver: (parts) => runtime.now() - begun >= (steps === undefined ? COPY_MS : STEP_MS) || (steps !== undefined && parts >= MOST_PARTS),
    isLate: () => steps !== undefined && runtime.now() - begun >= LATE_MS,
  };
}

/** What decides how a copy is divided. */
export interface Divided {
  readonly mapping: MappingDef | undefined;
  readonly rowKey: readonly number[] | undefined;
  readonly incremental: { readonly column: string } | null;
}

/** Keeps what the next step begins with. @returns true if the table stays, false if the next step makes another one; undefined: no step continues after the error */
export function paused(error: unknown, id: string, table: NewTable, copy: Copy | undefined, steps: Steps | undefined): boolean | undefined {
  if (steps === undefined || copy === undefined) return undefined;
  const next: State | undefined =
    error instanceof CopyPaused
      ? { id, table, copied: error.copied, by: copy.by }
      : error instanceof CopyTooLong && copy.by !== undefined
        ? { isOrdered: true }
        : undefined;
  if (next === undefined) return undefined;
  steps.keep(next);
  return 'id' in next;
}
