/** Stored texts and mappings that fail on a value which their reader may not query: PostgreSQL quotes it, and the answer does not. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startService, type TestService } from '../support/service.ts';

const TABLES = [
  'CREATE SCHEMA quoted',
  'CREATE TABLE quoted.worker (id bigint PRIMARY KEY, name text, pay text, code text)',
  "INSERT INTO quoted.worker VALUES (2, 'Bob', '7000', '12'), (3, 'Cid', 'secret77', 'hush55')",
  'CREATE TABLE quoted.own (id bigint PRIMARY KEY, name text)',
  "INSERT INTO quoted.own VALUES (4, 'Dan')",
];
const MODEL = `CREATE ONTOLOGY quoted;
  CREATE PROPERTY code_no integer AS SELECT code::integer;
  CREATE MEASURE code_top bigint AS SELECT MAX(code);
  CREATE CONCEPT person (id bigint, name string, PRIMARY KEY (id));
  CREATE CONCEPT worker (pay bigint, code string, code_no integer, code_top MEASURE bigint) INHERITS (person);
  CREATE CONCEPT own INHERITS (person);
  CREATE CONCEPT computed (id bigint, k bigint, PRIMARY KEY (id));
  CREATE CONCEPT rich INHERITS (person) FROM dsvc.person WHERE pay > 6000;
  CREATE CONCEPT coded INHERITS (person) FROM dsvc.worker WHERE code::integer > 3;
  CREATE CONCEPT numbered INHERITS (person) FROM dsvc.person WHERE code_no > 3;
  CREATE MAPPING m_worker INTO (worker) AS SELECT id, name, pay, code FROM quoted.worker;
  CREATE MAPPING m_own INTO (own) AS SELECT id, name FROM quoted.own;
  CREATE MAPPING m_computed INTO (computed) AS SELECT id, code::integer AS k FROM quoted.worker;
  CREATE ONTOLOGY VIEW v1 AS SELECT name FROM svc.worker WHERE code::integer > 3;
  CREATE ONTOLOGY VIEW v2 AS SELECT name FROM svc.worker WHERE pay > 3;
  CREATE ONTOLOGY VIEW v3 AS SELECT name, code_no AS k FROM svc.worker;
  CREATE ONTOLOGY VIEW v4 AS SELECT name FROM quoted.worker WHERE code::integer > 3;
  CREATE ONTOLOGY VIEW v5 AS SELECT name, code::integer AS k FROM quoted.worker;
  CREATE ONTOLOGY VIEW v6 AS SELECT SUM("measure.code_top") AS k FROM dsvc.worker;
  CREATE ONTOLOGY CUBE c1 AS SELECT name, COUNT(id) AS n FROM svc.worker WHERE code::integer > 3;
  CREATE ONTOLOGY CUBE c2 AS SELECT name, SUM(code::integer) AS n FROM svc.worker;
  CREATE ONTOLOGY CUBE c3 AS SELECT name, SUM(pay) AS n FROM svc.worker;
  CREATE ONTOLOGY CUBE c4 AS SELECT name, "measure.code_top" AS n FROM dsvc.worker`;

let s: TestService;
let reader: string;
let owner: string;
beforeAll(async () => {
  s = await startService({ tables: TABLES });
  await s.rows(MODEL);
  const concepts = ['rich', 'coded', 'numbered', 'own', 'person', 'computed'].map((c) => `QUERY ON ontology.quoted.concept.${c}`);
  reader = await s.user(
    'reader',
    ...concepts,
    ...['v1', 'v2', 'v3', 'v4', 'v5', 'v6', 'c1', 'c2', 'c3', 'c4'].map((v) => `QUERY ON ontology.quoted.view.${v}`),
  );
  owner = await s.user('owner', 'QUERY ON ontology.quoted.concept.worker', 'QUERY ON ontology.quoted.concept.person');
});
afterAll(() => s?.close());

const FAILS = '400 {"status":"error","data":"invalid text representation","code":"invalid_text_representation"';

describe('a reader who may not query the values', () => {
  it.each([
    'SELECT name FROM svc.rich',
    'SELECT name FROM svc.coded',
    'SELECT name FROM svc.numbered',
    'SELECT "_type_of_rich" AS x FROM dsvc.person',
    'SELECT "_type_of_coded" AS x FROM dsvc.person',
    'SELECT COUNT(*) AS n FROM dsvc.person WHERE "_type_of_numbered"',
    'SELECT k FROM svc.computed',
    'SELECT * FROM vsvc.v1',
    'SELECT * FROM vsvc.v2',
    'SELECT * FROM vsvc.v3',
    'SELECT * FROM vsvc.v4',
    'SELECT * FROM vsvc.v5',
    'SELECT * FROM vsvc.v6',
    'SELECT * FROM vsvc.c1',
    'SELECT * FROM vsvc.c2',
    'SELECT * FROM vsvc.c3',
    'SELECT * FROM vsvc.c4',
  ])('%s', async (statement) => {
    const { status, text } = await s.query(statement, 'quoted', reader);
    expect(`${status} ${text}`).toContain(FAILS);
  });
});

describe('a reader who may query the values sees which one fails', () => {
  it.each([
    ['SELECT pay FROM svc.worker', 'secret77'],
    ['SELECT code::integer AS k FROM svc.worker', 'hush55'],
    ['SELECT pay FROM dsvc.person', 'secret77'],
  ])('%s', async (statement, value) => {
    expect((await s.query(statement, 'quoted', owner)).text).toContain(value);
  });
});
