/**
 * A logic concept over multi-value properties and link columns that are masked for the caller is refused like any other one
 * (docs/design/policies.md#what-masked-callers-are-refused).
 */
import { expect, it } from 'vitest';
import { graphOf } from '../../../examples/world/graph.ts';
import { loadNodeParser } from '../../../src/cli/node-parser.ts';
import { SvcError } from '../../../src/errors.ts';
import { planSelect } from '../../../src/planner/index.ts';

const parser = await loadNodeParser();
const graph = graphOf(
  `CREATE PROPERTY since date;
CREATE PROPERTY nick MULTIVALUE string;
CREATE CONCEPT person (id bigint, since date, PRIMARY KEY (id), CONSTRAINT nick MULTIVALUE string, CONSTRAINT knows MULTIREFERENCE person INVERSEOF known_by);
CREATE CONCEPT nicked INHERITS (person) FROM dsvc.person WHERE nick = 'x';
CREATE CONCEPT friend INHERITS (person) FROM dsvc.person WHERE "knows[person].nick" = 'x';
CREATE CONCEPT old INHERITS (person) FROM dsvc.person WHERE "knows[person]_since" < DATE '2000-01-01';
CREATE MAPPING m_person INTO person AS SELECT id, since FROM raw.people;
CREATE MAPPING m_nick INTO person MULTIVALUE nick AS SELECT id, nick FROM raw.nicks;
CREATE MAPPING m_knows (CONSTRAINT knows FOREIGN KEY (b) REFERENCES person (id), CONSTRAINT known_by FOREIGN KEY (a) REFERENCES person (id)) AS SELECT a, b, since FROM raw.knows;`,
  'club',
  parser,
);
const caller = { username: 'ann', roles: [], claims: {} };
const outcome = (sql: string, property: string): string => {
  const access = { rows: [], masks: [{ policy: 'm', property, concept: null, mask: { kind: 'null' as const } }], caller, maskKey: 's' };
  try {
    planSelect({ graph, parser, product: 'svc', activeDatasource: 'main', access, caller }, { text: sql, offset: 0 });
    return 'planned';
  } catch (e) {
    return e instanceof SvcError ? `${e.status} ${e.code}` : String(e);
  }
};

it.each([
  ['SELECT id FROM svc.nicked', 'nick', '403 masked'],
  ['SELECT id FROM svc.friend', 'nick', '403 masked'],
  ['SELECT "_type_of_nicked" FROM dsvc.person', 'nick', '403 masked'],
  ['SELECT id FROM svc.old', 'since', '403 masked'],
  ['SELECT id FROM svc.nicked', 'since', 'planned'],
  ['SELECT nick, "knows[person]_since" FROM dsvc.person', 'nick', 'planned'],
])('%s where %s is masked', (sql, property, expected) => expect(outcome(sql, property)).toBe(expected));
