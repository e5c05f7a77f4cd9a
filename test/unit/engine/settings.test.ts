import { beforeEach, describe, expect, it } from 'vitest';
import { DEFAULT_SETTINGS, fits, forgetRoles, fromProbe, knownRole, PROBE, rememberRole, settingStatement } from '../../../src/engine/settings.ts';

const ROW = ['on', '30s', '""', 'UTC', 'ISO, MDY', 'postgres', 'hex', '1', 'on'];
const role = (changes: Record<number, string> = {}) => fromProbe(ROW.map((v, i) => changes[i] ?? v));

describe('what a role carries', () => {
  it('is read from the probe', () => {
    expect(PROBE.sql.match(/current_setting/g)).toHaveLength(ROW.length);
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
      },
    });
    for (const [text, ms] of [
      ['0', 0],
      ['1500ms', 1500],
      ['2min', 120_000],
      ['1h', 3_600_000],
    ] as const)
      expect(role({ 1: text })?.timeoutMs).toBe(ms);
  });

  it('is unknown where the probe answers something else', () => {
    for (const row of [undefined, [], ROW.slice(1), [...ROW.slice(0, 8), null], ROW.map((v, i) => (i === 1 ? 'soon' : v))])
      expect(fromProbe(row)).toBeUndefined();
  });

  it('fits where all is as wanted', () => {
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
    ]) {
      expect(yes(role(changes)), JSON.stringify(changes)).toBe(false);
    }
    expect(fits(role()!, { ...DEFAULT_SETTINGS, work_mem: '8MB' }, 30_000)).toBe(false);
  });
});

describe('what is known of a role', () => {
  const main = { name: 'main', url: 'postgres://u:p@h.x/d', endpoint: 'https://h.x/sql' };
  beforeEach(forgetRoles);

  it('is kept ten minutes, for that login at that address alone', () => {
    rememberRole(main, role()!, 1000);
    expect(knownRole(main, 1000 + 600_000)).toEqual(role());
    expect(knownRole(main, 1001 + 600_000)).toBeUndefined();
    expect(knownRole({ ...main, name: 'other' }, 1000)).toEqual(role());
    expect(knownRole({ ...main, url: 'postgres://v:p@h.x/d' }, 1000)).toBeUndefined();
    expect(knownRole({ ...main, endpoint: 'https://g.x/sql' }, 1000)).toBeUndefined();
  });
});

describe('the statement that sets them', () => {
  it('binds names and values and holds for the transaction', () => {
    const { sql, params } = settingStatement({ TimeZone: 'UTC', search_path: '' }, 5000);
    expect(sql).toBe('SELECT set_config($1, $2, true), set_config($3, $4, true), set_config($5, $6, true)');
    expect(params).toEqual(['statement_timeout', '5000', 'TimeZone', 'UTC', 'search_path', '']);
  });
});
