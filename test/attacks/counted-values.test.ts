/** Counted values and rows (SYS_PROPERTIES_STATISTICS, `number_of_rows`) of links and multi-valued properties, which may belong to rows that the caller does not see. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { CATALOG_OWNER, READER } from '../../dev/roles.ts';
import { main } from '../../src/cli/kg.ts';
import { startService, type TestService } from '../support/service.ts';

let s: TestService;
beforeAll(async () => {
  s = await startService({
    tables: [
      'CREATE SCHEMA club',
      'CREATE TABLE club.t_member (nr bigint PRIMARY KEY, code text, name text, tenant int)',
      "INSERT INTO club.t_member VALUES (4711, 'k-4711', 'Ann', 1), (4712, 'k-4712', 'Bob', 1), (9001, 'k-9001', 'Zoe', 2)",
      'CREATE TABLE club.t_team (tag text PRIMARY KEY, title text)',
      "INSERT INTO club.t_team VALUES ('red-99', 'Red')",
      'CREATE TABLE club.t_plays (who bigint, team text, badge text, since int)',
      "INSERT INTO club.t_plays VALUES (4711, 'red-99', 'K-4711', 1999), (4712, 'red-99', 'K-4712', 2001), (9001, 'red-99', 'K-9001', 1815)",
      'CREATE TABLE club.t_nick (nr bigint, nick text)',
      "INSERT INTO club.t_nick VALUES (4711, 'Annie'), (9001, 'Zorro')",
    ],
  });
  await s.rows(`CREATE ONTOLOGY club;
CREATE PROPERTY badge string AS SELECT upper(code);
CREATE CONCEPT member (nr bigint, code string, badge string, name string, PRIMARY KEY (nr), CONSTRAINT plays MULTIREFERENCE team INVERSEOF has_player, CONSTRAINT nick MULTIVALUE string);
CREATE CONCEPT team (tag string, title string, PRIMARY KEY (tag));
CREATE MAPPING m_member INTO member AS SELECT nr, code, name FROM club.t_member WHERE tenant = 1;
CREATE MAPPING m_team INTO team AS SELECT tag, title FROM club.t_team;
CREATE MAPPING m_nick INTO member MULTIVALUE nick AS SELECT nr, nick FROM club.t_nick;
CREATE MAPPING m_plays (CONSTRAINT plays FOREIGN KEY (team) REFERENCES team (tag), CONSTRAINT has_player FOREIGN KEY (who) REFERENCES member (nr)) AS SELECT who, team, since FROM club.t_plays`);
  await validate();
});
afterAll(() => s?.close());

async function validate(): Promise<void> {
  const env = { CATALOG_URL: s.database.secret(CATALOG_OWNER), DATASOURCE_MAIN: s.database.secret(READER), SESSION_FILE: 'missing.json' };
  const err: string[] = [];
  await main(['validate', '--ontology', 'club', '--data'], env, { out: () => undefined, err: (line) => err.push(line) });
  expect(err).toEqual([]);
}

const counted = async (token?: string): Promise<string[]> =>
  (await s.rows("SELECT target_name || '.' || property_name AS c FROM svc.SYS_PROPERTIES_STATISTICS ORDER BY 1", 'club', token)).map((r) => r.c);
const rowsOf = async (token?: string): Promise<unknown[]> =>
  (
    await s.rows(
      "SELECT DISTINCT mapping_name AS m, number_of_rows AS n FROM svc.SYS_CONCEPT_MAPPINGS WHERE mapping_name IN ('m_nick', 'm_plays') ORDER BY 1",
      'club',
      token,
    )
  ).map((r) => r.n);

it('Links and values that belong to rows which a mapping leaves out are not counted for callers who may not query the datasource', async () => {
  const few = await s.user('few', 'QUERY ON ALL ontology.club');
  const all = await s.user('all', 'QUERY ON ALL ontology.club', 'QUERY ON datasource.main');
  for (const path of ['nick', '"plays[team]_since"', '"plays[team]_who"'])
    expect((await s.rows(`SELECT ${path} AS x FROM dsvc.member WHERE ${path} IS NOT NULL`, 'club', few)).length).toBe(path === 'nick' ? 1 : 2);
  expect((await counted(all)).filter((c) => c.startsWith('m_nick') || c.startsWith('m_plays'))).toEqual(['m_nick.nick', 'm_plays.since']);
  expect(await rowsOf(all)).toEqual([2, 3]);
  const shown = await counted(few);
  expect(shown.filter((c) => c.startsWith('m_nick') || c.startsWith('m_plays'))).toEqual([]);
  expect(shown).toContain('m_member.name');
  expect(await rowsOf(few)).toEqual([null, null]);
});

it('A column that is the key of a link in one mapping of a relationship, and not in another, is not counted where it is the key', async () => {
  await s.rows(
    'CREATE MAPPING m_more (CONSTRAINT plays FOREIGN KEY (team) REFERENCES team (tag), CONSTRAINT has_player FOREIGN KEY (nr) REFERENCES member (nr)) AS SELECT who AS nr, team, badge AS who FROM club.t_plays',
    'club',
  );
  await validate();
  const rex = await s.user('rex', 'QUERY ON ALL ontology.club', 'QUERY ON datasource.main');
  await s.rows('CREATE POLICY veil ON PROPERTY nr MASK NULL', 'club');
  expect((await counted(rex)).filter((c) => c.endsWith('.who'))).toEqual(['m_more.who']);
});
