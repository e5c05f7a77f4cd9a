/** Schedules: the changes of the clock, and the pauses after runs that fail. */
import { Cron } from 'croner';
import { describe, expect, it, vi } from 'vitest';
import { afterRun, checkedSchedule, nextRun, paceOfNext, wantedRun } from '../../../../src/service/write/schedule.ts';

const at = (iso: string): number => Date.parse(iso);
async function moments(schedule: string, timezone: string, from: string, count: number): Promise<string[]> {
  const found: string[] = [];
  for (let after = at(from); found.length < count; ) {
    after = (await nextRun({ schedule, timezone }, after)) as number;
    found.push(new Date(after).toISOString().slice(0, 16));
  }
  return found;
}

describe('a schedule', () => {
  it('runs a fixed time once, whether the clock skips or repeats it', async () => {
    expect(await moments('30 1 * * *', 'Europe/Lisbon', '2026-03-28T00:00Z', 3)).toEqual(['2026-03-28T01:30', '2026-03-29T01:00', '2026-03-30T00:30']);
    expect(await moments('30 1 * * *', 'Europe/Lisbon', '2026-10-24T03:00Z', 2)).toEqual(['2026-10-25T00:30', '2026-10-26T01:30']);
    expect(await moments('30 2 * * *', 'America/New_York', '2026-03-07T12:00Z', 2)).toEqual(['2026-03-08T07:00', '2026-03-09T06:30']);
  });

  it('with steps runs in both hours that the clock repeats, and not in one that it skips', async () => {
    expect(await moments('*/20 1 * * *', 'Europe/Lisbon', '2026-03-28T20:00Z', 1)).toEqual(['2026-03-30T00:00']);
    expect((await moments('*/20 1 * * *', 'Europe/Lisbon', '2026-10-24T20:00Z', 7)).filter((m) => m.startsWith('2026-10-25'))).toHaveLength(6);
    expect(await moments('*/30 * * * *', 'Europe/Lisbon', '2026-03-29T00:00Z', 3)).toEqual(['2026-03-29T00:30', '2026-03-29T01:00', '2026-03-29T01:30']);
  });

  it('is in a zone with a name, and never at the moment that it follows', async () => {
    expect(await moments('17 * * * *', 'Asia/Kolkata', '2026-03-29T00:00Z', 2)).toEqual(['2026-03-29T00:47', '2026-03-29T01:47']);
    expect(await moments('0 0 29 2 *', 'UTC', '2026-03-01T00:00Z', 1)).toEqual(['2028-02-29T00:00']);
    expect(await checkedSchedule('cache_mapping', { text: ' 0  12 * * mon-fri ', offset: 0 }, null)).toEqual({ schedule: '0 12 * * mon-fri', timezone: 'UTC' });
  });
});

describe('a job that waits for another one with its statement', () => {
  const waits = async (schedule: string, planned: string, begun: string): Promise<string> => {
    const { pause, next } = await paceOfNext({ schedule, timezone: 'UTC', kind: 'cache_mapping', nextRun: at(planned) });
    return new Date(await next(at(begun) + pause)).toISOString().slice(11, 16);
  };

  it('runs at the next moment of its schedule, or after the pause if that is much later', async () => {
    expect(await waits('*/5 * * * *', '2026-03-01T02:00Z', '2026-03-01T02:00Z')).toBe('02:05');
    expect(await waits('*/5 * * * *', '2026-03-01T02:05Z', '2026-03-01T02:01Z')).toBe('02:10');
    expect(await waits('0 2 * * *', '2026-03-01T02:00Z', '2026-03-01T02:00Z')).toBe('02:05');
    // as soon as possible: it has waited once, or was wanted by RUN JOB
    expect(await waits('0 2 * * *', '2026-03-01T02:05Z', '2026-03-01T02:05Z')).toBe('02:06');
  });
});

describe('how often a job may run', () => {
  const fault = (kind: string, text: string): Promise<string> =>
    checkedSchedule(kind, { text, offset: 7 }, { text: 'Europe/Lisbon', offset: 0 }).then(
      () => 'allowed',
      (error) => `${error.code} at ${error.offset}: ${error.message}`,
    );
  const refused = (statement: string, least: string, gap: string): string =>
    `bad_schedule at 7: a job of ${statement} may run every ${least} at most, and this schedule has moments ${gap} apart`;

  it.each([
    ['* * * * *', '1 minute'],
    ['*/4 * * * *', '4 minutes'],
    ['1,2 4 1 1 *', '1 minute'],
    ['2,58 * * * *', '4 minutes'],
    ['2,58 0,23 * * *', '4 minutes'],
    ['0-59/3 12 * * MON', '3 minutes'],
    ['0,57 3,4 * * *', '3 minutes'],
  ])('CACHE MAPPING: not %s', async (schedule, gap) =>
    expect(await fault('cache_mapping', schedule)).toBe(refused('CACHE MAPPING, CACHE CUBE and CACHE VIEW', '5 minutes', gap)),
  );

  it.each(['*/5 * * * *', '0 * * * *', '2,57 0,23 * * *', '0 0 29 2 *', '30 2 * * MON-FRI', '0,55 3,4 * * *'])('CACHE MAPPING: %s', async (schedule) =>
    expect(await fault('cache_mapping', schedule)).toBe('allowed'),
  );

  it('VALIDATE DATA: an hour', async () => {
    expect(await fault('validate_data', '0,30 * * * *')).toBe(refused('VALIDATE DATA', '60 minutes', '30 minutes'));
    expect(await fault('validate_data', '59 0,23 * * *')).toBe('allowed');
    expect(await fault('validate_data', '17 * * * *')).toBe('allowed');
    expect(await fault('validate_data', '0,45 2 * * SUN')).toBe(refused('VALIDATE DATA', '60 minutes', '45 minutes'));
  });

  it('is computed from the moments of an hour and of a day, not from all moments', async () => {
    const computed = vi.spyOn(Cron.prototype, 'nextRun');
    expect(await fault('validate_data', '*/2 * * * *')).toMatch(/2 minutes apart/);
    expect(computed.mock.calls.length).toBeLessThan(90);
    computed.mockRestore();
  });

  it('by RUN JOB: a while after its last run began', () => {
    expect([wantedRun('cache_mapping', null, 70), wantedRun('cache_mapping', 1000, 2000), wantedRun('cache_mapping', 1000, 99_000)]).toEqual([
      70, 61_000, 99_000,
    ]);
    expect(wantedRun('validate_data', 1000, 99_000)).toBe(301_000);
  });
});

describe('after a run', () => {
  const hourly = { schedule: '17 * * * *', timezone: 'UTC' };
  const now = at('2026-01-01T10:20Z');

  it('that succeeded, the schedule decides', async () => expect(await afterRun(hourly, now, 0)).toBe(at('2026-01-01T11:17Z')));

  it('that failed, pauses grow to half an hour, and then the schedule decides, after an hour at least', async () => {
    const pauses = await Promise.all([1, 2, 3, 4, 5, 6].map(async (failures) => ((await afterRun(hourly, now, failures, () => 0)) as number) - now));
    expect(pauses.map((p) => p / 60_000)).toEqual([1, 2, 4, 8, 16, 32]);
    expect(((await afterRun(hourly, now, 3, () => 0.5)) as number) - now).toBe(4.5 * 60_000);
    expect(await afterRun(hourly, now, 7)).toBe(at('2026-01-01T12:17Z'));
    expect(await afterRun({ ...hourly, schedule: '* * * * *' }, now, 100)).toBe(at('2026-01-01T11:21Z'));
  });
});
