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
CREATE CONCEPT person (id bigint, since date, first MEASURE date, PRIMARY KEY (id), CONSTRAINT nick MULTIVALUE string, CONSTRAINT knows MULTIREFERENCE person INVERSEOF known_by);
CREATE CONCEPT nicked INHERITS (person) FROM dsvc.person WHERE nick = 'x';
CREATE CONCEPT friend INHERITS (person) FROM dsvc.person WHERE "knows[person].nick" = 'x';
CREATE CONCEPT old INHERITS (person) FROM dsvc.person WHERE "knows[person]_since" < DATE '2000-01-01';
CREATE MEASURE first date AS SELECT MIN(since);
CREATE CONCEPT club (id bigint, PRIMARY KEY (id), CONSTRAINT has_member FOREIGN KEY (id) REFERENCES person (id) INVERSEOF member_of, CONSTRAINT has_star FOREIGN KEY (id) REFERENCES nicked (id));
CREATE ONTOLOGY VIEW stars AS SELECT id FROM svc.nicked;
CREATE ONTOLOGY CUBE joined AS SELECT id AS id, "measure.first" AS first FROM dsvc.person;
CREATE MAPPING m_club INTO club AS SELECT id FROM raw.clubs;
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
    return e instanceof SvcError ? `${e.status} ${e.code} at ${e.offset === undefined ? 'no place' : sql.slice(e.offset)}` : String(e);
  }
};

it.each([
  ['SELECT id FROM svc.nicked', 'nick', '403 masked at svc.nicked'],
  ['SELECT id FROM svc.friend', 'nick', '403 masked at svc.friend'],
  ['SELECT "_type_of_nicked" FROM dsvc.person', 'nick', '403 masked at "_type_of_nicked" FROM dsvc.person'],
  ['SELECT id FROM svc.old', 'since', '403 masked at svc.old'],
  ['SELECT p.id FROM svc.person AS p JOIN svc.old AS o ON o.id = p.id', 'since', '403 masked at svc.old AS o ON o.id = p.id'],
  ['SELECT id, "has_star[nicked].id" FROM dsvc.club', 'nick', '403 masked at "has_star[nicked].id" FROM dsvc.club'],
  ['SELECT id FROM dsvc.club WHERE id IN (SELECT id FROM vsvc.stars)', 'nick', '403 masked at vsvc.stars)'],
  ['SELECT id, SUM("measure.first") FROM dsvc.person GROUP BY id', 'since', '403 masked at SUM("measure.first") FROM dsvc.person GROUP BY id'],
  [
    'SELECT id, SUM("measure.has_member[person].first") FROM dsvc.club GROUP BY id',
    'since',
    '403 masked at SUM("measure.has_member[person].first") FROM dsvc.club GROUP BY id',
  ],
  ['SELECT id, first FROM vsvc.joined', 'since', '403 masked at first FROM vsvc.joined'],
  ['SELECT id FROM svc.nicked', 'since', 'planned'],
  ['SELECT nick, "knows[person]_since" FROM dsvc.person', 'nick', 'planned'],
])('%s where %s is masked', (sql, property, expected) => expect(outcome(sql, property)).toBe(expected));
