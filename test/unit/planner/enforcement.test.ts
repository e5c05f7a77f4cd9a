/** The changes of a model that weaken a policy. test/attacks shows that no caller sees more after other changes. */
import { describe, expect, it } from 'vitest';
import { loadNodeParser } from '../../../src/cli/node-parser.ts';
import { SvcError } from '../../../src/errors.ts';
import { compile } from '../../../src/ontology/compile.ts';
import { changedConditions, meansTheSame } from '../../../src/planner/enforcement/conditions.ts';
import { type PolicyRules, rolesAskedBy, weakened } from '../../../src/planner/enforcement/index.ts';
import { reachedConditions } from '../../../src/planner/enforcement/reached.ts';
import type { Mask } from '../../../src/planner/secure/access.ts';
import { run } from '../ontology/script.ts';

const parser = await loadNodeParser();
const context = { parser, product: 'svc', activeDatasource: 'main', allowedFunctions: new Set<string>() };
const before = run(`CREATE PROPERTY near boolean AS SELECT item_id < 10;
CREATE CONCEPT shelf (shelf_id bigint, room string, PRIMARY KEY (shelf_id));
CREATE CONCEPT item (item_id bigint, price bigint, shelf_id bigint, near boolean, PRIMARY KEY (item_id), CONSTRAINT lies_on FOREIGN KEY (shelf_id) REFERENCES shelf (shelf_id));
CREATE CONCEPT toy (age bigint) INHERITS (item);
CREATE CONCEPT dear INHERITS (item) FROM svc.item WHERE price > 100;
CREATE MAPPING m_shelf INTO (shelf) AS SELECT id AS shelf_id, room FROM t.shelves;
CREATE MAPPING m_item INTO (item) AS SELECT id AS item_id, price, shelf AS shelf_id, price AS cost FROM t.items;
CREATE MAPPING m_toy INTO (toy) AS SELECT id AS item_id, age FROM t.toys`).model;

const ITEM =
  'CREATE OR REPLACE CONCEPT item (item_id bigint, price bigint, shelf_id bigint, near boolean, PRIMARY KEY (item_id), CONSTRAINT lies_on FOREIGN KEY (shelf_id) REFERENCES shelf (shelf_id)';
const row = (concept: string, condition: string): PolicyRules => ({ rows: [{ concept, conditions: [{ policy: 'p', condition }] }], masks: [] });
const mask = (property: string, concept: string | null = null, how: Mask = { kind: 'hash' }): PolicyRules => ({
  rows: [],
  masks: [{ policy: 'm', property, concept, mask: how }],
});
const by = (script: string, rules: PolicyRules): string | undefined => {
  const found = weakened(context, compile(before, 'o'), compile(run(script, before).model, 'o'), rules);
  return found && `${found.by} ${found.concept}${found.property === null ? '' : ` ${found.property}`}`;
};

describe('a row policy', () => {
  it.each([
    ['a calculated property that it reads', row('item', 'near'), 'CREATE OR REPLACE PROPERTY near boolean AS SELECT true', 'enforced item'],
    [
      'the concept at the end of its path',
      row('item', '"lies_on[shelf].room" = \'a\''),
      "CREATE OR REPLACE PROPERTY room string AS SELECT 'a'",
      'enforced item',
    ],
    ['the condition of its concept', row('dear', 'false'), 'CREATE OR REPLACE CONCEPT dear INHERITS (item) FROM svc.item WHERE price > 200', 'enforced item'],
    [
      'the parent of its concept',
      row('item', 'near'),
      'CREATE OR REPLACE CONCEPT toy (item_id bigint, near boolean, age bigint, PRIMARY KEY (item_id))',
      'enforced toy',
    ],
    [
      'the ancestors of a covered concept',
      row('shelf', 'shelf_id < 9'),
      'CREATE CONCEPT attic INHERITS (shelf); CREATE OR REPLACE CONCEPT toy (item_id bigint, price bigint, near boolean, age bigint) INHERITS (attic)',
      'enforced toy',
    ],
    ['a mapping', row('item', 'near'), 'CREATE OR REPLACE MAPPING m_toy INTO (toy) AS SELECT id AS item_id FROM t.toys', 'enforced toy'],
  ])('is weakened by a change of %s', (_, rules, script, expected) => expect(by(script, rules)).toBe(expected));

  it.each([
    ['a new property', `${ITEM}, more string)`],
    ['a new relationship', `${ITEM}, CONSTRAINT twin FOREIGN KEY (price) REFERENCES item (price))`],
    ['a new descendant with rows', 'CREATE CONCEPT game INHERITS (toy); CREATE MAPPING m_game INTO (game) AS SELECT id AS item_id FROM t.games'],
    ['a new logic concept', 'CREATE CONCEPT cheap INHERITS (item) FROM svc.item WHERE price < 5'],
    ['a changed mapping of another concept', 'CREATE OR REPLACE MAPPING m_shelf INTO (shelf) AS SELECT id AS shelf_id FROM t.shelves'],
    ['a changed property that it does not read', 'CREATE OR REPLACE PROPERTY age bigint AS SELECT item_id'],
    ['a new tag', "ALTER CONCEPT item UPDATE TAG a = 'b'"],
  ])('is not weakened by %s', (_, script) => {
    expect(by(script, row('item', "near AND svc_has_role('x')"))).toBeUndefined();
    expect(by(script, row('dear', 'price < 200'))).toBeUndefined();
  });
});

