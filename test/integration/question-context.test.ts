/** What a language model and an agent read of a graph, on real tables: the part that the question is about, values, and nothing that the caller may not see. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SvcError } from '../../src/errors.ts';
import { describeKnowledgeGraph } from '../../src/mcp/tools/describe-knowledge-graph.ts';
import { generateSql } from '../../src/mcp/tools/generate-sql.ts';
import { queryData } from '../../src/mcp/tools/query-data.ts';
import { searchValues } from '../../src/mcp/tools/search-values.ts';
import type { Tool } from '../../src/mcp/tools/tool.ts';
import { startService, type TestService } from '../support/service.ts';
import { callTool, SimulatedModel } from '../support/tools.ts';

/** A clinic, and a store room of more concepts than fit into a prompt: a tree below `ward`. */
const ROOMS = 240;
const COLUMNS = ['girth', 'heft', 'hue', 'rack', 'torque', 'wear', 'shelf_code', 'maker_mark'];
const room = (n: number): string => `room_${n}`;
const rooms = Array.from({ length: ROOMS }, (_, i) => {
  const up = i === 0 ? ['ward', 'ward_no'] : [room(Math.floor((i - 1) / 3)), `${room(Math.floor((i - 1) / 3))}_no`];
  const name = room(i);
  return `CREATE CONCEPT ${name} (${name}_no bigint, ${COLUMNS.map((c) => `${name}_${c} string`).join(', ')}, ${name}_up bigint, PRIMARY KEY (${name}_no),
    CONSTRAINT ${name}_in FOREIGN KEY (${name}_up) REFERENCES ${up[0]} (${up[1]}) INVERSEOF ${name}_has);`;
});
const CLINIC = `CREATE CONCEPT ward (ward_no bigint, ward_name string, PRIMARY KEY (ward_no), LABEL (ward_name));
  CREATE CONCEPT person (no bigint, name string, diagnosis string, state string, ward_no bigint, PRIMARY KEY (no), LABEL (name),
    CONSTRAINT lies_in FOREIGN KEY (ward_no) REFERENCES ward (ward_no) INVERSEOF has_person) DESCRIPTION 'Who is treated';
  CREATE CONCEPT nurse (nurse_no bigint, nurse_name string, PRIMARY KEY (nurse_no), LABEL (nurse_name));
  CREATE CONCEPT visit (visit_no bigint, person_no bigint, seen_by bigint, held_by bigint, PRIMARY KEY (visit_no),
    CONSTRAINT of_person FOREIGN KEY (person_no) REFERENCES person (no) INVERSEOF visits,
    CONSTRAINT admitted_by FOREIGN KEY (seen_by) REFERENCES nurse (nurse_no) INVERSEOF admitted, CONSTRAINT released_by FOREIGN KEY (held_by) REFERENCES nurse (nurse_no) INVERSEOF released);
  CREATE MAPPING mw INTO ward AS SELECT ward_no, ward_name FROM q.t_ward;
  CREATE MAPPING mp INTO person AS SELECT no, name, diagnosis, state, ward_no FROM q.t_person;
  CREATE MAPPING mn INTO nurse AS SELECT nurse_no, nurse_name FROM q.t_nurse;
  CREATE MAPPING mv INTO visit AS SELECT visit_no, person_no, seen_by, held_by FROM q.t_visit;`;
const FREEZER = `CREATE CONCEPT freezer (freezer_no bigint, kelvin_rating integer, up bigint, PRIMARY KEY (freezer_no),
  CONSTRAINT stands_by FOREIGN KEY (up) REFERENCES ${room(200)} (${room(200)}_no) INVERSEOF cools_for) DESCRIPTION 'Keeps samples cold'`;

let s: TestService;
const tokens: Record<string, string> = {};
const model = new SimulatedModel();

async function call(tool: Tool, args: Record<string, unknown>, { user, ontology = 'clinic' }: { readonly user?: string; readonly ontology?: string } = {}) {
  model.heard.length = 0;
  return callTool(await s.request(user === undefined ? s.token : (tokens[user] ?? ''), { llm: model }), tool, args, { ontology });
}
const describing = async (args: Record<string, unknown>, way: Parameters<typeof call>[2] = {}): Promise<string> =>
  (await call(describeKnowledgeGraph, { include: 'model', ...args }, way)).model[0].text;
