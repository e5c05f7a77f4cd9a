import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Budget } from '../../../src/budget.ts';
import { compile } from '../../../src/ontology/compile.ts';
import type { Concept, Graph, Relationship } from '../../../src/ontology/graph.ts';
import { type ConceptDef, EMPTY_MODEL, type MappingDef, type Model } from '../../../src/ontology/model.ts';
import { generated } from '../../support/generated.ts';
import { run } from './script.ts';

const graphOf = (script: string): Graph => run(script).graph;
const at = (graph: Graph, name: string): Concept => {
  const concept = graph.concept(name);
  if (!concept) throw new Error(`no concept ${name}`);
  return concept;
};
const names = (values: readonly { readonly name: string }[]): string[] => values.map((v) => v.name);
const columns = (c: Concept): string[] => c.properties.map((p) => p.def.name);
const sources = (c: Concept): unknown =>
  c.rows.kind === 'logic'
    ? `${c.rows.schema}.${c.rows.source.name} WHERE ${c.rows.condition}`
    : c.rows.sources.map((s) => `${s.mapping.name} into ${s.target.name}`);

const ANIMALS = `
  CREATE CONCEPT being (id bigint, name string, PRIMARY KEY (id), LABEL (name));
  CREATE CONCEPT animal (legs integer) INHERITS (being);
  CREATE CONCEPT plant (height float) INHERITS (being);
  CREATE CONCEPT coral (depth integer) INHERITS (animal, plant);
  CREATE CONCEPT tall_plant INHERITS (plant) FROM svc.plant WHERE height > 10;
  CREATE CONCEPT stone (id bigint, PRIMARY KEY (id));`;

describe('inheritance', () => {
  const graph = graphOf(ANIMALS);

  it('names are case-insensitive, thing exists and is not listed', () => {
    expect(graph.concept('CORAL')).toBe(graph.concept('coral'));
    expect(graph.concept('Thing')).toBe(graph.thing);
    expect(names(graph.concepts)).toEqual(['being', 'animal', 'plant', 'coral', 'tall_plant', 'stone']);
    expect(graph.concept('nothing')).toBeUndefined();
  });

  it('ancestors nearest first and thing last, descendants as declared', () => {
    expect(names(at(graph, 'coral').ancestors)).toEqual(['animal', 'plant', 'being', 'thing']);
    expect(names(at(graph, 'being').descendants)).toEqual(['animal', 'plant', 'coral', 'tall_plant']);
    expect(names(graph.thing.descendants)).toEqual(names(graph.concepts));
    expect([graph.thing, ...graph.concepts].map((c) => c.level)).toEqual([0, 1, 2, 2, 3, 3, 1]);
    expect(at(graph, 'coral').isA(at(graph, 'being'))).toBe(true);
    expect(at(graph, 'coral').isA(at(graph, 'stone'))).toBe(false);
    expect(names(at(graph, 'stone').parents)).toEqual(['thing']);
  });

  it('properties: from the top down, in INHERITS order, each once', () => {
    expect(columns(at(graph, 'coral'))).toEqual(['id', 'name', 'legs', 'height', 'depth']);
    expect(at(graph, 'coral').properties.map((p) => p.owner.name)).toEqual(['being', 'being', 'animal', 'plant', 'coral']);
    expect(at(graph, 'being').derivedProperties.map((p) => p.def.name)).toEqual(['legs', 'height', 'depth']);
    // a derived concept also has what a descendant has from another parent
    expect(at(graph, 'animal').derivedProperties.map((p) => p.def.name)).toEqual(['height', 'depth']);
    expect(graph.thing.properties).toEqual([]);
  });

  it('the longest path determines the level', () => {
    const deep = graphOf('CREATE CONCEPT a; CREATE CONCEPT b INHERITS (a); CREATE CONCEPT c INHERITS (a, b); CREATE CONCEPT d INHERITS (c, a)');
    expect(deep.concepts.map((c) => c.level)).toEqual([1, 2, 3, 4]);
  });

  it('key and label: own or inherited, the topmost concept with the same key is the holder', () => {
    const keyed = graphOf(`${ANIMALS} CREATE CONCEPT moss (id bigint, LABEL (height), PRIMARY KEY (id)) INHERITS (plant)`);
    expect(keyed.concept('moss')?.key?.holder.name).toBe('being');
    expect(keyed.concept('coral')?.key?.properties.map((p) => p.name)).toEqual(['id']);
    expect(keyed.concept('moss')?.label.map((p) => p.name)).toEqual(['height']);
    expect(keyed.concept('coral')?.label.map((p) => p.name)).toEqual(['name']);
    expect(keyed.concept('stone')?.key?.holder.name).toBe('stone');
    expect(keyed.concept('thing')?.key).toBeNull();
  });

  it('supports a chain of thousands of concepts', () => {
    const concepts = Array.from({ length: 3000 }, (_, i) => conceptDef(`c${i}`, i === 0 ? [] : [`c${i - 1}`]));
    const deep = compile({ ...EMPTY_MODEL, concepts }, 'deep');
    expect(deep.concept('c2999')?.level).toBe(3000);
    expect(deep.concept('c0')?.descendants.length).toBe(2999);
  });
});

