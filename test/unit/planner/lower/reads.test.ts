/** What calculated properties read. */
import { expect, it } from 'vitest';
import { graphOf } from '../../../../examples/world/graph.ts';
import { loadNodeParser } from '../../../../src/cli/node-parser.ts';
import { planSelect } from '../../../../src/planner/index.ts';

it('does not depend on the claims of a caller who read them before', async () => {
  const parser = await loadNodeParser();
  const graph = graphOf(
    `CREATE PROPERTY claimed string AS SELECT svc_claim("lies_in[box].state");
     CREATE CONCEPT box (box_id bigint, state string, PRIMARY KEY (box_id));
     CREATE CONCEPT item (id bigint, box_id bigint, claimed string, PRIMARY KEY (id), CONSTRAINT lies_in FOREIGN KEY (box_id) REFERENCES box (box_id));
     CREATE MAPPING m_box INTO box AS SELECT id AS box_id, state FROM raw.box; CREATE MAPPING m_item INTO item AS SELECT id, box AS box_id FROM raw.item`,
    'claims',
    parser,
  );
  const sqlFor = (claims: Readonly<Record<string, string>>): string =>
    planSelect(
      { graph, parser, product: 'svc', activeDatasource: 'main', caller: { username: 'u', roles: [], claims } },
      { text: 'SELECT claimed FROM svc.item', offset: 0 },
    ).sql;
  expect(sqlFor({})).not.toContain('raw.box');
  expect(sqlFor({ open: 'x' })).toContain('raw.box');
});
