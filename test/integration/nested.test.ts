/** Nested results through the whole service: which columns nest, limits that count root objects, formats and async answers. */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { generated } from '../support/generated.ts';
import { startService, type TestService } from '../support/service.ts';
import { MODEL, TABLES } from '../unit/planner/corpus/model.ts';

const MORE_TABLES = [
  'CREATE TABLE shop.t_tag (no bigint, tag text)',
  "INSERT INTO shop.t_tag VALUES (1, 'new'), (1, 'eu'), (2, 'eu')",
  'CREATE TABLE shop.t_visit (town_no bigint)',
  'INSERT INTO shop.t_visit VALUES (1), (1), (2)',
];
const MORE_MODEL = `
CREATE PROPERTY label MULTIVALUE string WITH TAGS (format = 'uppercase');
CREATE OR REPLACE CONCEPT customer (
  customer_id bigint, first_name string, last_name string, email string, birth_date date, city_id bigint, segment string, vip boolean,
  credit_limit double, attributes json,
  PRIMARY KEY (customer_id), LABEL (first_name, last_name), CONSTRAINT label MULTIVALUE string,
  CONSTRAINT lives_in FOREIGN KEY (city_id) REFERENCES city (city_id) INVERSEOF has_resident,
  CONSTRAINT knows MULTIREFERENCE customer INVERSEOF known_by TRANSITIVE);
CREATE MAPPING map_tag INTO customer MULTIVALUE label AS SELECT no AS customer_id, tag AS label FROM shop.t_tag;
CREATE CONCEPT visit (city_id bigint, CONSTRAINT went_to FOREIGN KEY (city_id) REFERENCES city (city_id));
CREATE MAPPING map_visit INTO visit AS SELECT town_no AS city_id FROM shop.t_visit;
CREATE VIEW orders_of AS SELECT entity_id, first_name AS name, \`placed[order].order_no\`, \`placed[order].has_line[line].line_no\`, label FROM dsvc.customer;
CREATE VIEW raw_orders USING main AS SELECT 'c:' || c.no AS entity_id, c.fname, o.ord AS "placed[order].no", o.state AS "placed[order]_state" FROM shop.t_client c LEFT JOIN shop.t_order o ON o.client = c.no;
ALTER PROPERTY birth_date UPDATE TAG format = 'date:DD.MM.YYYY';
`;

let service: TestService;
beforeAll(async () => {
  service = await startService();
  for (const sql of [...TABLES, ...MORE_TABLES]) await service.database.exec(sql);
  await service.rows(`CREATE ONTOLOGY shop; ${MODEL} ${MORE_MODEL}`);
});
afterAll(() => service.close());

type Headers = Readonly<Record<string, string>>;
const NESTED: Headers = { nested: 'true' };

async function send(path: string, headers: Headers, body?: string): Promise<{ status: number; text: string; type: string | null }> {
  const response = await service.fetch(path, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { 'x-api-key': service.token, ...headers },
    ...(body === undefined ? {} : { body }),
  });
  return { status: response.status, text: await response.text(), type: response.headers.get('content-type') };
}
const query = (sql: string, headers: Headers = NESTED) =>
  send('/svc/api/query', { 'content-type': 'application/json', ...headers }, JSON.stringify({ ontology_name: 'shop', query: sql }));
type Thing = Record<string, unknown>;
async function rows(sql: string, headers: Headers = NESTED): Promise<Thing[]> {
  const { status, text } = await query(sql, headers);
  if (status !== 200) throw new Error(`${status} ${text} for ${sql}`);
  return JSON.parse(text).data;
}

