import { describe, expect, it } from 'vitest';
import { loadNodeParser } from '../../../../src/cli/node-parser.ts';
import { lensOf } from '../../../../src/ontology/lens.ts';
import { planSelect } from '../../../../src/planner/index.ts';
import { type ColumnLine, type ConceptSchema, conceptColumns } from '../../../../src/service/describe/describe-columns.ts';
import { run } from '../../ontology/script.ts';

const { graph } = run(`
  CREATE PROPERTY colour string DESCRIPTION 'as painted';
  CREATE MEASURE heads bigint AS SELECT COUNT(no);
  CREATE CONCEPT town (town_id bigint, title string, PRIMARY KEY (town_id));
  CREATE CONCEPT animal (no bigint, colour string, town_id bigint, heads MEASURE bigint, PRIMARY KEY (no), CONSTRAINT nick MULTIVALUE string,
    CONSTRAINT lives_in FOREIGN KEY (town_id) REFERENCES town (town_id) INVERSEOF houses,
    CONSTRAINT likes MULTIREFERENCE animal INVERSEOF liked_by TRANSITIVE);
  CREATE CONCEPT bear (claws integer) INHERITS (animal);
  CREATE CONCEPT secret (code string) INHERITS (animal);
  CREATE MAPPING ma INTO animal AS SELECT no, colour, town_id FROM z.a;
  CREATE MAPPING mt INTO town AS SELECT town_id, title FROM z.t;
  CREATE MAPPING ml (CONSTRAINT likes FOREIGN KEY (b) REFERENCES animal (no), CONSTRAINT liked_by FOREIGN KEY (a) REFERENCES animal (no)) AS SELECT a, b, since FROM z.l;
`);
const parser = await loadNodeParser();
const of = (name: string, schema: ConceptSchema, hops = 1, seen = graph, walks = false): readonly ColumnLine[] => {
  const concept = seen.concept(name);
  if (!concept) throw new Error(name);
  return conceptColumns(concept, schema, hops, walks);
};
const names = (lines: readonly ColumnLine[]) => lines.map((l) => l.col_name);
const ENTITY = ['entity_id', 'entity_type', 'entity_label'];

describe('the columns of a concept', () => {
  it('in svc are those of SELECT *, in esvc those of descendants too', () => {
    expect(names(of('animal', 'svc'))).toEqual([...ENTITY, 'no', 'colour', 'town_id']);
    expect(names(of('animal', 'esvc'))).toEqual([...ENTITY, 'no', 'colour', 'town_id', 'claws', 'code']);
    expect(names(of('bear', 'svc'))).toEqual([...ENTITY, 'no', 'colour', 'town_id', 'claws']);
  });

  it('have declared types, descriptions and keys', () => {
    const line = (name: string) => of('animal', 'dsvc').find((l) => l.col_name === name);
    expect(line('no')).toEqual({ col_name: 'no', data_type: 'bigint', comment: null, key: 'PK' });
    expect(line('town_id')).toMatchObject({ key: 'FK' });
    expect(line('colour')).toEqual({ col_name: 'colour', data_type: 'string', comment: 'as painted', key: null });
    expect(line('_type_of_bear')).toMatchObject({ data_type: 'boolean' });
    expect(line('lives_in[town].town_id')).toMatchObject({ data_type: 'bigint', key: 'PK' });
  });

  it('in dsvc are measures, values, types and paths up to the depth, each once', () => {
    for (const hops of [0, 1, 2, 3]) {
      const found = names(of('town', 'dsvc', hops));
      expect(new Set(found).size).toBe(found.length);
      const wanted = ['houses[animal].colour', 'houses[animal].likes[animal].claws', 'measure.houses[animal].likes[animal].liked_by[animal].heads'];
      expect(wanted.map((w) => found.includes(w))).toEqual([1, 2, 3].map((h) => h <= hops));
      expect(found.some((f) => f.includes('*'))).toBe(false);
    }
    expect(names(of('animal', 'dsvc'))).toEqual(
      expect.arrayContaining(['nick', 'measure.heads', 'likes[animal]_since', 'liked_by[animal]_since', 'likes[animal].nick']),
    );
    expect(names(of('animal', 'dsvc'))).not.toContain('likes[animal]_a');
  });

  it('of a transitive relationship are those of its walk, not of a hop too, where walks are listed', () => {
    const found = names(of('animal', 'dsvc', 2, graph, true)).filter((name) => /^(measure\.)?likes\[/.test(name));
    expect(found.filter((name) => !/^(measure\.)?likes\[animal\*3\]/.test(name))).toEqual([]);
    expect(found).toEqual(
      expect.arrayContaining(['likes[animal*3].colour', 'likes[animal*3].nick', 'measure.likes[animal*3].heads', 'likes[animal*3]_transitivity_level']),
    );
    expect(found).toContain('likes[animal*3].lives_in[town].title');
    expect(found).not.toContain('likes[animal*3]_since');
  });

  it('contain nothing that the caller does not see', () => {
    const yes = () => true;
    const sight = { concept: (name: string) => name !== 'secret' && name !== 'town', view: yes, readsConcept: yes, readsView: yes, columnsOf: () => [] };
    const found = of('animal', 'dsvc', 2, lensOf(graph, sight));
    expect(found.filter((l) => /code|town\b|secret|title/.test(l.col_name) && l.col_name !== 'town_id')).toEqual([]);
    expect(found.find((l) => l.col_name === 'town_id')?.key).toBeNull();
    expect(names(found)).toContain('claws');
  });

  it('are limited in number', () => {
    expect(() => of('animal', 'dsvc', 9)).toThrow(/more than/);
  });

  it('can all be queried', () => {
    for (const name of ['animal', 'town', 'bear']) {
      for (const column of new Set([...names(of(name, 'dsvc', 2)), ...names(of(name, 'dsvc', 2, graph, true))])) {
        const item = column.startsWith('measure.') ? `SUM("${column}") AS x` : `"${column}" AS x`;
        const plan = planSelect({ graph, parser, product: 'svc', activeDatasource: 'main' }, { text: `SELECT ${item} FROM dsvc.${name}`, offset: 0 });
        expect(plan.columns).toEqual(['x']);
      }
    }
  });
});
