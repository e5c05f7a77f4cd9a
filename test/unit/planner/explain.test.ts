import { describe, expect, it } from 'vitest';
import { loadNodeParser } from '../../../src/cli/node-parser.ts';
import { explainLogical } from '../../../src/planner/explain.ts';
import { run } from '../ontology/script.ts';

const parser = await loadNodeParser();
const { graph } = run(`
  CREATE MEASURE heads bigint AS SELECT COUNT(no);
  CREATE CONCEPT town (town_id bigint, title string, PRIMARY KEY (town_id));
  CREATE CONCEPT animal (no bigint, town_id bigint, heads MEASURE bigint, PRIMARY KEY (no),
    CONSTRAINT lives_in FOREIGN KEY (town_id) REFERENCES town (town_id) INVERSEOF houses, CONSTRAINT parent FOREIGN KEY (town_id) REFERENCES animal (no) TRANSITIVE(4));
  CREATE MAPPING ma INTO animal AS SELECT no_secret AS no, town_id FROM z.t_animal;
  CREATE MAPPING mt INTO town AS SELECT town_id, title FROM z.t_town;
  CREATE VIEW v AS SELECT title FROM svc.town;
`);
const plan = (text: string, product = 'svc') => explainLogical({ graph, parser, product, activeDatasource: 'main' }, { text, offset: 0 });

describe('a logical plan', () => {
  it('tells relations, paths and what is done with them', () => {
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

  it('tells joins, walks, measures, views, common table expressions and set operations', () => {
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

  it('uses the product\u2019s names and never those of tables', () => {
    const text = plan('SELECT no FROM acme.animal WHERE no IN (SELECT town_id FROM vacme.v, dsvc.town)', 'acme');
    expect(text).toContain('Read concept acme.animal');
    expect(text).toContain('Read view vacme.v');
    expect(text).not.toMatch(/secret|t_animal|t_town|svc/);
  });
});
