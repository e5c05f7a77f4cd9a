/** Which texts the gateway prepares, and for how long. */
import type pg from 'pg';
import { describe, expect, it } from 'vitest';
import { readsClock } from '../../../dev/sql/clock-literals.ts';
import { PreparedStatements } from '../../../dev/sql/prepared.ts';

describe('a prepared statement', () => {
  const parsedStatements: Record<string, string> = {};
  let now = 0;
  const statements = new PreparedStatements({ connection: { parsedStatements } } as unknown as pg.ClientBase, () => now);
  const used = (text: string): string | undefined => {
    const name = statements.nameOf(text);
    if (name !== undefined) parsedStatements[name] = text;
    return name;
  };

  it.each([
    ['SELECT * FROM t WHERE a = $1', false],
    ['SELECT * FROM t WHERE a = $1 AND b = $2::int4', false],
    ['SELECT * FROM t WHERE a = $10 ::text', true],
    ['SELECT * FROM t WHERE a = $1::text', true],
    ['SELECT * FROM t', true],
  ])('%s: stays longer than a minute: %s', (text, stays) => {
    expect(used(text)).toBeUndefined();
    const name = used(text);
    now += 59_000;
    expect(used(text)).toBe(name);
    now += 2_000;
    const later = used(text);
    expect(later).toMatch(/^gateway_/);
    expect(later === name).toBe(stays);
    expect(statements.deallocate()).toBe(stays ? '' : `; DEALLOCATE ${name}`);
  });
});

describe('a literal of the present time', () => {
  it.each([
    ['SELECT now()', false],
    ['SELECT a FROM known WHERE "now" = 1', false],
    ["SELECT 'unknown', 'knows', now()", false],
    ["SELECT E'a\\\\d', now()", false],
    ["SELECT 'a', -- now\n 'b'", false],
    ["SELECT /* 'now /* it's */ now */ 'b'", false],
    ["SELECT $a$it's$a$, now(), e'\\\\', 'C:\\dir', \"it's\"", false],
    ["SELECT E'\\nnow'::date", true],
    ["SELECT E'n\\ow'::date", true],
    ["SELECT e'''\\x6eow'::date", true],
    ["SELECT '{n\\ow}'::date[]", true],
    ["SELECT E'{n\\\\ow}'::date[]", true],
    [`SELECT '[n"o"w,)'::daterange`, true],
    ['SELECT $é$now$é$::date', true],
    ['SELECT $$now$$::date', true],
    ["SELECT a$x$, ' $x$ ', 'now'::date", true],
    ["SELECT 'no' --\u2028\n 'w'::date", true],
    ["SELECT 'no'\n -- ' \n'w'::date", true],
    ["SELECT /* ' /* */ \" */ 'now'::date", true],
    ["SELECT -- '\r'now'::date", true],
    ["SELECT 'without an end", true],
    ["SELECT '1999-01-01 now'::date", true],
    ["SELECT 'it''s', 'today'::date", true],
  ])('%s: %s', (text, has) => expect(readsClock(text)).toBe(has));

  it('is searched in long texts of line ends and quotes at little cost', () => {
    const openers = Array.from({ length: 5000 }, (_, i) => `$a${i}$ `).join('');
    const texts = [
      `'${'\n'.repeat(32_000)}now`,
      `now ${"'".repeat(31_999)}`,
      `e'${'\\\\'.repeat(16_000)}now`,
      "now e'".repeat(5000),
      `now ${openers}`,
      "'--".repeat(10_000),
      "'a'--\n".repeat(5000),
      "'a',------".repeat(3000),
      '/*'.repeat(16_000),
      `'${'"'.repeat(32_000)}'`,
    ];
    const before = process.cpuUsage();
    for (const text of texts) readsClock(text);
    expect(process.cpuUsage(before).user).toBeLessThan(150_000);
  });
});