describe('nested rows', () => {
  it.each<[string, string, Thing[]]>([
    [
      'a derived table, by the names of its columns',
      'SELECT * FROM (SELECT entity_id, "placed[order].order_no" FROM dsvc.customer WHERE customer_id = 2) q',
      [{ entity_id: 'customer:2', 'placed[order]': [{ order_no: 102 }] }],
    ],
    [
      'a common table expression',
      'WITH t AS (SELECT entity_id AS entity_id, "placed[order].order_no", label FROM dsvc.customer WHERE customer_id = 2) SELECT * FROM t',
      [{ entity_id: 'customer:2', 'placed[order]': [{ order_no: 102 }], label: ['eu'] }],
    ],
    [
      'a view',
      "SELECT * FROM vsvc.orders_of WHERE name = 'Bo'",
      [{ entity_id: 'customer:2', name: 'Bo', 'placed[order]': [{ order_no: 102, 'has_line[line]': [{ line_no: 1 }] }], label: ['eu'] }],
    ],
    [
      'a view on raw tables, by the names that it gives',
      "SELECT * FROM vsvc.raw_orders WHERE fname = 'Bo'",
      [{ entity_id: 'c:2', fname: 'Bo', 'placed[order]': [{ no: 102, state: 'shipped' }] }],
    ],
    [
      'a union of the same columns',
      'SELECT entity_id, "placed[order].order_no" FROM dsvc.customer WHERE customer_id = 2 UNION ALL SELECT entity_id, "placed[order].order_no" FROM dsvc.customer WHERE customer_id = 3',
      [
        { entity_id: 'customer:2', 'placed[order]': [{ order_no: 102 }] },
        { entity_id: 'customer:3', 'placed[order]': [] },
      ],
    ],
    [
      'no union of different columns',
      'SELECT entity_id, "placed[order].order_no" FROM dsvc.customer WHERE customer_id = 2 UNION ALL SELECT entity_id, customer_id FROM dsvc.customer WHERE customer_id = 3',
      [
        { entity_id: 'customer:2', 'placed[order].order_no': 102 },
        { entity_id: 'customer:3', 'placed[order].order_no': 3 },
      ],
    ],
    [
      'the paths of the relation whose entity_id is selected, in a join',
      'SELECT c.entity_id, c."placed[order].order_no", o."placed_by[customer].first_name" FROM dsvc.customer c JOIN dsvc."order" o ON o.order_no = 100 WHERE c.customer_id = 2',
      [{ entity_id: 'customer:2', 'placed_by[customer].first_name': 'Ann', 'placed[order]': [{ order_no: 102 }] }],
    ],
    [
      'entity_id under an alias',
      'SELECT entity_id AS id, "placed[order].order_no" FROM dsvc.customer WHERE customer_id = 2',
      [{ id: 'customer:2', 'placed[order]': [{ order_no: 102 }] }],
    ],
    [
      'not what is merely called so',
      'SELECT \'x\' AS entity_id, "placed[order].order_no" FROM dsvc.customer WHERE customer_id = 2',
      [{ entity_id: 'x', 'placed[order].order_no': 102 }],
    ],
    [
      'a multi-value property under an alias',
      'SELECT entity_id, label AS l FROM dsvc.customer WHERE customer_id = 1 ORDER BY l',
      [{ entity_id: 'customer:1', l: ['eu', 'new'] }],
    ],
    [
      'a multi-valued property after a path',
      'SELECT entity_id, "placed_by[customer].label" FROM dsvc."order" WHERE order_no = 102',
      [{ entity_id: 'order:102', 'placed_by[customer]': [{ label: ['eu'] }] }],
    ],
    [
      'a wildcard',
      'SELECT entity_id, "lives_in[city].*" FROM dsvc.customer WHERE customer_id = 2',
      [
        {
          entity_id: 'customer:2',
          'lives_in[city]': [{ entity_id: 'city:2', entity_type: 'city', entity_label: 'Gent', city_id: 2, name: 'Gent', population: 260000 }],
        },
      ],
    ],
    [
      'a walk with its length',
      'SELECT entity_id, "knows[customer*2].first_name", "knows[customer*2]_transitivity_level" FROM dsvc.customer WHERE customer_id = 1 ORDER BY 3',
      [
        {
          entity_id: 'customer:1',
          'knows[customer*2]': [
            { first_name: 'Bo', transitivity_level: 1 },
            { first_name: 'Cy', transitivity_level: 2 },
          ],
        },
      ],
    ],
    [
      'a link column called by itself',
      'SELECT entity_id, "knows[customer]_since" FROM dsvc.customer WHERE customer_id = 1',
      [{ entity_id: 'customer:1', 'knows[customer]': [{ since: '2020-01-01' }] }],
    ],
    [
      'an inverse',
      'SELECT entity_id, "~placed_by[order].order_no" FROM dsvc.customer WHERE customer_id = 2',
      [{ entity_id: 'customer:2', '~placed_by[order]': [{ order_no: 102 }] }],
    ],
    [
      'DISTINCT and groups',
      'SELECT entity_id, "placed[order].status", COUNT(*) AS n FROM dsvc.customer WHERE customer_id = 1 GROUP BY 1, 2 ORDER BY 2',
      [{ entity_id: 'customer:1', n: 1, 'placed[order]': [{ status: 'open' }, { status: 'shipped' }] }],
    ],
  ])('%s', async (_, sql, expected) => expect(await rows(sql)).toEqual(expected));

  it('names and values have the format mode, with further headers', async () => {
    const headers = { ...NESTED, 'api-nested-format-properties': 'true', 'api-nested-minimize-relationships': 'true' };
    expect(
      await rows('SELECT entity_id, birth_date AS "Born", vip, label, "placed[order].order_no" FROM dsvc.customer WHERE customer_id = 2', headers),
    ).toEqual([{ entity_id: 'customer:2', born: '01.12.1991', vip: 0, label: ['EU'], placed: [{ order_no: 102 }] }]);
    expect(
      await rows('SELECT entity_id, birth_date AS "Born", birth_date::text AS text, vip FROM svc.customer WHERE customer_id = 2', {
        'api-nested-format-properties': 'true',
      }),
    ).toEqual([{ entity_id: 'customer:2', Born: '01.12.1991', text: '1991-12-01', vip: false }]);
    // through a view too
    expect(await rows("SELECT label FROM vsvc.orders_of WHERE name = 'Bo'", { 'api-nested-format-properties': 'true' })).toEqual([{ label: 'EU' }]);
  });
});

