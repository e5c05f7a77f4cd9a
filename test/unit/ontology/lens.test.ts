import { describe, expect, it } from 'vitest';
import { loadNodeParser } from '../../../src/cli/node-parser.ts';
import { SvcError } from '../../../src/errors.ts';
import { expressionReferences } from '../../../src/language/expressions.ts';
import { compile } from '../../../src/ontology/compile.ts';
import type { Concept, Graph } from '../../../src/ontology/graph.ts';
import { lensOf } from '../../../src/ontology/lens.ts';
import { planSelect } from '../../../src/planner/index.ts';
import { withTypes } from '../../support/typed.ts';
import { run } from './script.ts';

const parser = await loadNodeParser();
const { graph: made } = run(`
  CREATE PROPERTY shout string AS SELECT upper(nick);
  CREATE MEASURE heads bigint AS SELECT COUNT(no);
  CREATE MEASURE claw_sum bigint AS SELECT SUM(claws);
  CREATE MEASURE claw_share double AS SELECT SUM(claws) / COUNT(no);
  CREATE CONCEPT town (town_id bigint, title string, PRIMARY KEY (town_id), LABEL (title));
  CREATE CONCEPT being (no bigint, nick string, shout string, PRIMARY KEY (no), LABEL (nick));
  CREATE CONCEPT animal (town_id bigint, heads MEASURE bigint, claw_sum MEASURE bigint, claw_share MEASURE double,
    CONSTRAINT lives_in FOREIGN KEY (town_id) REFERENCES town (town_id) INVERSEOF houses,
    CONSTRAINT likes MULTIREFERENCE animal INVERSEOF liked_by, CONSTRAINT call MULTIVALUE string) INHERITS (being);
  CREATE CONCEPT keeper (keeper_id bigint, ward bigint, PRIMARY KEY (keeper_id), CONSTRAINT keeps FOREIGN KEY (ward) REFERENCES animal (no) INVERSEOF kept_by);
  CREATE CONCEPT bear (claws integer) INHERITS (animal);
  CREATE CONCEPT polar_bear (fur integer) INHERITS (bear);
  CREATE CONCEPT big_bear INHERITS (bear) FROM svc.bear WHERE claws > 4;
  CREATE MAPPING ma INTO animal AS SELECT no, nick, town_id FROM z.a;
  CREATE MAPPING mb INTO bear AS SELECT no, nick, claws FROM z.b;
  CREATE MAPPING mp INTO polar_bear AS SELECT no, nick, claws, fur FROM z.p;
  CREATE MAPPING mt INTO town AS SELECT town_id, title FROM z.t;
  CREATE MAPPING mc INTO animal MULTIVALUE call AS SELECT no, call FROM z.c;
  CREATE MAPPING ml (CONSTRAINT likes FOREIGN KEY (b) REFERENCES animal (no), CONSTRAINT liked_by FOREIGN KEY (a) REFERENCES animal (no)) AS SELECT a, b, since FROM z.l;
  CREATE ONTOLOGY VIEW bears AS SELECT no, claws FROM svc.bear;
  CREATE ONTOLOGY VIEW towns AS SELECT title FROM svc.town;
`);
// casts that may raise an error would add barriers
const whole = compile(withTypes(made.model), made.ontology);

/** The graph of a caller who sees these concepts and views; `read`: those that may be read, else all. */
const seeing = (names: readonly string[], read: readonly string[] = names): Graph =>
  lensOf(whole, {
    concept: (name) => names.includes(name),
    view: (name) => names.includes(name),
    readsConcept: (name) => read.includes(name),
    readsView: (name) => read.includes(name),
    columnsOf: (text) => expressionReferences(parser, { text, offset: 0 }).map((r) => r.name),
  });
const of = (graph: Graph, name: string): Concept => {
  const found = graph.concept(name);
  if (!found) throw new Error(`no ${name}`);
  return found;
};
const names = (list: readonly { readonly name: string }[]): string[] => list.map((o) => o.name);
const properties = (c: Concept): string[] => c.properties.map((p) => `${p.def.name} of ${p.owner.name}`);
const plan = (graph: Graph, text: string) => planSelect({ graph, parser, product: 'svc', activeDatasource: 'main' }, { text, offset: 0 });
const fault = (graph: Graph, text: string): string => {
  try {
    plan(graph, text);
    return 'no error';
  } catch (e) {
    if (!(e instanceof SvcError)) throw e;
    return `${e.status} ${e.code} ${e.offset}: ${e.message}`;
  }
};

