import { expect, it } from 'vitest';
import { nodeLines, releaseLines } from '../../../src/cli/doctor-nodes.ts';
import type { Diagnosis } from '../../../src/cli/doctor-role.ts';
import { DEFAULT_SETTINGS } from '../../../src/engine/settings.ts';

const line = (state: Diagnosis['state'], text: string): Diagnosis => ({ state, about: 'datasource main', text });
const ALL = ['search_path=""', 'TimeZone=UTC', 'DateStyle=ISO, MDY', 'IntervalStyle=postgres', 'extra_float_digits=1', 'bytea_output=hex', 'jit=off'];
const of = (isDistributed: boolean, own: readonly string[]): Diagnosis[] => nodeLines({ role: 'kg_reader', isDistributed, own }, DEFAULT_SETTINGS, line);

it('an undistributed datasource has no line about workers', () => expect(of(false, [])).toEqual([]));

it('a role with all settings is fine, however their names are spelled', () => {
  expect(of(true, ALL)).toEqual([expect.objectContaining({ state: 'ok' })]);
  expect(of(true, [...ALL.filter((s) => !s.startsWith('TimeZone')), 'timezone=UTC'])).toEqual([expect.objectContaining({ state: 'ok' })]);
});

it('a missing or other setting is reported with the statement that sets it', () => {
  const [missing] = of(true, ALL.slice(0, 3));
  expect(missing).toMatchObject({ state: 'warn', text: expect.stringContaining(`ALTER ROLE kg_reader SET bytea_output = 'hex'`) });
  expect(of(true, ALL.slice(0, -1))).toEqual([expect.objectContaining({ state: 'warn', text: expect.stringContaining(`SET jit = 'off'`) })]);
  const [other] = of(
    true,
    ALL.map((s) => s.replace('UTC', 'Asia/Tokyo')),
  );
  expect(other).toMatchObject({ state: 'fail', text: expect.stringContaining(`ALTER ROLE kg_reader SET "TimeZone" = 'UTC'`) });
});

it('warns of releases of Citus that end processes', () => {
  const states = (versions: readonly (string | undefined)[]): number[] => versions.map((v) => releaseLines(v, line).length);
  expect(states(['12.1.6', '13.2.1', '13.2.2', '14.0.0'])).toEqual([1, 1, 1, 1]);
  expect(states(['13.2.3', '14.0.1', '14.1.0', undefined, 'devel'])).toEqual([0, 0, 0, 0, 0]);
});
