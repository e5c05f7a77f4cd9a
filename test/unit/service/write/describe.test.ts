/** The questions of a script to its datasource: what the columns of its mappings and views are. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { loadNodeParser } from '../../../../src/cli/node-parser.ts';
import { DEFAULT_SETTINGS, forgetRoles, isDistributed, rememberRole } from '../../../../src/engine/settings.ts';
import { EMPTY_MODEL, type MappingDef, type Model, type ViewDef } from '../../../../src/ontology/model.ts';
import { verify } from '../../../../src/planner/verify/index.ts';
import type { Runtime } from '../../../../src/service/runtime.ts';
import { described, type Question } from '../../../../src/service/write/describe.ts';

const parser = await loadNodeParser();
const runtime = { config: { statementTimeoutMs: 5000 } } as unknown as Runtime;
const datasource = { name: 'main', url: 'postgres://u:p@db.localhost/x', endpoint: 'http://127.0.0.1:1/sql' };
const declared = { tables: [], functions: new Set<string>(), params: 0 };

/** As of a role on Citus. */
const SETTINGS = Object.entries({ ...DEFAULT_SETTINGS, default_transaction_read_only: 'on', statement_timeout: '5s', 'citus.version': '13' });

const question = (kind: Question['kind'], name: string, sql: string, offset: number, of = datasource): Question => ({
  kind,
  name,
  columns: ['n'],
  lenient: kind === 'view',
  datasource: of,
  text: verify(parser, sql, declared),
  offset,
});
const model = (questions: readonly Question[]): Model => {
  const of = (kind: string) => questions.flatMap((q) => (q.kind === kind ? [{ name: q.name, columns: [] }] : []));
  return { ...EMPTY_MODEL, mappings: of('mapping') as unknown as MappingDef[], views: of('view') as unknown as ViewDef[] };
};

beforeEach(() => rememberRole(datasource, { readOnly: true, timeoutMs: 0, settings: DEFAULT_SETTINGS, isDistributed: false }));
afterEach(forgetRoles);

/** Asks a datasource that refuses the texts with `'bad'`, and that cannot be reached with requests that `isLost` selects. @returns the types by name, or the error, and the numbers of described SELECTs of each request, and of requests at the same time */
async function ask(questions: readonly Question[], isLost: (selects: readonly string[]) => boolean = () => false) {
  const asked: number[] = [];
  let open = 0;
  let most = 0;
  vi.spyOn(globalThis, 'fetch').mockImplementation(async (_address, init) => {
    const body = JSON.parse(String(init?.body)) as { query: string; queries?: readonly { query: string }[] };
    const texts = (body.queries ?? [body]).map((q) => q.query);
    const selects = texts.filter((t) => t.endsWith('LIMIT 0'));
    if (selects.length > 0) asked.push(selects.length);
    most = Math.max(most, ++open);
    await Promise.resolve();
    open--;
    if (isLost(selects)) return new Response('too many connections', { status: 503 });
    if (texts.some((t) => t.includes("'bad'"))) return Response.json({ message: 'no such operator', code: '42883', position: '20' }, { status: 400 });
    const results = texts.map((t) => ({
      fields: t.endsWith('LIMIT 0') ? [{ name: 'n', dataTypeID: t.includes('SELECT 1') ? 23 : 20 }] : [],
      rows: t === 'SHOW ALL' ? SETTINGS : [],
    }));
    return Response.json(body.queries === undefined ? results[0] : { results });
  });
  const answer = await described(runtime, model(questions), questions).then(
    ({ mappings, views }) => Object.fromEntries([...mappings, ...views].map((d) => [d.name, d.columns.map((c) => c.type ?? 'unknown').join()])),
    (error: { code: string; offset: number; message: string }) => ({ code: error.code, offset: error.offset, message: error.message }),
  );
  return { answer, asked, most };
}

const views = (n: number, sql = (i: number): string => (i % 2 === 0 ? 'SELECT 1 AS n' : 'SELECT 2 AS n')): Question[] =>
  Array.from({ length: n }, (_, i) => question('view', `v${i}`, sql(i), 100 * i));
const types = (n: number): Record<string, string> => Object.fromEntries(Array.from({ length: n }, (_, i) => [`v${i}`, i % 2 === 0 ? 'int4' : 'int8']));

describe('the columns of the views of a script', () => {
  it('are asked for in requests of fifty', async () => {
    const { answer, asked } = await ask(views(120));
    expect(asked.toSorted()).toEqual([20, 50, 50]);
    expect(answer).toEqual(types(120));
  });

  it('are asked for in a request for each datasource', async () => {
    const other = { ...datasource, name: 'other' };
    const { answer, asked } = await ask([...views(2), question('view', 'w', 'SELECT 1 AS n', 0, other)]);
    expect(asked.toSorted()).toEqual([1, 2]);
    expect(answer).toEqual({ ...types(2), w: 'int4' });
  });

  it('are known except those of a view that the datasource refuses', async () => {
    const { answer, asked } = await ask(views(60, (i) => (i === 7 ? "SELECT 'bad' AS n" : i % 2 === 0 ? 'SELECT 1 AS n' : 'SELECT 2 AS n')));
    expect(answer).toEqual({ ...types(60), v7: 'unknown' });
    expect(asked.toSorted((a, b) => a - b)).toEqual([...Array(50).fill(1), 10, 50]);
  });

  it('are asked for with the settings of a datasource that are not known yet', async () => {
    forgetRoles();
    const { answer, asked } = await ask(views(3));
    expect(asked.toSorted()).toEqual([1, 2]);
    expect(answer).toEqual(types(3));
    expect(isDistributed(datasource)).toBe(true);
  });

  it('are unknown after a few requests if the datasource cannot be reached', async () => {
    const { answer, asked } = await ask(views(120), () => true);
    expect(new Set(Object.values(answer))).toEqual(new Set(['unknown']));
    expect(asked.length).toBeLessThan(10);
  });

  it('are known if only requests of many SELECTs fail', async () => {
    const { answer, asked } = await ask(views(60), (selects) => selects.length > 20);
    expect(answer).toEqual(types(60));
    expect(asked.toSorted((a, b) => a - b)).toEqual([...Array(50).fill(1), 10, 50]);
  });

  it('are asked for at the same time after a request of many SELECTs has failed', async () => {
    const { most } = await ask(views(20, (i) => (i === 7 ? "SELECT 'bad' AS n" : 'SELECT 1 AS n')));
    expect(most).toBe(6);
  });

  it('are asked for in smaller requests if their texts are long', async () => {
    const { answer, asked } = await ask(views(4, (i) => `SELECT ${i % 2 === 0 ? 1 : 2} AS n WHERE '${'x'.repeat(200_000)}' <> ''`));
    expect(asked.toSorted()).toEqual([2, 2]);
    expect(answer).toEqual(types(4));
  });

  it('have the error of the mapping that the datasource refuses, with its position', async () => {
    const bad = [
      question('mapping', 'a', 'SELECT 1 AS n', 11),
      question('mapping', 'b', "SELECT 'bad' AS n", 22),
      question('mapping', 'c', 'SELECT 1 AS n', 33),
    ];
    const { answer } = await ask(bad);
    expect(answer).toEqual({ code: 'mapping_failed', offset: 22, message: 'the mapping `b` is not valid on its datasource: no such operator' });
    expect((await ask(bad.slice(1, 2))).answer).toEqual(answer);
  });
});