/** SQL with the planner's aliases numbered in the order of their appearance. */
function renumbered(sql: string): string {
  const numbers = new Map<string, number>();
  return sql.replace(/"~\w+"/g, (alias) => {
    if (!numbers.has(alias)) numbers.set(alias, numbers.size);
    return `"~${numbers.get(alias)}"`;
  });
}

describe('a model as a caller sees it', () => {
  it('has the visible concepts and views, and their parts', () => {
    const graph = seeing(['animal', 'towns']);
    expect(names(graph.concepts)).toEqual(['animal']);
    expect(names(graph.model.views)).toEqual(['towns']);
    expect(names(graph.model.properties)).toEqual(['shout', 'town_id', 'no', 'nick', 'call']);
    expect(names(graph.model.measures)).toEqual(['heads']);
    expect(names(graph.model.mappings)).toEqual(['ma', 'mc', 'ml']);
    for (const hidden of ['town', 'being', 'bear']) expect(graph.concept(hidden)).toBeUndefined();
    expect(graph.property('claws')).toBeUndefined();
    expect(graph.view('bears')).toBeUndefined();
    expect(graph.mapping('mb')).toBeUndefined();
    expect(graph.whole).toBe(whole);
    expect(whole.whole).toBe(whole);
  });

  it('shows what a concept inherits from hidden ones as its own', () => {
    const animal = of(seeing(['animal']), 'animal');
    expect(names(animal.parents)).toEqual(['thing']);
    expect(animal.level).toBe(1);
    expect(properties(animal)).toEqual(['no of animal', 'nick of animal', 'shout of animal', 'town_id of animal']);
    expect(animal.key?.properties.map((p) => p.name)).toEqual(['no']);
    expect(names(animal.label)).toEqual(['nick']);
    const polar = of(seeing(['being', 'polar_bear']), 'polar_bear');
    expect(names(polar.parents)).toEqual(['being']);
    expect(polar.level).toBe(2);
    expect(properties(polar)).toEqual(['no of being', 'nick of being', 'shout of being', 'town_id of polar_bear', 'claws of polar_bear', 'fur of polar_bear']);
    expect(polar.multi.map((p) => p.def.name)).toEqual(['call']);
  });

  it('keeps only relationships to visible targets, also inherited from hidden concepts', () => {
    expect(of(seeing(['animal']), 'animal').relationships.map((r) => [r.name, r.target.name])).toEqual([
      ['likes', 'animal'],
      ['liked_by', 'animal'],
    ]);
    const graph = seeing(['bear', 'town']);
    const [lives, ...others] = of(graph, 'bear').relationships;
    expect(others).toEqual([]);
    expect([lives?.name, lives?.from.name, lives?.declaredBy.name, lives?.target, lives?.inverseName]).toEqual([
      'lives_in',
      'bear',
      'bear',
      graph.concept('town'),
      null,
    ]);
    expect(lives?.whole.from.name).toBe('animal');
    // the other direction leads to a hidden concept
    expect(of(graph, 'town').relationships).toEqual([]);
    expect(of(graph, 'bear').relationship('~houses')).toEqual([]);
    expect(graph.concept('bear')?.def?.relationships.map((r) => [r.name, r.inverse])).toEqual([['lives_in', null]]);
  });

  it('has properties and measures of visible descendants', () => {
    const derived = (...seen: string[]) => of(seeing(seen), 'animal').derivedProperties.map((p) => `${p.def.name} of ${p.owner.name}`);
    expect(derived('animal')).toEqual([]);
    expect(derived('animal', 'bear')).toEqual(['claws of bear']);
    expect(derived('animal', 'polar_bear')).toEqual(['claws of polar_bear', 'fur of polar_bear']);
    const measures = (...seen: string[]) => of(seeing(seen), 'animal').measures.map((m) => m.def.name);
    expect(measures('animal')).toEqual(['heads']);
    expect(measures('animal', 'bear')).toEqual(['heads', 'claw_sum', 'claw_share']);
  });

  it('reads the rows of the whole', () => {
    const graph = seeing(['bear', 'big_bear']);
    const targets = (c: Concept) => (c.rows.kind === 'mappings' ? c.rows.sources.map((s) => s.target.name) : c.rows.source.name);
    expect(targets(of(graph, 'bear'))).toEqual(['bear', 'polar_bear']);
    expect(of(graph, 'bear').rows).toBe(whole.concept('bear')?.rows);
    expect(targets(of(seeing(['big_bear']), 'big_bear'))).toBe('bear');
    // the caller does not see all rows of bear, so one more SELECT is around those of big_bear
    const sql = plan(whole, 'SELECT nick, shout FROM svc.big_bear').sql;
    const rows = /\(SELECT "~2"\.nick .* WHERE "~2"\.claws > 4\)/.exec(sql)?.[0] ?? 'no rows';
    const inner = rows.replaceAll('"~2"', '"~x"');
    expect(renumbered(plan(seeing(['big_bear']), 'SELECT nick, shout FROM svc.big_bear').sql)).toBe(
      renumbered(sql.replace(rows, `(SELECT "~y".nick AS nick, "~y".shout AS shout FROM ${inner} AS "~y")`)),
    );
    expect(plan(seeing(['animal']), 'SELECT shout, "likes[animal]_since", "likes[animal].call" FROM dsvc.animal').sql).toBe(
      plan(whole, 'SELECT shout, "likes[animal]_since", "likes[animal].call" FROM dsvc.animal').sql,
    );
  });

  it('has a root with the readable rows', () => {
    const sources = (graph: Graph) => (graph.thing.rows.kind === 'mappings' ? graph.thing.rows.sources.map((s) => s.mapping.name) : []);
    expect(sources(whole)).toEqual(['mt', 'ma', 'mb', 'mp']);
    expect(sources(seeing(['bear', 'town'], ['bear']))).toEqual(['mb', 'mp']);
    expect(seeing(['bear', 'town'], ['bear']).thing.readable).toBe(true);
    expect(seeing(['bear'], []).thing.readable).toBe(false);
    expect(seeing([]).thing.readable).toBe(true);
    expect(plan(seeing(['town']), 'SELECT entity_type FROM svc.thing').sql).not.toContain('bear');
  });
});

