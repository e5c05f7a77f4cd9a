/**
 * Columns of all of PostgreSQL's base types, read as properties. Values, texts, comparisons, groups, min and max are those of SQL on the table, and so are JSON, NDJSON
 * and CSV. A property that is declared `string` has PostgreSQL's output of the value, and compares and sorts as a text.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startService, type TestService } from '../support/service.ts';

/** A column type, the declared type of its property, and values. */
type Case = readonly [type: string, property: string, values: readonly string[]];
const CASES: readonly Case[] = [
  ['smallint', 'smallint', ['-32768', '3', '32767']],
  ['integer', 'integer', ['-2147483648', '7', '2147483647']],
  ['bigint', 'bigint', ['-9223372036854775808', '9007199254740993', '9223372036854775807']],
  ['real', 'float', ['-0.5', '4.7', '3.4e+38', 'NaN', 'Infinity']],
  ['real', 'double', ['0.1', '16777216', '1e-38']],
  ['double precision', 'double', ['-0.1', '4.7', '1e+300', '-Infinity']],
  ['numeric', 'decimal', ['-0.000001', '4.70', '12345678901234567890.123450', 'NaN']],
  ['numeric(10,2)', 'decimal(10,2)', ['-10.50', '0.00', '99999999.99']],
  ['boolean', 'boolean', ['false', 'true']],
  ['boolean', 'string', ['false', 'true']],
  ['text', 'string', ['', 'a, "b"', "it's; größe 東京", 'a\nb\\']],
  ['varchar(20)', 'string', ['100%', 'ab', ' x ']],
  ['char(4)', 'string', ['a', 'abcd']],
  ['"char"', 'string', ['a', 'b']],
  ['name', 'string', ['aa', 'bb']],
  ['bytea', 'string', ['\\x', '\\x00ff', '\\xff']],
  ['date', 'date', ['0099-01-01', '2020-02-29', 'infinity', '0044-03-15 BC']],
  ['time', 'time', ['00:00:00', '10:11:12.5', '24:00:00']],
  ['time with time zone', 'string', ['08:00:00+02', '09:00:00-03:30']],
  ['timestamp', 'timestamp', ['1900-01-01 00:00:00', '2020-01-02 03:04:05.678', '-infinity']],
  ['timestamp(0)', 'datetime', ['2020-01-02 03:04:05']],
  ['timestamp with time zone', 'timestamptz', ['1970-01-01 00:00:00+00', '2020-01-02 03:04:05.123456+02']],
  ['interval', 'string', ['1 day', '1 year -2 mons 3 days 04:05:06.7', '-00:00:01']],
  ['uuid', 'uuid', ['00000000-0000-4000-8000-000000000001', 'f0000000-0000-4000-8000-000000000001']],
  ['uuid', 'string', ['F0000000-0000-4000-8000-000000000001']],
  ['jsonb', 'json', ['{"a": 1.0}', '[1, null]', '"x"', 'null']],
  ['json', 'json', ['{"a": 1, "b": [true]}']],
  ['json', 'string', ['{"a":  1, "a": 2}']],
  ['xml', 'string', ['<a>1</a>']],
  ['money', 'string', ['$1.00', '-$1,234.50']],
  ['inet', 'string', ['10.0.0.1', '10.0.0.1/24', '10.0.0.0/8', '::1', '2001:db8::/32', '::ffff:1.2.3.4/128']],
  ['cidr', 'string', ['10.0.0.0/8', '192.168.0.1/32', '2001:db8::/32']],
  ['macaddr', 'string', ['08:00:2b:01:02:03']],
  ['macaddr8', 'string', ['08:00:2b:01:02:03:04:05']],
  ['bit(4)', 'string', ['0001', '1010']],
  ['bit varying', 'string', ['', '10', '11']],
  ['int4range', 'string', ['[1,4)', 'empty', '(,5)']],
  ['numrange', 'string', ['[1.5,2]']],
  ['daterange', 'string', ['[2020-01-01,2020-02-01)']],
  ['tsrange', 'string', ['["2020-01-01 00:00:00","2020-01-02 00:00:00")']],
  ['int4multirange', 'string', ['{[1,3),[5,8)}']],
  ['point', 'string', ['(1,2.5)']],
  ['line', 'string', ['{1,-1,0}']],
  ['lseg', 'string', ['[(0,0),(1,1)]']],
  ['box', 'string', ['(1,1),(0,0)']],
  ['path', 'string', ['((0,0),(1,1))']],
  ['polygon', 'string', ['((0,0),(1,1),(1,0))']],
  ['circle', 'string', ['<(0,0),2>']],
  ['tsvector', 'string', ["'a' 'fat':2"]],
  ['tsquery', 'string', ["'fat' & 'rat'"]],
  ['pg_lsn', 'string', ['16/B374D848']],
  ['integer[]', 'string', ['{1,NULL,3}', '{}']],
  ['text[]', 'string', ['{a,"b c",NULL}']],
];
const literal = (value: string): string => `'${value.replaceAll("'", "''")}'`;
const table = (i: number): string => `base.t${i}`;

