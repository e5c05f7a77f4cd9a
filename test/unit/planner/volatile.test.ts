/** Every plan that reads the clock reports it, not only the first one: stored texts are parsed once and shared. */
import { expect, it } from 'vitest';
import { graphOf } from '../../../examples/world/graph.ts';
import { loadNodeParser } from '../../../src/cli/node-parser.ts';
import { type PlanContext, planSelect } from '../../../src/planner/index.ts';
import type { Access } from '../../../src/planner/secure/access.ts';

const parser = await loadNodeParser();
const graph = graphOf(
  `CREATE CONCEPT pass (id bigint, ends timestamp, PRIMARY KEY (id));
CREATE CONCEPT due INHERITS (pass) FROM svc.pass WHERE ends < now();
CREATE CONCEPT draw (id bigint, PRIMARY KEY (id));
CREATE VIEW drawn AS SELECT id, random() AS lot FROM svc.draw;
CREATE MAPPING m_pass INTO pass AS SELECT id, ends FROM raw.passes;
CREATE MAPPING m_draw INTO draw AS SELECT id, now() AS at FROM raw.draws;`,
  'clock',
  parser,
);
const base: PlanContext = { graph, parser, product: 'svc', activeDatasource: 'main' };
const access: Access = {
  rows: [{ concept: 'pass', conditions: [{ policy: 'valid', condition: 'ends > CURRENT_TIMESTAMP' }] }],
  masks: [],
  caller: { username: 'ann', roles: [], claims: {} },
  maskKey: 's',
};

it.each([
  ['a condition of a policy', 'SELECT id FROM svc.pass', access],
  ['a logic concept', 'SELECT id FROM svc.due', undefined],
  ['a view', 'SELECT id FROM vsvc.drawn', undefined],
  ['a mapping', 'SELECT id FROM svc.draw', undefined],
])('%s', (_, sql, policies) => {
  const volatile = () => planSelect({ ...base, access: policies }, { text: sql, offset: 0 }).volatile;
  expect([volatile(), volatile()]).toEqual([true, true]);
});