describe('rows', () => {
  const map = (concept: string, name = `map_${concept}`): string => `CREATE MAPPING ${name} INTO ${concept} AS SELECT id, name FROM t.${concept};`;

  it('own and descendants’ mappings, each once, also below two parents', () => {
    const graph = graphOf(`${ANIMALS};${map('coral')}${map('plant')}`);
    expect(sources(at(graph, 'being'))).toEqual(['map_plant into plant', 'map_coral into coral']);
    expect(sources(at(graph, 'animal'))).toEqual(['map_coral into coral']);
    expect(sources(graph.thing)).toEqual(['map_plant into plant', 'map_coral into coral']);
    expect(sources(at(graph, 'stone'))).toEqual([]);
  });

  it('an unmapped concept has the rows of the nearest mapped ancestor on each way up, not of a sibling, and adds nothing', () => {
    const graph = graphOf(
      `${ANIMALS};${map('being')}${map('animal')}${map('tall_being')} CREATE CONCEPT tall_being INHERITS (being); CREATE CONCEPT flower INHERITS (plant)`,
    );
    expect(at(graph, 'flower').rows).toMatchObject({ kind: 'mappings', fromAncestors: true });
    expect(sources(at(graph, 'flower'))).toEqual(['map_being into being']);
    expect(sources(at(graph, 'coral'))).toEqual(['map_animal into animal', 'map_being into being']);
    expect(sources(at(graph, 'being'))).toEqual(['map_being into being', 'map_animal into animal', 'map_tall_being into tall_being']);
  });

  it('are found by the next request if the budget of the first one ends while it looks for them', () => {
    const graph = compile(graphOf(`${ANIMALS} ${map('plant')}`).model, 'zoo');
    const small = new Budget({ nodes: 0, steps: 0, entries: 0 }, 'the plan');
    expect(() => small.run(() => at(graph, 'plant').rows)).toThrow('the plan');
    expect(sources(at(graph, 'plant'))).toEqual(['map_plant into plant']);
    expect(at(graph, 'plant').hasCircularRows).toBe(false);
  });

  it('a concept that is reached twice on the way up contributes its rows once', () => {
    const graph = graphOf(`${ANIMALS};${map('being')}`);
    expect(sources(at(graph, 'coral'))).toEqual(['map_being into being']);
  });

  it('a logic concept has the rows of its source; a concept below it adds nothing to an ancestor', () => {
    const graph = graphOf(`${ANIMALS};${map('plant')} CREATE CONCEPT giant INHERITS (tall_plant);`);
    expect(sources(at(graph, 'tall_plant'))).toBe('svc.plant WHERE height > 10');
    expect(sources(at(graph, 'giant'))).toBe('svc.plant WHERE height > 10');
    expect(at(graph, 'giant').rows).toBe(at(graph, 'tall_plant').rows);
    expect(sources(at(graph, 'plant'))).toEqual(['map_plant into plant']);
  });

  /** The mappings of the concept on which a logic concept, or an unmapped one below it, is defined. */
  const under = (c: Concept): unknown => (c.rows.kind === 'logic' ? under(c.rows.source) : sources(c));

  it('an unmapped concept below a logic concept has no rows of a sibling', () => {
    const below = 'CREATE CONCEPT giant INHERITS (tall_plant); CREATE CONCEPT tree INHERITS (tall_plant); CREATE CONCEPT small_giant INHERITS (giant);';
    const alone = graphOf(`${ANIMALS};${below}${map('tree')}`);
    expect(sources(at(alone, 'tree'))).toEqual(['map_tree into tree']);
    expect(under(at(alone, 'tall_plant'))).toEqual(['map_tree into tree']);
    for (const name of ['giant', 'small_giant']) expect(at(alone, name).rows).toEqual({ kind: 'mappings', fromAncestors: false, sources: [] });

    const both = graphOf(`${ANIMALS};${below}${map('tree')}${map('plant')}${map('coral')}`);
    expect(under(at(both, 'tall_plant'))).toEqual(['map_plant into plant', 'map_coral into coral', 'map_tree into tree']);
    for (const name of ['giant', 'small_giant']) {
      expect(sources(at(both, name))).toBe('svc.plant WHERE height > 10');
      expect(under(at(both, name))).toEqual(['map_plant into plant']);
    }
    // a part has a concept for each condition: thousands of unmapped concepts must not each have their own
    expect(at(both, 'small_giant').rows).toBe(at(both, 'giant').rows);
    expect(sources(at(both, 'plant'))).toEqual(['map_plant into plant', 'map_coral into coral', 'map_tree into tree']);
  });

  it('an unmapped concept below two logic concepts, one defined on the other, has no rows of a sibling', () => {
    const graph = graphOf(
      `${ANIMALS};${map('plant')} CREATE CONCEPT huge_plant INHERITS (tall_plant) FROM svc.tall_plant WHERE height > 20;
        CREATE CONCEPT giant INHERITS (huge_plant); CREATE CONCEPT tree INHERITS (tall_plant);${map('tree')}`,
    );
    expect(sources(at(graph, 'giant'))).toBe('svc.tall_plant WHERE height > 20');
    expect(at(graph, 'giant').rows).toMatchObject({ source: { name: 'tall_plant', rows: { kind: 'logic', source: { name: 'plant' } } } });
    expect(under(at(graph, 'giant'))).toEqual(['map_plant into plant']);
    expect(under(at(graph, 'huge_plant'))).toEqual(['map_plant into plant', 'map_tree into tree']);
  });

  it('an unmapped concept below a logic concept on a mapped concept that is not an ancestor is empty', () => {
    const graph = graphOf(
      `${ANIMALS};${map('coral')} CREATE CONCEPT deep INHERITS (being) FROM svc.coral WHERE depth > 10; CREATE CONCEPT abyss INHERITS (deep);`,
    );
    expect(under(at(graph, 'deep'))).toEqual(['map_coral into coral']);
    expect(sources(at(graph, 'abyss'))).toEqual([]);
  });

  it('a concept with a part of the rows is the same concept in the hierarchy', () => {
    const graph = graphOf(`${ANIMALS};${map('plant')}${map('coral')} CREATE CONCEPT giant INHERITS (tall_plant);`);
    const { rows } = at(graph, 'giant');
    if (rows.kind !== 'logic') throw new Error('no logic concept');
    expect(rows.source).not.toBe(at(graph, 'plant'));
    for (const c of graph.concepts) expect([c.isA(rows.source), rows.source.isA(c)]).toEqual([c.isA(at(graph, 'plant')), at(graph, 'plant').isA(c)]);
    expect(columns(rows.source)).toEqual(columns(at(graph, 'plant')));
    expect(names(rows.source.descendants)).toEqual(names(at(graph, 'plant').descendants));
  });
});

