/**
 * Two services whose models, users and rows differ only in what a caller may not see: each request has the same answer and the same headers, through each door: statements, REST, system
 * tables, jobs and caches, impersonation, get_token, questions, MCP.
 */
import type { Client } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { DEVELOPER } from '../../dev/roles.ts';
import { makeBearer } from '../../src/auth/bearer.ts';
import type { LanguageModels, Turn } from '../../src/llm/types.ts';
import { BATCH_BYTES, Budget } from '../../src/nesting/cut.ts';
import { Spending, targetOf } from '../../src/service.ts';
import { connect, listingSession } from '../support/mcp.ts';
import { startService, type TestService } from '../support/service.ts';
import { oneIn, sizesOf } from '../support/sizes.ts';

const SIZES = sizesOf('attacks/twin-doors');
const SALT = 'a salt of this test';
type World = 0 | 1;
/** Hidden names. */
const HIDDEN = ['hqxa', 'zzyb'] as const;

/** The caller sees the patients of the ward `east` that the mappings leave in; all diagnoses are masked. */
const tables = (v: World): readonly string[] => [
  'CREATE SCHEMA c',
  'CREATE SCHEMA cached',
  'GRANT USAGE ON SCHEMA cached TO kg_reader',
  'CREATE TABLE c.t_patient (no bigint PRIMARY KEY, name text, ward text, diagnosis text, w float8, at point, area circle, kin bigint)',
  `INSERT INTO c.t_patient VALUES (1, 'Anna', 'east', '${['Measles', 'Plague'][v]}', 1.5, '(1,1)', '<(1,1),1>', 2), (2, 'Bert', 'east', '${['Scurvy', 'Gout'][v]}', 2.5, '(2,2)', '<(2,2),1>', NULL)`,
  v === 0
    ? `INSERT INTO c.t_patient SELECT n, 'Hid' || n, 'west', 'Gout', 1e308, '(1e300,0)', '<(1e300,0),1e300>', 1 FROM generate_series(3, 9) n`
    : `INSERT INTO c.t_patient SELECT n, 'Oslo' || n, 'north', 'Flu', 'NaN', '(0,0)', '<(0,0),0>', 2 FROM generate_series(50, 90) n`,
  'CREATE TABLE c.t_room (no bigint PRIMARY KEY, label text, w float8, at point)',
  "INSERT INTO c.t_room VALUES (1, 'one', 1, '(1,1)'), (2, 'two', 2, '(2,2)')",
  v === 0
    ? "INSERT INTO c.t_room VALUES (7, 'x7', 1e308, '(1e308,1e308)')"
    : "INSERT INTO c.t_room VALUES (8, 'y', -1e-300, '(-9,-9)'), (9, '7', 'Infinity', '(50,1)')",
  `CREATE TABLE c.t_secret (id bigint PRIMARY KEY, word text)`,
  `INSERT INTO c.t_secret SELECT n, 'w' || n FROM generate_series(1, ${[3, 30][v]}) n`,
];

