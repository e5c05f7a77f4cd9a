/** The check of `kg doctor` for a datasource on Citus: the settings of its role on the workers. */
import { identifier } from '../planner/print/lexical.ts';
import type { Diagnosis, Line, Rights } from './doctor-role.ts';

/** The settings that decide how workers write values, whose differences would be differences of answers, and `jit`, which no time limit interrupts. */
const NEEDED = ['TimeZone', 'DateStyle', 'IntervalStyle', 'extra_float_digits', 'bytea_output', 'jit'] as const;
/** The settings for which servers often have values of their own. */
const OFTEN_CHANGED: ReadonlySet<string> = new Set(['TimeZone', 'DateStyle']);

/** A warning for releases of Citus that end the server's process at some statements: up to 13.2.2, and 14.0.0. @param version the setting `citus.version`, if Citus is loaded */
export function releaseLines(version: string | undefined, line: Line): Diagnosis[] {
  const [, major, minor, patch] = /^(\d+)\.(\d+)(?:\.(\d+))?/.exec(version ?? '')?.map(Number) ?? [];
  if (major === undefined || minor === undefined) return [];
  const number = major * 1e6 + minor * 1e3 + (patch || 0);
  if (number > 13_002_002 && number !== 14_000_000) return [];
  const text = `Citus ${version} may end the server's process at EXISTS over common table expressions or local tables: use a release with the change 8548 (docs/scale-out.md)`;
  return [line('warn', text)];
}

/**
 * Checks that the role itself has the settings. The service's statements set them on the coordinator, but Citus passes only those of ALTER ROLE on to the workers.
 * @param wanted the settings of every statement
 * @returns no line for an undistributed datasource
 */
export function nodeLines(
  { isDistributed, own, role }: Pick<Rights, 'isDistributed' | 'own' | 'role'>,
  wanted: Readonly<Record<string, string>>,
  line: Line,
): Diagnosis[] {
  if (!isDistributed) return [];
  const has = new Map(own.map((text) => [text.slice(0, text.indexOf('=')).toLowerCase(), text.slice(text.indexOf('=') + 1)] as const));
  const missing = NEEDED.filter((name) => has.get(name.toLowerCase()) !== wanted[name]);
  if (missing.length === 0) return [line('ok', `the role ${role} has the settings that Citus' workers need`)];
  const alter = missing.map((name) => `ALTER ROLE ${identifier(role)} SET ${identifier(name)} = '${wanted[name]}'`).join('; ');
  const state = missing.some((name) => OFTEN_CHANGED.has(name)) ? 'fail' : 'warn';
  return [line(state, `on Citus the role ${role} itself must have ${missing.join(', ')}, otherwise workers use their own: ${alter}`)];
}
