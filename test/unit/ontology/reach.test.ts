/** What concepts read in their calculated properties, measures and conditions: properties, and paths that begin at the concept. */
import { describe, expect, it } from 'vitest';
import { compile } from '../../../src/ontology/compile.ts';
import { EMPTY_MODEL, type Model } from '../../../src/ontology/model.ts';
import { faultOf, run } from './script.ts';

const SHOP = `CREATE CONCEPT item (id bigint, price integer, PRIMARY KEY (id));
  CREATE CONCEPT tool (weight integer) INHERITS (item);
  CREATE CONCEPT sale (no bigint, item_id bigint, amount integer, PRIMARY KEY (no), CONSTRAINT of_item FOREIGN KEY (item_id) REFERENCES item (id) INVERSEOF sold_in);
  CREATE CONCEPT area (code string, PRIMARY KEY (code));`;

describe('a script is refused', () => {
  it.each([
    [
      'a calculated property over a relationship that no concept has',
      'CREATE PROPERTY z string AS SELECT «"against[x].has_policy[y].z"»; CREATE CONCEPT b (bid bigint, z string)',
      'unknown_relationship: unknown relationship `against` in the path `against[x].has_policy[y].z`, used by the property `z`',
    ],
    [
      'one that no concept lists',
      'CREATE PROPERTY z string AS SELECT upper(«"of_itme[item].price"»)',
      'unknown_relationship: unknown relationship `of_itme` in the path `of_itme[item].price`, used by the property `z`; did you mean `of_item`?',
    ],
    [
      'a relationship of another concept, inside a call',
      'CREATE PROPERTY z integer AS SELECT coalesce(SUM(«"of_item[item].price"»), 0); CREATE CONCEPT b (bid bigint, z integer)',
      'unknown_relationship: unknown relationship `of_item` of concept `b` in the path `of_item[item].price`, used by its calculated property `z`',
    ],
    [
      'an unknown property at the end of a path',
      'CREATE PROPERTY z integer AS SELECT abs(«"of_item[item].pryce"»); CREATE OR REPLACE CONCEPT sale (no bigint, item_id bigint, amount integer, z integer, PRIMARY KEY (no), CONSTRAINT of_item FOREIGN KEY (item_id) REFERENCES item (id) INVERSEOF sold_in)',
      'unknown_property: unknown property `pryce` of concept `item` in the path `of_item[item].pryce`, used by the calculated property `z` of `sale`; did you mean `price`?',
    ],
    [
      'an unknown concept in a bracket',
      'CREATE PROPERTY z integer AS SELECT abs(«"of_item[itme].price"»); CREATE CONCEPT b (z integer) INHERITS (sale)',
      'unknown_concept: unknown concept `itme` in the path `of_item[itme].price`, used by its calculated property `z`; did you mean `item`?',
    ],
    [
      'a concept in a bracket to which the relationship does not lead',
      'CREATE PROPERTY z string AS SELECT upper(«"of_item[area].code"»); CREATE CONCEPT b (z string) INHERITS (sale)',
      'bad_path: the relationship `of_item` of concept `b` does not lead to `area` in the path `of_item[area].code`, used by its calculated property `z`',
    ],
    [
      'a measure over a property that its concept lacks',
      'CREATE MEASURE m bigint AS SELECT SUM(price); CREATE CONCEPT b (bid bigint, «m» MEASURE bigint)',
      'unknown_property: unknown property `price` of concept `b`, used by its measure `m`',
    ],
    [
      'a condition of a measure over such a property',
      'CREATE MEASURE m bigint AS SELECT COUNT(bid) WHERE price > 1; CREATE CONCEPT b (bid bigint, «m» MEASURE bigint)',
      'unknown_property: unknown property `price` of concept `b`, used by its measure `m`',
    ],
    [
      'a measure over a measure over such a property',
      'CREATE MEASURE m1 bigint AS SELECT SUM(price); CREATE MEASURE m2 bigint AS SELECT m1 / 2; CREATE CONCEPT b (bid bigint, «m2» MEASURE bigint)',
      'unknown_property: unknown property `price` of concept `b`, used by its measure `m2` through `m1`',
    ],
    [
      'a measure over a path that its concept lacks',
      'CREATE MEASURE m bigint AS SELECT SUM(«"of_item[item].price"»); CREATE CONCEPT b (bid bigint, m MEASURE bigint)',
      'unknown_relationship: unknown relationship `of_item` of concept `b` in the path `of_item[item].price`, used by its measure `m`',
    ],
    [
      'a measure that one of its concepts can compute, and another cannot',
      'CREATE MEASURE m bigint AS SELECT SUM(weight); CREATE OR REPLACE CONCEPT tool (weight integer, m MEASURE bigint) INHERITS (item); CREATE CONCEPT b (bid bigint, «m» MEASURE bigint)',
      'unknown_property: unknown property `weight` of concept `b`, used by its measure `m`',
    ],
  ])('for %s', (_what, script, message) => {
    expect(faultOf(SHOP + script)).toBe(message);
    // also if the concepts are of an earlier script
    expect(faultOf(script, run(SHOP).model)).toBe(message);
  });

  it('for what a concept takes from an earlier script', () => {
    const { model } = run(
      `${SHOP} CREATE PROPERTY z integer AS SELECT abs("of_item[item].price"); CREATE PROPERTY twice integer AS SELECT 2 * price; CREATE MEASURE m bigint AS SELECT SUM(price)`,
    );
    expect(faultOf('CREATE CONCEPT b (bid bigint, «z» integer)', model)).toBe(
      'unknown_relationship: unknown relationship `of_item` of concept `b` in the path `of_item[item].price`, used by its calculated property `z`',
    );
    expect(faultOf('CREATE CONCEPT b (bid bigint, «twice» integer)', model)).toBe(
      'unknown_property: unknown property `price` of concept `b`, used by its calculated property `twice`',
    );
    expect(faultOf('CREATE CONCEPT b (bid bigint, «m» MEASURE bigint)', model)).toBe(
      'unknown_property: unknown property `price` of concept `b`, used by its measure `m`',
    );
    expect(faultOf('CREATE CONCEPT b (z integer, twice integer, m MEASURE bigint, item_id bigint, price integer) INHERITS (sale)', model)).toBe('no error');
  });
});

