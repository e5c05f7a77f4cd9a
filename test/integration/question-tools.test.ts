/** The four tools for their callers: with another product name, with agents, policies and impersonation, on small and empty graphs. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SvcError } from '../../src/errors.ts';
import type { LanguageModels, Stage, Turn } from '../../src/llm/types.ts';
import { askQuestion } from '../../src/mcp/tools/ask-question.ts';
import { generateSql } from '../../src/mcp/tools/generate-sql.ts';
import { identifyConcept } from '../../src/mcp/tools/identify-concept.ts';
import { queryData } from '../../src/mcp/tools/query-data.ts';
import type { Tool, ToolCall } from '../../src/mcp/tools/tool.ts';
import { Spending, targetOf } from '../../src/service.ts';
import { startService, type TestService } from '../support/service.ts';

const MODEL = `CREATE ONTOLOGY clinic;
  CREATE PROPERTY diagnosis string DESCRIPTION 'What it is';
  CREATE CONCEPT patient (no bigint, name string, ward string, diagnosis string, city string, PRIMARY KEY (no), LABEL (name));
  CREATE CONCEPT visit (visit_no bigint, no bigint, reason string, PRIMARY KEY (visit_no),
    CONSTRAINT of_patient FOREIGN KEY (no) REFERENCES patient (no) INVERSEOF visits) WITH TAGS (area = 'Front Desk');
  CREATE CONCEPT inpatient INHERITS (patient) FROM svc.patient WHERE ward <> '';
  CREATE MAPPING m1 INTO patient AS SELECT no, name, ward, diagnosis, city FROM c.t_patient;
  CREATE MAPPING m2 INTO visit AS SELECT visit_no, no, reason FROM c.t_visit;
  CREATE ONTOLOGY VIEW visit_list AS SELECT visit_no, reason FROM svc.visit;
  CREATE ONTOLOGY VIEW patients_by_ward AS SELECT ward, name FROM svc.patient WHERE ward IS NOT NULL`;

let s: TestService;
const tokens: Record<string, string> = {};
const heard: Turn<unknown>[] = [];
/** The model's answers by stage; several statements in sequence. */
let says: { concept?: string; sql?: readonly (string | SvcError)[]; answer?: string } = {};

const llm: LanguageModels = {
  name: 'fake/one',
  timeoutMs: 20_000,
  async ask<T>(turn: Turn<T>) {
    const n = heard.filter((t) => t.stage === 'sql').length;
    heard.push(turn);
    const sql = says.sql?.[Math.min(n, says.sql.length - 1)];
    if (turn.stage === 'sql' && sql instanceof SvcError) throw sql;
    const said: Record<Stage, unknown> = {
      concept: { concept: says.concept ?? 'patient', reason: 'why' },
      sql: { sql, reason: 'so', refusal: null },
      answer: { answer: says.answer ?? 'Well.' },
    };
    const value = turn.schema.safeParse(said[turn.stage]);
    return { value: value.success ? value.data : undefined, text: '', inputTokens: 3, outputTokens: 1, durationMs: 1 };
  },
};
const promptTexts = (): string => heard.map((t) => t.user).join('\n');

interface Way {
  readonly user?: string;
  readonly agent?: string;
  readonly ontology?: string | null;
}

/** Calls a tool like a client; returns its structured content, which has the declared form. */
// biome-ignore lint/suspicious/noExplicitAny: answers of four tools
async function call(tool: Tool, args: Record<string, unknown>, { user, agent, ontology = agent === undefined ? 'clinic' : null }: Way = {}): Promise<any> {
  heard.length = 0;
  const { runtime, caller, requestId } = await s.request(user === undefined ? s.token : (tokens[user] ?? ''), { llm });
  const target = targetOf(caller, { ontology, agent: agent ?? null }, { defaultOntology: null, defaultAgent: null });
  const session = {
    runtime,
    caller,
    target,
    modelling: false,
    requestId,
    spending: new Spending(),
    signal: new AbortController().signal,
    note: () => undefined,
  };
  const result = await tool.run(session as unknown as ToolCall, tool.input.parse(args));
  const json = JSON.parse(JSON.stringify(result));
  expect(tool.output.strict().parse(json)).toEqual(json);
  return json;
}
async function failure(...args: Parameters<typeof call>): Promise<string> {
  try {
    return `no failure: ${JSON.stringify(await call(...args))}`;
  } catch (error) {
    if (error instanceof SvcError) return `${error.code} ${error.message}`;
    throw error;
  }
}
async function user(name: string, ...grants: string[]): Promise<void> {
  tokens[name] = await s.user(name, ...grants);
}

