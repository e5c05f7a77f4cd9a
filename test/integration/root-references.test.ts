/** Relationships to `thing`: a foreign key that leads to rows of any concept with the property, as far as the caller reads them. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startService, type TestService } from '../support/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startService({
    tables: [
      'CREATE SCHEMA t',
      'CREATE TABLE t.person (id text, name text)',
      "INSERT INTO t.person VALUES ('p1', 'Ann'), ('p2', 'Bob')",
      'CREATE TABLE t.house (id text, size int)',
      "INSERT INTO t.house VALUES ('h1', 7)",
      'CREATE TABLE t.note (no int, about text)',
      "INSERT INTO t.note VALUES (1, 'p1'), (2, 'h1'), (3, 'zz'), (4, NULL), (5, 'p1')",
      'CREATE TABLE t.other (no int)',
      'INSERT INTO t.other VALUES (5)',
    ],
  });
  await service.rows(`CREATE ONTOLOGY any;
    CREATE CONCEPT person (ref string, name string, PRIMARY KEY (ref), LABEL (name)); CREATE CONCEPT house (ref string, size integer, PRIMARY KEY (ref));
    CREATE CONCEPT other (num integer, PRIMARY KEY (num));
    CREATE CONCEPT note (no integer, about string, PRIMARY KEY (no), CONSTRAINT subject FOREIGN KEY (about) REFERENCES thing (ref) INVERSEOF notes);
    CREATE MAPPING mp INTO person AS SELECT id AS ref, name FROM t.person; CREATE MAPPING mh INTO house AS SELECT id AS ref, size FROM t.house;
    CREATE MAPPING mn INTO note AS SELECT no, about FROM t.note; CREATE MAPPING mo INTO other AS SELECT no AS num FROM t.other`);
});
afterAll(() => service?.close());

const values = async (sql: string, token?: string): Promise<unknown[][]> => (await service.rows(sql, 'any', token)).map((r) => Object.values(r));

/** The subjects of notes by hand: rows of all tables with an identifier. */
const SUBJECTS = `SELECT no, e FROM t.note n LEFT JOIN (SELECT id, 'person:' || id AS e FROM t.person UNION ALL SELECT id, 'house:' || id FROM t.house) s ON s.id = n.about`;

describe('a relationship to thing', () => {
  it('leads to the rows of every concept that has the property', async () => {
    const expected = (await service.database.exec(`${SUBJECTS} ORDER BY no`)).map((r) => Object.values(r));
    expect(expected.map(([, e]) => e)).toEqual(['person:p1', 'house:h1', null, null, 'person:p1']);
    expect(await values('SELECT no, "subject[thing].entity_id" AS e FROM dsvc.note ORDER BY no')).toEqual(expected);
    expect(await values('SELECT no, "subject[thing].name" AS n, "subject[thing].size" AS s FROM dsvc.note WHERE no < 4 ORDER BY no')).toEqual([
      [1, 'Ann', null],
      [2, null, 7],
      [3, null, null],
    ]);
    expect(await values('SELECT "subject[thing].entity_type" AS t, COUNT(no) AS n FROM dsvc.note GROUP BY 1 ORDER BY 1')).toEqual([
      ['house', 1],
      ['person', 2],
      [null, 2],
    ]);
  });

  it('leads to the rows of one concept that the path names', async () => {
    expect(await values('SELECT no, "subject[person].name" AS n FROM dsvc.note WHERE no < 3 ORDER BY no')).toEqual([
      [1, 'Ann'],
      [2, null],
    ]);
    expect(await values('SELECT DISTINCT "subject[other].num" AS n FROM dsvc.note')).toEqual([[null]]);
  });

  it('has an inverse at thing and at the concepts with the property', async () => {
    expect(await values('SELECT name, "notes[note].no" AS n FROM dsvc.person ORDER BY 1, 2')).toEqual([
      ['Ann', 1],
      ['Ann', 5],
      ['Bob', null],
    ]);
    expect(
      await values('SELECT entity_id, COUNT("~subject[note].no") AS n FROM dsvc.thing GROUP BY 1 HAVING COUNT("~subject[note].no") > 0 ORDER BY 1'),
    ).toEqual([
      ['house:h1', 1],
      ['person:p1', 2],
    ]);
    expect(await service.fault('SELECT "notes[note].no" AS n FROM dsvc.other', 'any')).toBe('400 unknown_relationship');
    expect(await values('SELECT no, "subject[thing].notes[note].no" AS n FROM dsvc.note WHERE no = 1 ORDER BY n')).toEqual([
      [1, 1],
      [1, 5],
    ]);
  });

  it('leads only to rows that the caller may read, and shows no hidden property', async () => {
    const some = await service.user('some', 'QUERY ON ontology.any.concept.note', 'QUERY ON ontology.any.concept.person');
    expect(await values('SELECT no, "subject[thing].entity_id" AS e FROM dsvc.note WHERE no < 3 ORDER BY no', some)).toEqual([
      [1, 'person:p1'],
      [2, null],
    ]);
    expect(await service.fault('SELECT "subject[house].size" AS s FROM dsvc.note', 'any', some)).toBe('400 unknown_concept');
    const one = await service.user('one', 'QUERY ON ontology.any.concept.note');
    expect(await service.fault('SELECT "subject[thing].entity_id" AS e FROM dsvc.note', 'any', one)).toBe('400 unknown_relationship');
    expect(await values('SELECT * FROM svc.SYS_CONCEPT_RELATIONSHIPS', one)).toEqual([]);
    const [{ script }] = await service.rows('SHOW CREATE ONTOLOGY any', 'any', one);
    expect(script).not.toContain('ref');
  });

  it('obeys row policies on the rows that it leads to', async () => {
    const reader = await service.user('reader', 'QUERY ON ALL ontology.any');
    await service.rows("CREATE POLICY few ON CONCEPT person TO USER reader USING (name <> 'Ann')", 'any');
    expect(await values('SELECT no, "subject[thing].entity_id" AS e FROM dsvc.note WHERE no < 3 ORDER BY no', reader)).toEqual([
      [1, null],
      [2, 'house:h1'],
    ]);
  });

  it('of an editor refers to properties that the editor sees, and errors do not distinguish hidden from missing', async () => {
    const editor = await service.user('editor', 'EDIT ON ontology.any', 'QUERY ON datasource.main', 'QUERY ON ontology.any.concept.note');
    const create = (property: string) =>
      service.query(`CREATE CONCEPT x (v string, CONSTRAINT r FOREIGN KEY (v) REFERENCES thing (${property}))`, 'any', editor);
    const [hidden, missing] = await Promise.all([create('ref'), create('fer')]);
    expect([hidden.status, hidden.json.code, hidden.json.data.replace('ref', 'fer')]).toEqual([400, 'unknown_property', missing.json.data]);
    expect((await create('about')).status).toBe(200);
  });

  it('cannot lose the last concept with its property', async () => {
    const faulty =
      'CREATE OR REPLACE MAPPING mp INTO person AS SELECT name FROM t.person; CREATE OR REPLACE CONCEPT person (name string); CREATE OR REPLACE CONCEPT house (size integer)';
    expect(await service.fault(faulty, 'any')).toBe('400 unknown_property');
  });
});