describe('a script that takes from an older concept what something reads', () => {
  const { model } = run(`${SHOP}
    CREATE PROPERTY cost integer AS SELECT abs("of_item[item].price"); CREATE PROPERTY twice integer AS SELECT 2 * amount; CREATE MEASURE heaviest integer AS SELECT MAX(weight);
    CREATE CONCEPT big_sale (cost integer, twice integer) INHERITS (sale); CREATE CONCEPT priced (heaviest MEASURE integer) INHERITS (item); CREATE CONCEPT heavy (weight integer) INHERITS (priced);
    CREATE CONCEPT dear INHERITS (sale) FROM dsvc.sale WHERE amount > 1 AND "of_item[item].price" > 1;`);
  const sale = (name: string, more: string) => `CREATE OR REPLACE CONCEPT «${name}» (no bigint, item_id bigint, ${more}PRIMARY KEY (no), `;
  const link = 'CONSTRAINT of_item FOREIGN KEY (item_id) REFERENCES item (id) INVERSEOF sold_in)';

  it.each([
    [
      `CREATE OR REPLACE CONCEPT «item» (id bigint, PRIMARY KEY (id))`,
      'unknown property `price` of concept `item` in the path `of_item[item].price`, used by the calculated property `cost` of `big_sale`',
    ],
    [sale('sale', '') + link, 'unknown property `amount` of concept `big_sale`, used by its calculated property `twice`'],
    [
      sale('sale', 'amount integer, ') + link.replace('of_item', 'for_item'),
      'unknown relationship `of_item` of concept `big_sale` in the path `of_item[item].price`, used by its calculated property `cost`; did you mean `for_item`?',
    ],
    ['CREATE OR REPLACE CONCEPT «heavy» INHERITS (priced)', 'unknown property `weight` of concept `priced`, used by its measure `heaviest`'],
    ['CREATE OR REPLACE CONCEPT «heavy» (weight integer) INHERITS (item)', 'unknown property `weight` of concept `priced`, used by its measure `heaviest`'],
    ['DROP CONCEPT «heavy»', 'unknown property `weight` of concept `priced`, used by its measure `heaviest`'],
  ])('%s', (script, message) => {
    expect(faultOf(script, model)).toContain(message);
    expect(faultOf(script, model)).not.toContain('elsewhere');
  });

  it('the condition of a logic concept', () => {
    const { model: conditions } = run(`${SHOP} CREATE CONCEPT dear INHERITS (sale) FROM dsvc.sale WHERE amount > 1 AND "of_item[item].price" > 1`);
    expect(faultOf(sale('sale', '') + link, conditions)).toBe('unknown_property: unknown property `amount` of concept `sale`, used by the condition of `dear`');
    expect(faultOf('CREATE OR REPLACE CONCEPT «item» (id bigint, PRIMARY KEY (id))', conditions)).toBe(
      'unknown_property: unknown property `price` of concept `item` in the path `of_item[item].price`, used by the condition of `dear`',
    );
  });

  it('is accepted if nothing reads it', () => {
    expect(faultOf('CREATE OR REPLACE CONCEPT tool INHERITS (item)', model)).toBe('no error');
    expect(faultOf('CREATE OR REPLACE CONCEPT item (id bigint, price integer, weight integer, PRIMARY KEY (id))', model)).toBe('no error');
  });
});

