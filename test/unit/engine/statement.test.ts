/** Texts that may be sent to a datasource. */
import { describe, expect, it } from 'vitest';
import { loadNodeParser } from '../../../src/cli/node-parser.ts';
import { send } from '../../../src/engine/client.ts';
import { operatorText } from '../../../src/engine/operator.ts';
import { collationsOf, EXPLAIN, explained, fixed, type SqlText, setLocal, sqlOf, withoutRows } from '../../../src/engine/statement.ts';
import { verify } from '../../../src/planner/verify/index.ts';

const NOTHING = { tables: [], functions: new Set<string>(), params: 0 };

describe('a text that may be sent', () => {
  it('is one that the verifier has passed, or a constant', async () => {
    const passed = verify(await loadNodeParser(), 'SELECT 1 AS a', NOTHING);
    expect(sqlOf(passed)).toBe('SELECT 1 AS a');
    expect(sqlOf(fixed`SHOW ALL`)).toBe('SHOW ALL');
    expect(sqlOf(explained(passed))).toBe(`${EXPLAIN}SELECT 1 AS a`);
    expect(sqlOf(withoutRows(passed))).toBe('SELECT * FROM (\nSELECT 1 AS a\n) q LIMIT 0');
    expect(sqlOf(collationsOf(passed, 2, [1]))).toMatch(
      /^SELECT CASE .*pg_collation_for\(q\.c1\).* AS c1 FROM \(SELECT 1\) one LEFT JOIN \(\nSELECT 1 AS a\n\) q \(c0, c1\) ON false$/,
    );
    expect(sqlOf(operatorText('SELECT 2'))).toBe('SELECT 2');
  });

  it('is not an object that only looks like one', () => {
    for (const text of [{ sql: 'SELECT 1' }, 'SELECT 1', undefined, null, Object.create(Object.getPrototypeOf(fixed`SHOW ALL`))] as unknown as SqlText[]) {
      expect(() => sqlOf(text)).toThrow(TypeError);
      expect(() => explained(text)).toThrow(TypeError);
      expect(() => withoutRows(text)).toThrow(TypeError);
    }
    const made = fixed`SHOW ALL` as unknown as { readonly constructor: new (sql: string, own: symbol) => SqlText };
    expect(() => new made.constructor('SELECT 1', Symbol('own'))).toThrow(TypeError);
  });

  it('contains no values', () => {
    const loose = fixed as unknown as (strings: unknown, ...values: unknown[]) => SqlText;
    expect(() => loose`SHOW ${'ALL'}`).toThrow(TypeError);
    expect(() => loose('SHOW ALL')).toThrow(TypeError);
    expect(() => loose(['SHOW ALL'])).toThrow(TypeError);
  });

  it('sets only what a setting needs', () => {
    expect(sqlOf(setLocal('DateStyle', 'ISO, MDY'))).toBe(`SET LOCAL "DateStyle" = 'ISO, MDY'`);
    expect(sqlOf(setLocal('search_path', ''))).toBe(`SET LOCAL "search_path" = ''`);
    expect(() => setLocal('a"; DROP TABLE t; --', 'x')).toThrow(TypeError);
    expect(() => setLocal('TimeZone', "UTC'; SELECT 1")).toThrow(TypeError);
    expect(() => setLocal('TimeZone', 'a\\')).toThrow(TypeError);
  });

  it('is checked before a request is made', async () => {
    const asked: unknown[] = [];
    const request = async (...args: unknown[]): Promise<Response> => {
      asked.push(args);
      return new Response('{}');
    };
    const ds = { name: 'main', endpoint: 'https://db.example/sql', url: 'postgresql://u:p@db.example/d' };
    const options = { timeoutMs: 1000, rawText: true, retry: true, fetch: request };
    await expect(send(ds, { text: { sql: 'SELECT 1' } as unknown as SqlText }, options)).rejects.toThrow();
    await expect(send(ds, [{ text: fixed`SHOW ALL` }, { text: { sql: 'SELECT 1' } as unknown as SqlText }], options)).rejects.toThrow();
    expect(asked).toEqual([]);
    await send(ds, { text: fixed`SHOW ALL` }, options);
    expect(asked.length).toBe(1);
  });
});