const model = (v: World): string => {
  const x = HIDDEN[v];
  return `CREATE ONTOLOGY clinic;
CREATE CONCEPT ${x}_doc (id bigint, ${x}_word string, PRIMARY KEY (id)) DESCRIPTION 'words of ${x}';
CREATE CONCEPT patient (no bigint, name string, ward string, diagnosis string, w double, kin bigint, PRIMARY KEY (no), LABEL (name),
  CONSTRAINT kin_of FOREIGN KEY (kin) REFERENCES patient (no) INVERSEOF has_kin TRANSITIVE(3), CONSTRAINT ${x}_link FOREIGN KEY (no) REFERENCES ${x}_doc (id) INVERSEOF ${x}_back);
CREATE CONCEPT ${x}_sick INHERITS (patient) FROM svc.patient WHERE diagnosis = '${['Gout', 'Flu'][v]}';
CREATE CONCEPT room (no bigint, label string, w double, PRIMARY KEY (no));
CREATE CONCEPT heavy INHERITS (patient) FROM svc.patient WHERE w > 2;
CREATE MEASURE heads bigint AS SELECT COUNT(no);
CREATE MAPPING m_patient INTO (patient) AS SELECT no, name, ward, diagnosis, w, kin FROM c.t_patient WHERE area && '<(0,0),5>'::circle OR w > 0;
CREATE MAPPING m_room INTO (room) AS SELECT no, label, w FROM c.t_room WHERE at <@ '<(0,0),5>'::circle AND w * 2 < 10;
CREATE MAPPING ${x}_m INTO (${x}_doc) AS SELECT id, word AS ${x}_word FROM c.t_secret;
CREATE VIEW names AS SELECT name, ward FROM svc.patient;
CREATE VIEW ${x}_view AS SELECT ${x}_word FROM svc.${x}_doc;
CREATE EXAMPLE 'words of ${x}?' AS SELECT ${x}_word FROM svc.${x}_doc;
CREATE EXAMPLE 'who is sick' AS SELECT name FROM svc.${x}_sick;
CREATE EXAMPLE 'rooms' AS SELECT label FROM svc.room;
CREATE POLICY p_east ON CONCEPT patient TO PUBLIC USING (ward = 'east');
CREATE POLICY p_veil ON PROPERTY diagnosis MASK FULL;
CREATE JOB ${x}_job SCHEDULE '17 * * * *' AS CACHE MAPPING ${x}_m OPTIONS (schema = 'cached');
CACHE MAPPING ${x}_m OPTIONS (schema = 'cached');
CACHE MAPPING m_patient OPTIONS (schema = 'cached');
CREATE ROLE ${x}_role; CREATE USER ${x}_user PASSWORD 'Correct-horse-9!'; ${v === 0 ? '' : `CREATE USER ${x}_more;`} CREATE ONTOLOGY ${x}_onto; CREATE AGENT ${x}_agent ONTOLOGY (${x}_onto);
CREATE USER agnes${v} PASSWORD 'Correct-horse-9!'; CREATE USER low PASSWORD 'Correct-horse-9!'`;
};

/** The services of one process have caches in common, by the name of a user who is impersonated. */
const GRANTS = (v: World): readonly string[] => [
  ...['low', `agnes${v}`].flatMap((u) =>
    ['patient', 'room', 'heavy'].slice(0, u === 'low' ? 3 : 1).map((c) => `QUERY ON ontology.clinic.concept.${c} TO USER ${u}`),
  ),
  'QUERY ON ontology.clinic.view.names TO USER low',
  `AUTH ON user.agnes${v} TO USER low`,
];

interface Side {
  readonly s: TestService;
  readonly token: string;
  readonly heard: Turn<unknown>[];
  readonly v: World;
}
const sides: Side[] = [];
const says = 'SELECT name FROM svc.patient';

async function start(v: World): Promise<Side> {
  const heard: Turn<unknown>[] = [];
  const llm: LanguageModels = {
    name: 'fake/one',
    timeoutMs: 20_000,
    async ask<T>(turn: Turn<T>) {
      heard.push(turn);
      const value = turn.schema.safeParse({ concept: 'patient', reason: 'so', sql: says, refusal: null, answer: 'Well.' });
      return { value: value.success ? value.data : undefined, text: '', inputTokens: 3, outputTokens: 1, durationMs: 1 };
    },
  };
  const s = await startService({
    tables: [...tables(v), 'GRANT USAGE ON SCHEMA c TO kg_reader', 'GRANT SELECT ON ALL TABLES IN SCHEMA c TO kg_reader'],
    settings: (database) => ({ API_AUTH_SALT: SALT, DATASOURCE_MAIN_WRITER: database.secret(DEVELOPER) }),
    parts: { llm },
  });
  for (const statement of model(v).split(/;\s*/)) {
    const { status, text } = await s.query(statement, /^CREATE (ONTOLOGY|ROLE|USER|AGENT)/.test(statement) ? '' : 'clinic');
    if (status !== 200 && !/JOB/.test(statement)) throw new Error(`${statement}\n${text}`);
  }
  for (const g of GRANTS(v)) await s.rows(`GRANT ${g}`);
  const [{ token }] = (await s.rows('CREATE TOKEN FOR low')) as [{ token: string }];
  return { s, token, heard, v };
}

