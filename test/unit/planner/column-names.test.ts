/** The planner's own columns never take the names of a concept's properties. */
import { describe, expect, it } from 'vitest';
import { graphOf } from '../../../examples/world/graph.ts';
import { loadNodeParser } from '../../../src/cli/node-parser.ts';
import { planSelect } from '../../../src/planner/index.ts';
import type { Access } from '../../../src/planner/secure/access.ts';

const parser = await loadNodeParser();
const graph = graphOf(
  `CREATE CONCEPT town (town_id bigint, name string, PRIMARY KEY (town_id));
CREATE CONCEPT client (id bigint, c1 string, c2 string, c3 string, secret bigint, PRIMARY KEY (id),
  CONSTRAINT lives_in FOREIGN KEY (secret) REFERENCES town (town_id) INVERSEOF houses);
CREATE CONCEPT vip INHERITS (client) FROM svc.client WHERE secret > 1;
CREATE MAPPING m_town INTO town AS SELECT id AS town_id, name FROM raw.towns;
CREATE MAPPING m_client INTO client AS SELECT id, one AS c1, two AS c2, three AS c3, hush AS secret FROM raw.clients;`,
  'shop',
  parser,
);
const caller = { username: 'ann', roles: [], claims: {} };
const access: Access = {
  rows: [{ concept: 'client', conditions: [{ policy: 'p', condition: 'secret > 5' }] }],
  masks: [{ policy: 'm', property: 'secret', concept: null, mask: { kind: 'null' } }],
  caller,
  maskKey: 's',
};
/** The table columns that have a name anywhere in a plan. */
const under = (sql: string, name: string, policies?: Access): string[] => {
  const planned = planSelect({ graph, parser, product: 'svc', activeDatasource: 'main', access: policies, caller }, { text: sql, offset: 0 }).sql;
  return [
    ...new Set(
      [...planned.matchAll(new RegExp(`\\b(one|two|three|hush)(?:\\)?::\\w+| AS \\w+\\))* AS "?${name}"?(?![\\w~])`, 'g'))].map((m) => m[1] as string),
    ),
  ];
};

describe('a property keeps its name', () => {
  it.each(['c1', 'c2', 'c3'])('%s', (name) => {
    const own = { c1: 'one', c2: 'two', c3: 'three' }[name] as string;
    for (const policies of [undefined, access]) {
      expect(under(`SELECT ${name}, "lives_in[town].name" FROM dsvc.client`, name, policies)).toEqual([own]);
      expect(under(`SELECT ${name} FROM svc.client`, name, policies)).toEqual([own]);
      expect(under(`SELECT id, ${name}, "lives_in[town].name" FROM dsvc.client`, name, policies)).toEqual([own]);
    }
    expect(under(`SELECT id, ${name} FROM svc.vip`, name)).toEqual([own]);
  });
});