const failing = (work: Promise<unknown>): Promise<string> =>
  work.then(
    (done) => `no failure: ${JSON.stringify(done)}`,
    (error) => (error instanceof SvcError ? `${error.code} ${error.message}` : Promise.reject(error)),
  );
/** The prompts for SQL, without rules. */
const prompts = (): readonly string[] => model.heard.filter((t) => t.stage === 'sql').map((t) => t.user);

beforeAll(async () => {
  s = await startService({
    tables: [
      'CREATE SCHEMA q',
      'CREATE TABLE q.t_ward (ward_no bigint PRIMARY KEY, ward_name text)',
      'CREATE TABLE q.t_person (no bigint PRIMARY KEY, name text, diagnosis text, state text, ward_no bigint)',
      'CREATE TABLE q.t_nurse (nurse_no bigint PRIMARY KEY, nurse_name text)',
      'CREATE TABLE q.t_visit (visit_no bigint PRIMARY KEY, person_no bigint, seen_by bigint, held_by bigint)',
      "INSERT INTO q.t_ward VALUES (1, 'North'), (2, 'South'), (3, 'North annex'), (4, 'Up north'), (5, 'Winternorth')",
      "INSERT INTO q.t_person SELECT n, 'Person ' || n, CASE WHEN n % 2 = 0 THEN 'Gout' ELSE 'Flu' END, CASE WHEN n % 3 = 0 THEN 'visited' ELSE 'open' END, n % 5 + 1 FROM generate_series(1, 2500) n",
      "INSERT INTO q.t_person VALUES (3001, 'Zed Quist', 'Plague', 'open', 1), (3002, 'Xan Hidden', 'Plague', 'open', 2)",
      "INSERT INTO q.t_nurse VALUES (1, 'Tim'), (2, 'Ann Ash')",
      'INSERT INTO q.t_visit SELECT n, n, n % 2 + 1, (n + 1) % 2 + 1 FROM generate_series(1, 20) n',
    ],
  });
  for (const ontology of ['clinic', 'wide']) await s.rows(`CREATE ONTOLOGY ${ontology}; ${CLINIC}`);
  for (let i = 0; i < rooms.length; i += 60) await s.rows(rooms.slice(i, i + 60).join('\n'), 'wide');
  await s.rows(FREEZER, 'wide');
  const few = ['person', 'ward', 'visit'];
  tokens.few = await s.user('few', ...['clinic', 'wide'].flatMap((o) => few.map((c) => `QUERY ON ontology.${o}.concept.${c}`)));
  await s.rows("CREATE POLICY north ON CONCEPT person TO USER few USING (name <> 'Xan Hidden')", 'clinic');
  await s.rows('CREATE POLICY hush ON PROPERTY diagnosis MASK FULL', 'clinic');
});
afterAll(() => s?.close());