describe('a query of a caller with a partial view', () => {
  it('finds nothing hidden, and hints at nothing hidden', () => {
    const graph = seeing(['animal', 'towns']);
    expect(fault(graph, 'SELECT 1 AS one FROM svc.bear')).toBe('400 unknown_concept 21: unknown concept `bear`');
    expect(fault(graph, 'SELECT 1 AS one FROM svc.bera')).toBe('400 unknown_concept 21: unknown concept `bera`');
    expect(fault(graph, 'SELECT 1 AS one FROM vsvc.bears')).toBe('400 unknown_view 21: unknown view `bears`');
    expect(fault(graph, 'SELECT claws FROM esvc.animal')).toBe('400 unknown_property 7: unknown property `claws` of concept `animal`');
    expect(fault(graph, 'SELECT "_type_of_bear" FROM dsvc.animal')).toBe('400 unknown_concept 7: unknown concept `bear` in `_type_of_bear`');
    expect(fault(graph, 'SELECT "lives_in[town].title" FROM dsvc.animal')).toMatch(
      /^400 unknown_relationship 7: unknown relationship `lives_in` of concept `animal`/,
    );
    expect(fault(graph, 'SELECT "likes[bear].claws" FROM dsvc.animal')).toMatch(/^400 unknown_concept 7: unknown concept `bear` in the path/);
    expect(fault(graph, 'SELECT SUM("measure.claw_sum") AS s FROM dsvc.animal')).toMatch(
      /^400 unknown_measure 11: unknown measure `claw_sum` of concept `animal`$/,
    );
    // the inverse direction from the keeper is hidden, and with it its name
    const bear = seeing(['bear', 'keeper']);
    expect(plan(bear, 'SELECT "kept_by[keeper].keeper_id" FROM dsvc.bear').columns).toEqual(['kept_by[keeper].keeper_id']);
    expect(fault(bear, 'SELECT "~keep[keeper].keeper_id" FROM dsvc.bear')).toBe('400 unknown_relationship 7: unknown relationship `~keep` of concept `bear`');
    expect(fault(bear, 'SELECT "~keeps[keeper].keeper_id" FROM dsvc.bear')).toBe('400 unknown_relationship 7: unknown relationship `~keeps` of concept `bear`');
    expect(plan(graph, 'SELECT * FROM esvc.animal').columns).toEqual(['entity_id', 'entity_type', 'entity_label', 'no', 'nick', 'shout', 'town_id']);
    expect(plan(graph, 'SELECT "likes[animal].*" FROM dsvc.animal').columns).not.toContain('likes[animal].claws');
  });

  it('is refused for visible objects without QUERY, in every form', () => {
    const graph = seeing(['animal', 'bear', 'town', 'towns'], ['animal']);
    const needs = (what: string, at: number) => `403 forbidden ${at}: This needs QUERY on ontology.zoo.${what}`;
    expect(fault(graph, 'SELECT nope FROM svc.bear')).toBe(needs('concept.bear', 17).replace('zoo', whole.ontology));
    expect(fault(graph, 'SELECT 1 AS one FROM towns')).toBe(needs('view.towns', 21).replace('zoo', whole.ontology));
    expect(fault(graph, 'SELECT "lives_in[town].title" FROM dsvc.animal')).toBe(needs('concept.town', 7).replace('zoo', whole.ontology));
    expect(fault(graph, 'SELECT "likes[bear].no" FROM dsvc.animal')).toBe(needs('concept.bear', 7).replace('zoo', whole.ontology));
    expect(fault(graph, 'SELECT "_type_of_bear" FROM dsvc.animal')).toBe(needs('concept.bear', 7).replace('zoo', whole.ontology));
    expect(fault(graph, 'SELECT nope, (SELECT COUNT(*) FROM svc.bear) AS n FROM svc.animal')).toBe(needs('concept.bear', 35).replace('zoo', whole.ontology));
    expect(fault(graph, 'SELECT no FROM svc.animal')).toBe('no error');
    expect(plan(graph, 'SELECT * FROM esvc.animal').columns).not.toContain('claws');
  });

  it('reads a view with the names of its definer', () => {
    const graph = seeing(['bears']);
    expect(plan(graph, 'SELECT claws FROM vsvc.bears').sql).toBe(plan(whole, 'SELECT claws FROM vsvc.bears').sql);
    const by = (definer: Graph): string => {
      try {
        planSelect({ graph, parser, product: 'svc', activeDatasource: 'main', definer: () => definer }, { text: 'SELECT claws FROM vsvc.bears', offset: 0 });
        return 'no error';
      } catch (e) {
        return e instanceof SvcError ? `${e.status} ${e.code}: ${e.message}` : String(e);
      }
    };
    expect(by(seeing(['bear']))).toBe('no error');
    for (const lost of [seeing(['animal']), seeing(['bear'], [])])
      expect(by(lost)).toBe('403 view_unreadable: the view `bears` cannot be read: its definer may not read everything that it names');
  });

  it('reports whether everything that it reads is open to the caller', () => {
    expect(plan(whole, 'SELECT no FROM svc.animal').isOpen).toBe(true);
    expect(plan(seeing(['town']), 'SELECT title FROM svc.town').isOpen).toBe(true);
    expect(plan(seeing(['animal']), 'SELECT no FROM svc.animal').isOpen).toBe(false);
    expect(plan(seeing(['towns']), 'SELECT title FROM vsvc.towns').isOpen).toBe(false);
  });
});

