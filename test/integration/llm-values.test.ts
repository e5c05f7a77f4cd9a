/** Samples of values are read as the caller: with grants, row policies and masks; a failed sample is empty. And the cached model. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CATALOG_OWNER, READER } from '../../dev/roles.ts';
import { keyValues } from '../../src/catalog/kv.ts';
import { readConfig } from '../../src/config.ts';
import { identify } from '../../src/llm/identify.ts';
import { matches, NO_SAMPLES, type Samples, samplesWithin, sampleValues } from '../../src/llm/values.ts';
import { questionModel } from '../../src/service/ops/questions.ts';
import { type QuestionModel, runScript, type ServiceRequest, type Subject } from '../../src/service.ts';
import { memoryNamespace } from '../support/memory-namespace.ts';
import { startService, type TestService } from '../support/service.ts';

const MODEL = `CREATE ONTOLOGY shop;
CREATE PROPERTY email string WITH TAGS (pii = 'true');
CREATE PROPERTY note string WITH TAGS (pii = 'no');
CREATE CONCEPT town (town_id bigint, name string, PRIMARY KEY (town_id), LABEL (name));
CREATE CONCEPT person (id bigint, name string, email string, note string, api_token string, status string, pay decimal(10,2), town_id bigint,
  PRIMARY KEY (id), LABEL (name), CONSTRAINT hobby MULTIVALUE string, CONSTRAINT lives_in FOREIGN KEY (town_id) REFERENCES town (town_id));
CREATE CONCEPT rich INHERITS (person) FROM svc.person WHERE pay > 100;
CREATE CONCEPT broken (no bigint, label string, PRIMARY KEY (no));
CREATE MAPPING towns INTO town AS SELECT id AS town_id, name FROM s.t_town;
CREATE MAPPING people INTO person AS SELECT id, name, email, note, token AS api_token, status, pay, town AS town_id FROM s.t_person;
CREATE MAPPING hobbies INTO person MULTIVALUE hobby AS SELECT person AS id, hobby FROM s.t_hobby;
CREATE MAPPING gone INTO broken AS SELECT no, label FROM s.t_gone;
CREATE ONTOLOGY VIEW mails AS SELECT name, email, status FROM svc.person;
CREATE ONTOLOGY VIEW states AS SELECT status, count(*) AS people FROM svc.person GROUP BY status`;

let s: TestService;
const tokens: Record<string, string> = {};

async function user(name: string, ...grants: string[]): Promise<void> {
  tokens[name] = await s.user(name, ...grants);
}

const modelFor = async (name: string): Promise<{ request: ServiceRequest; model: QuestionModel }> => {
  const request = await s.request(tokens[name] ?? s.token);
  return { request, model: await questionModel(request, 'shop') };
};
const subjectOf = (model: QuestionModel, name: string): Subject => {
  const found = model.subject(name);
  if (found === undefined) throw new Error(`no ${name}`);
  return found;
};
async function sampled(name: string, subject: string): Promise<Samples> {
  const { request, model } = await modelFor(name);
  return sampleValues(request, model, subjectOf(model, subject));
}
const valuesOf = (samples: Samples, column: string): readonly string[] | undefined =>
  samples.columns.find((c) => c.name === column)?.values.map((v) => v.value);

beforeAll(async () => {
  s = await startService({
    tables: [
      'CREATE SCHEMA s',
      'CREATE TABLE s.t_town (id bigint PRIMARY KEY, name text)',
      'CREATE TABLE s.t_person (id bigint PRIMARY KEY, name text, email text, note text, token text, status text, pay numeric, town bigint)',
      'CREATE TABLE s.t_hobby (person bigint, hobby text)',
      'CREATE TABLE s.t_gone (no bigint, label text)',
      "INSERT INTO s.t_town VALUES (1, 'K\u00f8benhavn'), (2, 'New York')",
      `INSERT INTO s.t_person VALUES (1, 'Ann Lee', 'ann@x', 'likes tea', 'tk_1', 'active', 50, 1), (2, 'Bob', 'bob@x', NULL, 'tk_2', 'active', 500, 2),
       (3, 'Cid', 'cid@x', '', 'tk_3', 'closed', 700, 2), (4, '${'x'.repeat(80)}', NULL, NULL, NULL, NULL, NULL, NULL)`,
      "INSERT INTO s.t_hobby VALUES (1, 'chess'), (1, 'tennis'), (2, 'chess')",
    ],
  });
  await s.rows(MODEL);
  await user('una', 'QUERY ON ALL ontology.shop');
  await user('ben', 'QUERY ON ontology.shop.concept.town');
  await user('mia', 'QUERY ON ALL ontology.shop');
});
afterAll(() => s?.close());

describe('sampleValues', () => {
  it('returns the values of text columns, the most frequent first', async () => {
    const samples = await sampled('admin', 'person');
    // Ann has two rows, one for each hobby
    expect(samples.columns.find((c) => c.name === 'status')).toEqual({
      name: 'status',
      values: [
        { value: 'active', count: 3 },
        { value: 'closed', count: 1 },
      ],
      distinct: 2,
      complete: true,
    });
    expect(valuesOf(samples, 'hobby')).toEqual(['chess', 'tennis']);
    expect(valuesOf(samples, 'note')).toEqual(['likes tea']);
    // a text that is too long is not included
    expect(samples.columns.find((c) => c.name === 'name')).toMatchObject({ distinct: 3, complete: false });
    expect(valuesOf(samples, 'name')).toEqual(['Ann Lee', 'Bob', 'Cid']);
  });

  it('reads neither numbers nor texts that look like secrets', async () => {
    const samples = await sampled('admin', 'person');
    expect(samples.columns.map((c) => c.name)).toEqual(['name', 'note', 'status', 'hobby']);
    expect(JSON.stringify(samples)).not.toMatch(/@x|tk_/);
  });

  it('reads views, and rows that meet a condition', async () => {
    expect((await sampled('admin', 'states')).columns.map((c) => c.name)).toEqual(['status']);
    expect(valuesOf(await sampled('admin', 'rich'), 'name')).toEqual(['Bob', 'Cid']);
  });

  it('reads no column of a view with the name of a property with a tag, for every reader of the property', async () => {
    await user('vi', 'QUERY ON ontology.shop.view.mails');
    for (const name of ['admin', 'vi']) expect((await sampled(name, 'mails')).columns.map((c) => c.name)).toEqual(['name', 'status']);
    expect(subjectOf((await modelFor('vi')).model, 'mails').columns.map((c) => c.tags)).toEqual([{}, {}, {}]);
  });

  it('finds values in questions', async () => {
    const towns = await sampled('admin', 'town');
    expect(matches('Who lives in kobenhavn or new york?', towns).map((m) => [m.value, m.column])).toEqual([
      ['New York', 'name'],
      ['K\u00f8benhavn', 'name'],
    ]);
    expect(matches('Is Ann Lee active?', await sampled('admin', 'person')).map((m) => m.value)).toEqual(['Ann Lee', 'active']);
  });

  it('caches them for ten minutes, for each caller separately', async () => {
    const { request, model } = await modelFor('mia');
    let now = 1_000_000;
    const at = { ...request, runtime: { ...request.runtime, now: () => now } };
    const town = subjectOf(model, 'town');
    const read = async () => valuesOf(await sampleValues(at, model, town), 'name');
    expect(await read()).toEqual(['K\u00f8benhavn', 'New York']);
    await s.database.exec("INSERT INTO s.t_town VALUES (3, 'Oslo')");
    now += 9 * 60_000;
    expect(await read()).toEqual(['K\u00f8benhavn', 'New York']);
    now += 2 * 60_000;
    expect(await read()).toEqual(['K\u00f8benhavn', 'New York', 'Oslo']);
    await s.database.exec('DELETE FROM s.t_town WHERE id = 3');
  });
});

describe('rights', () => {
  it('exclude what the caller may not read', async () => {
    const { request, model } = await modelFor('ben');
    expect(model.subjects.map((x) => x.name)).toEqual(['town']);
    // even if it is requested with the rights of another caller
    const admin = await modelFor('admin');
    expect(await sampleValues(request, model, subjectOf(admin.model, 'person'))).toEqual(NO_SAMPLES);
    expect(valuesOf(await sampled('ben', 'town'), 'name')).toEqual(['K\u00f8benhavn', 'New York']);
  });

  it('apply row policies and masks, also if others have asked before', async () => {
    expect(valuesOf(await sampled('una', 'person'), 'name')).toEqual(['Ann Lee', 'Bob', 'Cid']);
    await s.rows(
      `CREATE OR REPLACE POLICY own ON CONCEPT person TO USER una USING (id = 1);
       CREATE POLICY all_of_it ON CONCEPT person TO USER mia USING (true);
       CREATE POLICY hidden ON PROPERTY note MASK FULL EXCEPT USER mia`,
      'shop',
    );
    const una = await sampled('una', 'person');
    expect(valuesOf(una, 'name')).toEqual(['Ann Lee']);
    expect(valuesOf(una, 'status')).toEqual(['active']);
    expect(valuesOf(una, 'note')).toEqual(['****']);
    const mia = await sampled('mia', 'person');
    expect(valuesOf(mia, 'name')).toEqual(['Ann Lee', 'Bob', 'Cid']);
    expect(valuesOf(mia, 'note')).toEqual(['likes tea']);
    expect(valuesOf(await sampled('una', 'states'), 'status')).toEqual(['active']);
    await s.rows('DROP POLICY own; DROP POLICY all_of_it; DROP POLICY hidden', 'shop');
  });
});

describe('a view', () => {
  it('has the values that its definer may read, and none without that right', async () => {
    await user('dee', 'EDIT ON ALL ontology.shop');
    await s.rows('CREATE ONTOLOGY VIEW names AS SELECT name FROM svc.town', 'shop', tokens.dee);
    expect(valuesOf(await sampled('una', 'names'), 'name')).toEqual(['K\u00f8benhavn', 'New York']);
    await s.rows('REVOKE EDIT ON ALL ontology.shop FROM USER dee');
    expect(await sampled('una', 'names')).toEqual(NO_SAMPLES);
    await s.rows('DROP VIEW names', 'shop');
  });
});

describe('a datasource that fails', () => {
  it('returns no values, and is not queried again for a minute', async () => {
    await s.database.exec('DROP TABLE s.t_gone');
    const { request, model } = await modelFor('admin');
    let now = Date.now();
    const at = { ...request, runtime: { ...request.runtime, now: () => now } };
    const broken = subjectOf(model, 'broken');
    const read = () => {
      const snapshot = { ...model.caller.snapshot, verifiedAt: now };
      return sampleValues(at, { ...model, caller: { ...model.caller, snapshot } }, broken);
    };
    expect(await read()).toEqual(NO_SAMPLES);
    await s.database.exec("CREATE TABLE s.t_gone AS SELECT 1::bigint AS no, 'here'::text AS label");
    await s.database.exec('GRANT SELECT ON s.t_gone TO PUBLIC');
    expect(await read()).toEqual(NO_SAMPLES);
    now += 61_000;
    expect(valuesOf(await read(), 'label')).toEqual(['here']);
  });

  it('does not delay a question, and nothing is cached for a cancelled one', async () => {
    const { request, model } = await modelFor('mia');
    const gone = { ...request, signal: AbortSignal.abort() };
    const rich = subjectOf(model, 'rich');
    expect((await samplesWithin(gone, model, [rich], 1_000)).get('c:rich')).toEqual(NO_SAMPLES);
    expect(valuesOf((await samplesWithin(request, model, [rich], 30_000)).get('c:rich') ?? NO_SAMPLES, 'name')).toEqual(['Bob', 'Cid']);
    // nothing is read, and the known values are used
    const known = await samplesWithin(request, model, [rich, subjectOf(model, 'states')], 0);
    expect([...known.keys()]).toEqual(['c:rich']);
  });
});

describe('a variable that names another connection', () => {
  it('uses nothing that was cached for the previous one: neither samples nor results', async () => {
    const kv = keyValues(memoryNamespace(), { scope: 'test', secret: 'test' });
    const { url, endpoint } = JSON.parse(s.database.secret(READER)) as { url: string; endpoint: string };
    const cached = { CATALOG_URL: s.database.secret(CATALOG_OWNER), RESULT_CACHE_TTL: '300' };
    const by = async (DATASOURCE_MAIN: string) => {
      const request = await s.request(tokens.una as string, { kv, config: readConfig({ ...cached, DATASOURCE_MAIN }) });
      const states: string[] = [];
      const results = { form: 'json', bypass: false, onState: (state: string) => states.push(state) };
      const sql = 'SELECT name FROM svc.town ORDER BY name';
      const answer = await runScript({ ...request, results }, { ontology: 'shop', sql, limit: null, datasource: null });
      const rows =
        answer.kind === 'kept'
          ? answer.bytes
          : new Uint8Array(await new Response(answer.kind === 'rows' ? (answer.rows.stream as BodyInit) : '').arrayBuffer());
      if (answer.kind === 'rows') {
        answer.keep?.(rows as Uint8Array<ArrayBuffer>);
        await answer.rows.done;
      }
      const model = await questionModel(request, 'shop');
      return { states, rows: new TextDecoder().decode(rows), sampled: valuesOf(await sampleValues(request, model, subjectOf(model, 'town')), 'name') };
    };
    const before = ['K\u00f8benhavn', 'New York'];
    const one = JSON.stringify({ url, endpoint });
    const first = await by(one);
    expect(first).toMatchObject({ states: ['miss'], sampled: before });
    await s.database.exec("INSERT INTO s.t_town VALUES (4, 'Turku')");
    expect(await by(one)).toEqual({ ...first, states: ['hit'] });
    const other = await by(JSON.stringify({ url: `${url}?options=-c%20geqo=on`, endpoint }));
    expect([other.states, other.sampled, other.rows.includes('Turku')]).toEqual([['miss'], [...before, 'Turku'], true]);
    await s.database.exec('DELETE FROM s.t_town WHERE id = 4');
  });
});

describe('a question', () => {
  it('finds the concept whose value it names', async () => {
    const { request, model } = await modelFor('mia');
    const { subject, certain, candidates } = await identify({ request, model, subjects: model.subjects, question: 'Anything known of New York' });
    expect([subject.name, certain]).toEqual(['town', false]);
    expect(candidates[0]?.why).toEqual(['value "New York" of name']);
  });

  it('has a model that is cached for callers who see the same part of it', async () => {
    const [admin, mia, ben] = await Promise.all(['admin', 'mia', 'ben'].map(async (name) => (await modelFor(name)).model));
    expect(mia?.subjects).toBe(admin?.subjects);
    expect(mia?.key).not.toBe(admin?.key);
    expect(ben?.shape).not.toBe(admin?.shape);
    await s.rows('CREATE CONCEPT extra (x string)', 'shop');
    expect((await modelFor('mia')).model.subject('extra')?.name).toBe('extra');
  });
});

describe('the samples of one request', () => {
  it('are limited for any number of questions, and skipped samples are read by the next request', async () => {
    const names = Array.from({ length: 130 }, (_, i) => `crate${i}`);
    const made = names.map(
      (n) =>
        `CREATE CONCEPT ${n} (${n}_no bigint, ${n}_label string, PRIMARY KEY (${n}_no)); CREATE MAPPING m_${n} INTO ${n} AS SELECT id AS ${n}_no, name AS ${n}_label FROM s.t_town`,
    );
    await s.rows(`CREATE ONTOLOGY store; ${made.join('; ')}`);
    const subjectsRead = async (): Promise<number> => {
      const request = await s.request(s.token);
      const model = await questionModel(request, 'store');
      const found = await Promise.all(
        [0, 1].map((half) =>
          samplesWithin(
            request,
            model,
            names.filter((_, i) => i % 2 === half).map((n) => subjectOf(model, n)),
            50_000,
          ),
        ),
      );
      return found.flatMap((of) => [...of.values()]).filter((of) => of.rows > 0).length;
    };
    expect(await subjectsRead()).toBe(100);
    expect(await subjectsRead()).toBe(130);
  });
});