describe('the part of a graph', () => {
  const BIG = { ontology: 'wide' };
  const SQL = 'SELECT COUNT(*) AS n FROM svc.visit';

  it('grows by what a model says is missing, and by the ways to it', async () => {
    model.says([{ refusal: 'Nothing keeps samples cold, and there is no rating in kelvin.' }, SQL], 'visit');
    expect((await call(queryData, { prompt: 'How many visits were there?' }, BIG)).rows).toEqual([{ n: 20 }]);
    const [first = '', second = ''] = prompts();
    expect([first.includes('kelvin_rating'), second.includes('kelvin_rating')]).toEqual([false, true]);
    // from the ward to the freezer
    for (let n = 200; n > 0; n = Math.floor((n - 1) / 3)) expect(second).toContain(`${room(n)} -> ${room(Math.floor((n - 1) / 3))}: ${room(n)}_in`);
    expect(second).toContain(`freezer -> ${room(200)}: stands_by[${room(200)}] one; back cools_for[freezer] many`);
    expect(prompts().every((p) => p.length < 20_000)).toBe(true);
  });

  it('is refused only after it has grown, in few calls', async () => {
    model.says([{ refusal: 'There are no unicorns.' }], 'visit');
    expect(await failing(call(queryData, { prompt: 'How many unicorns were there?' }, BIG))).toMatch(/^not_answerable .*unicorns/);
    const [first = '', second = '', ...more] = prompts();
    expect([second.length > first.length, more]).toEqual([true, []]);
    // the whole graph cannot grow
    expect(await failing(call(queryData, { prompt: 'How many unicorns were there?' }))).toMatch(/^not_answerable/);
    expect(prompts()).toHaveLength(1);
    expect(await call(generateSql, { prompt: 'How many unicorns were there?' }, BIG)).toMatchObject({
      is_valid: false,
      error: expect.stringContaining('unicorns'),
    });
  });

  it.each([
    ['parking', 'How many parking lots does each ward have?'],
    ['weather', 'What was the weather when the visits took place?'],
    ['insurance', 'Which insurance paid for the visits?'],
    ['salaries', 'What do the nurses earn?'],
    ['invoices', 'How many invoices are unpaid?'],
    ['blood pressure', 'Which person has the highest blood pressure?'],
    ['meals', 'Which meals were served last week?'],
    ['birthdays', 'Whose birthday is today?'],
    ['surgeons', 'Which surgeon operates most?'],
    ['ambulances', 'How many ambulances are free?'],
    ['languages', 'Which languages do the nurses speak?'],
    ['satisfaction', 'How satisfied are the people?'],
    ['electricity', 'How much electricity does each ward use?'],
    ['vaccines', 'How many vaccines expire this year?'],
    ['e-mail addresses', 'What is the e-mail address of each person?'],
    ['holidays', 'Which nurse is on holiday?'],
    ['relatives', 'Who are the relatives of each person?'],
    ['laboratories', 'Which laboratory is the fastest?'],
    ['budgets', 'Which ward exceeds its budget?'],
    ['donations', 'Who donated most last year?'],
  ])('has no %s, so the question is refused after the part has grown', async (what, prompt) => {
    // a model that follows the rules: it answers only with names that it sees
    model.says(
      [({ user }) => (user.replaceAll(prompt, '').replaceAll(`There are no ${what}`, '').includes(what) ? SQL : { refusal: `There are no ${what}` })],
      'visit',
    );
    expect(await failing(call(queryData, { prompt }, BIG))).toMatch(/^not_answerable /);
    const lengths = prompts().map((p) => p.length);
    expect([lengths.length >= 2, lengths.length <= 4, (lengths[1] ?? 0) > (lengths[0] ?? 0)], String(lengths)).toEqual([true, true, true]);
  });

  it('never has what the caller may not see, also if the model asks for it', async () => {
    model.says([{ refusal: 'There is no freezer with a kelvin_rating, no nurse and no admitted_by.' }, SQL], 'visit');
    await call(queryData, { prompt: 'Which nurse admitted whom, and which freezer is cold?' }, { ...BIG, user: 'few' }).catch(() => undefined);
    const text = prompts()
      .join('\n')
      .replaceAll(/There is no freezer.*admitted_by\./g, '')
      .replaceAll(/Which nurse.*cold\?/g, '');
    expect(text).toContain('of_person[person]');
    expect(text).not.toMatch(/freezer|kelvin|nurse|admitted_by|released_by|room_/);
  });

  it('needs no choice of a concept if it is the whole graph', async () => {
    model.says([SQL], 'ward');
    await call(queryData, { prompt: 'How many visits did each nurse release in the wards?' });
    expect(model.heard.map((t) => t.stage)).toEqual(['sql']);
    await call(queryData, { prompt: 'How many were there in the wards, seen by a nurse?' }, BIG);
    expect(model.heard.map((t) => t.stage)).toEqual(['concept', 'sql']);
  });
});