const show = (r: Relationship): string =>
  `${r.isInverse ? '<-' : '->'} ${r.name} (${r.inverseName}): ${r.from.name} to ${r.target.name} [${names(r.source)}=${names(r.references)}]`;

describe('relationships', () => {
  const FIRM = `
    CREATE CONCEPT person (id bigint, name string, firm bigint, boss bigint, PRIMARY KEY (id),
      CONSTRAINT works_for FOREIGN KEY (firm) REFERENCES company (cid) INVERSEOF employs DESCRIPTION 'a job',
      CONSTRAINT reports_to FOREIGN KEY (boss) REFERENCES person (id) TRANSITIVE(4),
      CONSTRAINT knows MULTIREFERENCE person INVERSEOF known_by TRANSITIVE);
    CREATE CONCEPT manager INHERITS (person);
    CREATE CONCEPT company (cid bigint, PRIMARY KEY (cid));
    CREATE CONCEPT bank INHERITS (company);
    CREATE MAPPING m INTO person AS SELECT id, name, firm, boss FROM t.p;
    CREATE MAPPING mc INTO company AS SELECT cid FROM t.c;
    CREATE MAPPING mk (CONSTRAINT known_by FOREIGN KEY (a) REFERENCES person (id), CONSTRAINT KNOWS FOREIGN KEY (b) REFERENCES person (id)) AS SELECT a, b FROM t.k`;
  const graph = graphOf(FIRM);
  const ask = (concept: string, name: string): string[] => at(graph, concept).relationship(name).map(show);

  it('lists both directions, including inherited ones', () => {
    expect(at(graph, 'manager').relationships.map(show)).toEqual([
      '-> works_for (employs): person to company [firm=cid]',
      '-> reports_to (~reports_to): person to person [boss=id]',
      '-> knows (known_by): person to person [=]',
      '<- ~reports_to (reports_to): person to person [id=boss]',
      '<- known_by (knows): person to person [=]',
    ]);
    expect(at(graph, 'bank').relationships.map(show)).toEqual(['<- employs (works_for): company to person [cid=firm]']);
  });

  it('name`, without case~is found by the declared name, the inverse’s and `~name`, without case~name`, without case', () => {
    for (const name of ['employs', 'EMPLOYS', '~works_for', '~~employs'])
      expect(ask('company', name)).toEqual(['<- employs (works_for): company to person [cid=firm]']);
    for (const name of ['works_for', '~employs', '~~works_for']) expect(ask('manager', name)).toEqual(['-> works_for (employs): person to company [firm=cid]']);
    expect(ask('person', '~reports_to')).toEqual(['<- ~reports_to (reports_to): person to person [id=boss]']);
    expect(ask('person', '~~reports_to')).toEqual(['-> reports_to (~reports_to): person to person [boss=id]']);
    expect(ask('person', '~known_by')).toEqual(['-> knows (known_by): person to person [=]']);
    expect(ask('person', 'employs')).toEqual([]);
    expect(ask('company', 'works_for')).toEqual([]);
  });

  it('both directions are as transitive; a description fits only the direction that has it', () => {
    expect([at(graph, 'person').relationship('~reports_to')[0]?.transitive, at(graph, 'person').relationship('known_by')[0]?.transitive]).toEqual([
      4,
      'default',
    ]);
    expect([at(graph, 'person').relationship('works_for'), at(graph, 'company').relationship('employs')].map(([r]) => r?.description)).toEqual(['a job', null]);
  });

  it('orients link mappings: the constraint r refers to the far end of r', () => {
    const [knows] = at(graph, 'person').relationship('knows');
    const [knownBy] = at(graph, 'person').relationship('known_by');
    expect(knows?.links.map((l) => [l.mapping.name, l.near.columns, l.far.columns])).toEqual([['mk', ['a'], ['b']]]);
    expect(knownBy?.links.map((l) => [l.mapping.name, l.near.columns, l.far.columns])).toEqual([['mk', ['b'], ['a']]]);
    expect(graph.mapping('mk')?.link).toMatchObject({ forward: { relationship: 'knows', columns: ['b'] }, back: { relationship: 'known_by', columns: ['a'] } });
  });

  it('a relationship that both sides declare is one', () => {
    const both = graphOf(`
      CREATE CONCEPT book (isbn string, PRIMARY KEY (isbn), CONSTRAINT written_by MULTIREFERENCE author INVERSEOF wrote DESCRIPTION 'by');
      CREATE CONCEPT author (aid bigint, PRIMARY KEY (aid), CONSTRAINT wrote MULTIREFERENCE book INVERSEOF written_by);
      CREATE MAPPING mb (CONSTRAINT wrote FOREIGN KEY (isbn) REFERENCES book (isbn), CONSTRAINT written_by FOREIGN KEY (aid) REFERENCES author (aid)) AS SELECT isbn, aid FROM t.w`);
    expect(at(both, 'author').relationships.map(show)).toEqual(['<- wrote (written_by): author to book [=]']);
    expect(at(both, 'book').relationships.map(show)).toEqual(['-> written_by (wrote): book to author [=]']);
    const [wrote] = at(both, 'author').relationship('~written_by');
    expect([at(both, 'book').relationship('written_by')[0]?.description, wrote?.description]).toEqual(['by', null]);
    expect(wrote?.links.map((l) => [l.near.columns, l.far.columns])).toEqual([[['aid'], ['isbn']]]);
  });

  it('a foreign key that both sides declare, mirrored, is one', () => {
    const both = graphOf(`
      CREATE CONCEPT room (rid bigint, PRIMARY KEY (rid), CONSTRAINT holds FOREIGN KEY (rid) REFERENCES desk (stands) INVERSEOF stands_in);
      CREATE CONCEPT desk (did bigint, stands bigint, PRIMARY KEY (did), CONSTRAINT stands_in FOREIGN KEY (stands) REFERENCES room (rid) INVERSEOF holds)`);
    expect(at(both, 'desk').relationships.map(show)).toEqual(['<- stands_in (holds): desk to room [stands=rid]']);
  });

  it('one name from two concepts: both are found, the bracket distinguishes them', () => {
    const two = graphOf(`
      CREATE CONCEPT city (c bigint, PRIMARY KEY (c));
      CREATE CONCEPT house (h bigint, c bigint, PRIMARY KEY (h), CONSTRAINT in_city FOREIGN KEY (c) REFERENCES city (c) INVERSEOF has);
      CREATE CONCEPT shop (s bigint, c bigint, PRIMARY KEY (s), CONSTRAINT in_city FOREIGN KEY (c) REFERENCES city (c) INVERSEOF has)`);
    expect(
      names(
        at(two, 'city')
          .relationship('has')
          .map((r) => r.target),
      ),
    ).toEqual(['house', 'shop']);
    expect(
      names(
        at(two, 'city')
          .relationship('~in_city')
          .map((r) => r.target),
      ),
    ).toEqual(['house', 'shop']);
  });

  it('an own relationship hides an inherited one of its name', () => {
    const hiding = graphOf(`
      CREATE CONCEPT p (id bigint, x bigint, PRIMARY KEY (id), CONSTRAINT near FOREIGN KEY (x) REFERENCES p (id));
      CREATE CONCEPT q (y bigint, CONSTRAINT near FOREIGN KEY (y) REFERENCES p (id)) INHERITS (p)`);
    expect(at(hiding, 'q').relationship('near').map(show)).toEqual(['-> near (~near): q to p [y=id]']);
    expect(at(hiding, 'p').relationship('~near').map(show)).toEqual(['<- ~near (near): p to p [id=x]', '<- ~near (near): p to q [id=y]']);
  });
});

