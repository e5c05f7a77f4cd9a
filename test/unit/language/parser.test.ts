import { readFile } from 'node:fs/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { buildParser, glueOf, INITIAL_PAGES, memoryMinimum, withExports, withMemoryMinimum } from '../../../scripts/build-parser.ts';
import { loadNodeParser } from '../../../src/cli/node-parser.ts';
import { SvcError } from '../../../src/errors.ts';
import { createParser, REPLACE_ABOVE, type SqlParser } from '../../../src/language/parser.ts';
import { instantiate } from '../../../src/language/parser-runtime.ts';

const BUILT = new URL('../../../dist/parser/', import.meta.url);
const ORIGINAL = new URL('../../../node_modules/libpg-query/wasm/libpg-query.wasm', import.meta.url);
let parser: SqlParser;

beforeAll(async () => {
  await buildParser();
  parser = await loadNodeParser();
});

function fault(sql: string, by: SqlParser = parser): SvcError {
  try {
    by.parse(sql);
  } catch (e) {
    if (e instanceof SvcError) return e;
    throw e;
  }
  throw new Error(`parsed: ${sql.slice(0, 80)}`);
}

describe('the built module', () => {
  it('starts with 640 pages, and has only the functions that the runtime calls', async () => {
    const built = await readFile(new URL('libpg-query.wasm', BUILT));
    const original = await readFile(ORIGINAL);
    expect(INITIAL_PAGES).toBe(640);
    expect(memoryMinimum(original).pages).toBe(2048);
    expect(memoryMinimum(built).pages).toBe(640);
    const { glue } = await import(new URL('glue.js', BUILT).href);
    const names = WebAssembly.Module.exports(await WebAssembly.compile(built)).map(({ name }) => name);
    expect(names.sort()).toEqual(Object.values<string>(glue.exports).sort());
    expect(built.length).toBeLessThan(original.length);
    await expect(withExports(original, ['nothing'])).rejects.toThrow('no export nothing');
  });

  it('parses as the module of the package does', async () => {
    const { glue } = await import(new URL('glue.js', BUILT).href);
    const [built, original] = await Promise.all(
      [new URL('libpg-query.wasm', BUILT), ORIGINAL].map(async (file) => instantiate(await WebAssembly.compile(await readFile(file)), glue)),
    );
    const parsed = (of: typeof built, sql: string): unknown => {
      try {
        return of?.parse(sql);
      } catch (error) {
        return String(error);
      }
    };
    const pages = await Promise.all(['language', 'world', 'nested'].map((page) => readFile(new URL(`../../../docs/${page}.md`, import.meta.url), 'utf8')));
    const texts = pages.flatMap((page) => [...page.matchAll(/```sql\n([\s\S]*?)```/g)].flatMap(([, block = '']) => [block, ...block.split(';')]));
    expect(texts.length).toBeGreaterThan(200);
    let trees = 0;
    for (const text of texts) {
      const found = parsed(built, text);
      expect(found).toEqual(parsed(original, text));
      if (typeof found === 'object' && found !== null && 'json' in found) trees++;
    }
    expect(trees).toBeGreaterThan(100);
    expect(texts.length - trees).toBeGreaterThan(10);
  });

  it('starts with 40 MiB', async () => {
    const { glue } = await import(new URL('glue.js', BUILT).href);
    const instance = instantiate(await WebAssembly.compile(await readFile(new URL('libpg-query.wasm', BUILT))), glue);
    expect(instance.size()).toBe(640 * 65_536);
    instance.parse('SELECT 1');
    expect(instance.size()).toBe(640 * 65_536);
  });

  it('is refused if it has changed', () => {
    expect(() => memoryMinimum(new Uint8Array([1, 2, 3]))).toThrow('not a WebAssembly module');
    expect(() => memoryMinimum(new Uint8Array([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0]))).toThrow('no memory');
    const oneByte = new Uint8Array([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, 5, 3, 1, 0, 100]);
    expect(withMemoryMinimum(oneByte, 99)[12]).toBe(99);
    expect(() => withMemoryMinimum(oneByte, 640)).toThrow('starts at 100 pages already');
    expect(() => glueOf('wasmImports={a:_strange}')).toThrow('unknown import _strange');
  });
});

