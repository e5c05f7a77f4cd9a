import { describe, expect, it } from 'vitest';
import { SvcError } from '../../../src/errors.ts';
import { parseStatement } from '../../../src/language/classify.ts';
import { splitScript } from '../../../src/language/split.ts';
import type { Statement } from '../../../src/language/statements.ts';

/** The only statement of `text`; names and pieces of SQL only as their texts. */
function tree(text: string): unknown {
  const [source, ...more] = splitScript(text);
  expect(more).toEqual([]);
  if (source === undefined) throw new Error('no statement');
  const statement = parseStatement(source);
  checkOffsets(statement, text);
  return plain({ ...statement, source: undefined });
}

/** Each name and piece is in the text at its offset. */
function checkOffsets(node: unknown, text: string): void {
  if (typeof node !== 'object' || node === null) return;
  if ('text' in node && 'offset' in node) {
    const written = text.slice(node.offset as number).replace(/^(["`'])/, '');
    const expected = String(node.text)
      .replace(/^`|[("'`].*$/s, '')
      .trim();
    expect(written.slice(0, expected.length).toLowerCase()).toBe(expected.toLowerCase());
  }
  for (const value of Object.values(node)) checkOffsets(value, text);
}

function plain(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(plain);
  if (typeof node !== 'object' || node === null) return node;
  const entries = Object.entries(node).filter(([, value]) => value !== undefined);
  if (entries.length === 2 && 'text' in node && 'offset' in node) return node.text;
  return Object.fromEntries(entries.filter(([key]) => key !== 'offset').map(([key, value]) => [key, plain(value)]));
}

function fault(text: string): SvcError {
  try {
    for (const source of splitScript(text)) parseStatement(source);
  } catch (e) {
    if (e instanceof SvcError) return e;
    throw e;
  }
  throw new Error(`parsed: ${text}`);
}

const described = { description: null, tags: [] };
const CASES: [string, Record<string, unknown>][] = [
  ['CREATE ONTOLOGY store', { kind: 'create_ontology', replace: false, name: 'store', description: null }],
  ["create ontology `a b` description 'it''s'", { kind: 'create_ontology', replace: false, name: 'a b', description: "it's" }],
  ["CREATE ONTOLOGY view DESCRIPTION = 'v'", { kind: 'create_ontology', replace: false, name: 'view', description: 'v' }],
  ['CREATE ONTOLOGY VIEW', { kind: 'create_ontology', replace: false, name: 'VIEW', description: null }],
  ['DROP ONTOLOGY store', { kind: 'drop_ontology', name: 'store' }],
  ["ALTER ONTOLOGY store SET DESCRIPTION = 't'", { kind: 'alter_ontology', name: 'store', key: 'description', value: 't' }],
  ["ALTER ONTOLOGY store SET default_transitivity '5'", { kind: 'alter_ontology', name: 'store', key: 'default_transitivity', value: '5' }],
  ['ALTER ONTOLOGY store ADD DATASOURCE d', { kind: 'alter_ontology_datasource', name: 'store', action: 'add', lenient: false, datasource: 'd' }],
  ['ALTER ONTOLOGY store REMOVE DATASOURCE `d`', { kind: 'alter_ontology_datasource', name: 'store', action: 'remove', lenient: false, datasource: 'd' }],
  ['alter ontology store activate datasource d', { kind: 'alter_ontology_datasource', name: 'store', action: 'activate', lenient: false, datasource: 'd' }],
  ["ROLLBACK ONTOLOGY store TO VERSION '0b5a'", { kind: 'rollback', name: 'store', version: '0b5a' }],

  ['CREATE PROPERTY p string', { kind: 'create_property', replace: false, name: 'p', multi: false, type: 'string', ...described, expression: null }],
  [
    "CREATE OR REPLACE PROPERTY `multivalue` MULTIVALUE decimal ( 10 , 2 ) WITH TAGS (`pii` = 'true', format = 'number:2',) DESCRIPTION 'd' AS SELECT a || 'x' -- end",
    {
      kind: 'create_property',
      replace: true,
      name: 'multivalue',
      multi: true,
      type: 'decimal(10,2)',
      description: 'd',
      tags: [
        { key: 'pii', value: 'true' },
        { key: 'format', value: 'number:2' },
      ],
      expression: "a || 'x'",
    },
  ],
  [
    'CREATE PROPERTY description string',
    { kind: 'create_property', replace: false, name: 'description', multi: false, type: 'string', ...described, expression: null },
  ],
  [
    'CREATE MEASURE m bigint AS SELECT COUNT(k)',
    { kind: 'create_measure', replace: false, name: 'm', type: 'bigint', ...described, expression: 'COUNT(k)', filter: null },
  ],
  [
    "CREATE OR REPLACE MEASURE m decimal DESCRIPTION = 'd' AS SELECT SUM(a) FILTER (WHERE b) + MAX(CASE WHEN 'WHERE' = c THEN 1 END) WHERE status = 'where' AND (d OR e)",
    {
      kind: 'create_measure',
      replace: true,
      name: 'm',
      type: 'decimal',
      description: 'd',
      tags: [],
      expression: "SUM(a) FILTER (WHERE b) + MAX(CASE WHEN 'WHERE' = c THEN 1 END)",
      filter: "status = 'where' AND (d OR e)",
    },
  ],

  ['CREATE CONCEPT c', { kind: 'create_concept', replace: false, name: 'c', elements: [], parents: [], ...described, logic: null }],
  [
    'CREATE CONCEPT order (key bigint, name string, label string, primary date, constraint boolean, measure MEASURE double, constraint MEASURE double, inherits decimal(3), PRIMARY KEY (key,), LABEL (name, label),)',
    {
      kind: 'create_concept',
      replace: false,
      name: 'order',
      elements: [
        { kind: 'property', name: 'key', type: 'bigint' },
        { kind: 'property', name: 'name', type: 'string' },
        { kind: 'property', name: 'label', type: 'string' },
        { kind: 'property', name: 'primary', type: 'date' },
        { kind: 'property', name: 'constraint', type: 'boolean' },
        { kind: 'measure', name: 'measure', type: 'double' },
        { kind: 'measure', name: 'constraint', type: 'double' },
        { kind: 'property', name: 'inherits', type: 'decimal(3)' },
        { kind: 'primary_key', names: ['key'] },
        { kind: 'label', names: ['name', 'label'] },
      ],
      parents: [],
      ...described,
      logic: null,
    },
  ],
  [
    `CREATE OR REPLACE CONCEPT c (
       CONSTRAINT r FOREIGN KEY (a, "b") REFERENCES \`d\` (e, f) INVERSEOF \`~\`\`x\` TRANSITIVE(7) DESCRIPTION 'one',
       CONSTRAINT foreign FOREIGN KEY (a) REFERENCES d (e) DESCRIPTION = 'two' TRANSITIVE,
       CONSTRAINT measure MULTIREFERENCE c INVERSEOF s,
       CONSTRAINT near MULTIREFERENCE c INCLUDES (r, "~s t") SYMMETRIC,
       CONSTRAINT tags MULTIVALUE decimal(4,1)
     ) WITH TAGS (a = 'b') DESCRIPTION 'd' INHERITS (p, \`q r\`)`.replace('`~``x`', '`x``y`'),
    {
      kind: 'create_concept',
      replace: true,
      name: 'c',
      elements: [
        {
          kind: 'foreign_key',
          name: 'r',
          source: ['a', 'b'],
          target: 'd',
          references: ['e', 'f'],
          inverse: 'x`y',
          transitive: 7,
          symmetric: false,
          includes: [],
          description: 'one',
        },
        {
          kind: 'foreign_key',
          name: 'foreign',
          source: ['a'],
          target: 'd',
          references: ['e'],
          inverse: null,
          transitive: 'default',
          symmetric: false,
          includes: [],
          description: 'two',
        },
        { kind: 'multireference', name: 'measure', target: 'c', inverse: 's', transitive: null, symmetric: false, includes: [], description: null },
        { kind: 'multireference', name: 'near', target: 'c', inverse: null, transitive: null, symmetric: true, includes: ['r', '~s t'], description: null },
        { kind: 'multivalue', name: 'tags', type: 'decimal(4,1)' },
      ],
      parents: ['p', 'q r'],
      description: 'd',
      tags: [{ key: 'a', value: 'b' }],
      logic: null,
    },
  ],
  [
    "CREATE CONCEPT c INHERITS (p) FROM `svc`.`p` WHERE a > 5 AND b IN (SELECT 'x')",
    {
      kind: 'create_concept',
      replace: false,
      name: 'c',
      elements: [],
      parents: ['p'],
      ...described,
      logic: { schema: 'svc', concept: 'p', condition: "a > 5 AND b IN (SELECT 'x')" },
    },
  ],
  [
    'CREATE CONCEPT c FROM p WHERE true',
    { kind: 'create_concept', replace: false, name: 'c', elements: [], parents: [], ...described, logic: { schema: null, concept: 'p', condition: 'true' } },
  ],

  [
    'CREATE MAPPING m INTO c AS SELECT a FROM t',
    { kind: 'create_mapping', replace: false, name: 'm', target: { kind: 'concept', concept: 'c' }, datasource: null, sql: 'SELECT a FROM t' },
  ],
  [
    'CREATE OR REPLACE MAPPING m INTO (c,) USING d WITHOUT PARSING AS WITH x AS (SELECT 1) SELECT * FROM x',
    {
      kind: 'create_mapping',
      replace: true,
      name: 'm',
      target: { kind: 'concept', concept: 'c' },
      datasource: 'd',
      sql: 'WITH x AS (SELECT 1) SELECT * FROM x',
    },
  ],
  [
    'CREATE MAPPING m INTO (c) WITHOUT PARSING MULTIVALUE p USING d AS (SELECT 1)',
    { kind: 'create_mapping', replace: false, name: 'm', target: { kind: 'multi', concept: 'c', property: 'p' }, datasource: 'd', sql: '(SELECT 1)' },
  ],
  [
    'CREATE MAPPING m (CONSTRAINT r FOREIGN KEY (x, "[y]") REFERENCES c (a, b), CONSTRAINT `~r` FOREIGN KEY (z) REFERENCES d (e),) USING d WITHOUT PARSING AS SELECT 1 -- c',
    {
      kind: 'create_mapping',
      replace: false,
      name: 'm',
      target: {
        kind: 'link',
        constraints: [
          { relationship: 'r', columns: ['x', '[y]'], concept: 'c', references: ['a', 'b'] },
          { relationship: '~r', columns: ['z'], concept: 'd', references: ['e'] },
        ],
      },
      datasource: 'd',
      sql: 'SELECT 1',
    },
  ],

  ['CREATE VIEW v AS SELECT 1', { kind: 'create_view', replace: false, name: 'v', cube: false, datasource: null, ...described, sql: 'SELECT 1' }],
  [
    'CREATE ONTOLOGY VIEW description AS SELECT 1',
    { kind: 'create_view', replace: false, name: 'description', cube: false, datasource: null, ...described, sql: 'SELECT 1' },
  ],
  [
    "CREATE OR REPLACE ONTOLOGY CUBE v DESCRIPTION 'd' USING main WITH TAGS (a='b') AS VALUES (1)",
    { kind: 'create_view', replace: true, name: 'v', cube: true, datasource: 'main', description: 'd', tags: [{ key: 'a', value: 'b' }], sql: 'VALUES (1)' },
  ],
  ['CREATE ONTOLOGY CUBE v AS SELECT 1', { kind: 'create_view', replace: false, name: 'v', cube: true, datasource: null, ...described, sql: 'SELECT 1' }],
  [
    'CREATE OR REPLACE VIEW v AS TABLE vsvc.w',
    { kind: 'create_view', replace: true, name: 'v', cube: false, datasource: null, ...described, sql: 'TABLE vsvc.w' },
  ],

  ["ALTER CONCEPT c UPDATE TAG k = 'v'", { kind: 'alter_tag', object: 'concept', name: 'c', action: 'update', key: 'k', value: 'v' }],
  ['ALTER PROPERTY `p` REMOVE TAG `k`', { kind: 'alter_tag', object: 'property', name: 'p', action: 'remove', key: 'k', value: null }],
  ["ALTER VIEW v UPDATE TAG k 'v'", { kind: 'alter_tag', object: 'view', name: 'v', action: 'update', key: 'k', value: 'v' }],
  ...(['concept', 'property', 'measure', 'mapping', 'view', 'cube'] as const).map((object): [string, Record<string, unknown>] => [
    `DROP ${object.toUpperCase()} \`a b\``,
    { kind: 'drop', object, name: 'a b' },
  ]),

  [
    "CREATE DATASOURCE d TYPE postgres SECRET 'DATASOURCE_D'",
    { kind: 'create_datasource', replace: false, name: 'd', type: 'postgres', secret: 'DATASOURCE_D', options: [] },
  ],
  [
    "CREATE OR REPLACE DATASOURCE d TYPE postgres SECRET 'DATASOURCE_D' OPTIONS (a = 'b')",
    { kind: 'create_datasource', replace: true, name: 'd', type: 'postgres', secret: 'DATASOURCE_D', options: [{ key: 'a', value: 'b' }] },
  ],
  ['DROP DATASOURCE d', { kind: 'drop_datasource', name: 'd' }],
  [
    "CREATE AGENT a ONTOLOGY (n, m) DESCRIPTION = 'd' OPTIONS (retries = '1')",
    { kind: 'create_agent', replace: false, name: 'a', ontologies: ['n', 'm'], description: 'd', options: [{ key: 'retries', value: '1' }] },
  ],
  ['DROP AGENT a', { kind: 'drop_agent', name: 'a' }],
  [
    "CREATE EXAMPLE 'How many are there?' AS SELECT count(*) AS n FROM svc.c -- all",
    { kind: 'create_example', replace: false, question: 'How many are there?', description: null, sql: 'SELECT count(*) AS n FROM svc.c' },
  ],
  [
    "create or replace example 'What''s ''new''; and old?' description = 'since; 2020' as (WITH a AS (SELECT 1) SELECT ';' FROM a)",
    {
      kind: 'create_example',
      replace: true,
      question: "What's 'new'; and old?",
      description: 'since; 2020',
      sql: "(WITH a AS (SELECT 1) SELECT ';' FROM a)",
    },
  ],
  ["DROP EXAMPLE 'Wo liegt Köln?'", { kind: 'drop_example', question: 'Wo liegt Köln?' }],
  ["SHOW CREATE EXAMPLE 'Why; so?'", { kind: 'show', words: ['CREATE', 'EXAMPLE', 'Why; so?'] }],

  ['CREATE USER ann', { kind: 'create_user', replace: false, name: 'ann', password: null, options: [] }],
  [
    "CREATE USER `t/ann@x.org` PASSWORD 'p;w' OPTIONS (email='a@x.org', tenant='t')",
    {
      kind: 'create_user',
      replace: false,
      name: 't/ann@x.org',
      password: 'p;w',
      options: [
        { key: 'email', value: 'a@x.org' },
        { key: 'tenant', value: 't' },
      ],
    },
  ],
  ['CREATE TOKEN FOR ann', { kind: 'create_token', user: 'ann', label: null, expires: null }],
  ["CREATE TOKEN FOR ann LABEL 'my script' EXPIRES '2030-01-01'", { kind: 'create_token', user: 'ann', label: 'my script', expires: '2030-01-01' }],
  ["CREATE TOKEN FOR ann EXPIRES '2030-01-01'", { kind: 'create_token', user: 'ann', label: null, expires: '2030-01-01' }],
  ["revoke token 'a-b'", { kind: 'revoke_token', id: 'a-b' }],
  [
    'GRANT QUERY ON ALL ontology.store TO USER ann',
    { kind: 'grant', privilege: 'query', all: true, resource: ['ontology', 'store'], grantee: { kind: 'user', name: 'ann' }, grantOption: false },
  ],
  [
    'grant edit on Ontology."a.b".concept.`c d` to role r with grant option',
    { kind: 'grant', privilege: 'edit', all: false, resource: ['Ontology', 'a.b', 'concept', 'c d'], grantee: { kind: 'role', name: 'r' }, grantOption: true },
  ],
  [
    'REVOKE QUERY ON ALL ontology.store FROM ROLE r',
    { kind: 'revoke', privilege: 'query', all: true, resource: ['ontology', 'store'], grantee: { kind: 'role', name: 'r' } },
  ],
  [
    'GRANT AUTH ON user.`a b` TO USER ann',
    { kind: 'grant', privilege: 'auth', all: false, resource: ['user', 'a b'], grantee: { kind: 'user', name: 'ann' }, grantOption: false },
  ],
  ['REVOKE AUTH ON user.b FROM USER ann', { kind: 'revoke', privilege: 'auth', all: false, resource: ['user', 'b'], grantee: { kind: 'user', name: 'ann' } }],
  ['GRANT ROLE r TO USER ann', { kind: 'grant_role', role: 'r', user: 'ann' }],
  ['REVOKE ROLE `role` FROM USER ann', { kind: 'revoke_role', role: 'role', user: 'ann' }],
  ["ALTER USER ann SET PASSWORD = 'p;w'", { kind: 'alter_user', name: 'ann', setting: 'password', value: 'p;w' }],
  ["alter user ann set active 'false'", { kind: 'alter_user', name: 'ann', setting: 'active', value: 'false' }],
  ['DROP USER ann', { kind: 'drop_user', name: 'ann' }],
  ['CREATE OR REPLACE ROLE r', { kind: 'create_role', replace: true, name: 'r' }],
  ['CREATE ROLE IF NOT EXISTS r', { kind: 'create_role', ifNotExists: true, replace: false, name: 'r' }],
  ['CREATE ROLE if', { kind: 'create_role', replace: false, name: 'if' }],
  ['CREATE ONTOLOGY IF NOT EXISTS store', { kind: 'create_ontology', ifNotExists: true, replace: false, name: 'store', description: null }],
  ["CREATE ONTOLOGY store IF NOT EXISTS DESCRIPTION 'd'", { kind: 'create_ontology', ifNotExists: true, replace: false, name: 'store', description: 'd' }],
  ['CREATE OR REPLACE ONTOLOGY store', { kind: 'create_ontology', replace: true, name: 'store', description: null }],
  ['ALTER ONTOLOGY store ADD DATASOURCE IF NOT EXISTS d', { kind: 'alter_ontology_datasource', name: 'store', action: 'add', lenient: true, datasource: 'd' }],
  [
    'ALTER ONTOLOGY store REMOVE DATASOURCE IF EXISTS d',
    { kind: 'alter_ontology_datasource', name: 'store', action: 'remove', lenient: true, datasource: 'd' },
  ],
  ['ALTER ONTOLOGY store ADD DATASOURCE if', { kind: 'alter_ontology_datasource', name: 'store', action: 'add', lenient: false, datasource: 'if' }],
  ['CREATE ROLE r', { kind: 'create_role', replace: false, name: 'r' }],
  ['DROP ROLE r', { kind: 'drop_role', name: 'r' }],
  ['REFRESH PERMISSIONS', { kind: 'refresh_permissions' }],
  [
    "CREATE POLICY p ON CONCEPT c TO PUBLIC USING ((a = ')') OR b)",
    { kind: 'create_policy', replace: false, name: 'p', rule: { kind: 'row', concept: 'c', to: null, condition: "(a = ')') OR b" } },
  ],
  [
    'CREATE OR REPLACE POLICY p ON CONCEPT c TO ROLE r USING (true)',
    { kind: 'create_policy', replace: true, name: 'p', rule: { kind: 'row', concept: 'c', to: { kind: 'role', name: 'r' }, condition: 'true' } },
  ],
  [
    "CREATE POLICY p ON PROPERTY a OF CONCEPT c MASK PARTIAL(2, '*', 0) EXCEPT ROLE r, USER `u v`",
    {
      kind: 'create_policy',
      replace: false,
      name: 'p',
      rule: {
        kind: 'mask',
        property: 'a',
        concept: 'c',
        mask: { kind: 'partial', first: 2, filler: '*', last: 0 },
        except: [
          { kind: 'role', name: 'r' },
          { kind: 'user', name: 'u v' },
        ],
      },
    },
  ],
  [
    'CREATE POLICY p ON PROPERTY a MASK WITH (left(a, 2))',
    {
      kind: 'create_policy',
      replace: false,
      name: 'p',
      rule: { kind: 'mask', property: 'a', concept: null, mask: { kind: 'with', expression: 'left(a, 2)' }, except: [] },
    },
  ],
  ['DROP POLICY p', { kind: 'drop_policy', name: 'p' }],

  ...['SELECT 1', '(SELECT 1)', 'with a as (select 1) select * from a', 'VALUES (1)', 'TABLE svc.c', '/* x */ SELECT 1'].map(
    (text): [string, Record<string, unknown>] => [text, { kind: 'select' }],
  ),
  ['SHOW CREATE CONCEPT `a b`', { kind: 'show', words: ['CREATE', 'CONCEPT', 'a b'] }],
  ['SHOW TABLES IN store', { kind: 'show', words: ['TABLES', 'IN', 'store'] }],
  ['SHOW COLUMNS FROM dsvc.city', { kind: 'show', words: ['COLUMNS', 'FROM', 'dsvc', '.city'] }],
  ['DESC svc.c', { kind: 'describe', concept: false, schema: 'svc', name: 'c', options: [] }],
  ['DESCRIBE `c`', { kind: 'describe', concept: false, schema: null, name: 'c', options: [] }],
  [
    "DESCRIBE CONCEPT dsvc.c OPTIONS (graph_depth='2')",
    { kind: 'describe', concept: true, schema: 'dsvc', name: 'c', options: [{ key: 'graph_depth', value: '2' }] },
  ],
  ['DESC concept.c', { kind: 'describe', concept: false, schema: 'concept', name: 'c', options: [] }],
  ['DESC concept', { kind: 'describe', concept: false, schema: null, name: 'concept', options: [] }],
  ['EXPLAIN SELECT 1 -- x', { kind: 'explain', logical: false, query: 'SELECT 1' }],
  ['EXPLAIN (LOGICAL) SELECT 1', { kind: 'explain', logical: true, query: 'SELECT 1' }],
  ['EXPLAIN (SELECT 1)', { kind: 'explain', logical: false, query: '(SELECT 1)' }],
];

describe('parseStatement', () => {
  it.each(CASES)('%s', (text, expected) => {
    expect(tree(text)).toEqual(expected);
    // the same after other statements and in other case
    expect(tree(`-- first\n${text}\n;`)).toEqual(expected);
  });

  it('returns offsets into the whole text', () => {
    const text = "SELECT '🜁;'; CREATE CONCEPT c (x bigint) INHERITS (`p`)";
    const statement = splitScript(text).map(parseStatement)[1] as Extract<Statement, { kind: 'create_concept' }>;
    expect(statement.source).toEqual({ text: text.slice(text.indexOf('CREATE')), offset: text.indexOf('CREATE') });
    expect(statement.name.offset).toBe(text.indexOf('c (x'));
    expect(statement.parents[0]?.offset).toBe(text.indexOf('`p`'));
  });

  it('accepts texts in all their forms', () => {
    for (const text of ["'a'", "E'\\x61'", '$$a$$', "U&'\\0061'"]) {
      expect(tree(`CREATE ONTOLOGY o DESCRIPTION ${text}`)).toMatchObject({ description: 'a' });
    }
  });
});

describe('errors', () => {
  // «the text» at the position of the error
  it.each([
    ['«CREAT» CONCEPT c (x bigint)', 'unknown_statement', 'unknown statement `CREAT`; did you mean `CREATE`?'],
    ['«SELEC» 1', 'unknown_statement', 'unknown statement `SELEC`; did you mean `SELECT`?'],
    ['«INSERT» INTO t VALUES (1)', 'unknown_statement', 'unknown statement `INSERT`'],
    ['SELECT 1; «SET» x = 1', 'unknown_statement', 'unknown statement `SET`'],
    ['«COPY» t FROM STDIN', 'unknown_statement', 'unknown statement `COPY`'],
    ['«DO» $$ $$', 'unknown_statement', 'unknown statement `DO`'],
    ['«BEGIN»', 'unknown_statement', 'unknown statement `BEGIN`'],
    ["«'x'»", 'unknown_statement', "unknown statement `'x'`"],
    ['«toString»', 'unknown_statement', 'unknown statement `toString`'],
    ['CREATE «TABLE» t (x int)', 'unknown_statement', 'unknown statement `CREATE TABLE`'],
    ['CREATE «CONCPET» c', 'unknown_statement', 'unknown statement `CREATE CONCPET`; did you mean `CREATE CONCEPT`?'],
    ['CREATE OR REPLACE «TOKEN» c', 'unknown_statement', 'unknown statement `CREATE OR REPLACE TOKEN`'],
    ['DROP «TABLE» t', 'unknown_statement', 'unknown statement `DROP TABLE`'],
    ['ROLLBACK«»', 'unknown_statement', 'unknown statement `ROLLBACK`'],
    ['EXPLAIN «ANALYZE» SELECT 1', 'unknown_statement', 'EXPLAIN takes a SELECT'],
    ['EXPLAIN«»', 'syntax_error', 'expected `SELECT`, found the end of the statement'],
    ['CREATE OR «REPLAC» CONCEPT c', 'syntax_error', 'expected `REPLACE`, found `REPLAC`; did you mean `REPLACE`?'],
    ['CREATE CONCEPT«»', 'syntax_error', 'expected the name of the concept, found the end of the statement'],
    ["CREATE CONCEPT «'c'»", 'syntax_error', "expected the name of the concept, found `'c'`"],
    ['CREATE CONCEPT c (x bigint, PRIMARY KEY (x) «INHERITS» (thing)', 'syntax_error', 'expected `)` or `,`, found `INHERITS`'],
    ['CREATE CONCEPT c (x «,» y)', 'syntax_error', 'expected `MEASURE` or a type, found `,`'],
    ['CREATE CONCEPT c («)»', 'syntax_error', 'expected the name of a property, `PRIMARY KEY`, `LABEL` or `CONSTRAINT`, found `)`'],
    [
      'CREATE CONCEPT c (x bigint) «INHERIT» (a)',
      'syntax_error',
      'expected `INHERITS`, `DESCRIPTION`, `WITH`, `FROM` or the end of the statement, found `INHERIT`; did you mean `INHERITS`?',
    ],
    ['CREATE CONCEPT c (x bigint) WITH «TAG» (a)', 'syntax_error', 'expected `TAGS`, found `TAG`; did you mean `TAGS`?'],
    [
      "CREATE CONCEPT c DESCRIPTION 'a' «DESCRIPTION» 'b'",
      'syntax_error',
      'expected `INHERITS`, `WITH`, `FROM` or the end of the statement, found `DESCRIPTION`',
    ],
    [
      'CREATE CONCEPT c (CONSTRAINT r «FORIEGN» KEY (x) REFERENCES y (z))',
      'syntax_error',
      'expected `MULTIVALUE`, `MULTIREFERENCE` or `FOREIGN`, found `FORIEGN`; did you mean `FOREIGN`?',
    ],
    ['CREATE CONCEPT c FROM svc.p «AND» x', 'syntax_error', 'expected `WHERE`, found `AND`'],
    ['CREATE CONCEPT c FROM svc.p WHERE«»', 'syntax_error', 'expected a condition, found the end of the statement'],
    ['CREATE MAPPING x INTO (item) AS «DELETE» FROM m.t_item', 'syntax_error', 'expected `SELECT`, found `DELETE`'],
    ['CREATE MAPPING m (CONSTRAINT r FOREIGN KEY (a) REFERENCES c (k)«)» AS SELECT 1', 'syntax_error', 'expected `,`, found `)`'],
    ['CREATE PROPERTY p string DESCRIPTION «"x"»', 'syntax_error', 'expected `=` or the description in single quotes, found `"x"`'],
    ['CREATE PROPERTY p string AS SELECT«»', 'syntax_error', 'expected an expression, found the end of the statement'],
    ['CREATE MEASURE m bigint AS SELECT «WHERE» x', 'syntax_error', 'expected an aggregate expression, found `WHERE`'],
    ['CREATE MEASURE m «AS» SELECT 1'.replace('m «AS» SELECT', 'm double «SELECT»'), 'syntax_error', 'expected `DESCRIPTION`, `WITH` or `AS`, found `SELECT`'],
    ['CREATE EXAMPLE «"x"» AS SELECT 1', 'syntax_error', 'expected the question in single quotes, found `"x"`'],
    ["CREATE EXAMPLE 'x' «SELECT» 1", 'syntax_error', 'expected `DESCRIPTION` or `AS`, found `SELECT`'],
    ["CREATE EXAMPLE 'x' DESCRIPTION «AS» SELECT 1", 'syntax_error', 'expected `=` or the description in single quotes, found `AS`'],
    ["CREATE EXAMPLE 'x' AS «DELETE» FROM t", 'syntax_error', 'expected `SELECT`, found `DELETE`'],
    ["CREATE EXAMPLE «' ?!. '» AS SELECT 1", 'bad_example', 'a question must contain a word'],
    [`CREATE EXAMPLE «'${'q'.repeat(1001)}'» AS SELECT 1`, 'bad_example', 'a question has at most 1000 characters'],
    ["CREATE EXAMPLE «E'a\\u0007b'» AS SELECT 1", 'bad_example', 'a question cannot contain control characters'],
    ["CREATE EXAMPLE «E'a\\000b'» AS SELECT 1", 'bad_example', 'a question cannot contain control characters'],
    ["CREATE EXAMPLE «U&'a\\d800b'» AS SELECT 1", 'bad_example', 'a question cannot contain control characters'],
    [`CREATE EXAMPLE 'q' DESCRIPTION «'${'d'.repeat(4001)}'» AS SELECT 1`, 'bad_example', 'a description has at most 4000 characters'],
    ["DROP EXAMPLE 'q' «x»", 'syntax_error', 'expected the end of the statement, found `x`'],
    ['DROP CONCEPT a «b»', 'syntax_error', 'expected the end of the statement, found `b`'],
    ['SHOW«»', 'syntax_error', 'expected what to show, found the end of the statement'],
    ['SHOW «,»', 'syntax_error', 'expected what to show, found `,`'],
    ['GRANT QUERY ON ontology.x TO «ann»', 'syntax_error', 'expected `USER` or `ROLE`, found `ann`'],
    ['ALTER ONTOLOGY o «DROP» DATASOURCE d', 'syntax_error', 'expected `SET`, `ADD`, `REMOVE` or `ACTIVATE`, found `DROP`'],
    ["CREATE ONTOLOGY o; CREATE PROPERTY «'x", 'syntax_error', 'unterminated quoted string'],
    ['CREATE CONCEPT «``» (x bigint)', 'bad_name', 'a name cannot be empty'],
    ['CREATE CONCEPT «`a[b]`»', 'bad_name', 'a name cannot contain square brackets'],
    ['CREATE PROPERTY «`a\u0007b`» string', 'bad_name', 'a name cannot contain control characters'],
    [`CREATE CONCEPT «${'n'.repeat(129)}»`, 'bad_name', 'a name has at most 128 characters'],
    ['CREATE PROPERTY «`~x`» string', 'bad_name', 'a name cannot start with `~`'],
    ['CREATE CONCEPT c («`Measure.x`» string)', 'bad_name', 'a name cannot start with `Measure.`'],
    ['CREATE VIEW «_type_of_x» AS SELECT 1', 'bad_name', 'a name cannot start with `_type_of_`'],
    ["CREATE PROPERTY p string WITH TAGS («``» = 'x')", 'bad_name', 'the name of a tag cannot be empty'],
    ['CREATE CONCEPT c (CONSTRAINT r MULTIREFERENCE c TRANSITIVE(«33»))', 'bad_depth', 'the depth of a transitive relationship must be 1 to 32'],
    ['CREATE CONCEPT c (CONSTRAINT r MULTIREFERENCE c TRANSITIVE(«0»))', 'bad_depth', 'the depth of a transitive relationship must be 1 to 32'],
    ['CREATE CONCEPT c (CONSTRAINT r MULTIREFERENCE c TRANSITIVE(«1.5»))', 'bad_depth', 'the depth of a transitive relationship must be 1 to 32'],
  ])('%s', (marked, code, message) => {
    const e = fault(marked.replace(/[«»]/g, ''));
    expect([e.status, e.code, e.message]).toEqual([400, code, message]);
    expect(e.offset).toBe(marked.indexOf('«'));
  });

  it('accepts questions of 1000 characters, regardless of their code units, on several lines', () => {
    for (const question of [`${'🜁 '.repeat(499)}q?`, 'first\n\tsecond\r\n?']) expect(tree(`DROP EXAMPLE '${question}'`)).toMatchObject({ question });
  });

  it('list what is supported', () => {
    expect(fault('UPDATE t SET x = 1').hint).toContain('SELECT');
    expect(fault('DROP TABLE t').hint).toContain('CONCEPT');
  });

  it('accepts names of 128 characters, regardless of their code units', () => {
    expect(tree(`DROP CONCEPT ${'🜁'.repeat(128)}`)).toMatchObject({ name: '🜁'.repeat(128) });
    expect(fault(`DROP CONCEPT ${'🜁'.repeat(129)}`).code).toBe('bad_name');
  });
});

describe('exported scripts', () => {
  const SCRIPT = `
-- exported; says "it's done" and \`more\`
CREATE ONTOLOGY \`library\` DESCRIPTION = 'Books; and who reads them';

/* properties; /* nested */ */
CREATE OR REPLACE PROPERTY \`isbn\` string DESCRIPTION = 'ISBN-13' WITH TAGS (\`format\` = 'uppercase', \`pii\` = 'false',);
CREATE OR REPLACE PROPERTY \`full title\` string AS SELECT concat(\`title\`, ': ', \`sub;title\`);
CREATE OR REPLACE MEASURE \`loans\` bigint WITH TAGS (\`unit\` = 'loans') AS SELECT COUNT(loan_id) WHERE returned IS NULL;
CREATE OR REPLACE CONCEPT \`loan\` (
  \`loan_id\` bigint, -- the key
  \`isbn\` string, \`reader_id\` bigint, \`taken\` timestamptz, \`fine\` decimal(8,2),
  \`loans\` MEASURE bigint,
  PRIMARY KEY (\`loan_id\`), LABEL (\`loan_id\`,),
  CONSTRAINT \`of_book\` FOREIGN KEY (\`isbn\`) REFERENCES \`book\` (\`isbn\`) INVERSEOF \`lent_as\` DESCRIPTION 'What was lent',
  CONSTRAINT \`by\` FOREIGN KEY (\`reader_id\`) REFERENCES \`reader\` (\`reader_id\`) INVERSEOF \`has_loan\`,
) INHERITS (\`thing\`);
CREATE OR REPLACE CONCEPT \`book\` (\`isbn\` string, \`title\` string, \`sub;title\` string, \`full title\` string, PRIMARY KEY (\`isbn\`),
  CONSTRAINT \`sequel_of\` MULTIREFERENCE \`book\` INVERSEOF \`has_sequel\` TRANSITIVE(9), CONSTRAINT \`subject\` MULTIVALUE string) INHERITS (\`thing\`) DESCRIPTION = 'A book';
CREATE OR REPLACE CONCEPT \`reader\` (\`reader_id\` bigint, \`name\` string, PRIMARY KEY (\`reader_id\`)) INHERITS (\`thing\`);
CREATE OR REPLACE CONCEPT \`keen_reader\` INHERITS (\`reader\`) FROM \`dsvc\`.\`reader\` WHERE \`has_loan[loan].fine\` > 0;
CREATE OR REPLACE MAPPING \`map_book\` INTO (\`book\`) USING \`main\` AS SELECT isbn, title, sub AS "sub;title" FROM lib.book WHERE title <> ';';
CREATE OR REPLACE MAPPING \`map_subject\` INTO (\`book\`) MULTIVALUE \`subject\` WITHOUT PARSING AS SELECT isbn, s AS subject FROM lib.subject;
CREATE OR REPLACE MAPPING \`map_sequel\` (
  CONSTRAINT \`sequel_of\` FOREIGN KEY (\`earlier\`) REFERENCES \`book\` (\`isbn\`),
  CONSTRAINT \`has_sequel\` FOREIGN KEY (\`later\`) REFERENCES \`book\` (\`isbn\`)
) AS SELECT earlier, later FROM lib.sequel;
CREATE OR REPLACE ONTOLOGY VIEW \`by_reader\` DESCRIPTION = 'Loans of each' AS SELECT \`name\`, COUNT(\`has_loan[loan].loan_id\`) AS n FROM dsvc.reader GROUP BY name;
CREATE OR REPLACE ONTOLOGY CUBE \`lending\` AS SELECT \`of_book[book].title\` AS title, \`measure.loans\` AS loans FROM dsvc.loan;
ALTER CONCEPT \`book\` UPDATE TAG \`shelf\` = 'A;1'; ALTER ONTOLOGY \`library\` SET \`default_transitivity\` = '4'
`;

  it('are parsed completely, with the offset of each statement', () => {
    const statements = splitScript(SCRIPT).map((source) => {
      expect(SCRIPT.slice(source.offset, source.offset + source.text.length)).toBe(source.text);
      return parseStatement(source);
    });
    const count: Record<string, number> = {};
    for (const { kind } of statements) count[kind] = (count[kind] ?? 0) + 1;
    expect(count).toEqual({
      create_ontology: 1,
      create_property: 2,
      create_measure: 1,
      create_concept: 4,
      create_mapping: 3,
      create_view: 2,
      alter_tag: 1,
      alter_ontology: 1,
    });
    expect(plain(statements[4])).toMatchObject({ name: 'loan', parents: ['thing'], elements: { length: 10 } });
    expect(plain(statements[7])).toMatchObject({ logic: { schema: 'dsvc', concept: 'reader', condition: '`has_loan[loan].fine` > 0' } });
  });
});