describe('a row policy over a relationship that includes others', () => {
  const LINK = (sql: string): string =>
    `CREATE OR REPLACE MAPPING m_next (CONSTRAINT next_to FOREIGN KEY (b) REFERENCES item (item_id), CONSTRAINT \`~next_to\` FOREIGN KEY (a) REFERENCES item (item_id)) AS ${sql}`;
  const SHOP = (next = 'SYMMETRIC', includes = 'next_to, goes_with'): string =>
    `${ITEM}, CONSTRAINT next_to MULTIREFERENCE item ${next}, CONSTRAINT like_it MULTIREFERENCE item INCLUDES (${includes}))`;
  const TOY = (by_ = 'age'): string =>
    `CREATE OR REPLACE CONCEPT toy (age bigint, CONSTRAINT goes_with FOREIGN KEY (${by_}) REFERENCES item (item_id)) INHERITS (item)`;
  const shop = run(`${SHOP()}; ${TOY()}; ${LINK('SELECT a, b FROM t.next')}`, before).model;
  const rules = row('item', '"like_it[item].price" > 5');
  const changed = (script: string) => weakened(context, compile(shop, 'o'), compile(run(script, shop).model, 'o'), rules)?.by;
  it.each([
    ['the relationships that it includes', SHOP('SYMMETRIC', 'next_to')],
    ['SYMMETRIC of one of them', SHOP('')],
    ['the links of one of them', LINK('SELECT a, b FROM t.other')],
    ['the foreign key of one of them', TOY('price')],
  ])('is weakened by a change of %s', (_, script) => expect(changed(script)).toBe('enforced'));
  it('is not weakened by the same again', () => expect(changed(`${SHOP()}; ${TOY()}; ${LINK('SELECT a, b FROM t.next')}`)).toBeUndefined());
  it('and a condition of a logic concept over it is looked at when what it includes changes', () => {
    const logic = run('CREATE CONCEPT liked INHERITS (item) FROM dsvc.item WHERE "like_it[item].price" > 1', shop).model;
    expect(reachedConditions(compile(logic, 'o'), compile(run(TOY('price'), logic).model, 'o'))).toContain('liked');
  });
});