describe('calculated properties over paths', () => {
  const { graph } = run(`
    CREATE PROPERTY spent decimal AS SELECT SUM("paid_by[bill].amount");
    CREATE PROPERTY twice decimal AS SELECT spent * 2;
    CREATE MEASURE all_spent decimal AS SELECT SUM(twice);
    CREATE CONCEPT guest (guest_id bigint, spent decimal, twice decimal, all_spent MEASURE decimal, PRIMARY KEY (guest_id), LABEL (spent));
    CREATE CONCEPT bill (bill_id bigint, guest_id bigint, amount decimal, PRIMARY KEY (bill_id), CONSTRAINT pays FOREIGN KEY (guest_id) REFERENCES guest (guest_id) INVERSEOF paid_by)`);
  const columnsOf = (text: string): string[] => expressionReferences(parser, { text, offset: 0 }).map((r) => r.name);
  const seenWith = (reads: readonly string[]): string[] => {
    const sees = (name: string): boolean => reads.includes(name.toLowerCase());
    const seen = lensOf(graph, { concept: sees, view: () => true, readsConcept: sees, readsView: () => true, columnsOf });
    const guest = seen.concept('guest') as Concept;
    const [properties, measures] = [guest.properties.map((p) => p.def.name), guest.measures.map((m) => m.def.name)];
    return [...properties, ...measures, ...guest.label.map((p) => `label ${p.name}`), ...guest.relationships.map((r) => r.name)];
  };

  it('are hidden from a caller who may not read the concepts on their paths, with what reads them', () => {
    expect(seenWith(['guest'])).toEqual(['guest_id']);
    expect(seenWith(['guest', 'bill']).toSorted()).toEqual(['all_spent', 'guest_id', 'label spent', 'paid_by', 'spent', 'twice']);
  });
});
