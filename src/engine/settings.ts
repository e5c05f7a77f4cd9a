/**
 * The session settings of every statement of a caller (docs/design/platform-rules.md#session-settings). If the database role has them (ALTER ROLE), nothing is
 * added to the statement; otherwise a read-only batch sets them. Each isolate asks for the settings of a datasource's role once, together with the first
 * statement.
 */
import { cacheOf } from '../cache.ts';
import type { Datasource } from './datasource.ts';
import { fixed, type Statement, setLocal } from './statement.ts';

/** Required values by name of the setting. */
export type Settings = Readonly<Record<string, string>>;

/**
 * These settings decide the output format of values and how PostgreSQL parses a statement. The first three affect names and the values of rows
 * (docs/design/rows-and-json.md#values). The others affect the format of intervals, bytes and floating-point numbers, and how the planner's literals are parsed.
 * The last one is for safety: PostgreSQL does not interrupt the compilation of expressions, which may take half a minute and gigabytes for a short statement.
 */
export const DEFAULT_SETTINGS: Settings = {
  search_path: '',
  TimeZone: 'UTC',
  DateStyle: 'ISO, MDY',
  IntervalStyle: 'postgres',
  bytea_output: 'hex',
  extra_float_digits: '1',
  standard_conforming_strings: 'on',
  jit: 'off',
};

const TIMEOUT = 'statement_timeout';
const READ_ONLY = 'default_transaction_read_only';

/**
 * Reads the settings of the role: rows of name and setting. SHOW and SET are used instead of current_setting and
 * set_config, so that the role does not need the right to execute these functions, which a caller's statement could call, too.
 */
export const PROBE: Statement = { text: fixed`SHOW ALL` };

/** Returns the statements that set these settings for their transaction. Names and values must be constants of the service. */
function settingStatements(settings: Settings, timeoutMs?: number): Statement[] {
  const wanted = [...(timeoutMs === undefined ? [] : [[TIMEOUT, String(timeoutMs)]]), ...Object.entries(settings)] as [string, string][];
  return wanted.map(([name, value]) => ({ text: setLocal(name, value) }));
}

/** The settings of a datasource's role. */
export interface RoleSettings {
  readonly readOnly: boolean;
  /** 0: no timeout. */
  readonly timeoutMs: number;
  readonly settings: Settings;
  /** True if statements may be rewritten by a distributed planner (Citus), which loses the names of a derived table's columns when it flattens the table. */
  readonly isDistributed: boolean;
  /** The branch of the database, on Neon. */
  readonly branch?: string | undefined;
}

/** The settings of Citus. All roles may see them. */
const CITUS = 'citus.';
const BRANCH = 'neon.timeline_id';

/** Parses the rows of the probe; undefined if they are malformed or a setting is missing. */
export function fromProbe(rows: readonly (readonly unknown[])[] | undefined): RoleSettings | undefined {
  const all = new Map(rows?.map(([name, value]) => [name, value]));
  const settings: Record<string, string> = {};
  for (const name of [READ_ONLY, TIMEOUT, ...Object.keys(DEFAULT_SETTINGS)]) {
    const value = all.get(name);
    if (typeof value !== 'string') return undefined;
    settings[name] = value;
  }
  const { [READ_ONLY]: readOnly, [TIMEOUT]: timeout, ...rest } = settings;
  const timeoutMs = milliseconds(timeout as string);
  const isDistributed = [...all.keys()].some((name) => typeof name === 'string' && name.startsWith(CITUS));
  const branch = all.get(BRANCH);
  return timeoutMs === undefined
    ? undefined
    : { readOnly: readOnly === 'on', timeoutMs, settings: rest, isDistributed, ...(typeof branch === 'string' ? { branch } : {}) };
}

/** Returns the statements that set what the role does not have; all of them if the role is not known. */
export function missingSettings(role: RoleSettings | undefined, wanted: Settings, timeoutMs: number): Statement[] {
  if (role === undefined) return settingStatements(wanted, timeoutMs);
  const missing = Object.entries(wanted).filter(([name, value]) => !same(name, role.settings[name], value));
  return settingStatements(Object.fromEntries(missing), role.timeoutMs === timeoutMs ? undefined : timeoutMs);
}

/** True if the role has all required settings, so that a statement can be sent without a batch. */
export function fits(role: RoleSettings, wanted: Settings, timeoutMs: number): boolean {
  if (!role.readOnly || role.timeoutMs !== timeoutMs) return false;
  return Object.entries(wanted).every(([name, value]) => same(name, role.settings[name], value));
}

function same(name: string, has: string | undefined, wanted: string): boolean {
  if (has === undefined) return false;
  // PostgreSQL shows an empty path that was set by SET as a quoted empty name
  if (name === 'search_path') return has.replaceAll('""', '').trim() === wanted;
  // every value above 0 selects the shortest exact output
  if (name === 'extra_float_digits' && wanted === '1') return Number(has) > 0;
  if (name === 'TimeZone' && wanted === 'UTC') return /^(etc\/)?(utc|uct|zulu|universal)$/i.test(has);
  return has === wanted;
}

const UNITS: Readonly<Record<string, number>> = { us: 0.001, ms: 1, s: 1000, min: 60_000, h: 3_600_000, d: 86_400_000 };

/** Parses `30s`, `0` or `1500ms`; undefined for any other format. */
export function milliseconds(text: string): number | undefined {
  const [, number, unit] = /^(\d+)(us|ms|s|min|h|d)?$/.exec(text) ?? [];
  if (number === undefined) return undefined;
  return Number(number) * (UNITS[unit ?? 'ms'] as number);
}

/** The settings of a role are read again after this time. */
const MAX_AGE_MS = 10 * 60_000;

interface Known {
  readonly role: RoleSettings;
  readonly at: number;
}

const known = cacheOf<Known>('engine.role-settings');

/** Identifies a connection, also in other caches. */
export const keyOf = (ds: Datasource): string => `${ds.endpoint}\n${ds.url}`;

/** The known settings of a datasource's role; undefined if they must be read. */
export function knownRole(ds: Datasource, now = Date.now()): RoleSettings | undefined {
  const entry = known.get(keyOf(ds));
  return entry !== undefined && now - entry.at <= MAX_AGE_MS ? entry.role : undefined;
}

/** True if the settings of a datasource's role were ever read. They may be old. */
export const hasBeenRead = (ds: Datasource): boolean => known.get(keyOf(ds)) !== undefined;

/** True if the datasource is known to keep the names of a derived table's columns. It is not asked again for that. */
export const keepsNames = (ds: Datasource): boolean => known.get(keyOf(ds))?.role.isDistributed === false;

/** True if the datasource is known to be distributed (Citus). */
export const isDistributed = (ds: Datasource): boolean => known.get(keyOf(ds))?.role.isDistributed === true;

/** The branch of a Neon database, as last seen; undefined if it is not known or another PostgreSQL. */
export const branchOf = (ds: Datasource): string | undefined => known.get(keyOf(ds))?.role.branch;

/** Stores the settings that the probe returned. */
export function rememberRole(ds: Datasource, role: RoleSettings, now = Date.now()): void {
  known.set(keyOf(ds), { role, at: now }, 512);
}

/** Forgets the settings of all roles, for tests. */
export const forgetRoles = (): void => known.clear();
