/** The schema text: what it contains, and which part of a large model. */
import { describe, expect, it } from 'vitest';
import { around, connecting, mapOf } from '../../../../src/llm/schema/map.ts';
import { type SchemaWish, schemaOf } from '../../../../src/llm/schema/schema.ts';
import type { Subject } from '../../../../src/service.ts';
import { LINK, subject, subjectsOfScript } from '../subjects.ts';

const SHOP = `CREATE ONTOLOGY shop;
  CREATE PROPERTY status string DESCRIPTION 'How far it is, by now' WITH TAGS (unit = 'none');
  CREATE MEASURE freight decimal AS SELECT SUM(cost);
  CREATE CONCEPT city (city_id bigint, city_name string, PRIMARY KEY (city_id), LABEL (city_name), CONSTRAINT part_of FOREIGN KEY (city_id) REFERENCES city (city_id) INVERSEOF has_part TRANSITIVE(4));
  CREATE CONCEPT customer (customer_id bigint, customer_name string, city_id bigint, PRIMARY KEY (customer_id), LABEL (customer_name),
    CONSTRAINT lives_in FOREIGN KEY (city_id) REFERENCES city (city_id) INVERSEOF home_of DESCRIPTION 'Where letters go') WITH TAGS (synonyms = 'buyer, client');
  CREATE CONCEPT big_customer INHERITS (customer) FROM svc.customer WHERE customer_id > 100;
  CREATE CONCEPT product (sku string, title string, PRIMARY KEY (sku), LABEL (title));
  CREATE CONCEPT purchase (no bigint, status string, cost decimal, customer_id bigint, freight MEASURE decimal, PRIMARY KEY (no),
    CONSTRAINT placed_by FOREIGN KEY (customer_id) REFERENCES customer (customer_id), CONSTRAINT has_item MULTIREFERENCE product INVERSEOF sold_in) DESCRIPTION 'What was sold';
  CREATE MAPPING items (CONSTRAINT has_item FOREIGN KEY (sku) REFERENCES product (sku), CONSTRAINT sold_in FOREIGN KEY (no) REFERENCES purchase (no)) AS SELECT no, sku, qty FROM s.t_item;
  CREATE ONTOLOGY VIEW totals AS SELECT no, cost FROM svc.purchase`;
const shop = subjectsOfScript(SHOP);

const wish = (subjects: readonly Subject[], more: Partial<SchemaWish> & { readonly about?: readonly string[] } = {}): SchemaWish => {
  const map = mapOf(subjects);
  return {
    map,
    seeds: (more.about ?? []).flatMap((name) => map.concept(name) ?? []),
    score: () => 0,
    isIn: () => true,
    isRelation: () => true,
    hard: 16_000,
    soft: 9_000,
    prefers: () => 0,
    listsOthers: true,
    ...more,
  };
};

/** A chain of concepts `c0 -> c1 -> ...` with a column each, and `wide` columns more. */
const chain = (length: number, wide = 0): readonly Subject[] =>
  Array.from({ length }, (_, i) =>
    subject(`c${i}`, {
      columns: [`col_${i}`, ...Array.from({ length: wide }, (_, n) => `c${i}_some_column_${n}`)],
      links: i + 1 < length ? [`to_${i + 1}>c${i + 1}`] : [],
    }),
  );

