/**
 * What a server says about itself: whether it replays the changes of another one, how far it is, and which database it has
 * (docs/scale-out.md#which-replicas-are-used).
 */
import type { Datasource } from '../datasource.ts';
import { batch } from '../engine.ts';
import { branchOf } from '../settings.ts';
import { fixed, type Statement } from '../statement.ts';

/**
 * One row of texts: recovery, the position in the write-ahead log, the identity, the timeline. The position of a primary is that up to which it has inserted
 * records: all rows that it shows are before it. On a standby it is that up to which records are replayed: it shows all rows before it. A standby writes
 * the timeline that it follows down at its restart points, and before that with the pages that it writes.
 */
export const POSITION: Statement = {
  text: fixed`SELECT pg_catalog.pg_is_in_recovery()::text,
  (CASE WHEN pg_catalog.pg_is_in_recovery() THEN pg_catalog.pg_last_wal_replay_lsn() ELSE pg_catalog.pg_current_wal_insert_lsn() END OPERATOR(pg_catalog.-) '0/0'::pg_catalog.pg_lsn)::text,
  (SELECT s.system_identifier::text OPERATOR(pg_catalog.||) ' ' OPERATOR(pg_catalog.||) d.oid::text OPERATOR(pg_catalog.||) ' ' OPERATOR(pg_catalog.||) CURRENT_USER::text FROM pg_catalog.pg_control_system() s, pg_catalog.pg_database d WHERE d.datname OPERATOR(pg_catalog.=) CURRENT_CATALOG),
  (SELECT GREATEST(c.timeline_id, r.min_recovery_end_timeline)::text FROM pg_catalog.pg_control_checkpoint() c, pg_catalog.pg_control_recovery() r)`,
};

/** Where a server is. */
export interface Position {
  /** True if it replays the changes of another server: it is a standby. */
  readonly isStandby: boolean;
  readonly lsn: bigint;
  /** The cluster, the database in it, and the role. */
  readonly identity: string;
  readonly timeline: string;
}

/** Parses the row of POSITION; undefined if a value is missing. */
export function positionOf(rows: readonly (readonly unknown[])[] | undefined): Position | undefined {
  const [recovery, lsn, identity, timeline] = rows?.[0] ?? [];
  if (typeof recovery !== 'string' || typeof lsn !== 'string' || typeof identity !== 'string' || typeof timeline !== 'string' || !/^\d+$/.test(lsn))
    return undefined;
  const isStandby = recovery === 'true';
  return { isStandby, lsn: isStandby ? BigInt(lsn) : withoutHeader(BigInt(lsn)), identity, timeline };
}

/** The sizes of a page of the write-ahead log, and of the headers of a page and of the first page of a file. */
const PAGE = 8192n;
const HEADERS = [24n, 40n];

/** A primary counts the header of a page before it writes the first record there; a standby does so only with that record, which an idle primary never writes. */
const withoutHeader = (lsn: bigint): bigint => (HEADERS.includes(lsn % PAGE) ? lsn - (lsn % PAGE) : lsn);

/** Asks a server where it is, and for the settings of its role if they must be read. @throws SvcError 502, 504; 502 too if the role may not execute the functions */
export async function askPosition(ds: Datasource, timeoutMs: number): Promise<Position | undefined> {
  const [answer] = await batch(ds, [POSITION], { timeoutMs, probes: true });
  return positionOf(answer?.rows);
}

/** Why a server is not a replica of a primary that can be used; undefined if it is one. `lag`: it has not replayed the changes before `reached`. */
export type Refusal = 'unreadable' | 'not a standby' | 'another database' | 'another timeline' | 'lag';

/** Compares a server with its primary. @param reached positions of the primary that are recent enough; the server must have passed one of them */
export function refusalOf(
  replica: Position | undefined,
  primary: Position,
  branches: readonly (string | undefined)[],
  reached: readonly bigint[],
): Refusal | undefined {
  if (replica === undefined) return 'unreadable';
  if (!replica.isStandby) return 'not a standby';
  if (replica.identity !== primary.identity || branches[0] !== branches[1]) return 'another database';
  if (replica.timeline !== primary.timeline) return 'another timeline';
  return reached.some((lsn) => lsn <= replica.lsn) ? undefined : 'lag';
}

/**
 * Asks a replica and its primary where they are.
 * @returns why the replica cannot be used; undefined if it can
 * @throws SvcError 502, 504
 */
export async function mismatch(replica: Datasource, primary: Datasource, timeoutMs: number): Promise<string | undefined> {
  const expected = await askPosition(primary, timeoutMs);
  const found = await askPosition(replica, timeoutMs);
  if (expected === undefined) return 'the position of the primary cannot be read';
  const refusal = refusalOf(found, expected, branchesOf(replica, primary), [expected.lsn]);
  return refusal === 'lag' ? undefined : refusal && `it is not used: ${refusal}`;
}

/** The branches of a replica and of its primary, where they are known (Neon). */
export const branchesOf = (replica: Datasource, primary: Datasource): readonly (string | undefined)[] => [branchOf(replica), branchOf(primary)];