beforeAll(async () => {
  s = await startService({
    tables: [
      'CREATE SCHEMA c',
      'CREATE TABLE c.t_patient (no bigint PRIMARY KEY, name text, ward text, diagnosis text, city text)',
      'CREATE TABLE c.t_visit (visit_no bigint PRIMARY KEY, no bigint, reason text)',
      "INSERT INTO c.t_patient VALUES (1, 'Anna', 'east', 'Measles', 'Oslo'), (2, 'Bert', 'west', 'Scurvy', 'Bergen'), (3, 'Cleo', NULL, 'Gout', 'Turku')",
      "INSERT INTO c.t_visit SELECT n, n % 3 + 1, 'checkup' FROM generate_series(1, 9) n",
    ],
    settings: { PRODUCT_NAME: 'timbr' },
  });
  await s.rows(MODEL);
  await user('ed', 'QUERY ON ALL ontology.clinic');
  await user('wes', 'QUERY ON ALL ontology.clinic');
  await user('vic', 'QUERY ON ontology.clinic.view.patients_by_ward', 'QUERY ON ontology.clinic.view.visit_list');
  await user('lou', 'ACCESS ON ontology.clinic');
  await s.rows("CREATE POLICY east ON CONCEPT patient TO USER ed USING (ward = 'east')", 'clinic');
  await s.rows("CREATE POLICY west ON CONCEPT patient TO USER wes USING (ward = 'west')", 'clinic');
  await s.rows('CREATE POLICY hush ON PROPERTY diagnosis MASK FULL EXCEPT USER wes', 'clinic');
  await s.rows(`CREATE AGENT desk ONTOLOGY (clinic) OPTIONS (concepts_list = 'VISIT, patient', views_list = 'none', include_tags = 'AREA=front desk', note = 'Be brief',
    retries = '0', max_limit = '2', db_is_case_sensitive = 'true', max_graph_depth = '0')`);
});
afterAll(() => s?.close());

