import { beforeEach, describe, expect, it } from 'vitest';
import { send } from '../../../src/engine/client.ts';
import { batch, collated, describe as describeColumns, METADATA_BYTES } from '../../../src/engine/engine.ts';
import { operatorText } from '../../../src/engine/operator.ts';
import { forgetRoles } from '../../../src/engine/settings.ts';
import { typeName } from '../../../src/engine/types.ts';
import { DS, fake, probeRows, refusal } from './fake.ts';

const result = (fields: [string, number][], rows: unknown[][] = []) => ({ fields: fields.map(([name, dataTypeID]) => ({ name, dataTypeID })), rows });
const json =
  (value: unknown, status = 200) =>
  () =>
    new Response(JSON.stringify(value), { status });
/** The probe, and a timeout and eight settings that are set. */
const set = Array.from({ length: 9 }, () => result([]));
const settings = [result([], probeRows('30s')), ...set];

beforeEach(forgetRoles);

describe('describing a SELECT', () => {
  it('returns names and types, and reads the settings of the role', async () => {
    const columns = result([
      ['id', 20],
      ['tags', 1009],
      ['odd', 99_999],
    ]);
    const { fetch, asked } = fake(json({ results: [...settings, columns] }), json(columns));
    const wanted = [
      { name: 'id', type: 'int8' },
      { name: 'tags', type: '_text' },
      { name: 'odd', type: 'oid:99999' },
    ];
    expect(await describeColumns(DS, operatorText('SELECT id FROM t -- all'), { timeoutMs: 30_000, fetch })).toEqual(wanted);
    expect(await describeColumns(DS, operatorText('SELECT id FROM t -- all'), { timeoutMs: 30_000, fetch })).toEqual(wanted);
    expect(asked[1]?.body.query).toBe('SELECT * FROM (\nSELECT id FROM t -- all\n) q LIMIT 0');
  });

  it('reports to the modeller what is missing, and where', async () => {
    const sql = "SELECT '🜁' AS a, x FROM store.t_gone";
    const position = String('SELECT * FROM (\n'.length + [...sql].join('').replace('🜁', '?').indexOf('store') + 1);
    const { fetch } = fake(json({ message: 'relation "store.t_gone" does not exist', code: '42P01', position }, 400));
    const error = await refusal(describeColumns(DS, operatorText(sql), { timeoutMs: 30_000, fetch, physicalNames: ['t_gone'] }));
    expect([error.status, error.code, error.message]).toEqual([400, 'undefined_table', 'relation "store.t_gone" does not exist']);
    expect(error.offset).toBe(sql.indexOf('store'));
  });

  it('accepts no other answer', async () => {
    for (const answer of [json({}), json({ results: [] }), json(null), json({ results: [...settings, {}] }), () => new Response('x')]) {
      const { fetch } = fake(answer);
      expect((await refusal(describeColumns(DS, operatorText('SELECT 1'), { timeoutMs: 30_000, fetch }))).code).toBe('datasource_failed');
    }
  });
});

describe('an answer that is read as a whole', () => {
  it('is read up to a limit, and cancelled', async () => {
    let pulled = 0;
    let isCancelled = false;
    const text = JSON.stringify({ results: [...settings, result([['id', 20]])] });
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        controller.enqueue(new TextEncoder().encode(pulled++ < 64 ? ' '.repeat(1024 * 1024) : text));
        if (pulled > 64) controller.close();
      },
      cancel() {
        isCancelled = true;
      },
    });
    const { fetch } = fake(() => new Response(body));
    const error = await refusal(describeColumns(DS, operatorText('SELECT 1'), { timeoutMs: 30_000, fetch }));
    expect([error.status, error.code, isCancelled]).toEqual([502, 'datasource_failed', true]);
    expect(pulled).toBeLessThan(METADATA_BYTES / 1024 / 1024 + 4);
  });
});