describe('limits of nested rows', () => {
  it('count complete root objects, in any order of the rows', async () => {
    const columns = [
      'first_name',
      'segment',
      '"placed[order].order_no"',
      '"placed[order].has_line[line].line_no"',
      '"knows[customer].first_name"',
      'label',
      'attributes',
    ];
    const orders = ['', ' ORDER BY "placed[order].order_no" DESC NULLS FIRST', ' ORDER BY first_name DESC', ' ORDER BY "placed[order].status", label'];
    await fc.assert(
      fc.asyncProperty(
        fc.shuffledSubarray(columns, { minLength: 2 }),
        fc.constantFrom(...orders),
        fc.integer({ min: 1, max: 4 }),
        async (some, order, limit) => {
          const sql = `SELECT entity_id, ${some.join(', ')} FROM dsvc.customer${order}`;
          const all = await rows(sql);
          expect(await rows(sql, { ...NESTED, 'results-limit': String(limit) })).toEqual(all.slice(0, limit));
        },
      ),
      generated(40),
    );
  });

  it('count each root without an id separately', async () => {
    const sql = 'SELECT entity_id, "went_to[city].name" FROM dsvc.visit ORDER BY 2';
    const all = await rows(sql);
    expect(all).toHaveLength(3);
    for (const n of [1, 2, 3]) expect(await rows(sql, { ...NESTED, 'results-limit': String(n) })).toEqual(all.slice(0, n));
  });

  it('of filters count them too, and rows if nothing nests', async () => {
    const get = async (search: string, headers: Headers = NESTED, kind = 'concept/customer'): Promise<Thing[]> => {
      const { status, text } = await send(`/svc/api/q/shop/${kind}?${search}`, headers);
      if (status !== 200) throw new Error(text);
      return JSON.parse(text).data;
    };
    const filter = '_subj_=placed[order].order_no&_op_=not_null&_order_=-customer_id';
    const all = await get(filter);
    expect(all.map((r) => [r.entity_id, (r['placed[order]'] as Thing[]).length])).toEqual([
      ['customer:2', 1],
      ['customer:1', 2],
    ]);
    for (const [limit, offset] of [
      [1, 0],
      [1, 1],
      [5, 1],
      [0, 0],
      [1, 5],
    ] as const) {
      expect(await get(`${filter}&_limit_=${limit}&_offset_=${offset}`)).toEqual(all.slice(offset, offset + limit));
    }
    expect(await get(`${filter}&_offset_=1`)).toEqual(all.slice(1));
    expect(await get(`${filter}&_limit_=2`, { ...NESTED, 'results-limit': '1' })).toEqual(all.slice(0, 1));
    expect((await get('_order_=customer_id&_limit_=1&_offset_=1')).map((r) => r.entity_id)).toEqual(['customer:2']);
    const view = await get('_subj_=name&_op_=eq&_comp_=Ann&_limit_=1', NESTED, 'view/orders_of');
    expect(view.map((r) => [r.name, (r['placed[order]'] as Thing[]).length, (r.label as string[]).length])).toEqual([['Ann', 2, 2]]);
  });

  it('show in executed_query, which counts rows', async () => {
    const { text } = await send('/svc/api/q/shop/concept/customer?_subj_=placed[order].order_no&_op_=not_null&_limit_=1&_offset_=1', NESTED);
    expect(JSON.parse(text).executed_query).toMatch(/ LIMIT 1 OFFSET 1$/);
  });

  it('apply only to the last statement', async () => {
    expect(await rows('SELECT entity_id, "placed[order].order_no" FROM dsvc.customer; SELECT 1 AS one', { ...NESTED, 'results-limit': '1' })).toEqual([
      { one: 1 },
    ]);
  });
});

