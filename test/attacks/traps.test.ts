/** Traps: objects that a writer with rights on a part of a model prepares before a later change, by another user, would give it hidden rows or values. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startService, type TestService } from '../support/service.ts';

const TABLES = [
  'CREATE SCHEMA trap',
  'CREATE TABLE trap.guest (id bigint PRIMARY KEY, name text)',
  "INSERT INTO trap.guest VALUES (1, 'Ann')",
  'CREATE TABLE trap.worker (id bigint PRIMARY KEY, name text, pay bigint)',
  "INSERT INTO trap.worker VALUES (2, 'Bob', 7000), (3, 'Cid', 5000)",
  'CREATE TABLE trap.own (id bigint PRIMARY KEY, name text, pay bigint)',
  "INSERT INTO trap.own VALUES (4, 'Dan', 6500)",
];

const MODEL = `
  CREATE CONCEPT person (id bigint, name string, PRIMARY KEY (id));
  CREATE CONCEPT worker INHERITS (person);
  CREATE CONCEPT own (pay bigint) INHERITS (person);
  CREATE CONCEPT rich INHERITS (person) FROM dsvc.person WHERE false;
  CREATE CONCEPT poor INHERITS (rich) FROM dsvc.rich WHERE true;
  CREATE CONCEPT guest INHERITS (person);
  CREATE MAPPING m_guest INTO (guest) AS SELECT id, name FROM trap.guest;
  CREATE MAPPING m_worker INTO (worker) AS SELECT id, name, pay FROM trap.worker;
  CREATE MAPPING m_own INTO (own) AS SELECT id, name, pay FROM trap.own;
`;

describe('a property that an administrator lists on a hidden concept later', () => {
  let s: TestService;
  beforeAll(async () => {
    s = await startService({ tables: TABLES });
  });
  afterAll(() => s?.close());

  let count = 0;
  /** An ontology, an editor of `rich` and `own` who may not query `worker`, and the names of `rich` after the editor's script and the administrator's change. */
  async function names(script: string, query = 'SELECT name FROM svc.rich ORDER BY name', writer?: string): Promise<unknown> {
    const o = `trap${++count}`;
    await s.rows(`CREATE ONTOLOGY ${o}; ${MODEL}`);
    const rights = ['person', 'own', 'rich', 'poor', 'guest'].flatMap((c) => [`QUERY ON ontology.${o}.concept.${c}`]);
    const editor = await s.user(
      `editor${count}`,
      `EDIT ON ontology.${o}`,
      ...rights,
      `QUERY ON ontology.${o}.view.paid`,
      ...['own', 'rich', 'poor'].map((c) => `EDIT ON ontology.${o}.concept.${c}`),
    );
    const { status, json } = await s.query(script, o, writer ?? editor);
    expect([status, json.data]).toEqual([200, json.data]);
    await s.rows('CREATE OR REPLACE CONCEPT worker (pay bigint) INHERITS (person)', o);
    const answers = [];
    for (const token of [editor, undefined]) {
      const answer = await s.query(query, o, token);
      answers.push(answer.status === 200 ? answer.json.data.map((r: { name: string }) => r.name) : answer.json.code);
    }
    expect(answers[1], 'the rows of a concept are the same for everybody').toEqual(answers[0]);
    return answers[0];
  }
  const rich = (condition: string, source = 'dsvc.person'): string => `CREATE OR REPLACE CONCEPT rich INHERITS (person) FROM ${source} WHERE ${condition}`;

  it.each([
    ['a condition', rich('pay > 6000'), ['Dan']],
    ['its negation', rich('NOT coalesce(pay > 6000, false)'), ['Ann', 'Bob', 'Cid']],
    ['a sub-query', rich('id IN (SELECT p.id FROM dsvc.person p WHERE p.pay > 6000)'), ['Dan']],
    ['a view in the condition', `CREATE VIEW paid AS SELECT id FROM dsvc.person WHERE pay > 6000; ${rich('id IN (SELECT id FROM vsvc.paid)')}`, ['Dan']],
  ])('has no values in %s', async (_, script, expected) => {
    expect(await names(script)).toEqual(expected);
    expect(await names(script, 'SELECT name FROM dsvc.person WHERE "_type_of_rich" ORDER BY name')).toEqual(expected);
    expect(await names(script, 'SELECT p.name FROM svc.rich p WHERE EXISTS (SELECT 1 FROM svc.rich r WHERE r.id = p.id) ORDER BY 1')).toEqual(expected);
  });

  it('has its values in a condition that an administrator writes', async () => {
    expect(await names(rich('pay > 6000'), undefined, s.token)).toEqual(['Bob', 'Dan']);
  });
});
