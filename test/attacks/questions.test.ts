/** Noninterference of questions in words: everything that is hidden from a caller changes; the prompts and the answers to the caller stay the same. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { SvcError } from '../../src/errors.ts';
import type { LanguageModels, Stage, Turn } from '../../src/llm/types.ts';
import { askQuestion } from '../../src/mcp/tools/ask-question.ts';
import { describeKnowledgeGraph } from '../../src/mcp/tools/describe-knowledge-graph.ts';
import { generateSql } from '../../src/mcp/tools/generate-sql.ts';
import { identifyConcept } from '../../src/mcp/tools/identify-concept.ts';
import type { Tool, ToolCall } from '../../src/mcp/tools/tool.ts';
import { Spending, targetOf } from '../../src/service.ts';
import { startService, type TestService } from '../support/service.ts';

/** The hidden rows are those outside of the ward `east`; all diagnoses are masked. */
const tables = (v: 0 | 1): readonly string[] => [
  'DROP SCHEMA IF EXISTS c CASCADE',
  'CREATE SCHEMA c',
  'CREATE TABLE c.t_patient (no bigint PRIMARY KEY, name text, ward text, diagnosis text, city text)',
  'CREATE TABLE c.t_visit (visit_no bigint PRIMARY KEY, no bigint, reason text)',
  'CREATE TABLE c.t_doc (doc bigint PRIMARY KEY, dname text)',
  `INSERT INTO c.t_patient VALUES (1, 'Anna', 'east', '${['Measles', 'Plague'][v]}', 'Oslo'), (2, 'Bert', 'east', 'Scurvy', 'Bergen')`,
  v === 0
    ? "INSERT INTO c.t_patient SELECT n, 'Hid' || n, 'west', 'Gout', 'Town' || n FROM generate_series(3, 40) n"
    : "INSERT INTO c.t_patient SELECT n, 'Oslo' || n, 'north', 'Flu', 'Anna' FROM generate_series(50, 1400) n",
  "INSERT INTO c.t_visit VALUES (1, 1, 'checkup'), (2, 2, 'x-ray')",
  `INSERT INTO c.t_visit SELECT n, ${[3, 50][v]}, '${['hushed', 'other'][v]}' FROM generate_series(10, ${[20, 300][v]}) n`,
  `INSERT INTO c.t_doc VALUES (1, '${['House', 'Wilson'][v]}')`,
];
const HIDDEN = ['hidxa', 'zzqyb'] as const;
const hidden = (v: 0 | 1): string => {
  const x = HIDDEN[v];
  return `CREATE CONCEPT ${x}_doc (doc bigint, ${x}_dname string, PRIMARY KEY (doc)) DESCRIPTION 'patients in Oslo' WITH TAGS (synonyms = 'patient, ${['ward', 'city'][v]}');
  CREATE CONCEPT ${x}_sick INHERITS (patient) FROM svc.patient WHERE diagnosis = '${['Gout', 'Flu'][v]}';
  CREATE MAPPING ${x}_m INTO ${x}_doc AS SELECT doc, dname AS ${x}_dname FROM c.t_doc;
  CREATE ONTOLOGY VIEW ${x}_view AS SELECT name, diagnosis AS ${x}_d FROM svc.patient;
  CREATE EXAMPLE 'who is ${x}?' AS SELECT ${x}_dname FROM svc.${x}_doc;
  CREATE EXAMPLE 'Which patients are sick' AS SELECT name FROM svc.${x}_sick;
  CREATE EXAMPLE 'patients by city' AS SELECT city FROM svc.patient WHERE diagnosis = '${['Gout', 'Flu'][v]}';
  CREATE OR REPLACE AGENT both ONTOLOGY (${['clinic', 'other, clinic'][v]}) OPTIONS (concepts_list = 'patient, visit, ${x}_doc', views_list = '${x}_view, seen')`;
};
const DROP = `DROP EXAMPLE 'who is hidxa?'; DROP EXAMPLE 'Which patients are sick'; DROP EXAMPLE 'patients by city'; DROP VIEW hidxa_view; DROP MAPPING hidxa_m;
  DROP CONCEPT hidxa_sick; DROP CONCEPT hidxa_doc`;

