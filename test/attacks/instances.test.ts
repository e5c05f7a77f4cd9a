/** Links that refer to a logic concept: what they show of its condition to a reader who may not query it. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startService, type TestService } from '../support/service.ts';

let s: TestService;
beforeAll(async () => {
  s = await startService();
});
afterAll(() => s?.close());

/** Views, the path that each follows, and the pairs of ids that its definer sees. The links of the owl 2, who is no senior, do not count. */
const VIEWS: readonly (readonly [view: string, path: string, pairs: readonly string[]])[] = [
  ['step', 'feeds[owl]', ['1 3', '3 4']],
  ['walk', 'feeds[owl*]', ['1 3', '1 4', '3 4']],
  ['walk_back', 'fed_by[owl*]', ['3 1', '4 1', '4 3']],
  ['symmetric', 'meets[owl]', ['1 3', '3 1', '3 4', '4 3']],
  ['symmetric_walk', 'meets[owl*]', ['1 1', '1 3', '1 4', '3 1', '3 3', '3 4', '4 1', '4 3', '4 4']],
  ['composed', 'knows[owl]', ['1 3', '3 4']],
  ['composed_walk', 'knows[owl*]', ['1 3', '1 4', '3 4']],
];

it('Links that refer to a logic concept do not show which rows that the reader may not query meet its condition', async () => {
  await s.rows(`CREATE ONTOLOGY vips;
CREATE CONCEPT being (id bigint, age bigint, PRIMARY KEY (id), CONSTRAINT likes MULTIREFERENCE food INVERSEOF liked_by); CREATE CONCEPT food (code string, PRIMARY KEY (code));
CREATE CONCEPT cat INHERITS (being); CREATE CONCEPT pet INHERITS (being); CREATE CONCEPT senior INHERITS (being) FROM svc.being WHERE age > 9;
CREATE MAPPING a INTO (cat) AS SELECT id, age FROM (VALUES (1, 12), (2, 3)) v(id, age); CREATE MAPPING b INTO (pet) AS SELECT id, age FROM (VALUES (1, 3), (2, 3)) v(id, age);
CREATE MAPPING c INTO (food) AS SELECT code FROM (VALUES ('egg')) v(code);
CREATE MAPPING l (CONSTRAINT likes FOREIGN KEY (code) REFERENCES food (code), CONSTRAINT liked_by FOREIGN KEY (nr) REFERENCES senior (id)) AS SELECT nr, code FROM (VALUES (1, 'egg'), (2, 'egg')) v(nr, code);
CREATE VIEW fond AS SELECT id FROM dsvc.pet WHERE "likes[food].code" = 'egg'`);
  const of = (...names: string[]) => names.map((n) => `QUERY ON ontology.vips.${n}`);
  const few = await s.user('few', ...of('concept.pet', 'concept.food', 'view.fond'), 'QUERY ON datasource.main');
  const more = await s.user('more', ...of('concept.pet', 'concept.food', 'concept.senior'), 'QUERY ON datasource.main');
  const liking = async (token: string): Promise<unknown[][]> => {
    const found: unknown[][] = [];
    for (const more of ['', ' AND 1 / (id - 7) < 9'])
      found.push((await s.rows(`SELECT id FROM dsvc.pet WHERE "likes[food].code" = 'egg'${more} ORDER BY id`, 'vips', token)).map((r) => r.id));
    return found;
  };
  expect(await liking(few)).toEqual([
    [1, 2],
    [1, 2],
  ]);
  await s.rows('CREATE POLICY all_cats ON CONCEPT cat TO PUBLIC USING (id > 0)', 'vips');
  // the cat with the key 1 is a senior
  expect.soft(await liking(more)).toEqual([[1], [1]]);
  expect.soft(await liking(few)).toEqual([[], []]);
  // the view reads with the rights of its definer
  expect.soft(await s.rows('SELECT id FROM vsvc.fond', 'vips', few)).toEqual([{ id: 1 }]);
});

describe('A view reads with the rights of its definer', () => {
  let few: string;
  beforeAll(async () => {
    await s.rows(`CREATE ONTOLOGY owls;
CREATE CONCEPT owl (id bigint, age bigint, PRIMARY KEY (id), CONSTRAINT feeds MULTIREFERENCE owl INVERSEOF fed_by TRANSITIVE,
  CONSTRAINT meets MULTIREFERENCE owl SYMMETRIC TRANSITIVE, CONSTRAINT knows MULTIREFERENCE owl INCLUDES (feeds) TRANSITIVE);
CREATE CONCEPT senior INHERITS (owl) FROM svc.owl WHERE age > 9;
CREATE MAPPING o INTO (owl) AS SELECT id, age FROM (VALUES (1, 12), (2, 3), (3, 20), (4, 4)) v(id, age);
CREATE MAPPING f (CONSTRAINT feeds FOREIGN KEY (b) REFERENCES owl (id), CONSTRAINT fed_by FOREIGN KEY (a) REFERENCES senior (id)) AS SELECT a, b FROM (VALUES (1, 3), (2, 4), (3, 4)) v(a, b);
CREATE MAPPING m (CONSTRAINT meets FOREIGN KEY (b) REFERENCES owl (id), CONSTRAINT \`~meets\` FOREIGN KEY (a) REFERENCES senior (id)) AS SELECT a, b FROM (VALUES (1, 3), (2, 4), (3, 4)) v(a, b);
CREATE POLICY all_owls ON CONCEPT owl TO PUBLIC USING (id > 0);
${VIEWS.map(([name, path]) => `CREATE VIEW ${name} AS SELECT id, "${path}.id" AS other FROM dsvc.owl WHERE "${path}.id" IS NOT NULL`).join(';\n')}`);
    few = await s.user(
      'owl_reader',
      'QUERY ON ontology.owls.concept.owl',
      ...VIEWS.map(([name]) => `QUERY ON ontology.owls.view.${name}`),
      'QUERY ON datasource.main',
    );
  });

  it.each(VIEWS)('%s: %s', async (name, path, expected) => {
    const pairs = (rows: readonly Record<string, unknown>[]) => rows.map((r) => `${r.id} ${r.other}`).sort();
    expect(pairs(await s.rows(`SELECT id, other FROM vsvc.${name}`, 'owls', few))).toEqual(expected);
    // the reader may not query the logic concept to which the links refer
    expect(pairs(await s.rows(`SELECT id, "${path}.id" AS other FROM dsvc.owl WHERE "${path}.id" IS NOT NULL`, 'owls', few))).toEqual([]);
  });
});