describe('a mask', () => {
  it.each([
    ['a join by the masked property', mask('price'), `${ITEM}, CONSTRAINT twin FOREIGN KEY (price) REFERENCES item (item_id))`, 'joined item twin'],
    [
      'a join by a property that is calculated from the masked one',
      mask('price'),
      `CREATE PROPERTY half bigint AS SELECT price / 2; ${ITEM}, half bigint, CONSTRAINT twin FOREIGN KEY (half) REFERENCES item (item_id))`,
      'joined item twin',
    ],
    ['a join by a masked key', mask('shelf_id', 'shelf'), `${ITEM}, CONSTRAINT other FOREIGN KEY (price) REFERENCES shelf (shelf_id))`, 'joined item other'],
    [
      'more rows at the end of such a join',
      mask('shelf_id', 'item'),
      'CREATE MAPPING m_more INTO (shelf) AS SELECT id AS shelf_id FROM t.more',
      'joined item lies_on',
    ],
    ['its column as another property', mask('price'), `${ITEM}, cost bigint)`, 'enforced item price'],
    [
      'the condition of its concept',
      mask('price', 'dear'),
      'CREATE OR REPLACE CONCEPT dear INHERITS (item) FROM svc.item WHERE price > 200',
      'enforced item price',
    ],
    [
      'a changed property that its expression reads',
      mask('price', null, { kind: 'with', expression: 'CASE WHEN near THEN 0 ELSE price END' }),
      'CREATE OR REPLACE PROPERTY near boolean AS SELECT false',
      'enforced item price',
    ],
  ])('is weakened by %s', (_, rules, script, expected) => expect(by(script, rules)).toBe(expected));

  it.each([
    ['a new property', `${ITEM}, more string)`, mask('price')],
    ['a join by other properties', `${ITEM}, CONSTRAINT twin FOREIGN KEY (shelf_id) REFERENCES item (item_id))`, mask('price')],
    ['a new descendant with an existing join', 'CREATE CONCEPT game INHERITS (toy)', mask('shelf_id')],
    ['a property that is calculated from the masked one', `CREATE PROPERTY half bigint AS SELECT price / 2; ${ITEM}, half bigint)`, mask('price')],
    ['changed rows of another concept', 'CREATE OR REPLACE MAPPING m_shelf INTO (shelf) AS SELECT id AS shelf_id FROM t.shelves', mask('price')],
  ])('is not weakened by %s', (_, script, rules) => expect(by(script, rules)).toBeUndefined());
});

it('finds that a condition means the same if the writer may use the whole model', () => {
  const graph = compile(before, 'o');
  expect(meansTheSame(context, graph, graph, 'dear')).toBe(true);
});

describe('the conditions of logic concepts that are affected by', () => {
  const base = run(
    `CREATE CONCEPT roomy INHERITS (item) FROM dsvc.item WHERE "lies_on[shelf].room" = 'hall';
CREATE CONCEPT old_toy INHERITS (toy) FROM svc.toy WHERE age > 9;
CREATE CONCEPT seen INHERITS (shelf) FROM svc.shelf WHERE shelf_id IN (SELECT shelf_id FROM v);
CREATE CONCEPT roomy_too INHERITS (roomy) FROM svc.roomy WHERE item_id > 0;
CREATE VIEW v AS SELECT shelf_id FROM svc.item`,
    before,
  ).model;
  const all = ['dear', 'old_toy', 'roomy', 'roomy_too', 'seen'];

  it.each([
    ['a new concept', 'CREATE CONCEPT other (o bigint)', ['seen'], []],
    ['a new property', `${ITEM}, more string)`, all, []],
    ['a changed relationship', `${ITEM.replace('(shelf_id) REFERENCES', '(price) REFERENCES')})`, all, ['roomy', 'roomy_too']],
    ['a changed descendant', 'CREATE OR REPLACE CONCEPT toy (age bigint, more string) INHERITS (item)', all, []],
    ['a changed calculated property', 'CREATE OR REPLACE PROPERTY price bigint AS SELECT item_id', all, ['dear']],
    ['a dropped mapping', 'DROP MAPPING m_toy', all, ['dear', 'old_toy', 'roomy', 'roomy_too', 'seen']],
    ['a dropped mapping with the property', 'DROP MAPPING m_item', all, ['dear', 'roomy', 'roomy_too', 'seen']],
    ['a changed mapping', 'CREATE OR REPLACE MAPPING m_toy INTO (toy) AS SELECT id AS item_id, age FROM t.others', [], []],
    [
      'a changed condition',
      'CREATE OR REPLACE CONCEPT roomy INHERITS (item) FROM dsvc.item WHERE price > 3',
      all.filter((c) => c !== 'old_toy'),
      ['roomy', 'roomy_too'],
    ],
  ])('%s', (_, script, reached, changed) => {
    const [old, now] = [compile(base, 'o'), compile(run(script, base).model, 'o')];
    expect([...reachedConditions(old, now)].sort()).toEqual(reached);
    expect([...changedConditions(context, old, now)].sort()).toEqual(changed);
  });
});