beforeAll(async () => {
  sides.push(await start(0), await start(1));
});
afterAll(async () => {
  for (const { s } of sides) await s.close();
});

/** What differs between any two requests. */
const plain = (text: string): string =>
  text
    .replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '<uuid>')
    .replace(/\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z|\+00(:00)?)?/g, '<time>')
    .replace(/"(duration_ms|elapsed_ms)":\d+/g, '"$1":0')
    .replace(/agnes\d/g, 'agnes')
    .replace(/tk_\w+/g, '<token>')
    .replace(/~[0-9a-f]{64}/g, '~');

/** The rows of a list in one order: SYS tables have none, and the ids of rights decide it. */
function inOrder(text: string): string {
  if (!text.startsWith('{"status":"success","data":[')) return text;
  const parsed = JSON.parse(text) as { data: unknown[] };
  return JSON.stringify({ ...parsed, data: parsed.data.map((r) => JSON.stringify(r)).sort() });
}

async function answer({ s, token, heard, v }: Side, [path, body, more = {}]: Ask): Promise<string> {
  heard.length = 0;
  const who = more['x-api-impersonate-user'] === 'agnes' ? { 'x-api-impersonate-user': `agnes${v}` } : {};
  const headers = { 'x-api-key': token, ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...more, ...who };
  const response = await s.fetch(`/svc/${path}`, { headers, ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }) });
  // an etag is the digest of an answer with the id of the version
  const shown = [...response.headers].filter(([name]) => !/^(date|x-request-id|set-cookie|etag)$/.test(name)).sort();
  const prompts = heard.map((t) => `${t.stage}: ${t.user}`).join('\n');
  return plain(`${response.status} ${inOrder(await response.text())}\n${shown.map((h) => h.join(': ')).join('\n')}\n${prompts}`);
}

type Ask = readonly [path: string, body?: unknown, headers?: Readonly<Record<string, string>>];
const sql = (query: string, headers?: Readonly<Record<string, string>>): Ask => ['api/query', { ontology_name: 'clinic', query }, headers ?? {}];
/** `@` is replaced by each of these. */
const NAMES = ['hqxa', 'zzyb', 'nonesuch'];
const named = (text: string): readonly string[] => (text.includes('@') ? NAMES.map((n) => text.replaceAll('@', n)) : [text]);

/** What SHOW lists, and what a system table of the same name has. */
const LISTS = [
  'JOBS',
  'CACHES',
  'CONCEPTS',
  'PROPERTIES',
  'VIEWS',
  'MAPPINGS',
  'EXAMPLES',
  'ONTOLOGIES',
  'AGENTS',
  'USERS',
  'ROLES',
  'POLICIES',
  'VERSIONS',
  'DATASOURCES',
  'MEASURES',
  'GRANTS',
  'PERMISSIONS',
];