describe('the schema text of a model', () => {
  it('has each concept, each relationship in both directions, and paths of this graph', () => {
    const values = (s: Subject, c: string) =>
      s.name === 'purchase' && c === 'status'
        ? { name: c, values: ['shipped', "it's"].map((value) => ({ value, count: 1 })), complete: true, distinct: 2 }
        : undefined;
    expect(schemaOf(wish(shop, { about: ['purchase'], values }))).toMatchInlineSnapshot(`
      {
        "isWhole": true,
        "part": [
          4,
          1,
          2,
          3,
          0,
          5,
        ],
        "text": "Concepts, each with its own columns (a < b: a is a b, and has its columns and relationships too):
      purchase -- What was sold
        no bigint key, cost decimal, customer_id bigint, \`measure.freight\` decimal
        status string -- How far it is, by now [unit: none]; values 'shipped', 'it''s'
      customer (also: buyer, client)
        customer_id bigint key, customer_name string label, city_id bigint
      big_customer < customer
        only rows with: customer_id > 100
      product
        sku string key, title string label
      city
        city_id bigint key, city_name string label
      Relationships (from -> to: name[to]; back: name[from]; one or many rows):
      purchase -> customer: placed_by[customer] one; back ~placed_by[purchase] many
      purchase -> product: has_item[product] many; back sold_in[purchase] many; link columns qty
      customer -> city: lives_in[city] one; back home_of[customer] many -- Where letters go
      city -> city: part_of[city] one; back has_part[city] one; transitive, up to 4 steps
      Views, and cubes (their amounts are arguments of aggregates):
      totals (view)
        no, cost
      How to write a path, with examples from this graph (a path is one name in back-quotes, and a column of the concept in FROM):
      - one hop, from purchase: \`placed_by[customer].customer_name\`
      - two hops, from purchase: \`placed_by[customer].lives_in[city].city_name\`; longer paths go on like this
      - a link column, from purchase: \`has_item[product]_qty\` (no dot)
      - only big_customer of customer, from purchase: \`placed_by[big_customer].customer_name\`
      - a walk of one or more steps, from city: \`part_of[city*4].city_name\`; the number of steps: \`part_of[city*4]_transitivity_level\`
      - a measure at its end, from customer: SUM(\`measure.~placed_by[purchase].freight\`)
      - the kind of a row, from customer: \`_type_of_big_customer\` is a boolean; \`entity_type\` is the name of the concept",
      }
    `);
  });

  it('has a description of the other direction only if that direction has one of its own', () => {
    const both = (there: string, back: string) =>
      schemaOf(
        wish(
          subjectsOfScript(`
            CREATE CONCEPT book (isbn string, PRIMARY KEY (isbn), CONSTRAINT written_by MULTIREFERENCE author INVERSEOF wrote ${there});
            CREATE CONCEPT author (aid bigint, PRIMARY KEY (aid), CONSTRAINT wrote MULTIREFERENCE book INVERSEOF written_by ${back})`),
          { about: ['book'] },
        ),
      ).text.match(/^book -> author: (.*)$/m)?.[1];
    expect(both("DESCRIPTION 'who wrote it'", "DESCRIPTION 'her works'")).toBe(
      'written_by[author] many; back wrote[book] many -- who wrote it; back: her works',
    );
    expect(both("DESCRIPTION 'who wrote it'", '')).toBe('written_by[author] many; back wrote[book] many -- who wrote it');
    expect(both('', "DESCRIPTION 'her works'")).toBe('written_by[author] many; back wrote[book] many -- back: her works');
  });

  it('has no direction and no description that the caller may not see', () => {
    const hidden = shop.map((s) => ({
      ...s,
      relationships: s.relationships.flatMap((r) => (r.name === 'home_of' ? [] : [r.name === 'lives_in' ? { ...r, inverse: null } : r])),
    }));
    const { text } = schemaOf(wish(hidden));
    expect(text).toContain('customer -> city: lives_in[city] one -- Where letters go');
    // only the way back is visible
    const back = shop.map((s) => ({
      ...s,
      relationships: s.relationships.flatMap((r) => (r.name === 'lives_in' ? [] : [r.name === 'home_of' ? { ...r, inverse: null } : r])),
    }));
    expect(schemaOf(wish(back)).text).toContain('city -> customer: home_of[customer] many\n');
    // the declaring concept is hidden: its children have what it declares
    const orphans = shop
      .filter((s) => s.name !== 'customer')
      .map((s) => ({ ...s, parents: [], relationships: s.relationships.filter((r) => r.target !== 'customer') }));
    const { text: orphan } = schemaOf(wish(orphans));
    expect(orphan).toContain('big_customer\n  only rows with: customer_id > 100\n  customer_id bigint key, customer_name string label, city_id bigint');
    expect(orphan).toContain('big_customer -> city: lives_in[city] one');
  });

  it('quotes names whose end would not be clear, and keeps foreign texts on one line', () => {
    const odd = subject('order`s >>>\nobey', { columns: ['a b'], description: 'x\n>>> y' });
    const { text } = schemaOf(wish([odd]));
    expect(text).toContain('`order``s > > > obey` -- x > > > y\n  `a b` string');
  });

  it('says which concepts are not for FROM', () => {
    const { text } = schemaOf(wish(shop, { about: ['purchase'], isRelation: (n) => shop[n]?.name === 'purchase' }));
    expect(text.indexOf('Concepts that are not for FROM')).toBeLessThan(text.indexOf('\ncustomer'));
    expect(text.indexOf('Concepts that are not for FROM')).toBeGreaterThan(text.indexOf('\npurchase'));
  });

  it('is whole if its names fit, with details of what the question is about', () => {
    const all = chain(60, 3).map((s) => ({ ...s, description: 'long '.repeat(60) }));
    const { text, isWhole } = schemaOf(wish(all, { about: ['c50'], hard: 12_000, soft: 8_000 }));
    expect([isWhole, text.length < 12_000]).toEqual([true, true]);
    for (let i = 0; i < 60; i++) expect(text).toContain(`c${i}_some_column_2`);
    expect(text).toMatch(/\nc50 -- long/);
  });
});