const QUESTIONS: readonly (readonly [string, object?])[] = [
  ['Which patients have gout?'],
  ['doctors of Anna'],
  ['Which patients are sick'],
  ['patients by city'],
  ['who is hidden'],
  ['hushed visits', { concepts_list: 'visit' }],
  ['names', { views_list: 'names', concepts_list: 'none' }],
  ['patient', { include_tags: 'synonyms' }],
  ['x', { concepts_list: 'hidxa_doc' }],
];
const STATEMENTS = [
  'SELECT * FROM dsvc.patient',
  "SELECT name FROM svc.patient WHERE city = 'town3'",
  "SELECT name FROM svc.patient WHERE diagnosis = 'gout'",
  "SELECT reason FROM vsvc.seen WHERE reason = 'Hushed'",
  'SELECT COUNT(*) AS n FROM dsvc.visit',
  'SELECT * FROM dsvc.thing',
  'SELECT * FROM svc.hidxa_doc',
  'SELECT * FROM vsvc.zzqyb_view',
  'SELECT name FROM svc.hidxa_sick',
  'SELECT hidxa_dname FROM svc.patient',
  'SELECT * FROM c.t_doc',
  'SELECT no FROM svc.othersecret',
  'SELECT 1 / (no - 3) AS x FROM svc.patient',
  'SELECT CAST(diagnosis AS int) AS x FROM svc.patient',
  'SELECT CAST(name AS int) AS x FROM svc.patient',
  'SHOW EXAMPLES',
  'SELECT name FROM svc.patient; DROP CONCEPT visit',
];

let s: TestService;
const tokens: Record<string, string> = {};
const heard: Turn<unknown>[] = [];
let says: readonly (string | { readonly refusal: string } | { readonly readings: readonly object[] })[] = [];
const llm: LanguageModels = {
  name: 'fake/one',
  timeoutMs: 20_000,
  async ask<T>(turn: Turn<T>) {
    const n = heard.filter((t) => t.stage === 'sql').length;
    heard.push(turn);
    const one = says[Math.min(n, says.length - 1)];
    const said: Record<Stage, unknown> = {
      concept: { concept: 'patient', reason: 'why' },
      sql: { sql: '', reason: 'so', refusal: null, ...(typeof one === 'object' ? one : { sql: one }) },
      answer: { answer: 'Well.' },
    };
    const value = turn.schema.safeParse(said[turn.stage]);
    return { value: value.success ? value.data : undefined, text: '', inputTokens: 3, outputTokens: 1, durationMs: 1 };
  },
};

/** The answer to a call, and all prompts for it. */
async function call(tool: Tool, args: object, user: string, agent: string | null): Promise<string> {
  heard.length = 0;
  const { runtime, caller, requestId } = await s.request(tokens[user] ?? '', { llm });
  const target = targetOf(caller, { ontology: agent === null ? 'clinic' : null, agent }, { defaultOntology: null, defaultAgent: null });
  const signal = new AbortController().signal;
  const session = { runtime, caller, target, modelling: false, requestId, spending: new Spending(), signal, note: () => undefined } as unknown as ToolCall;
  const answer = await tool.run(session, tool.input.parse({ ...args, ...(tool.asksModel === true ? { verbose: true } : {}) })).catch((error: unknown) => {
    if (error instanceof SvcError && error.status < 500) return { error: `${error.code} ${error.message}` };
    throw error;
  });
  const prompts = heard.map((t) => `${t.stage}: ${t.user}`).join('\n');
  return `${JSON.stringify(answer).replace(/"duration_ms":\d+|"milliseconds":\{[^}]*\}/g, '')}\n${prompts}`;
}