const STATEMENTS: readonly string[] = [
  ...[
    ...LISTS,
    'VERSION',
    'TABLES',
    'TAGS',
    'TOKEN FOR low',
    'TOKEN FOR @_user',
    'JOB @_job',
    'CREATE JOB @_job',
    'CREATE ONTOLOGY clinic',
    'CREATE CONCEPT patient',
    'CREATE CONCEPT @_doc',
    'CREATE MAPPING m_patient',
    'CREATE VIEW names',
    'CREATE POLICY @_east',
  ].map((w) => `SHOW ${w}`),
  ...[
    ...LISTS,
    'CONCEPT_PROPERTIES',
    'CONCEPT_RELATIONSHIPS',
    'RELATIONSHIPS',
    'INHERITANCE',
    'RESTRICTIONS',
    'AUDIT',
    'PROPERTIES_STATISTICS',
    'CONCEPTS_STATISTICS',
    'TOKENS',
    'BENCHMARKS',
  ].map((t) => `SELECT * FROM svc.SYS_${t}`),
  ...[
    'RUN JOB @_job',
    'DROP JOB @_job',
    'ALTER JOB @_job PAUSE',
    'CACHE MAPPING @_m',
    'UNCACHE MAPPING @_m',
    'CACHE MAPPING m_room',
    'VALIDATE DATA',
    'DESC svc.patient',
    'DESC dsvc.patient',
    'DESC dsvc.heavy',
    'DESC svc.@_doc',
    'DESC vsvc.names',
  ],
  ...['EXPLAIN', 'EXPLAIN (LOGICAL)', 'EXPLAIN ANALYZE', 'EXPLAIN (LOGICAL, FORMAT JSON)'].flatMap((e) =>
    [
      'SELECT * FROM dsvc.patient',
      'SELECT * FROM svc.heavy',
      'SELECT * FROM vsvc.names',
      'SELECT count("has_kin[patient].no") AS n FROM dsvc.patient',
      'SELECT * FROM svc.@_doc',
      'SELECT name FROM svc.thing',
      'SELECT * FROM svc.room WHERE 1 / (w - 7) > 1',
    ].map((q) => `${e} ${q}`),
  ),
  'SELECT * FROM dsvc.patient ORDER BY no',
  'SELECT * FROM esvc.patient ORDER BY no',
  'SELECT "kin_of[patient*].name" AS k FROM dsvc.patient ORDER BY no',
  'SELECT "@_link[@_doc].id" FROM dsvc.patient',
  'SELECT "@_lnk[patient].id" FROM dsvc.patient',
  'SELECT @_wor FROM svc.patient',
  'SELECT * FROM svc.@_dok',
  'SELECT * FROM svc.@_sic',
  'SELECT * FROM vsvc.@_vie',
  'SELECT _type_of_@_sick FROM dsvc.patient',
  'SELECT _type_of_heavy FROM dsvc.patient ORDER BY no',
  'SELECT "measure.heads" FROM dsvc.patient',
  'SELECT sum("measure.heads") AS h FROM dsvc.patient',
  ...[
    'w = 1e308',
    'w * 10 > 1',
    '1 / (w - 1) > 0',
    'CAST(w AS int) > 0',
    'CAST(w AS real) > 0',
    'sqrt(w) > 1',
    'CAST(label AS int) > 1',
    'exp(w) > 1',
    '1 / (no - 7) > 0',
    'no = 7',
    "label = 'x7'",
    'w > 1e307',
    'power(w, 9) > 1',
    'ln(w) > 0',
  ].flatMap((c) => [
    `SELECT no FROM svc.room WHERE ${c} ORDER BY no`,
    `SELECT count(*) AS n FROM svc.room r WHERE EXISTS (SELECT 1 FROM svc.room o WHERE ${c.replace(/\b(w|no|label)\b/g, 'o.$1')})`,
    ...(c.includes('label') ? [] : [`SELECT no FROM svc.patient WHERE ${c} ORDER BY no`, `SELECT no FROM svc.heavy WHERE ${c} ORDER BY no`]),
  ]),
  ...['sum(w)', 'avg(w)', 'stddev(w)', 'var_pop(w)', 'max(w)', "string_agg(label, ',' ORDER BY no)", 'sum(w * 1e10)', 'sum(CAST(w AS int))'].map(
    (a) => `SELECT ${a} AS x FROM svc.room`,
  ),
  'SELECT diagnosis, count(*) AS n FROM svc.patient GROUP BY diagnosis',
  "SELECT no FROM svc.patient WHERE diagnosis = 'Gout'",
  'SELECT no FROM svc.patient WHERE CAST(diagnosis AS int) > 0',
  "SELECT no FROM svc.patient WHERE name = 'Hid3' OR 1 / (no - 3) > 0",
  'DROP CONCEPT @_doc',
  "CREATE EXAMPLE 'x' AS SELECT name FROM svc.patient",
  'CREATE TOKEN FOR @_user',
  'GRANT QUERY ON ontology.clinic.concept.@_doc TO USER low',
];