function conceptDef(name: string, parents: string[]): ConceptDef {
  return { name, parents, properties: [], multi: [], measures: [], primaryKey: [], label: [], relationships: [], description: null, tags: {}, logic: null };
}
const mappingDef = (name: string, concept: string): MappingDef => ({
  name,
  kind: 'concept',
  concept,
  property: null,
  link: null,
  datasource: 'main',
  sql: 'SELECT 1',
  columns: [],
});

/** Models without cycles, in any order of declaration. */
const models: fc.Arbitrary<Model> = fc
  .integer({ min: 1, max: 12 })
  .chain((n) =>
    fc.record({
      parents: fc.tuple(
        ...Array.from({ length: n }, (_, i) =>
          fc.subarray(
            Array.from({ length: i }, (_, j) => j),
            { maxLength: Math.min(3, i) },
          ),
        ),
      ),
      mapped: fc.array(fc.integer({ min: 0, max: n - 1 }), { maxLength: 8 }),
      order: fc.shuffledSubarray(
        Array.from({ length: n }, (_, i) => i),
        { minLength: n },
      ),
    }),
  )
  .map(({ parents, mapped, order }) => ({
    ...EMPTY_MODEL,
    properties: order.map((i) => ({ name: `p${i}`, type: 'string', multi: false, description: null, tags: {}, expression: null })),
    concepts: order.map((i) => ({
      ...conceptDef(
        `c${i}`,
        (parents[i] ?? []).map((j) => `C${j}`),
      ),
      properties: [`p${i}`],
    })),
    mappings: mapped.map((c, i) => mappingDef(`m${i}`, `c${c}`)),
  }));