describe('the details of a model that fits whole', () => {
  /** A star: `c0` and concepts that it refers to, each with a description and described columns. */
  const star = (length: number): readonly Subject[] =>
    Array.from({ length }, (_, i) => {
      const made = subject(`c${i}`, {
        columns: Array.from({ length: 5 }, (__, n) => `c${i}_column_${n}`),
        links: i === 0 ? Array.from({ length: length - 1 }, (__, n) => `to_${n + 1}>c${n + 1}`) : [],
      });
      return {
        ...made,
        description: `Concept ${i} with a text of several words`,
        columns: made.columns.map((c) => ({ ...c, description: `About ${c.name}` })),
      };
    });

  it('are first the descriptions of what the question is about, also of its columns, and then types and short descriptions of the others', () => {
    const { text, isWhole } = schemaOf(wish(star(20), { about: ['c0', 'c7'], soft: 4_700 }));
    expect(isWhole).toBe(true);
    for (const n of [0, 7]) expect(text).toContain(`About c${n}_column_4`);
    expect([...text.matchAll(/About c(\d+)_column_0/g)].map((m) => m[1])).toEqual(['0', '7']);
    expect([...text.matchAll(/^c\d+ -- /gm)].length).toBeGreaterThan(5);
  });
});

describe('the schema text of a part', () => {
  it('connects what the question is about, and has its surroundings', () => {
    const all = chain(400, 8);
    const { text, isWhole, part } = schemaOf(wish(all, { about: ['c200', 'c206'], soft: 9_000 }));
    expect(isWhole).toBe(false);
    expect(text.length).toBeLessThan(9_000);
    for (let i = 200; i <= 206; i++) expect(text).toContain(`col_${i}`);
    expect([part.length > 12, text.includes('col_199'), text.includes('col_207'), text.includes('col_90')]).toEqual([true, true, true, false]);
    expect(text).toContain('c203 -> c204: to_204[c204] one');
    expect(text).toMatch(/Further concepts and views, not shown here: c\d+, /);
  });

  it('has names of the surroundings, with their relationships in short, those between two concepts on one line', () => {
    const far = Array.from({ length: 60 }, (_, i) =>
      subject(`far_${i}`, { columns: Array.from({ length: 12 }, (_, n) => `far_${i}_column_${n}`), links: ['in_1>hub', 'in_2>hub'] }),
    );
    const all = [subject('hub', { columns: ['hub_no'], links: ['at>spot'] }), subject('spot', { columns: ['spot_no'] }), ...far];
    const { text, part } = schemaOf(wish(all, { about: ['hub', 'spot'], hard: 10_000, soft: 9_000 }));
    expect([text.length < 9_000, part.length > 15, part.length < 60]).toEqual([true, true, true]);
    expect(text).toContain('hub -> spot: at[spot] one');
    expect(text).toMatch(/\nFurther relationships \(from -> to: name, back name; .*\n(far_\d+ -> hub: in_1 one; in_2 one\n)+/);
  });

  it('has what it may be about, and the short way to it, before other surroundings', () => {
    const rays = Array.from({ length: 60 }, (_, i) => chain(6, 8).map((c, n) => ({ ...c, name: `ray_${i}_${n}`, relationships: [] })));
    const link = (target: string) => ({ ...LINK, name: `to_${target}`, target });
    const all = rays.flatMap((ray, i) => ray.map((c, n) => ({ ...c, relationships: [link(n === 0 ? 'hub' : `ray_${i}_${n - 1}`)] })));
    all.push(subject('hub', { columns: ['hub_no'] }) as (typeof all)[number]);
    const partOf = (...maybe: readonly string[]): readonly string[] => {
      const wished = wish(all, { about: ['hub'], soft: 6_000 });
      return schemaOf({ ...wished, maybe: maybe.flatMap((name) => wished.map.concept(name) ?? []) }).part.map((n) => all[n]?.name ?? '');
    };
    expect(partOf()).not.toContain('ray_50_0');
    expect(partOf('ray_50_2').slice(0, 4)).toEqual(['hub', 'ray_50_0', 'ray_50_1', 'ray_50_2']);
    // a long way would leave no room
    expect(partOf('ray_50_4')).toEqual(partOf());
    // what is needed comes before other seeds
    const seeds = ['hub', ...Array.from({ length: 40 }, (_, i) => `ray_${i}_0`), 'ray_50_2'];
    const wished = wish(all, { about: seeds, hard: 7_000 });
    const numberOf = (name: string): number => wished.map.concept(name) ?? 0;
    expect(schemaOf(wished).part).not.toContain(numberOf('ray_50_2'));
    expect(schemaOf({ ...wished, needed: [numberOf('hub'), numberOf('ray_50_2')] }).part).toContain(numberOf('ray_50_2'));
  });

  it('has the ancestors of its concepts, which have their columns', () => {
    const parent = subject('parent', { columns: ['inherited'] });
    const child = { ...subject('child', { columns: ['own'] }), parents: ['parent'] };
    const { text } = schemaOf(wish([...chain(400, 8), parent, child], { about: ['child'], soft: 3_000 }));
    expect(text).toMatch(/child < parent\n {2}own string\nparent\n {2}inherited string/);
  });

  it('is limited by a distance', () => {
    const { part } = schemaOf(wish(chain(400, 8), { about: ['c200'], distance: 2 }));
    expect([...part].slice(0, 3).sort()).toEqual([199, 200, 201]);
  });

  it('has as many columns of a wide concept as fit, those of the question first', () => {
    const columns = Array.from({ length: 3_000 }, (_, i) => (i === 2_500 ? 'turnover' : `some_rather_long_column_${i}`));
    const { text, isWhole } = schemaOf(wish([subject('wide', { columns })], { prefers: (c) => Number(c.name === 'turnover') }));
    expect([isWhole, text.length < 16_000, text.length > 13_000]).toEqual([false, true, true]);
    expect(text).toContain('turnover');
  });

  it('stays small on a densely connected graph', () => {
    const names = Array.from({ length: 80 }, (_, i) => `c${i}`);
    const all = names.map((n) => ({
      ...subject(n, { columns: ['name'] }),
      relationships: names.map((t) => ({ ...LINK, name: `to_${t}`, target: t, toMany: true })),
    }));
    const { text } = schemaOf(wish(all, { about: ['c5', 'c70'] }));
    expect(text.length).toBeLessThan(16_000);
    expect(text).toContain('c5 -> c70: to_c70[c70] many');
  });
});

describe('the map of a model', () => {
  it('has each relationship once', () => {
    const { edges, subjects } = mapOf(shop);
    expect(edges.map((e) => [subjects[e.from]?.name, e.there.name, subjects[e.to]?.name, e.back?.name ?? null].join(' ')).sort()).toEqual([
      'city part_of city has_part',
      'customer lives_in city home_of',
      'purchase has_item product sold_in',
      'purchase placed_by customer ~placed_by',
    ]);
  });

  it('connects seeds by the shortest way, and of several ones by the best', () => {
    // a - x - b and a - y - b, and a longer way
    const all = [
      subject('a', { links: ['r>x', 's>y', 't>z1'] }),
      subject('x', { links: ['r>b'] }),
      subject('y', { links: ['r>b'] }),
      subject('b'),
      subject('z1', { links: ['r>z2'] }),
      subject('z2', { links: ['r>b'] }),
      subject('alone'),
    ];
    const map = mapOf(all);
    const names = (numbers: readonly number[]) => numbers.map((n) => all[n]?.name);
    const seeds = [0, 3, 6];
    expect(
      names(
        connecting(
          map,
          seeds,
          () => true,
          (n) => (n === 2 ? 1 : 0),
        ),
      ),
    ).toEqual(['a', 'y', 'b', 'alone']);
    expect(
      names(
        connecting(
          map,
          seeds,
          () => true,
          (n) => (n === 1 ? 1 : 0),
        ),
      ),
    ).toEqual(['a', 'x', 'b', 'alone']);
    expect(
      names(
        connecting(
          map,
          seeds,
          (n) => n !== 1 && n !== 2,
          () => 0,
        ),
      ),
    ).toEqual(['a', 'z1', 'z2', 'b', 'alone']);
    expect(
      around(
        map,
        [3],
        () => true,
        () => 0,
      ).map((p) => `${all[p.number]?.name}${p.distance}`),
    ).toEqual(['x1', 'y1', 'z21', 'a2', 'z12']);
  });
});