describe('the values of a question', () => {
  const ask = async (prompt: string, user?: string, ontology?: string): Promise<string> => {
    model.says(['SELECT COUNT(*) AS n FROM svc.person'], 'person');
    await call(queryData, { prompt }, { ...(user === undefined ? {} : { user }), ...(ontology === undefined ? {} : { ontology }) });
    return /Words of the question that are values: (.*)/.exec(prompts()[0] ?? '')?.[1] ?? '';
  };

  it('are looked up if the question quotes a name that no sample has', async () => {
    expect(await ask('Which diagnosis does "zed quist" have?')).toContain("person.`name` = 'Zed Quist'");
    expect(await ask('What does the file of Zed Quist say?')).toContain("person.`name` = 'Zed Quist'");
    // as the caller: not in rows that a policy hides, and not below a mask
    expect(await ask('Which state does "Xan Hidden" have?')).toContain("'Xan Hidden'");
    expect(await ask('Which state does "Xan Hidden" have?', 'few')).toBe('');
    expect(await ask('Who has the "Plague"?', 'few')).toBe('');
  });

  it('are looked up in labels before other columns', async () => {
    const columns = Array.from({ length: 7 }, (_, i) => `part_${i}`);
    await s.rows(`CREATE ONTOLOGY filed; ${CLINIC}
      CREATE CONCEPT folder (folder_no bigint, ${columns.map((c) => `${c} string`).join(', ')}, PRIMARY KEY (folder_no));
      CREATE MAPPING mo INTO folder AS SELECT no AS folder_no, ${columns.map((c, i) => `name || ${i} AS ${c}`).join(', ')} FROM q.t_person`);
    expect(await ask('Which folder has part 1, part 2 and part 3 of Zed Quist?', undefined, 'filed')).toContain("person.`name` = 'Zed Quist'");
  });

  it('are not common words, and not words of a relationship', async () => {
    expect(await ask('How many times was somebody here?')).toBe('');
    expect(await ask('Who was visited by whom?')).toBe('');
    expect(await ask('Who is called Tim?')).toContain("nurse.`nurse_name` = 'Tim'");
    expect(await ask('How many are open?')).toContain("person.`state` = 'open'");
  });
});

describe('the section model', () => {
  it('has everything, and only what the caller may see', async () => {
    const all = await describing({});
    for (const part of [
      'person -- Who is treated',
      'visit -> nurse: admitted_by[nurse] one; back admitted[visit] many',
      "ward_name string label; values 'North'",
    ])
      expect(all).toContain(part);
    const few = await describing({}, { user: 'few' });
    expect(few).toContain('visit -> person: of_person[person] one; back visits[visit] many');
    expect(few).not.toMatch(/nurse|admitted|released|Gout|Flu|Plague|Hidden/);
    const unknown = async (name: string, user: string) => (await failing(describing({ concepts: [name] }, { user }))).replaceAll(name, 'x');
    expect(await unknown('nurse', 'few')).toBe(await unknown('nurze', 'few'));
  });

  it('is limited to concepts and their surroundings, and to a number of tokens', async () => {
    const some = await describing({ concepts: 'nurse' }, { ontology: 'wide' });
    expect([some.includes('visit -> nurse'), some.includes('Who is treated'), some.includes('room_')]).toEqual([true, false, false]);
    for (const max_tokens of [200, 400, 2_000]) {
      const d = await call(describeKnowledgeGraph, { include: ['model'], max_tokens }, { ontology: 'wide' });
      expect([d.truncated, d.model[0].text.length <= 4 * max_tokens]).toEqual([['model'], true]);
    }
    expect((await call(describeKnowledgeGraph, {})).model).toBeUndefined();
    expect(Object.keys(await call(describeKnowledgeGraph, { include: '*' }))).not.toContain('model');
  });

  it('has verified examples', async () => {
    await s.rows("CREATE EXAMPLE 'How many wards are there?' AS SELECT COUNT(*) AS n FROM svc.ward", 'clinic');
    expect(await describing({})).toMatch(/Verified examples:\n- How many wards are there\?\n {2}SELECT COUNT/);
  });
});

describe('search_values', () => {
  it('ranks equal values, then beginnings, then words, then the rest', async () => {
    const find = (text: string, max_results = 9) => call(searchValues, { concept: 'ward', property: 'ward_name', text, max_results });
    expect((await find('north')).values).toEqual(['North', 'North annex', 'Up north', 'Winternorth']);
    expect(await find('NORTH', 2)).toEqual({ values: ['North', 'North annex'], truncated: true });
    expect((await call(searchValues, { concept: 'visit', property: 'released_by[nurse].nurse_name' })).values).toEqual(['Ann Ash', 'Tim']);
  });
});