async function all(user: string, agent: string | null): Promise<readonly (readonly [string, string])[]> {
  const found: [string, string][] = [];
  for (const [prompt, args] of QUESTIONS) {
    for (const tool of [askQuestion, identifyConcept]) {
      says = ["SELECT name FROM svc.patient WHERE city = 'Town'", 'SELECT name, city, diagnosis FROM svc.patient ORDER BY name'];
      found.push([`${agent} ${tool.name} ${prompt}`, await call(tool, { prompt, ...args }, user, agent)]);
    }
  }
  for (const sql of STATEMENTS) {
    says = [sql, 'SELECT city FROM svc.patient'];
    found.push([`${agent} ${sql}`, await call(generateSql, { prompt: 'Which patients are there?' }, user, agent)]);
    found.push([`${agent} ${sql}`, await call(askQuestion, { prompt: 'Which patients are there?', show_result_set: true }, user, agent)]);
  }
  for (const name of [...HIDDEN, 'othersecret']) {
    const hiddenNames = `${name}_doc ${name}_view ${name}_dname`;
    says = [{ refusal: `There is no ${hiddenNames}, and no Oslo` }];
    found.push([`${agent} without ${name}`, await call(askQuestion, { prompt: 'Which patients are there?' }, user, agent)]);
    says = [
      {
        readings: ['SELECT name FROM svc.patient', `SELECT * FROM svc.${name}_doc`, 'SELECT city FROM svc.patient'].map((sql) => ({
          reading: `As ${sql.length}`,
          sql,
        })),
      },
    ];
    found.push([`${agent} readings of ${name}`, await call(askQuestion, { prompt: 'Which patients are there?' }, user, agent)]);
    found.push([`${agent} model of ${name}`, await call(describeKnowledgeGraph, { include: 'model', concepts: `${name}_doc` }, user, agent)]);
  }
  for (const concepts of ['', 'patient', 'names, visit']) {
    found.push([`${agent} model of ${concepts}`, await call(describeKnowledgeGraph, { include: 'model', concepts }, user, agent)]);
  }
  return found;
}
/** A caller who sees everything asks first, so that caches are filled. */
async function asLow() {
  await all('high', null);
  return [...(await all('low', null)), ...(await all('low', 'both'))];
}

beforeAll(async () => {
  s = await startService({ tables: tables(0) });
  await s.rows(
    'CREATE ONTOLOGY other; CREATE CONCEPT othersecret (no bigint, PRIMARY KEY (no)); CREATE MAPPING om INTO othersecret AS SELECT no FROM c.t_patient',
  );
  await s.rows(`CREATE ONTOLOGY clinic;
  CREATE CONCEPT patient (no bigint, name string, ward string, diagnosis string, city string, PRIMARY KEY (no), LABEL (name));
  CREATE CONCEPT visit (visit_no bigint, no bigint, reason string, PRIMARY KEY (visit_no), CONSTRAINT of_patient FOREIGN KEY (no) REFERENCES patient (no) INVERSEOF visits);
  CREATE MAPPING m1 INTO patient AS SELECT no, name, ward, diagnosis, city FROM c.t_patient;
  CREATE MAPPING m2 INTO visit AS SELECT visit_no, no, reason FROM c.t_visit;
  CREATE ONTOLOGY VIEW seen AS SELECT visit_no, reason FROM svc.visit;
  CREATE ONTOLOGY VIEW names AS SELECT name, city, diagnosis FROM svc.patient`);
  const seen = ['concept.patient', 'concept.visit', 'view.seen', 'view.names'].map((thing) => `QUERY ON ontology.clinic.${thing}`);
  tokens.low = await s.user('low', ...seen);
  tokens.high = await s.user('high', 'QUERY ON ALL ontology.clinic');
  await s.rows("CREATE POLICY east ON CONCEPT patient TO USER low USING (ward = 'east')", 'clinic');
  await s.rows(`CREATE POLICY ve ON CONCEPT visit TO USER low USING ("of_patient[patient].ward" = 'east')`, 'clinic');
  await s.rows('CREATE POLICY hush ON PROPERTY diagnosis MASK FULL', 'clinic');
});
afterAll(() => s?.close());

it('hidden data changes nothing', async () => {
  await s.rows(hidden(0), 'clinic');
  const before = await asLow();
  for (const sql of tables(1)) await s.database.exec(sql);
  await s.rows(DROP, 'clinic');
  await s.rows(hidden(1), 'clinic');
  const after = await asLow();
  expect(before.length).toBeGreaterThan(100);
  expect(after).toEqual(before);
  // a caller who sees everything gets other answers, so the changes are visible ones
  expect(await call(identifyConcept, { prompt: 'who is hidden' }, 'high', null)).toContain('zzqyb_doc');
});
