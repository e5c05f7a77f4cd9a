/** Our to_char against PostgreSQL's own, over generated patterns and times. */
import type { PGlite } from '@electric-sql/pglite';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readMoment } from '../../src/nesting/moment.ts';
import { toChar } from '../../src/nesting/to-char.ts';
import { memoryDatabase } from '../support/databases/memory.ts';
import { generated } from '../support/generated.ts';

let db: PGlite;
beforeAll(async () => {
  db = await memoryDatabase();
  await db.exec("SET TimeZone = 'UTC'");
});
afterAll(() => db.close());

const FIELDS =
  'A.M. P.M. AM PM a.m. p.m. am pm A.D. B.C. AD BC a.d. b.c. ad bc MONTH Month month MON Mon mon DAY Day day DY Dy dy RM rm TZ tz TZH TZM OF CC DDD DD D FF1 FF2 FF3 FF4 FF5 FF6 HH24 HH12 HH IDDD ID IW IYYY IYY IY I J MI MM MS Q SSSSS SSSS SS US WW W Y,YYY YYYY YYY YY Y'.split(
    ' ',
  );

/** PostgreSQL's result for each of the pairs. */
async function theirs(pairs: readonly (readonly [value: string, type: string, pattern: string])[]): Promise<(string | null)[]> {
  const { rows } = await db.query<{ shown: string | null }>(
    `SELECT CASE type WHEN 'date' THEN to_char(v::date, p) WHEN 'timestamp' THEN to_char(v::timestamp, p) ELSE to_char(v::timestamptz, p) END AS shown
     FROM json_to_recordset($1::json) AS t(n int, v text, type text, p text) ORDER BY n`,
    [JSON.stringify(pairs.map(([v, type, p], n) => ({ n, v, type, p })))],
  );
  return rows.map((r) => r.shown);
}

/** PostgreSQL's to_json of values, which is our input. */
async function sources(pairs: readonly (readonly [value: string, type: string])[]): Promise<string[]> {
  const { rows } = await db.query<{ json: string }>(
    `SELECT CASE type WHEN 'date' THEN to_json(v::date) WHEN 'timestamp' THEN to_json(v::timestamp) ELSE to_json(v::timestamptz) END::text AS json
     FROM json_to_recordset($1::json) AS t(n int, v text, type text) ORDER BY n`,
    [JSON.stringify(pairs.map(([v, type], n) => ({ n, v, type })))],
  );
  return rows.map((r) => JSON.parse(r.json));
}

async function compare(cases: readonly (readonly [value: string, type: string, pattern: string])[]): Promise<void> {
  const texts = await sources(cases.map(([v, t]) => [v, t]));
  const ours = cases.map(([, , pattern], i) => {
    const moment = readMoment(texts[i] as string);
    return moment && toChar(pattern)?.(moment);
  });
  const expected = await theirs(cases);
  const wrong = cases.flatMap((c, i) => (ours[i] === expected[i] ? [] : [{ case: c, source: texts[i], ours: ours[i], expected: expected[i] }]));
  expect(wrong.slice(0, 10)).toEqual([]);
}

describe('to_char', () => {
  it('formats every field of many days like PostgreSQL', async () => {
    const days: string[] = [];
    for (const year of [1, 99, 100, 101, 999, 1000, 1582, 1900, 1999, 2000, 2001, 2004, 2009, 2020, 2021, 2024, 9999, 12345])
      for (const day of ['01-01', '01-03', '02-28', '03-01', '06-15', '10-11', '11-12', '12-13', '12-28', '12-31'])
        days.push(`${String(year).padStart(4, '0')}-${day}`);
    for (const day of ['0001-01-01 BC', '0001-12-31 BC', '0044-03-15 BC', '0100-02-01 BC', '0101-02-01 BC', '4713-12-01 BC']) days.push(day);
    await compare(days.flatMap((d) => FIELDS.map((f) => [d, 'date', f] as const)));
    const times = ['00:00:00', '00:00:00.000001', '11:59:59.999999', '12:00:00', '12:30:05.1', '23:59:59.5', '13:01:02.050607'];
    await compare(times.flatMap((t) => FIELDS.flatMap((f) => [[`2024-02-29 ${t}`, 'timestamp', f] as const, [`2024-02-29 ${t}`, 'timestamptz', f] as const])));
  });

  it('parses patterns like PostgreSQL', async () => {
    const part = fc.oneof(
      { weight: 6, arbitrary: fc.constantFrom(...FIELDS, ...FIELDS.map((f) => f.toLowerCase())) },
      { weight: 2, arbitrary: fc.constantFrom('FM', 'fm', 'TM', 'TH', 'th', 'SP', 'FX', 'fx', '"', '\\', '\\"', '""', '"a\\"b"', '"YYYY"') },
      { weight: 2, arbitrary: fc.constantFrom('-', '/', ' ', ':', ', ', 'T', 'of', 'é', '東', 'x', '.', 'n', 'Mo', 'Da', '1', '%') },
    );
    const pattern = fc.array(part, { minLength: 1, maxLength: 7 }).map((p) => p.join(''));
    const day = fc
      .tuple(
        fc.integer({ min: 1, max: 9999 }),
        fc.integer({ min: 1, max: 12 }),
        fc.integer({ min: 1, max: 28 }),
        fc.nat(86_399_999),
        fc.constantFrom('date', 'timestamp', 'timestamptz'),
      )
      .map(([y, m, d, ms, type]) => {
        const two = (n: number, width = 2): string => String(n).padStart(width, '0');
        const time = `${two(Math.floor(ms / 3_600_000))}:${two(Math.floor(ms / 60_000) % 60)}:${two(Math.floor(ms / 1000) % 60)}.${two(ms % 1000, 3)}`;
        return [`${two(y, 4)}-${two(m)}-${two(d)}${type === 'date' ? '' : ` ${time}`}`, type] as const;
      });
    await compare(fc.sample(fc.tuple(day, pattern), generated(6000)).map(([[v, type], p]) => [v, type, p] as const));
  });

  it('returns the empty text for an empty pattern', async () => {
    expect(toChar('')).toBeUndefined();
    expect(await theirs([['2024-01-01', 'date', '']])).toEqual([null]);
  });
});