/** The value of the property in SQL on the table. A property that is declared `string` has the output of the value, without the trailing blanks of char(n). */
function onTable([type, property]: Case): string {
  if (property === 'json') return 'v::jsonb';
  if (property !== 'string') return 'v';
  // format() uses the output function of the type, and has no NULL
  return type === 'char(4)' || type === 'boolean' ? 'v::text' : "CASE WHEN v IS NOT NULL THEN format('%s', v) END";
}

let s: TestService;
beforeAll(async () => {
  s = await startService({
    tables: [
      'CREATE SCHEMA base',
      'CREATE TABLE base.host (address inet PRIMARY KEY)',
      'CREATE TABLE base.alias (address inet, alias inet)',
      'CREATE TABLE base.peer (a inet, b inet)',
      "INSERT INTO base.host VALUES ('10.0.0.1'), ('10.0.0.2/24')",
      "INSERT INTO base.alias VALUES ('10.0.0.1', '::1')",
      "INSERT INTO base.peer VALUES ('10.0.0.1', '10.0.0.2/24')",
      ...CASES.flatMap(([type, , values], i) => [
        `CREATE TABLE ${table(i)} (id int PRIMARY KEY, v ${type})`,
        `INSERT INTO ${table(i)} VALUES ${[...values.map(literal), 'NULL', literal(values[0] as string)].map((v, k) => `(${k + 1}, ${v})`).join(', ')}`,
      ]),
    ],
  });
  const concepts = CASES.map(
    ([, property], i) =>
      `CREATE CONCEPT c${i} (id integer, v${i} ${property}, PRIMARY KEY (id)); CREATE MAPPING m${i} INTO (c${i}) AS SELECT id, v AS v${i} FROM ${table(i)}`,
  );
  await s.rows(`CREATE ONTOLOGY base; ${concepts.join('; ')}`);
});
afterAll(() => s?.close());

/** The rows of SQL on the table, as the text that PostgreSQL makes of them. */
const byHand = async (sql: string): Promise<string[]> =>
  (await s.database.exec(`SELECT row_to_json(found)::text AS row FROM (${sql}) found`)).map((r) => String(r.row));
/** A query in a format. */
async function answer(sql: string, accept: string): Promise<string> {
  const body = JSON.stringify({ ontology_name: 'base', query: sql });
  const response = await s.fetch('/svc/api/query/', { method: 'POST', headers: { 'x-api-key': s.token, 'content-type': 'application/json', accept }, body });
  const text = await response.text();
  expect([sql, response.status, response.status === 200 ? '' : text]).toEqual([sql, 200, '']);
  return text;
}
/** The rows of an answer as texts, so that numbers are compared with every digit. */
const lines = async (sql: string): Promise<string[]> => (await answer(sql, 'application/x-ndjson')).split('\n').filter((line) => line !== '');
/** The fields of a CSV of one column (RFC 4180). An empty field without quotes is NULL. */
const fields = (csv: string): (string | null)[] =>
  [...csv.matchAll(/("(?:[^"]|"")*"|[^",\r\n]*)\r?\n/g)].map(([, f = '']) => (f === '' ? null : f.startsWith('"') ? f.slice(1, -1).replaceAll('""', '"') : f));

