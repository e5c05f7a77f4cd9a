import { isDeepStrictEqual } from 'node:util';
import { describe, expect, it } from 'vitest';
import { loadNodeParser } from '../../../src/cli/node-parser.ts';
import { logicalText } from '../../../src/planner/logical/index.ts';
import { forms } from '../../support/corpora/forms.ts';
import { generatedCorpora } from '../../support/corpora/generated.ts';
import { written } from '../../support/corpora/written.ts';
import { bothPlans } from '../../support/logical.ts';
import { sizesOf } from '../../support/sizes.ts';
import { run } from '../ontology/script.ts';

const SIZES = sizesOf('unit/planner/logical');
const parser = await loadNodeParser();
const { graph } = run(`
  CREATE MEASURE heads bigint AS SELECT COUNT(no);
  CREATE CONCEPT town (town_id bigint, title string, PRIMARY KEY (town_id));
  CREATE CONCEPT animal (no bigint, town_id bigint, heads MEASURE bigint, PRIMARY KEY (no),
    CONSTRAINT lives_in FOREIGN KEY (town_id) REFERENCES town (town_id) INVERSEOF houses, CONSTRAINT parent FOREIGN KEY (town_id) REFERENCES animal (no) TRANSITIVE(4));
  CREATE MAPPING ma INTO animal AS SELECT no_secret AS no, town_id FROM z.t_animal;
  CREATE MAPPING mt INTO town AS SELECT town_id, title FROM z.t_town;
  CREATE VIEW v AS SELECT title FROM svc.town;
  CREATE CONCEPT homed INHERITS (animal) FROM dsvc.animal WHERE no > 1 AND "lives_in[town].title" IN (SELECT t.title FROM svc.town t);
`);
const plan = (text: string, product = 'svc') => logicalText(bothPlans({ graph, parser, product, activeDatasource: 'main' }, { text, offset: 0 }).logical);

describe('a logical plan', () => {
  it('shows relations, paths and the steps of the query', () => {
    expect(
      plan('SELECT "lives_in[town].title" AS t, COUNT(no) AS n FROM animal WHERE "lives_in[town].houses[animal].no" > 1 GROUP BY 1 ORDER BY 2 LIMIT 3'),
    ).toBe(
      [
        'Limit',
        '  -> Sort by 1 expression',
        '    -> Group by 1 expression',
        '      -> Filter',
        '        -> Read concept dsvc.animal',
        '          -> Path lives_in[town] (to one)',
        '            -> Path houses[animal] (to many)',
      ].join('\n'),
    );
  });

  it('shows joins, walks, measures, views, common table expressions and set operations', () => {
    expect(plan('SELECT b."parent[animal*].no" AS x, v.title FROM svc.town t JOIN dsvc.animal b ON true, vsvc.v')).toBe(
      [
        'Join of 3',
        '  -> Read concept svc.town as t',
        '  -> Read concept dsvc.animal as b',
        '    -> Path parent[animal*] (walk of up to 4 steps)',
        '  -> Read view vsvc.v',
      ].join('\n'),
    );
    expect(plan('SELECT SUM("measure.houses[animal].heads") AS n FROM dsvc.town')).toBe(
      ['Aggregate', '  -> Read concept dsvc.town', '    -> Path houses[animal] (to many)'].join('\n'),
    );
    expect(plan('WITH c AS (SELECT 1 AS a) SELECT a FROM c UNION ALL SELECT DISTINCT no FROM svc.animal')).toBe(
      ['With c', '  -> Result', 'Union all', '  -> Read c', '  -> Distinct', '    -> Read concept svc.animal'].join('\n'),
    );
  });

  it('has nothing of what the conditions of logic concepts read', () => {
    for (const [text, columns] of [
      ['SELECT "_type_of_homed" AS h FROM dsvc.animal', ['_type_of_homed']],
      ['SELECT "parent[animal].no" AS h FROM dsvc.homed', undefined],
    ] as const) {
      const context = { graph, parser, product: 'svc', activeDatasource: 'main' };
      const { plan, logical: made } = bothPlans(context, { text, offset: 0 });
      expect(JSON.stringify(made)).not.toContain('town');
      expect(made.query).toMatchObject({ from: [columns ? { columns } : { kind: 'concept' }] });
      // nor are they relations that the statement names
      expect(plan.relations.map((r) => r.name)).not.toContain('town');
    }
  });

  it('uses the product\u2019s name and no name of a table', () => {
    const text = plan('SELECT no FROM acme.animal WHERE no IN (SELECT town_id FROM vacme.v, dsvc.town)', 'acme');
    expect(text).toContain('Read concept acme.animal');
    expect(text).toContain('Read view vacme.v');
    expect(text).not.toMatch(/secret|t_animal|t_town|svc/);
  });
});

describe('the logical plan as data', () => {
  it('writes columns with their whole paths, and sub-queries as numbers', () => {
    const { logical: made } = bothPlans(
      { graph, parser, product: 'acme', activeDatasource: 'main' },
      {
        text: 'SELECT a.no, COUNT("lives_in[town].title") AS n FROM dacme.animal a WHERE EXISTS (SELECT 1 FROM vacme.v) AND "parent[animal*]_transitivity_level" > 1 GROUP BY a.no',
        offset: 0,
      },
    );
    expect(made).toEqual({
      query: {
        kind: 'block',
        from: [
          {
            kind: 'concept',
            concept: 'dacme.animal',
            alias: 'a',
            columns: ['no'],
            paths: [
              { path: 'parent[animal*]', cardinality: 'many', steps: 4 },
              { path: 'lives_in[town]', cardinality: 'one', columns: ['title'] },
            ],
          },
        ],
        where: '"exists"("query 1") AND a."parent[animal*]_transitivity_level" > 1',
        group: ['a."no"'],
        select: [
          { name: 'no', value: 'a."no"' },
          { name: 'n', value: 'count(a."lives_in[town].title")' },
        ],
        aggregates: true,
        queries: [{ query: { kind: 'block', from: [{ kind: 'view', name: 'vacme.v', alias: 'v' }], select: [{ value: '1' }] } }],
      },
    });
  });

  it('is frozen, can be converted to JSON, and has no tables and no aliases of the planner, for the statements of all corpora', () => {
    let count = 0;
    const faults: object[] = [];
    // each form is in one statement only
    for (const corpus of [forms(parser), ...written(parser, SIZES.everyTrap), ...generatedCorpora(parser, SIZES.queries, SIZES.queries)])
      for (const { text, context, plan: physical } of corpus.planned(corpus.name === 'forms' ? 1 : SIZES.everyQuestion)) {
        // The service writes statements with bound values.
        if (physical.params.length > 0) continue;
        const { plan, logical: made } = bothPlans(context, { text, offset: 0 });
        const json = JSON.stringify(made);
        const schemas = physical.declared.tables.map((t) => `${t.schema}.`).filter((schema) => !text.includes(schema));
        const fault = {
          lost: !isDeepStrictEqual(JSON.parse(json), made),
          open: !Object.isFrozen(made) || !Object.isFrozen(made.query),
          // the logical plan leaves the bound query as it is
          sql: !physical.nested && plan.sql !== physical.sql,
          names: /\\"~\d+\\"/.test(json),
          tables: schemas.some((schema) => json.includes(`"${schema}`)),
        };
        if (Object.values(fault).includes(true)) faults.push({ text, ...fault });
        count++;
      }
    expect(faults).toEqual([]);
    expect(count).toBeGreaterThan(1000 / SIZES.everyQuestion);
  });
});