describe('collations of columns', () => {
  const options = { timeoutMs: 5000 };
  const text = operatorText('SELECT a, n, b FROM t -- all');

  it('are read in one request, and the default is omitted', async () => {
    const row = (...cells: string[]) => result([], [cells]);
    const { fetch, asked } = fake(json({ results: [...set, row('"C"', ''), row('"default"')] }));
    const first = [
      { name: 'a', type: 'text' },
      { name: 'n', type: 'int8' },
      { name: 'b', type: '_varchar', modifier: 8 },
    ];
    const numbers = [{ name: 'n', type: 'int8' }];
    const last = [{ name: 'x', type: 'oid:99999' }];
    const described = [first, numbers, last].map((columns) => ({ text, columns }));
    expect(await collated(DS, described, { ...options, fetch })).toEqual([
      [{ ...first[0], collation: '"C"' }, first[1], { ...first[2], collation: '' }],
      numbers,
      last,
    ]);
    expect(asked).toHaveLength(1);
    expect(asked[0]?.body.queries).toHaveLength(set.length + 2);
  });

  it('are not read if no type has one', async () => {
    const { fetch, asked } = fake();
    expect(await collated(DS, [{ text, columns: [{ name: 'n', type: 'int8' }] }], { ...options, fetch })).toEqual([[{ name: 'n', type: 'int8' }]]);
    expect(asked).toHaveLength(0);
  });

  it('are not assumed to be the default if the answer lacks them', async () => {
    const { fetch } = fake(json({ results: [...set, result([])] }));
    expect((await refusal(collated(DS, [{ text, columns: [{ name: 'a', type: 'text' }] }], { ...options, fetch }))).code).toBe('datasource_failed');
  });
});

describe('a batch of small reads', () => {
  it('is read-only, with the settings, values as text', async () => {
    const { fetch, asked } = fake(json({ results: [...set, result([['n', 1700]], [['1.50']]), result([['b', 16]], [[null]])] }));
    expect(
      await batch(DS, [{ text: operatorText('SELECT 1.50 AS n') }, { text: operatorText('SELECT $1::bool AS b'), params: [null] }], { timeoutMs: 5000, fetch }),
    ).toEqual([
      { columns: [{ name: 'n', type: 'numeric' }], rows: [['1.50']] },
      { columns: [{ name: 'b', type: 'bool' }], rows: [[null]] },
    ]);
    expect(asked[0]?.body.queries?.[0]).toEqual({ query: `SET LOCAL "statement_timeout" = '5000'`, params: [] });
    const headers = new Headers(asked[0]?.init.headers);
    expect([headers.get('neon-batch-read-only'), headers.get('neon-raw-text-output')]).toEqual(['true', 'true']);
  });
});

describe('a prepared statement that a pool has lost', () => {
  const lost = json({ message: 'prepared statement "s1" does not exist', code: '26000' }, 400);
  const statement = { text: operatorText('SELECT 1 AS n') };
  const options = { timeoutMs: 5000, rawText: true, retry: false };

  it('is sent once more, also where the request writes', async () => {
    const { fetch, asked } = fake(lost, json(result([['n', 23]], [['1']])));
    const { response, release } = await send(DS, statement, { ...options, fetch });
    release();
    expect(await response.json()).toMatchObject({ rows: [['1']] });
    expect(asked.map(({ body }) => body)).toEqual([
      { query: 'SELECT 1 AS n', params: [] },
      { query: 'SELECT 1 AS n', params: [] },
    ]);
  });

  it('is an error the second time', async () => {
    const { fetch, asked } = fake(lost);
    expect(await refusal(send(DS, statement, { ...options, fetch }))).toMatchObject({ status: 502, code: 'datasource_failed' });
    expect(asked).toHaveLength(2);
  });

  it('does not make conflicts of writing requests be sent again', async () => {
    const { fetch, asked } = fake(json({ message: 'could not serialize', code: '40001' }, 400));
    expect(await refusal(send(DS, statement, { ...options, fetch }))).toMatchObject({ status: 503 });
    expect(asked).toHaveLength(1);
  });
});

describe('type names', () => {
  it("are PostgreSQL's", () => {
    expect([16, 1016, 3802, 3807, 4451, 1_000_000].map(typeName)).toEqual(['bool', '_int8', 'jsonb', '_jsonb', 'int4multirange', 'oid:1000000']);
  });
});
