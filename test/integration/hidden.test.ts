/** Over the service: what a caller without rights on all of an ontology sees and reads, by every way. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Answer, startService, type TestService } from '../support/service.ts';

const TABLES = [
  'CREATE SCHEMA zoo',
  'CREATE TABLE zoo.t_being (id bigint PRIMARY KEY, nick text, home bigint, claws integer, kind text)',
  "INSERT INTO zoo.t_being VALUES (1, 'Ada', 1, NULL, 'animal'), (2, 'Ben', 2, 5, 'bear'), (3, 'Cleo', 1, 3, 'bear')",
  'CREATE TABLE zoo.t_place (id bigint PRIMARY KEY, title text)',
  "INSERT INTO zoo.t_place VALUES (1, 'Bern'), (2, 'Oslo')",
  'GRANT USAGE ON SCHEMA zoo TO kg_reader',
  'GRANT SELECT ON ALL TABLES IN SCHEMA zoo TO kg_reader',
];
const MODEL = `CREATE ONTOLOGY zoo;
CREATE MEASURE claw_sum bigint AS SELECT SUM(claws);
CREATE CONCEPT place (place_id bigint, title string, PRIMARY KEY (place_id), LABEL (title));
CREATE CONCEPT animal (no bigint, nick string, home bigint, claw_sum MEASURE bigint, PRIMARY KEY (no), LABEL (nick),
  CONSTRAINT lives_in FOREIGN KEY (home) REFERENCES place (place_id) INVERSEOF houses) DESCRIPTION = 'What lives';
CREATE CONCEPT bear (claws integer) INHERITS (animal);
CREATE CONCEPT clawed INHERITS (bear) FROM svc.bear WHERE claws > 4;
CREATE MAPPING map_place INTO place AS SELECT id AS place_id, title FROM zoo.t_place;
CREATE MAPPING map_animal INTO animal AS SELECT id AS no, nick, home FROM zoo.t_being WHERE kind = 'animal';
CREATE MAPPING map_bear INTO bear AS SELECT id AS no, nick, home, claws FROM zoo.t_being WHERE kind = 'bear';
CREATE ONTOLOGY VIEW bears AS SELECT nick, claws FROM svc.bear;
CREATE ONTOLOGY VIEW animals AS SELECT nick FROM svc.animal`;

describe('the service, to a caller with few rights,', () => {
  let service: TestService;
  const tokens: Record<string, string> = {};
  const user = async (name: string, ...grants: string[]): Promise<void> => {
    tokens[name] = await service.user(name, ...grants);
  };
  const as = (name: string, sql: string): Promise<Answer> => service.query(sql, 'zoo', tokens[name]);
  const rows = (name: string, sql: string) => service.rows(sql, 'zoo', tokens[name]);
  const outcomeOf = async (name: string, sql: string): Promise<string> => {
    const { status, json } = await as(name, sql);
    return `${status} ${json.code}`;
  };

  beforeAll(async () => {
    service = await startService({ tables: TABLES });
    await service.rows(MODEL, 'zoo');
    await service.rows('CREATE ONTOLOGY attic; CREATE CONCEPT trunk (trunk_id bigint, PRIMARY KEY (trunk_id))', 'attic');
    await service.rows("CREATE AGENT keeper ONTOLOGY (zoo, attic) OPTIONS (concepts_list = 'animal, bear, trunk', views_list = 'bears')");
    await user('ann', 'QUERY ON ontology.zoo.concept.animal');
    await user('bob', 'QUERY ON ontology.zoo.concept.bear', 'ACCESS ON ontology.zoo.concept.animal', 'ACCESS ON ontology.zoo.concept.place');
    await user('cis', 'QUERY ON ontology.zoo.view.bears');
    await user('dan', 'QUERY ON ontology.zoo.concept.clawed', 'QUERY ON datasource.main');
    await user('eve', 'EDIT ON ontology.zoo', 'EDIT ON ontology.zoo.concept.animal', 'ACCESS ON ontology.zoo.concept.place', 'QUERY ON datasource.main');
    await user('acc', 'ACCESS ON ALL ontology.zoo');
  });
  afterAll(() => service?.close());

  it('returns the rows of descendants with the granted concept, and nothing else of them', async () => {
    expect(await rows('ann', 'SELECT entity_id, entity_type, nick FROM svc.animal ORDER BY nick')).toEqual([
      { entity_id: 'animal:1', entity_type: 'animal', nick: 'Ada' },
      { entity_id: 'animal:2', entity_type: 'bear', nick: 'Ben' },
      { entity_id: 'animal:3', entity_type: 'bear', nick: 'Cleo' },
    ]);
    expect(Object.keys((await rows('ann', 'SELECT * FROM esvc.animal'))[0])).toEqual(['entity_id', 'entity_type', 'entity_label', 'no', 'nick', 'home']);
    for (const sql of ['SELECT claws FROM esvc.animal', 'SELECT "_type_of_bear" FROM dsvc.animal', 'SELECT SUM("measure.claw_sum") AS s FROM dsvc.animal'])
      expect((await as('ann', sql)).status).toBe(400);
    expect(await rows('bob', 'SELECT nick, claws FROM svc.bear ORDER BY nick')).toEqual([
      { nick: 'Ben', claws: 5 },
      { nick: 'Cleo', claws: 3 },
    ]);
  });

  it('returns the rows of a logic concept that is defined on hidden concepts', async () => {
    expect(await rows('dan', 'SELECT nick, claws FROM svc.clawed')).toEqual([{ nick: 'Ben', claws: 5 }]);
    expect(await rows('dan', 'SELECT concept, inheritance, inheritance_level, query FROM svc.SYS_ONTOLOGY')).toEqual([
      { concept: 'clawed', inheritance: 'thing', inheritance_level: 1, query: null },
    ]);
  });

  it('returns the rows of thing that may be read through what is granted', async () => {
    const types = 'SELECT entity_type, COUNT(*) AS n FROM svc.thing GROUP BY entity_type ORDER BY entity_type';
    expect(await rows('bob', types)).toEqual([{ entity_type: 'bear', n: 2 }]);
    expect(await rows('cis', types)).toEqual([]);
    expect(await outcomeOf('acc', types)).toBe('403 forbidden');
  });

  it('names a missing right only for visible objects', async () => {
    expect(await outcomeOf('bob', 'SELECT nope FROM svc.animal')).toBe('403 forbidden');
    expect(await outcomeOf('bob', 'SELECT "lives_in[place].title" FROM dsvc.bear')).toBe('403 forbidden');
    expect(await outcomeOf('bob', 'SELECT * FROM vsvc.bears')).toBe('400 unknown_view');
    expect(await outcomeOf('ann', 'SELECT "lives_in[place].title" FROM dsvc.animal')).toBe('400 unknown_relationship');
    expect(await outcomeOf('acc', 'SELECT 1 AS one FROM svc.bear')).toBe('403 forbidden');
    expect(await outcomeOf('acc', 'SELECT 1 AS one FROM svc.bera')).toBe('400 unknown_concept');
    expect(await outcomeOf('acc', 'DESC svc.bear')).toBe('200 undefined');
  });

  it('allows a view with QUERY only on the view, without its text', async () => {
    expect(await rows('cis', 'SELECT nick FROM vsvc.bears ORDER BY nick')).toEqual([{ nick: 'Ben' }, { nick: 'Cleo' }]);
    expect(await rows('cis', 'SELECT view_name, query FROM svc.SYS_VIEWS')).toEqual([{ view_name: 'bears', query: null }]);
    expect(await outcomeOf('cis', 'SHOW CREATE VIEW bears')).toBe('403 forbidden');
    expect(await rows('cis', 'SELECT * FROM svc.SYS_PROPERTIES')).toEqual([]);
    await service.rows('GRANT ACCESS ON ontology.zoo.concept.bear TO USER cis');
    expect((await rows('cis', 'SELECT query FROM svc.SYS_VIEWS'))[0].query).toMatch(/svc\.bear/);
  });

  it('explains in physical terms only what the caller may read', async () => {
    const [outcomeOf] = await rows('dan', 'EXPLAIN SELECT nick FROM svc.clawed');
    expect(outcomeOf.SQL).toBeNull();
    expect(outcomeOf.PLAN).not.toMatch(/t_being|bear/);
    await service.rows('GRANT QUERY ON datasource.main TO USER bob');
    expect((await rows('bob', 'EXPLAIN SELECT nick FROM svc.bear'))[0].SQL).toMatch(/t_being/);
  });

  it('lists the parts of an agent that the caller sees', async () => {
    const options = await rows('bob', 'SELECT option_name, option_value FROM svc.SYS_AGENTS_OPTIONS ORDER BY option_name');
    expect(options).toEqual([
      { option_name: 'concepts_list', option_value: 'animal, bear' },
      { option_name: 'ontology', option_value: 'zoo' },
      { option_name: 'views_list', option_value: 'none' },
    ]);
    expect((await rows('bob', 'SHOW CREATE AGENT keeper'))[0].script).not.toMatch(/trunk|attic/);
    expect((await rows('bob', 'SHOW AGENTS'))[0].knowledge_bases).toBe('zoo');
  });

  it('allows changing a concept with EDIT on it, with the visible names', async () => {
    await rows('eve', "ALTER CONCEPT animal UPDATE TAG wild = 'yes'");
    expect(await outcomeOf('eve', "ALTER CONCEPT place UPDATE TAG wild = 'yes'")).toBe('403 forbidden');
    for (const statement of [
      "ALTER CONCEPT bear UPDATE TAG a = 'b'",
      'DROP CONCEPT bear',
      'CREATE CONCEPT cub INHERITS (bear)',
      'CREATE CONCEPT den (b bigint) FROM svc.bear WHERE true',
    ]) {
      const [mine, unknown] = [await as('eve', statement), await as('eve', statement.replaceAll('bear', 'yeti'))];
      expect(mine.status).toBe(400);
      const plain = (a: Answer, name: string) => JSON.stringify({ ...a.json, request_id: '' }).replaceAll(name, '?');
      expect(plain(mine, 'bear')).toBe(plain(unknown, 'yeti'));
    }
    const view = await as('eve', 'CREATE ONTOLOGY VIEW mine AS SELECT no FROM svc.bear');
    expect([view.status, view.json.code]).toEqual([400, 'unknown_concept']);
    const drop = await as('eve', 'DROP CONCEPT animal');
    expect([drop.status, drop.json.code]).toEqual([400, 'in_use']);
    expect(JSON.stringify(drop.json)).not.toMatch(/bear/);
    expect(await outcomeOf('eve', "ROLLBACK ONTOLOGY zoo TO VERSION '00000000-0000-0000-0000-000000000000'")).toBe('403 forbidden');
    expect((await rows('eve', 'SHOW VERSIONS')).every((v: { statement: unknown }) => v.statement === null)).toBe(true);
  });

  it('does not allow replacing a partly visible concept', async () => {
    await service.rows(
      'CREATE CONCEPT keeper (keeper_id bigint, boss bigint, PRIMARY KEY (keeper_id), CONSTRAINT works_at FOREIGN KEY (boss) REFERENCES place (place_id)) INHERITS (thing)',
      'zoo',
    );
    await user('fay', 'EDIT ON ontology.zoo', 'EDIT ON ontology.zoo.concept.keeper');
    const again = 'CREATE OR REPLACE CONCEPT keeper (keeper_id bigint, boss bigint, PRIMARY KEY (keeper_id))';
    expect(await outcomeOf('fay', again)).toBe('403 forbidden');
    await service.rows('GRANT ACCESS ON ontology.zoo.concept.place TO USER fay');
    expect((await as('fay', again)).status).toBe(200);
  });
});