describe('what exists is accepted', () => {
  it.each([
    ['forward references', 'CREATE MEASURE m bigint AS SELECT SUM(y) WHERE x2 > 1; CREATE CONCEPT b (bid bigint, y integer, x2 integer, m MEASURE bigint)'],
    [
      'measures over properties of descendants and multi-valued ones',
      'CREATE MEASURE m bigint AS SELECT SUM(weight) WHERE colour = 1; CREATE CONCEPT b (m MEASURE bigint, CONSTRAINT colour MULTIVALUE integer); CREATE CONCEPT below (weight integer) INHERITS (b)',
    ],
    [
      'measures over measures that the concept does not list',
      'CREATE MEASURE m1 bigint AS SELECT SUM(y); CREATE MEASURE m2 bigint AS SELECT m1 / 2; CREATE CONCEPT b (y integer, m2 MEASURE bigint)',
    ],
    [
      'paths: to-one, to-many, several hops, inverses, a descendant or an ancestor in the bracket, walks, entity columns, link columns',
      `CREATE PROPERTY z1 integer AS SELECT "of_item[item].price"; CREATE PROPERTY z2 integer AS SELECT coalesce(SUM("of_item[ITEM].sold_in[sale].amount"), 0); CREATE PROPERTY z3 integer AS SELECT "~sold_in[tool].weight";
        CREATE PROPERTY z4 string AS SELECT "of_item[item].entity_id"; CREATE PROPERTY z5 bigint AS SELECT COUNT("part_of[item*3].id"); CREATE PROPERTY z6 integer AS SELECT MAX("tagged[area]_since"); CREATE PROPERTY z7 integer AS SELECT "of_item[item].weight";
        CREATE OR REPLACE CONCEPT item (id bigint, price integer, PRIMARY KEY (id), z5 bigint, z6 integer, CONSTRAINT part_of FOREIGN KEY (id) REFERENCES item (id) TRANSITIVE, CONSTRAINT tagged MULTIREFERENCE area);
        CREATE CONCEPT b (z1 integer, z2 integer, z3 integer, z4 string, z7 integer) INHERITS (sale)`,
    ],
  ])('%s', (_what, script) => {
    expect(faultOf(SHOP + script)).toBe('no error');
  });
});

describe('a model that an earlier release stored with faults', () => {
  const sound = run(
    `${SHOP} CREATE CONCEPT b (bid bigint, PRIMARY KEY (bid)); CREATE PROPERTY z integer AS SELECT abs(amount); CREATE MEASURE m bigint AS SELECT SUM(amount)`,
  ).model;
  const property = sound.properties.map((p) => (p.name === 'z' ? { ...p, expression: 'abs("against[x].y")' } : p));
  const concepts = sound.concepts.map((c) => (c.name === 'b' ? { ...c, properties: [...c.properties, 'z'], measures: ['m'] } : c));
  const faulty: Model = { ...sound, properties: property, concepts };

  it('loads', () => {
    expect(compile(faulty, 'old').concept('b')?.properties).toHaveLength(2);
  });

  it.each([
    'CREATE CONCEPT other',
    "ALTER PROPERTY z UPDATE TAG a = 'b'",
    "ALTER PROPERTY m UPDATE TAG a = 'b'",
    "ALTER CONCEPT b UPDATE TAG a = 'b'",
    'CREATE OR REPLACE CONCEPT b (bid bigint, z integer, m MEASURE bigint, more string, PRIMARY KEY (bid))',
    'CREATE CONCEPT below INHERITS (b)',
    'CREATE OR REPLACE CONCEPT sale (no bigint, item_id bigint, PRIMARY KEY (no))',
    'DROP CONCEPT sale',
  ])('can be changed: %s', (script) => {
    expect(faultOf(script, faulty)).toBe('no error');
  });

  it.each([
    ['CREATE CONCEPT other («z» integer)', 'unknown relationship `against` of concept `other`'],
    ['CREATE CONCEPT other («m» MEASURE bigint)', 'unknown property `amount` of concept `other`'],
    ['CREATE OR REPLACE PROPERTY z integer AS SELECT abs(«"against[x].z"»)', 'unknown relationship `against` in the path'],
    ['CREATE OR REPLACE MEASURE m bigint AS SELECT SUM(«price»)', 'unknown property `price` of concept `b`'],
  ])('takes no other fault: %s', (script, message) => {
    expect(faultOf(script, faulty)).toContain(message);
    expect(faultOf(script, faulty)).not.toContain('elsewhere');
  });

  it('can be repaired', () => {
    expect(faultOf('CREATE OR REPLACE PROPERTY z integer AS SELECT bid::integer; CREATE OR REPLACE MEASURE m bigint AS SELECT SUM(bid)', faulty)).toBe(
      'no error',
    );
    expect(run('CREATE OR REPLACE CONCEPT b (bid bigint, PRIMARY KEY (bid)); DROP PROPERTY z', faulty).model.concepts.at(-1)?.properties).toEqual(['bid']);
  });

  it('an empty model has no faults', () => {
    expect(run('', EMPTY_MODEL).model.concepts).toEqual([]);
  });
});