describe('the tools', () => {
  it('name schemas by the product’s name, and accept both names', async () => {
    says = { sql: ['SELECT name FROM dtimbr.patient ORDER BY name'] };
    expect(await call(queryData, { prompt: 'Who is there?' })).toMatchObject({ schema: 'dtimbr', concept: 'patient', row_count: 3, truncated: false });
    expect(heard.at(-1)?.system).toContain('dtimbr.concept');
    expect(promptTexts()).toMatch(/The knowledge graph: <<<[^>]*\n(patient|visit)\n/);
    expect(promptTexts()).not.toMatch(/\bdsvc\b/);
    says = { sql: ['SELECT visit_no FROM vsvc.visit_list'] };
    expect(await call(generateSql, { prompt: 'Which visits are listed?' })).toMatchObject({ schema: 'vtimbr', concept: 'visit_list', is_valid: true });
    expect(await call(identifyConcept, { prompt: 'inpatient', concepts_list: 'INPATIENT' })).toMatchObject({ concept: 'inpatient', schema: 'dtimbr' });
  });

  it('obey the options of other programs', async () => {
    await s.rows(`CREATE AGENT narrow ONTOLOGY (clinic) OPTIONS (exclude_properties = 'diagnosis,Reason', include_logic_concepts = 'false');
      CREATE AGENT lists ONTOLOGY (clinic) OPTIONS (schema = 'vtimbr')`);
    says = { sql: ['SELECT name FROM dtimbr.patient'] };
    await call(queryData, { prompt: 'Which inpatient has which diagnosis and reason?' }, { agent: 'narrow' });
    expect(promptTexts()).toMatch(/\bvisit_no\b/);
    expect(promptTexts().replaceAll('Which inpatient has which diagnosis and reason?', '')).not.toMatch(/diagnosis|\binpatient\b/);
    says = { sql: ['SELECT name FROM dtimbr.inpatient'] };
    await expect(call(queryData, { prompt: 'Who is in?' }, { agent: 'narrow' })).rejects.toThrow();
    says = { sql: ['SELECT visit_no FROM vtimbr.visit_list'] };
    expect(await call(queryData, { prompt: 'Which visits are listed?' }, { agent: 'lists' })).toMatchObject({ concept: 'visit_list' });
    says = { sql: ['SELECT visit_no FROM dtimbr.visit'] };
    await expect(call(queryData, { prompt: 'Which visits are there?' }, { agent: 'lists' })).rejects.toThrow();
    await s.rows('DROP AGENT narrow; DROP AGENT lists');
  });

  it('bound paths only if the agent says so', async () => {
    await s.rows("CREATE AGENT near ONTOLOGY (clinic) OPTIONS (max_graph_depth = '0', retries = '1'); CREATE AGENT far ONTOLOGY (clinic)");
    const path = "SELECT -- what isn't a text\n`of_patient[patient].name` AS name FROM dtimbr.visit WHERE 'x' <> 'y'";
    says = { sql: [path, 'SELECT visit_no FROM dtimbr.visit'] };
    expect(await call(queryData, { prompt: 'Who was visited when?', verbose: true }, { agent: 'near' })).toMatchObject({
      sql: 'SELECT visit_no FROM dtimbr.visit',
      details: { tries: [{ sql: path, error: expect.stringContaining('path_too_long') }, { error: null }] },
    });
    says = { sql: [path] };
    expect(await call(queryData, { prompt: 'Who was visited when?' }, { agent: 'far' })).toMatchObject({ sql: path });
    await s.rows('DROP AGENT near; DROP AGENT far');
  });

  it('have the declared members, and more with verbose', async () => {
    says = {
      sql: ['SELECT name FROM dtimbr.patient WHERE nothing', 'SELECT name FROM dtimbr.patient ORDER BY name'],
      answer: 'Anna, Bert and Cleo: 3, not 4711.',
    };
    expect(Object.keys(await call(askQuestion, { prompt: 'Who?' })).sort()).toEqual(['answer', 'sql', 'status', 'warnings']);
    const all = await call(askQuestion, { prompt: 'Who?', show_result_set: true, verbose: true });
    expect(Object.keys(all).sort()).toEqual(['answer', 'details', 'rows', 'sql', 'status', 'warnings']);
    expect(all.warnings).toEqual([expect.stringMatching(/: 4711$/)]);
    expect(all.details.tries).toMatchObject([{ error: expect.stringContaining('nothing') }, { error: null }]);
    const cut = await call(askQuestion, { prompt: 'Who?', show_result_set: true, max_limit: 2 });
    expect([cut.rows.length, cut.warnings[0]]).toEqual([2, 'The answer is based on the first 2 rows; there are more']);
    for (const tool of [queryData, generateSql, identifyConcept])
      expect(await call(tool, { prompt: 'Who?', verbose: true })).toHaveProperty('details.duration_ms');
  });

  it('return an invalid statement with its error', async () => {
    says = { sql: ['SELECT nmae FROM dtimbr.patient'] };
    expect(await call(generateSql, { prompt: 'Who?' })).toMatchObject({
      is_valid: false,
      sql: 'SELECT nmae FROM dtimbr.patient',
      error: expect.stringContaining('`name`'),
    });
    says = { sql: ['SELECT no / 0 AS x FROM timbr.patient'] };
    expect(await failure(queryData, { prompt: 'Who?' })).toMatch(/^no_valid_sql/);
  });

  it('report an ontology without candidates', async () => {
    await s.rows('CREATE ONTOLOGY empty');
    for (const tool of [askQuestion, queryData, generateSql, identifyConcept]) {
      expect(await failure(tool, { prompt: 'Who?' }, { ontology: 'empty' })).toMatch(/^no_candidates/);
      expect(await failure(tool, { prompt: 'Who?' }, { user: 'lou' })).toMatch(/^no_candidates/);
      expect(heard).toEqual([]);
    }
    // a graph with only views has no concepts
    expect(await failure(identifyConcept, { prompt: 'Who?' }, { user: 'vic' })).toMatch(/^no_candidates/);
  });

  it('apply every option of an agent', async () => {
    says = { sql: ['SELECT visit_no FROM timbr.visit'] };
    expect(await call(queryData, { prompt: 'Visits of Anna?', max_limit: 5, views_list: '*' }, { agent: 'desk' })).toMatchObject({
      concept: 'visit',
      row_count: 2,
      truncated: true,
    });
    // the tag leaves one concept: no model is needed to choose it; no path leads further
    expect(heard.map((t) => t.stage)).toEqual(['sql']);
    expect(promptTexts()).toContain('Be brief');
    expect(promptTexts()).toContain('LOWER(column)');
    expect(promptTexts()).not.toMatch(/Paths \(|diagnosis|visit_list/);
    says = { sql: ['SELECT name FROM timbr.patient'] };
    const said = await failure(queryData, { prompt: 'Who?' }, { agent: 'desk' });
    expect(said).toMatch(/^no_valid_sql .*outside_scope: `patient`/s);
    expect(heard.length).toBe(1);
    expect(await failure(queryData, { prompt: 'Who?', concepts_list: ['inpatient'] }, { agent: 'desk' })).toMatch(/^no_candidates/);
  });
});

describe('the values in a prompt', () => {
  const ASKED = { prompt: 'What do patients have, and where do they live?' };
  const SQL = 'SELECT name, diagnosis, city FROM timbr.patient ORDER BY name';

  it('are those that row policies and masks show to the caller, for every previous caller', async () => {
    says = { sql: [SQL], answer: 'Well.' };
    const first = await call(askQuestion, { ...ASKED, show_result_set: true });
    expect(first.rows).toHaveLength(3);
    expect(promptTexts()).toMatch(/Measles[\s\S]*Turku/);
    const ed = await call(askQuestion, { ...ASKED, show_result_set: true }, { user: 'ed' });
    expect(ed.rows).toEqual([{ name: 'Anna', diagnosis: '****', city: 'Oslo' }]);
    expect(promptTexts()).toContain('Oslo');
    expect(promptTexts()).not.toMatch(/Measles|Scurvy|Gout|Bert|Cleo|Bergen|Turku/);
    const wes = await call(askQuestion, { ...ASKED, show_result_set: true }, { user: 'wes' });
    expect(wes.rows).toEqual([{ name: 'Bert', diagnosis: 'Scurvy', city: 'Bergen' }]);
    expect(promptTexts()).not.toMatch(/Measles|Gout|Anna|Cleo|Oslo|Turku/);
  });

  it('follow the policies at once', async () => {
    says = { sql: [SQL] };
    await call(queryData, ASKED, { user: 'wes' });
    expect(promptTexts()).toContain('Scurvy');
    await s.rows('CREATE OR REPLACE POLICY hush ON PROPERTY diagnosis MASK FULL', 'clinic');
    await call(queryData, ASKED, { user: 'wes' });
    expect(promptTexts()).not.toContain('Scurvy');
    await s.rows('CREATE OR REPLACE POLICY hush ON PROPERTY diagnosis MASK FULL EXCEPT USER wes', 'clinic');
  });

  it('do not come from examples, questions and errors of others', async () => {
    await s.rows("CREATE EXAMPLE 'Who has gout in Turku?' AS SELECT name FROM timbr.patient WHERE diagnosis = 'Gout' AND city = 'Turku'", 'clinic');
    says = { sql: [SQL] };
    await call(queryData, { prompt: 'Who has gout in Oslo?' });
    expect(promptTexts()).toContain('Turku');
    // ed's values are masked: the example was verified on others
    await call(queryData, { prompt: 'Who has what in Oslo?' }, { user: 'ed' });
    expect(promptTexts()).not.toMatch(/Gout|gout|Turku/);
    says = { sql: [SQL] };
    expect((await call(queryData, { prompt: 'Who has gout in Turku?' }, { user: 'ed' })).sql).toBe(SQL);
    // for a caller who may read only a view, nothing of what it reads
    says = { concept: 'patients_by_ward', sql: ['SELECT ward FROM vtimbr.patients_by_ward'] };
    await call(queryData, { prompt: 'Who has gout in which ward?' }, { user: 'vic' });
    expect(promptTexts()).not.toMatch(/Gout|diagnosis|Turku|inpatient|of_patient/);
  });

  it('do not outlive the rights of the definer of a view', async () => {
    await s.rows('GRANT EDIT ON ALL ontology.clinic TO USER wes WITH GRANT OPTION');
    await s.rows('CREATE ONTOLOGY VIEW by_wes AS SELECT visit_no, reason FROM svc.visit', 'clinic', tokens.wes);
    await s.rows('GRANT QUERY ON ontology.clinic.view.by_wes TO USER vic');
    says = { sql: ['SELECT reason FROM vtimbr.by_wes'] };
    const about = { prompt: 'Which reasons?', views_list: 'by_wes' };
    await call(queryData, about, { user: 'vic' });
    expect(promptTexts()).toContain("'checkup'");
    await s.rows('REVOKE EDIT ON ALL ontology.clinic FROM USER wes; REVOKE QUERY ON ALL ontology.clinic FROM USER wes');
    const said = await failure(queryData, about, { user: 'vic' });
    expect(said).toMatch(/^no_valid_sql .*view_unreadable/s);
    expect(promptTexts()).not.toContain("'checkup'");
  });
});