describe('for all models', () => {
  it('ancestors and descendants are each other’s inverse, each once, and agree with isA and level', () => {
    fc.assert(
      fc.property(models, (model) => {
        const graph = compile(model, 'any');
        const all = [graph.thing, ...graph.concepts];
        for (const c of all) {
          expect(new Set(c.ancestors).size).toBe(c.ancestors.length);
          expect(new Set(c.descendants).size).toBe(c.descendants.length);
          for (const other of all) {
            expect(c.ancestors.includes(other)).toBe(other.descendants.includes(c));
            expect(c.isA(other)).toBe(c === other || c.ancestors.includes(other));
            if (c !== other && c.isA(other)) expect(c.level).toBeGreaterThan(other.level);
          }
          for (const p of c.parents) expect(p.children).toContain(c);
        }
      }),
      generated(),
    );
  });

  it('a concept has the properties of its ancestors and its own, each once, and esvc those of its descendants', () => {
    fc.assert(
      fc.property(models, (model) => {
        const graph = compile(model, 'any');
        for (const c of graph.concepts) {
          const family = [c, ...c.ancestors].flatMap((a) => a.def?.properties ?? []);
          expect(new Set(columns(c))).toEqual(new Set(family));
          expect(columns(c).length).toBe(family.length);
          for (const p of c.properties) expect(p.owner.def?.properties).toContain(p.def.name);
          const below = new Set(c.descendants.flatMap(columns).filter((name) => !family.includes(name)));
          expect(new Set(c.derivedProperties.map((p) => p.def.name))).toEqual(below);
          expect(c.derivedProperties.length).toBe(below.size);
          // a property comes after those of the ancestors of its owner
          const place = new Map(columns(c).map((name, i) => [name, i]));
          for (const p of c.properties)
            for (const a of p.owner.ancestors) for (const name of a.def?.properties ?? []) expect(place.get(name)).toBeLessThan(place.get(p.def.name) ?? -1);
        }
      }),
      generated(),
    );
  });

  it('rows come from each mapping at most once; an unmapped leaf never adds to an ancestor', () => {
    fc.assert(
      fc.property(models, (model) => {
        const graph = compile(model, 'any');
        for (const c of [graph.thing, ...graph.concepts]) {
          if (c.rows.kind !== 'mappings') throw new Error('logic');
          const given = c.rows.sources.map((s) => s.mapping.name);
          expect(new Set(given).size).toBe(given.length);
          const below = model.mappings.filter((m) => graph.concept(m.concept ?? '')?.isA(c)).map((m) => m.name);
          if (below.length > 0) expect(new Set(given)).toEqual(new Set(below));
          else for (const s of c.rows.sources) expect(c.isA(s.target) && s.target !== graph.thing).toBe(true);
          expect(c.rows.fromAncestors).toBe(below.length === 0 && given.length > 0);
        }
      }),
      generated(),
    );
  });
});