describe('a column of the type', () => {
  it.each(CASES.map((c, i) => [`${c[0]} as ${c[1]}`, c, i] as const))('%s', async (_, c, i) => {
    const [, property, written] = c;
    const rows = `(SELECT id, ${onTable(c)} AS v FROM ${table(i)}) t`;
    const both = async (sql: string, hand: string) => expect([sql, await lines(sql)]).toEqual([sql, await byHand(hand)]);
    const all = `SELECT v${i} AS x FROM svc.c${i} ORDER BY id`;
    const hand = `SELECT v AS x FROM ${rows} ORDER BY id`;
    await both(all, hand);
    // the cast of inet to text is not the output of the value
    const cast = c[0] === 'inet' ? table(i) : rows;
    await both(`SELECT v${i}::text AS x FROM svc.c${i} ORDER BY id`, `SELECT v::text AS x FROM ${cast} ORDER BY id`);
    await both(
      `SELECT v${i} AS x, COUNT(*) AS n FROM svc.c${i} GROUP BY v${i} ORDER BY v${i}`,
      `SELECT v AS x, count(*) AS n FROM ${rows} GROUP BY v ORDER BY v`,
    );
    const outputs = (await s.database.exec(`SELECT DISTINCT v::text AS v FROM ${rows} WHERE v IS NOT NULL`)).map((r) => String(r.v));
    for (const value of property === 'string' ? outputs : written) {
      const found = await byHand(`SELECT id FROM ${rows} WHERE v = ${literal(value)} ORDER BY id`);
      expect([value, await lines(`SELECT id FROM svc.c${i} WHERE v${i} = ${literal(value)} ORDER BY id`)]).toEqual([value, found]);
      expect(found.length).toBeGreaterThan(0);
    }
    if (!['boolean', 'uuid', 'json'].includes(property)) {
      await both(`SELECT min(v${i}) AS a, max(v${i}) AS b FROM svc.c${i}`, `SELECT min(v) AS a, max(v) AS b FROM ${rows}`);
    }
    const json = await answer(all, 'application/json');
    expect(json.slice(json.indexOf('['), json.lastIndexOf(']') + 1).replaceAll('\n', '')).toBe(`[${(await byHand(hand)).join(',')}]`);
    const csv = fields(await answer(all, 'text/csv')).slice(1);
    const expected = (await s.database.exec(`SELECT to_json(v) #>> '{}' AS x FROM ${rows} ORDER BY id`)).map((r) => r.x);
    const read = (value: unknown): unknown => (property === 'json' && /^[[{]/.test(String(value)) ? JSON.parse(String(value)) : value);
    expect(csv.map(read)).toEqual(expected.map(read));
  });

  it('a cast of an inet to text is that of the column, also along paths and through sub-queries', async () => {
    await s.rows(
      `CREATE CONCEPT net (host_address string, PRIMARY KEY (host_address), CONSTRAINT of_host FOREIGN KEY (host_address) REFERENCES net (host_address));
       CREATE MAPPING m_net INTO (net) AS SELECT address AS host_address FROM base.host;
       CREATE ONTOLOGY VIEW nets AS SELECT host_address AS seen FROM svc.net`,
      'base',
    );
    const expected = [{ x: '10.0.0.1/32' }, { x: '10.0.0.2/24' }];
    for (const sql of [
      'SELECT host_address::text AS x FROM svc.net ORDER BY 1',
      'SELECT CAST(n.host_address AS varchar) AS x FROM svc.net AS n ORDER BY 1',
      'SELECT "of_host[net].host_address"::text AS x FROM dsvc.net ORDER BY 1',
      'SELECT seen::text AS x FROM vsvc.nets ORDER BY 1',
      "SELECT h::text AS x FROM (SELECT host_address AS h FROM svc.net) AS n WHERE h::text LIKE '%/%' ORDER BY 1",
    ])
      expect([sql, await s.rows(sql, 'base')]).toEqual([sql, expected]);
    expect(
      await s.rows("SELECT host_address::text, host_address::text::varchar(4) AS part FROM svc.net WHERE host_address::text = '10.0.0.1/32'", 'base'),
    ).toEqual([{ host_address: '10.0.0.1/32', part: '10.0' }]);
    expect(await s.rows("SELECT host_address || '' AS x FROM svc.net ORDER BY 1", 'base')).toEqual([{ x: '10.0.0.1' }, { x: '10.0.0.2/24' }]);
  });

  it('inet is the same text in keys, links and multi-valued properties', async () => {
    await s.rows(
      `CREATE CONCEPT host (address string, CONSTRAINT alias MULTIVALUE string, PRIMARY KEY (address), CONSTRAINT peer MULTIREFERENCE host INVERSEOF peer_of);
       CREATE MAPPING m_host INTO (host) AS SELECT address FROM base.host;
       CREATE MAPPING m_alias INTO (host) MULTIVALUE alias AS SELECT address, alias FROM base.alias;
       CREATE MAPPING m_peer (CONSTRAINT peer FOREIGN KEY (a) REFERENCES host (address), CONSTRAINT peer_of FOREIGN KEY (b) REFERENCES host (address)) AS SELECT a, b FROM base.peer`,
      'base',
    );
    expect(await s.rows('SELECT entity_id, address, alias, "peer_of[host].address" AS p FROM dsvc.host WHERE entity_id = \'host:10.0.0.1\'', 'base')).toEqual([
      { entity_id: 'host:10.0.0.1', address: '10.0.0.1', alias: '::1', p: '10.0.0.2/24' },
    ]);
  });
});