describe('formats', () => {
  const SQL = 'SELECT entity_id, "placed[order].order_no" FROM dsvc.customer WHERE customer_id = 1 ORDER BY 2';
  it('CSV is flat even with the header nested', async () => {
    const { text, type } = await query(SQL, { ...NESTED, accept: 'text/csv', 'results-limit': '1' });
    expect([type, text]).toEqual(['text/csv; charset=utf-8; header=present', 'entity_id,placed[order].order_no\r\ncustomer:1,100\r\n']);
  });
  it('NDJSON has one object per line', async () => {
    const { text, type } = await query(SQL, { ...NESTED, accept: 'application/x-ndjson' });
    expect([type, text]).toEqual(['application/x-ndjson; charset=utf-8', '{"entity_id":"customer:1","placed[order]":[{"order_no":100},{"order_no":101}]}\n']);
  });
  it('rows of the service itself use them too', async () => {
    const { text } = await query('SHOW SCHEMAS', { accept: 'text/csv' });
    expect(text.split('\r\n').slice(0, 2)).toEqual(['schema', 'svc']);
  });
  it('an unsupported one is 406, before the statement runs', async () => {
    const { status, text } = await query('CREATE CONCEPT never (a string)', { accept: 'application/xml' });
    expect([status, JSON.parse(text).code]).toEqual([406, 'not_acceptable']);
    expect((await query('SELECT 1 FROM svc.never', {})).status).toBe(400);
    for (const path of ['/svc/api/q/shop/concept/customer', '/svc/api/q/shop/view/orders_of'])
      expect((await send(path, { accept: 'image/png' })).status).toBe(406);
    expect((await send('/svc/openapi/ontology/shop/query', { accept: 'image/png', 'content-type': 'text/plain' }, 'SELECT 1')).status).toBe(406);
  });
  it('answers without rows are always JSON', async () => {
    for (const path of ['/svc/api/get_ontologies', '/svc/api/get_ontology/shop'])
      expect((await send(path, { accept: 'text/csv' })).type).toMatch(/^application\/json/);
  });
  it('asynchronous answers are nested as well', async () => {
    const begun = await send('/svc/openapi/ontology/shop/query', { ...NESTED, 'x-async': 'true', 'content-type': 'text/plain' }, SQL);
    expect(begun.status).toBe(202);
    const { poll_url } = JSON.parse(begun.text);
    let last = '';
    for (let n = 0; n < 1500 && !last.includes('"completed"'); n++) {
      last = (await send(poll_url, {})).text;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    expect(JSON.parse(last).response).toEqual([{ entity_id: 'customer:1', 'placed[order]': [{ order_no: 100 }, { order_no: 101 }] }]);
  });
});
