/**
 * The session settings under which every statement of a caller runs (docs/design/platform-rules.md#session-settings). A reading role that carries them (ALTER
 * ROLE) costs nothing; else they are set in a read-only batch around the statement. The role is asked once for each datasource and isolate, together with the
 * first statement.
 */
import { cacheOf } from '../cache.ts';
import type { Datasource } from './datasource.ts';
import { fixed, type Statement, setLocal } from './statement.ts';

/** Wanted values by the setting's name. */
export type Settings = Readonly<Record<string, string>>;

/**
 * The form of values, and how PostgreSQL reads a text, depend on these. The first three decide names and the values of rows
 * (docs/design/rows-and-json.md#values); other defaults of a database for the rest would change how intervals and bytes are written, or how the planner's own
 * literals are read.
 */
export const DEFAULT_SETTINGS: Settings = {
  search_path: '',
  TimeZone: 'UTC',
  DateStyle: 'ISO, MDY',
  IntervalStyle: 'postgres',
  bytea_output: 'hex',
  extra_float_digits: '1',
  standard_conforming_strings: 'on',
};

const TIMEOUT = 'statement_timeout';
const READ_ONLY = 'default_transaction_read_only';

/**
 * The statement that asks for what the role carries: rows of name and setting. SHOW and SET are used in place of
 * current_setting and set_config, so that the role needs no right to execute those two functions, which a statement could
 * call as well.
 */
export const PROBE: Statement = { text: fixed`SHOW ALL` };

/** The statements that set these for the transaction in which they are sent. Names and values are the service's own. */
function settingStatements(settings: Settings, timeoutMs?: number): Statement[] {
  const wanted = [...(timeoutMs === undefined ? [] : [[TIMEOUT, String(timeoutMs)]]), ...Object.entries(settings)] as [string, string][];
  return wanted.map(([name, value]) => ({ text: setLocal(name, value) }));
}

/** What a datasource's role carries. */
export interface RoleSettings {
  readonly readOnly: boolean;
  /** 0: none. */
  readonly timeoutMs: number;
  readonly settings: Settings;
}

/** Reads the probe's rows; undefined where they are not of its form or one of the settings is missing. */
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
  return timeoutMs === undefined ? undefined : { readOnly: readOnly === 'on', timeoutMs, settings: rest };
}

/** The statements that set what the role does not carry; all of them where the role is not known. */
export function missingSettings(role: RoleSettings | undefined, wanted: Settings, timeoutMs: number): Statement[] {
  if (role === undefined) return settingStatements(wanted, timeoutMs);
  const missing = Object.entries(wanted).filter(([name, value]) => !same(name, role.settings[name], value));
  return settingStatements(Object.fromEntries(missing), role.timeoutMs === timeoutMs ? undefined : timeoutMs);
}

/** Whether a statement needs nothing round it under a role that carries `role`. */
export function fits(role: RoleSettings, wanted: Settings, timeoutMs: number): boolean {
  if (!role.readOnly || role.timeoutMs !== timeoutMs) return false;
  return Object.entries(wanted).every(([name, value]) => same(name, role.settings[name], value));
}

function same(name: string, has: string | undefined, wanted: string): boolean {
  if (has === undefined) return false;
  // PostgreSQL tells an empty path that was set by SET as a quoted empty name.
  if (name === 'search_path') return has.replaceAll('""', '').trim() === wanted;
  // Any value above 0 means the shortest text that reads back exactly.
  if (name === 'extra_float_digits' && wanted === '1') return Number(has) > 0;
  if (name === 'TimeZone' && wanted === 'UTC') return /^(etc\/)?(utc|uct|zulu|universal)$/i.test(has);
  return has === wanted;
}

const UNITS: Readonly<Record<string, number>> = { us: 0.001, ms: 1, s: 1000, min: 60_000, h: 3_600_000, d: 86_400_000 };

/** `30s`, `0`, `1500ms` as milliseconds; undefined: another form. */
export function milliseconds(text: string): number | undefined {
  const [, number, unit] = /^(\d+)(us|ms|s|min|h|d)?$/.exec(text) ?? [];
  if (number === undefined) return undefined;
  return Number(number) * (UNITS[unit ?? 'ms'] as number);
}

/** A change of the role is noticed after this at the latest. */
const MAX_AGE_MS = 10 * 60_000;

interface Known {
  readonly role: RoleSettings;
  readonly at: number;
}

const known = cacheOf<Known>('engine.role-settings');

const keyOf = (ds: Datasource): string => `${ds.endpoint}\n${ds.url}`;

/** What the role of a datasource is known to carry; undefined: to be asked (again). */
export function knownRole(ds: Datasource, now = Date.now()): RoleSettings | undefined {
  const entry = known.get(keyOf(ds));
  return entry !== undefined && now - entry.at <= MAX_AGE_MS ? entry.role : undefined;
}

/** Keeps what the probe said. */
export function rememberRole(ds: Datasource, role: RoleSettings, now = Date.now()): void {
  known.set(keyOf(ds), { role, at: now }, 512);
}

/** Forgets what is known of all roles (tests; an operator's `clear_cache`). */
export const forgetRoles = (): void => known.clear();
