/** What a plan knows of a cached view is what it knows of the live one. */
import { expect, it } from 'vitest';
import { graphOf } from '../../../../examples/world/graph.ts';
import { loadNodeParser } from '../../../../src/cli/node-parser.ts';
import { compile } from '../../../../src/ontology/compile.ts';
import { CachedViews, viewSelect } from '../../../../src/planner/cached/views.ts';
import { type PlanContext, planSelect } from '../../../../src/planner/index.ts';

const MODEL = `CREATE ONTOLOGY o;
CREATE CONCEPT item (id integer, name string, PRIMARY KEY (id));
CREATE MAPPING m INTO item AS SELECT id, name FROM s.t;
CREATE ONTOLOGY VIEW v AS SELECT id, upper(name) AS name FROM dsvc.item;
CREATE ONTOLOGY VIEW r USING main AS SELECT id, name FROM s.t`;
const parser = await loadNodeParser();

function contextOf(collation: string | undefined): PlanContext {
  const { model } = graphOf(MODEL, 'o', parser);
  const columns = ['id', 'name'].map((name) => (name === 'id' ? { name, type: 'int4' } : { name, type: 'text', ...(collation ? { collation } : {}) }));
  const graph = compile(
    { ...model, mappings: model.mappings.map((m) => ({ ...m, columns })), views: model.views.map((v) => (v.name === 'r' ? { ...v, columns } : v)) },
    'o',
  );
  return { graph, parser, product: 'svc', activeDatasource: 'main' };
}
const cachedIn = (context: PlanContext): CachedViews =>
  new CachedViews(new Set(['v', 'r']), (view, { sql }) => {
    const made = viewSelect(context, view);
    return typeof made !== 'string' && made.sql === sql ? { mapping: view.name, of: 'view', schema: 'cached', name: `t_${view.name}`, asOf: 0 } : undefined;
  });

it.each(['v', 'r'])('the view %s: whether texts may be equal that differ, for rewrites', (name) => {
  for (const [collation, expected] of [
    [undefined, true],
    ['"nondeterministic"', false],
  ] as const) {
    const context = contextOf(collation);
    for (const views of [undefined, cachedIn(context)]) {
      const seen: boolean[] = [];
      const plan = planSelect(
        { ...context, ...(views ? { views } : {}), rewrite: (_s, _a, isExact) => void seen.push(isExact) },
        { text: `SELECT name FROM vsvc.${name}`, offset: 0 },
      );
      expect(plan.caches).toHaveLength(views ? 1 : 0);
      expect(seen, `${collation} ${views ? 'cached' : 'live'}`).toEqual([expected]);
    }
  }
});

it('the columns of the table are declared, and none of the tables of the view', () => {
  const context = contextOf(undefined);
  const { sql, declared, datasource } = planSelect(
    { ...context, views: cachedIn(context) },
    { text: 'SELECT v.name, r.id FROM vsvc.v JOIN vsvc.r ON r.id = v.id', offset: 0 },
  );
  expect(declared.tables.map((t) => `${t.schema}.${t.name}`)).toEqual(['cached.t_v', 'cached.t_r']);
  expect([datasource, sql.includes('s.t')]).toEqual(['main', false]);
});

it('a trial of a large view does not make its live plan too large', () => {
  const large = (joins: number): PlanContext => {
    const items = Array.from({ length: joins }, (_, i) => `vsvc.v a${i}`).join(' CROSS JOIN ');
    const { model } = graphOf(`${MODEL}; CREATE ONTOLOGY VIEW large AS SELECT a0.id FROM ${items}`, 'o', parser);
    return { graph: compile(model, 'o'), parser, product: 'svc', activeDatasource: 'main' };
  };
  const planned = (context: PlanContext): number => planSelect(context, { text: 'SELECT id FROM vsvc.large', offset: 0 }).sql.length;
  const fits = (joins: number): boolean => {
    try {
      return planned(large(joins)) > 0;
    } catch {
      return false;
    }
  };
  let joins = 16;
  while (fits(joins * 1.25)) joins *= 1.25;
  const context = large(joins);
  let trials = 0;
  const views = new CachedViews(new Set(['large']), () => {
    trials++;
    return undefined;
  });
  expect([planned({ ...context, views }), trials]).toEqual([planned(context), 1]);
});