describe('parse', () => {
  it('returns libpg-query trees', () => {
    const { stmts, version } = parser.parse("SELECT name FROM svc.city WHERE name = 'x'");
    expect(version).toBeGreaterThan(180000);
    expect(stmts).toHaveLength(1);
    expect(stmts[0]?.stmt).toHaveProperty('SelectStmt.fromClause.0.RangeVar.schemaname', 'svc');
  });

  it('returns no statements for an empty text', () => {
    expect(parser.parse('').stmts).toEqual([]);
    expect(parser.parse(' -- nothing\n').stmts).toEqual([]);
  });

  it('returns locations in bytes', () => {
    const { stmts } = parser.parse("SELECT '東京', a");
    expect(stmts[0]?.stmt).toHaveProperty('SelectStmt.targetList.1.ResTarget.location', 17);
  });

  it.each([
    ['SELECT name,, 1', ',, 1', 1],
    ['SELECT 1 FROM', '', 0],
    ["SELECT 'Größe 東京' AS a,, 1", ',, 1', 1],
    ["SELECT '🜁🜂🜃' AS \"ä\", 'x' FROM svc.city WHERE ORDER BY 1", 'ORDER', 0],
    ["SELECT 'abc", "'abc", 0],
  ])('returns the position of the error in UTF-16: %s', (sql, at, plus) => {
    const e = fault(sql);
    expect([e.status, e.code]).toEqual([400, 'syntax_error']);
    expect(e.offset).toBe(at === '' ? sql.length : sql.indexOf(at) + plus);
  });

  it("keeps PostgreSQL's messages", () => {
    expect(fault('SELECT 1 2').message).toBe('syntax error at or near "2"');
    expect(fault('SELECT 1 FROM').message).toBe('syntax error at end of input');
  });

  it('refuses NUL, at which C would stop reading', () => {
    expect(fault('SELECT 1\0; DROP TABLE x')).toMatchObject({ code: 'syntax_error', offset: 8 });
  });

  it('knows the grammar of PostgreSQL 18', () => {
    for (const sql of [
      'SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY x) FILTER (WHERE y) OVER w FROM t WINDOW w AS (PARTITION BY z)',
      'WITH RECURSIVE a AS MATERIALIZED (SELECT 1) SEARCH DEPTH FIRST BY x SET y SELECT * FROM a GROUP BY GROUPING SETS ((x), ROLLUP (y))',
      "SELECT j -> 'a' ->> 0, j @> '{}', JSON_VALUE(j, '$.a') FROM t, LATERAL unnest(arr) WITH ORDINALITY AS u(v, n)",
      "SELECT x::numeric(10,2), U&'d\\0061t', E'\\n', $$a$$, INTERVAL '1' DAY, t AT TIME ZONE 'UTC' FROM t TABLESAMPLE system (10)",
    ]) {
      expect(parser.parse(sql).stmts).toHaveLength(1);
    }
  });
});

describe('deep nesting', () => {
  // each returns its tree or the error, depending on the machine's stack; the next query must work in both cases
  const deep: [string, (n: number) => string, number][] = [
    ['CASE', (n) => `SELECT ${'CASE WHEN true THEN '.repeat(n)}1${' END'.repeat(n)}`, 1000],
    ['unions', (n) => Array(n).fill('SELECT 1').join(' UNION '), 5000],
    ['additions', (n) => `SELECT 1${'+1'.repeat(n)}`, 5000],
    ['brackets', (n) => `SELECT ${'('.repeat(n)}1${')'.repeat(n)}`, 20_000],
    ['NOT', (n) => `SELECT ${'NOT '.repeat(n)}true`, 16_000],
    ['sub-selects', (n) => `SELECT ${'(SELECT '.repeat(n)}1${')'.repeat(n)}`, 5000],
  ];
  it.each(deep)('%s: an error or a tree, and the next query works', (_, make, n) => {
    try {
      expect(parser.parse(make(n)).stmts).toHaveLength(1);
    } catch (e) {
      expect(e).toMatchObject({ status: 400, code: 'too_complex' });
    }
    expect(fault(make(n * 40))).toMatchObject({ status: 400, code: 'too_complex' });
    expect(parser.parse('SELECT 1 AS a').stmts).toHaveLength(1);
    expect(fault('SELECT 1 2').message).toBe('syntax error at or near "2"');
  });

  it('has nothing internal in the message', () => {
    const e = fault(`SELECT 1${'+1'.repeat(200_000)}`);
    expect(e.message).toBe('the statement is nested too deeply');
  });

  it('replaces only an instance that trapped or has grown', async () => {
    const { glue } = await import(new URL('glue.js', BUILT).href);
    const module = await WebAssembly.compile(await readFile(new URL('libpg-query.wasm', BUILT)));
    let made = 0;
    const Original = WebAssembly.Instance;
    WebAssembly.Instance = class extends Original {
      constructor(...args: ConstructorParameters<typeof Original>) {
        super(...args);
        made++;
      }
    };
    try {
      const counted = createParser(module, glue);
      for (let i = 0; i < 50; i++) counted.parse('SELECT 1');
      for (let i = 0; i < 50; i++) fault('SELECT 1 2', counted);
      expect(made).toBe(1);
      fault(`SELECT 1${'+1'.repeat(200_000)}`, counted);
      counted.parse('SELECT 1');
      expect(made).toBe(2);
      // above REPLACE_ABOVE
      counted.parse(`SELECT ${'a=1 OR '.repeat(40_000)} true`);
      counted.parse('SELECT 1');
      expect(made).toBe(3);
      expect(REPLACE_ABOVE).toBe(64 * 2 ** 20);
    } finally {
      WebAssembly.Instance = Original;
    }
  });
});