const DOORS: readonly Ask[] = [
  ...[
    'get_ontologies',
    'get_agents',
    'get_ontology/clinic',
    'get_ontology/@_onto',
    'get_config/x',
    'llm_prompts/clinic',
    'openapi/clinic.json',
    'openapi/clinic.yaml',
    'openapi/@_onto.json',
    'q/clinic/concept/patient',
    'q/clinic/concept/@_doc',
    'q/clinic/view/names',
    'q/clinic/view/@_view',
    'q/clinic/concept/patient?_subj_=@_wor&_op_=eq&_comp_=1',
    'q/clinic/concept/patient?_select_=@_link',
    'q/clinic/concept/room?_subj_=w&_op_=gt&_comp_=1e308',
    'q/clinic/concept/patient?_subj_=diagnosis&_op_=eq&_comp_=Gout',
    'health',
    'fetch_conversation_history',
  ].flatMap((p) => named(`api/${p}`).map((q): Ask => [q])),
  ...['patient', 'words of @', 'who has Gout', 'who is sick', 'rooms', 'Hid3']
    .flatMap(named)
    .flatMap((text): Ask[] => [
      ['api/kb/search', { ontology: 'clinic', query: text }],
      ...['prompt', 'answer'].map((k): Ask => [`openapi/execute/${k}`, { prompt: text }, { ontology: 'clinic' }]),
    ]),
];

const PEOPLE: readonly (Readonly<Record<string, string>> | undefined)[] = [
  undefined,
  { 'x-api-impersonate-user': 'agnes' },
  ...['hqxa_user', 'zzyb_user', 'nonesuch', 'admin', 'hqxa_user@x'].map((u) => ({ 'x-api-impersonate-user': u })),
];

it('has the same answers in both worlds', { timeout: 600_000 }, async () => {
  const statements = STATEMENTS.flatMap(named).map((q) => sql(q));
  const asks: Ask[] = [...statements, ...DOORS];
  const impersonated: Ask[] = [...oneIn(SIZES.everyImpersonated, statements, 0), ...DOORS];
  const some = asks.filter((_, i) => i % 4 === 0);
  const all: Ask[] = PEOPLE.flatMap((who, i) =>
    (i === 0 ? asks : i === 1 ? impersonated : some.slice(0, 12)).map(([p, b, h]): Ask => [p, b, { ...h, ...who }]),
  );
  const counts = new Map<string, number>();
  const faults: string[] = [];
  let asked = 0;
  for (const a of all) {
    const [one = '', other = ''] = await Promise.all(sides.map((side) => answer(side, a)));
    counts.set(one.slice(0, 3), (counts.get(one.slice(0, 3)) ?? 0) + 1);
    asked += sides[0]?.heard.length ? 1 : 0;
    if (one !== other || one.startsWith('500')) {
      let at = 0;
      while (at < one.length && one[at] === other[at]) at++;
      faults.push(
        `${JSON.stringify(a)}\n${one.slice(0, 3)} ${one.slice(Math.max(0, at - 150), at + 250)}\n--- or\n${other.slice(Math.max(0, at - 150), at + 250)}`,
      );
    }
  }
  if (process.env.DEEP) process.stderr.write(`${all.length} pairs, ${asked} with prompts: ${[...counts].map(([k, n]) => `${k}: ${n}`).join(', ')}\n`);
  expect(counts.get('200') ?? 0).toBeGreaterThan(180);
  expect(asked).toBeGreaterThan(10);
  expect(
    faults.length,
    faults
      .slice(0, 12)
      .map((f) => f.slice(0, 1600))
      .join('\n\n'),
  ).toBe(0);
});