describe('a condition over a property that is calculated over paths', () => {
  const model =
    run(`CREATE PROPERTY worth bigint AS SELECT SUM("~lies_on[item].price"); CREATE PROPERTY all_worth bigint AS SELECT SUM("~stands_in[shelf].worth");
CREATE CONCEPT room (room_id bigint, all_worth bigint, PRIMARY KEY (room_id));
CREATE CONCEPT shelf (shelf_id bigint, room_id bigint, worth bigint, PRIMARY KEY (shelf_id), CONSTRAINT stands_in FOREIGN KEY (room_id) REFERENCES room (room_id));
CREATE CONCEPT item (item_id bigint, price bigint, shelf_id bigint, PRIMARY KEY (item_id), CONSTRAINT lies_on FOREIGN KEY (shelf_id) REFERENCES shelf (shelf_id));
CREATE CONCEPT rich INHERITS (room) FROM svc.room WHERE all_worth > 3;
CREATE MAPPING m_room INTO (room) AS SELECT id AS room_id FROM t.rooms;
CREATE MAPPING m_shelf INTO (shelf) AS SELECT id AS shelf_id, room AS room_id FROM t.shelves;
CREATE MAPPING m_item INTO (item) AS SELECT id AS item_id, price, shelf AS shelf_id FROM t.items`).model;

  it('is checked after a change of a concept at the end of the paths', () => {
    const [old, now] = [compile(model, 'o'), compile(run('DROP MAPPING m_item', model).model, 'o')];
    expect(reachedConditions(old, now)).toEqual(['rich']);
    expect(changedConditions(context, old, now)).toEqual(['rich']);
  });

  it('belongs to a policy that reads it', () => {
    const rules = row('room', 'all_worth > 3');
    const weakenedBy = (script: string): string | undefined => weakened(context, compile(model, 'o'), compile(run(script, model).model, 'o'), rules)?.by;
    expect(weakenedBy('CREATE OR REPLACE MAPPING m_item INTO (item) AS SELECT id AS item_id, cost AS price, shelf AS shelf_id FROM t.items')).toBe('enforced');
    expect(weakenedBy('CREATE OR REPLACE PROPERTY worth bigint AS SELECT COUNT("~lies_on[item].price")')).toBe('enforced');
    expect(weakenedBy('CREATE CONCEPT attic (attic_id bigint, PRIMARY KEY (attic_id))')).toBeUndefined();
  });
});

describe('a policy on a concept without mappings whose SQL is too complex to be planned', () => {
  const DEPTH = 1500;
  const chain = Array.from({ length: DEPTH }, (_, i) => `CREATE PROPERTY c${i} bigint AS SELECT ${i === 0 ? 'plan_id' : `c${i - 1}`} + 1`);
  const listed = [...chain.map((_, i) => `c${i} bigint`), 'last string'].join(', ');
  const deep = run(
    `${chain.join('; ')}; CREATE PROPERTY last string AS SELECT c${DEPTH - 1}::text; CREATE CONCEPT plan (plan_id bigint, ${listed}, PRIMARY KEY (plan_id))`,
    before,
  ).model;
  const weakens = (script: string, rules: PolicyRules): string => {
    try {
      return weakened(context, compile(deep, 'o'), compile(run(script, deep).model, 'o'), rules) === undefined ? 'kept' : 'weakened';
    } catch (error) {
      return error instanceof SvcError ? error.code : 'other error';
    }
  };
  const change = 'CREATE OR REPLACE PROPERTY c0 bigint AS SELECT 1';

  it('is compared if it is not too complex', () => {
    expect(weakens(change, row('plan', 'c2 > 5'))).toBe('weakened');
    expect(weakens('CREATE OR REPLACE PROPERTY age bigint AS SELECT item_id', row('plan', 'c2 > 5'))).toBe('kept');
  });

  it.each([
    ['its condition', row('plan', `c${DEPTH - 1} > 5`)],
    ['its mask', mask('last')],
  ])('lets no script of an editor change what it may depend on, by %s', (_what, rules) => {
    // optimized code needs less of the stack, and may compare them
    expect(weakens(change, rules)).toMatch(/^(too_complex|weakened)$/);
  });

  it('may ask for any role', () => {
    expect(rolesAskedBy(context, compile(deep, 'o'), row('plan', 'c2 > 5')).any).toBe(false);
    expect(rolesAskedBy(context, compile(deep, 'o'), row('plan', `c${DEPTH - 1} > 5`)).any).toBe(true);
  });
});
