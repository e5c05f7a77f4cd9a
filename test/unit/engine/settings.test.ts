import { beforeEach, describe, expect, it } from 'vitest';
import { DEFAULT_SETTINGS, fits, forgetRoles, fromProbe, keepsNames, knownRole, missingSettings, rememberRole } from '../../../src/engine/settings.ts';
import { shown } from './fake.ts';

const role = (changes: Record<number, string> = {}) => fromProbe(shown(changes));

describe('the settings of a role', () => {
  it('are read from the probe', () => {
    expect(role()).toEqual({
      readOnly: true,
      timeoutMs: 30_000,
      settings: {
        search_path: '""',
        TimeZone: 'UTC',
        DateStyle: 'ISO, MDY',
        IntervalStyle: 'postgres',
        bytea_output: 'hex',
        extra_float_digits: '1',
        standard_conforming_strings: 'on',
        jit: 'off',
      },
      isDistributed: false,
    });
    for (const [text, ms] of [
      ['0', 0],
      ['1500ms', 1500],
      ['2min', 120_000],
      ['1h', 3_600_000],
    ] as const)
      expect(role({ 1: text })?.timeoutMs).toBe(ms);
  });

  it('show a distributed database', () => {
    expect(fromProbe([['citus.shard_count', '32', 'x'], ...shown()])?.isDistributed).toBe(true);
    expect(fromProbe([['plpgsql.check_asserts', 'on', 'x'], ...shown()])?.isDistributed).toBe(false);
  });

  it('are unknown if the probe answers something else', () => {
    const rows = shown();
    for (const answer of [undefined, [], rows.slice(0, -1), rows.map(([name]) => [name, null]), rows.map(([name]) => [name]), shown({ 1: 'soon' })])
      expect(fromProbe(answer)).toBeUndefined();
  });

  it('suffice if all are as required', () => {
    const yes = (r: ReturnType<typeof role>, ms = 30_000) => fits(r!, DEFAULT_SETTINGS, ms);
    expect(yes(role())).toBe(true);
    expect(yes(role({ 2: '', 3: 'Etc/UTC', 7: '3' }))).toBe(true);
    expect(yes(role(), 5000)).toBe(false);
    for (const changes of [
      { 0: 'off' },
      { 1: '0' },
      { 2: '"$user", public' },
      { 3: 'Europe/Vienna' },
      { 4: 'ISO, DMY' },
      { 5: 'iso_8601' },
      { 6: 'escape' },
      { 7: '0' },
      { 8: 'off' },
      { 9: 'on' },
    ]) {
      expect(yes(role(changes)), JSON.stringify(changes)).toBe(false);
    }
    expect(fits(role()!, { ...DEFAULT_SETTINGS, work_mem: '8MB' }, 30_000)).toBe(false);
  });
});

describe('the cached settings of a role', () => {
  const main = { name: 'main', url: 'postgres://u:p@h.x/d', endpoint: 'https://h.x/sql' };
  beforeEach(forgetRoles);

  it('are cached for ten minutes, only for that login at that endpoint', () => {
    rememberRole(main, role()!, 1000);
    expect(knownRole(main, 1000 + 600_000)).toEqual(role());
    expect(knownRole(main, 1001 + 600_000)).toBeUndefined();
    expect(knownRole({ ...main, name: 'other' }, 1000)).toEqual(role());
    expect([keepsNames(main), keepsNames({ ...main, url: 'postgres://v:p@h.x/d' })]).toEqual([true, false]);
    expect(knownRole({ ...main, url: 'postgres://v:p@h.x/d' }, 1000)).toBeUndefined();
    expect(knownRole({ ...main, endpoint: 'https://g.x/sql' }, 1000)).toBeUndefined();
  });
});

describe('the statements that set missing settings', () => {
  const missing = (r: ReturnType<typeof role>, wanted: Record<string, string> = DEFAULT_SETTINGS) => missingSettings(r, wanted, 30_000).map((s) => s.text.sql);

  it('apply to the transaction, and are empty if the role has all', () => {
    expect(missing(role())).toEqual([]);
    expect(missing(role({ 1: '5s', 2: '"$user", public', 4: 'ISO, DMY' }))).toEqual([
      `SET LOCAL "statement_timeout" = '30000'`,
      `SET LOCAL "search_path" = ''`,
      `SET LOCAL "DateStyle" = 'ISO, MDY'`,
    ]);
    expect(missing(undefined)).toHaveLength(9);
  });

  it('need no quotes in names and values', () => {
    expect(missing(role(), { 'my.x': 'a b' })).toEqual([`SET LOCAL "my.x" = 'a b'`]);
    expect(() => missing(role(), { 'my."x': 'a' })).toThrow(TypeError);
    expect(() => missing(role(), { 'my.x': "it's" })).toThrow(TypeError);
  });
});