it('refuses a sign-in in the same way, whether the user exists', async () => {
  for (const user of ['hqxa_user', 'zzyb_user', 'nonesuch']) {
    const bearer = await makeBearer({ user, password: 'wrong' }, SALT, Date.now());
    const [one, other] = await Promise.all(sides.map((side) => answer(side, ['api/get_token', {}, { authorization: `Bearer ${bearer}` }])));
    expect(one).toBe(other);
  }
});

/** The answer of the MCP server to a request, and the prompts for it. */
async function overMcp({ s, token, heard }: Side, work: (client: Client) => Promise<unknown>, as = token): Promise<string> {
  heard.length = 0;
  const { runtime, caller, requestId } = await s.request(as);
  const target = targetOf(caller, { ontology: 'clinic', agent: null }, runtime.config.mcp);
  const session = listingSession({ runtime, caller, target, requestId });
  const client = await connect({ ...session, spending: new Spending(), answers: new Budget(BATCH_BYTES) });
  const answer = await work(client).catch((error: Error) => error.message);
  await client.close();
  // without the order of rows
  const rows = session.spliced
    .put(JSON.stringify(answer))
    .split(/\\?\},\{/)
    .map(plain)
    .sort()
    .join('\n');
  return plain(`${rows}\n${heard.map((t) => `${t.stage}: ${t.user}`).join('\n')}`).replace(/(duration_ms|milliseconds)\\*":(\d+|\{[^}]*\})/g, '$1');
}

it('has the same answers over MCP in both worlds', { timeout: 600_000 }, async () => {
  const call = (name: string, args: Record<string, unknown>) => (c: Client) => c.callTool({ name, arguments: args });
  const asks = [
    (c: Client) => c.listTools(),
    (c: Client) => c.listResources(),
    ...NAMES.flatMap((n) => ['clinic', `${n}_onto`]).flatMap((o) =>
      [`ontology://${o}`, `skill://${o}/query-this-graph/SKILL.md`].map((uri) => (c: Client) => c.readResource({ uri })),
    ),
    ...['list_ontologies', 'list_agents', 'list_datasources'].map((t) => call(t, {})),
    call('describe_knowledge_graph', { include: ['*'] }),
    ...['patient', ...NAMES.map((n) => `${n}_doc`)].map((c) => call('describe_knowledge_graph', { include: ['model'], concepts: [c] })),
    ...['name', 'diagnosis', 'kin_of[patient].name'].flatMap((property) =>
      ['Hid', 'Gou'].map((text) => call('search_values', { concept: 'patient', property, text })),
    ),
    ...STATEMENTS.filter((_, i) => i % 9 === 0)
      .flatMap(named)
      .flatMap((query) => [false, true].map((dry_run) => call('execute_sql', { query, dry_run }))),
    ...['who has Gout', 'words of hqxa', 'Hid3', 'rooms'].flatMap((prompt) =>
      ['ask_question', 'query_data', 'generate_sql', 'identify_concept'].map((t) => call(t, { prompt, verbose: true })),
    ),
  ];
  let shown = 0;
  for (const [i, ask] of asks.entries()) {
    const [one = '', other] = await Promise.all(sides.map((side) => overMcp(side, ask)));
    if (/Anna|Bert/.test(one)) shown++;
    expect(one, `request ${i}`).toBe(other);
  }
  expect(shown).toBeGreaterThan(10);
  // an administrator sees what differs
  const [one, other] = await Promise.all(sides.map((side) => overMcp(side, call('describe_knowledge_graph', { include: ['model'] }), side.s.token)));
  expect(one).not.toBe(other);
});
