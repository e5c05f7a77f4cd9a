/** COUNT of `entity_id` counts keys, if the block uses the ids for nothing else. */
import { describe, expect, it } from 'vitest';
import { graphOf } from '../../../../examples/world/graph.ts';
import { planSelect } from '../../../../src/planner/index.ts';
import { context } from '../company.ts';

const sqlOf = (text: string, more = {}): string => planSelect({ ...context, ...more }, { text, offset: 0 }).sql;
/** True if the SQL builds the text of an id. */
const buildsIds = (text: string, more = {}): boolean => / \|\| /.test(sqlOf(text, more));

describe('COUNT of entity_id', () => {
  it('counts the key', () => {
    for (const text of [
      'SELECT COUNT(entity_id) FROM svc.town',
      'SELECT COUNT(DISTINCT entity_id) AS n FROM svc.town ORDER BY n',
      'SELECT name, COUNT("houses[party].entity_id") AS n FROM dsvc.town GROUP BY name ORDER BY n',
      'SELECT name, COUNT(DISTINCT "houses[party].entity_id") FILTER (WHERE "houses[party].name" LIKE \'A%\') FROM dsvc.town GROUP BY name',
      'SELECT COUNT(entity_id) AS a, COUNT(DISTINCT "knows[person].entity_id") AS b, COUNT("mentors[employee].entity_id") AS c FROM dsvc.employee',
      'SELECT COUNT(entity_id) OVER () AS n FROM svc.rich',
    ])
      expect(buildsIds(text), text).toBe(false);
  });

  it('builds the ids where something else reads them', () => {
    for (const text of [
      'SELECT COUNT(entity_id), MIN(entity_id) FROM svc.town',
      "SELECT COUNT(entity_id) FROM svc.town WHERE entity_id <> 'town:1'",
      'SELECT entity_id, COUNT(entity_id) FROM svc.town GROUP BY entity_id',
      'SELECT COUNT(entity_id) FROM svc.town t ORDER BY MAX(t.entity_id)',
      'SELECT COUNT(upper(entity_id)) FROM svc.town',
      'SELECT COUNT(t.entity_id) AS a, COUNT(t) AS b FROM svc.town t',
      'SELECT COUNT(a.entity_id) FROM svc.town a JOIN svc.party b USING (entity_id)',
      "SELECT COUNT(entity_id), (SELECT MIN(p.name) FROM svc.party p WHERE 'town:' || p.town_id = MIN(t.entity_id)) FROM svc.town t",
    ])
      expect(buildsIds(text), text).toBe(true);
  });

  it('builds them where keys count otherwise', () => {
    // a key of two columns; ids of several holders; rows without a key
    for (const text of [
      'SELECT COUNT(entity_id) FROM svc.pass',
      'SELECT COUNT(DISTINCT "issued_by[firm].entity_id") AS a, COUNT(entity_id) AS b FROM dsvc.pass',
    ])
      expect(buildsIds(text), text).toBe(true);
    const graph = graphOf(
      `CREATE CONCEPT place (name string);
       CREATE CONCEPT lake (lake_id bigint, PRIMARY KEY (lake_id)) INHERITS (place);
       CREATE CONCEPT hill (hill_id bigint, PRIMARY KEY (hill_id)) INHERITS (place);
       CREATE CONCEPT weight (w decimal(10,2), PRIMARY KEY (w));
       CREATE CONCEPT sign (s string, PRIMARY KEY (s));
       CREATE MAPPING m_lake INTO lake AS SELECT id AS lake_id, name FROM raw.lakes;
       CREATE MAPPING m_hill INTO hill AS SELECT id AS hill_id, name FROM raw.hills;
       CREATE MAPPING m_weight INTO weight AS SELECT w FROM raw.weights;
       CREATE MAPPING m_sign INTO sign AS SELECT s FROM raw.signs;
       CREATE MAPPING m_more INTO sign AS SELECT s COLLATE "C" AS s FROM raw.more_signs;`,
      'places',
      context.parser,
    );
    expect(buildsIds('SELECT COUNT(entity_id) FROM svc.place', { graph })).toBe(true);
    expect(buildsIds('SELECT COUNT(DISTINCT entity_id) FROM svc.weight', { graph })).toBe(true);
    expect(buildsIds('SELECT COUNT(entity_id) FROM svc.weight', { graph })).toBe(false);
    // the columns of two mappings may have different collations
    expect(buildsIds('SELECT COUNT(DISTINCT entity_id) FROM svc.sign', { graph })).toBe(true);
    expect(buildsIds('SELECT COUNT(entity_id) FROM svc.sign', { graph })).toBe(false);
  });

  it('builds them for callers with policies', () => {
    const access = {
      rows: [{ concept: 'town', conditions: [{ policy: 'p', condition: "name <> 'x'" }] }],
      masks: [],
      caller: { username: 'u', roles: [], claims: {} },
      maskKey: 'k',
    };
    expect(buildsIds('SELECT COUNT(entity_id) FROM svc.town', { access })).toBe(true);
  });
});
