/** Every function of PostgreSQL that must not be called, as a call and as an attribute, in each part of a model: refused when it is checked. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { quoteDouble } from '../../src/language/quote.ts';
import { compile } from '../../src/ontology/compile.ts';
import type { Concept, Graph } from '../../src/ontology/graph.ts';
import type { Model } from '../../src/ontology/model.ts';
import { checkMaskExpression, checkRowCondition } from '../../src/planner/enforcement/policy-check.ts';
import { checkModel, type Plan, planSelect } from '../../src/planner/index.ts';
import { conceptOf } from '../support/concepts.ts';
import { context, contextOf, forbiddenFunctions, modelOf, parser, passing, quoted, refusal } from '../support/every-function.ts';
import { patience } from '../support/generated.ts';
import { oneIn, sizesOf } from '../support/sizes.ts';

const SIZES = sizesOf('attacks/every-function-in-models');

/** Functions that must not be called: all, and those that the next part of a model is tried with. */
let all: readonly string[];
let forbidden: readonly string[];
let turn = 0;
let ofRows: ReadonlySet<string>;
const { stackTraceLimit } = Error;
beforeAll(async () => {
  const found = await forbiddenFunctions();
  all = found.names;
  ofRows = found.ofRows;
  // an error for each of several hundred thousand statements: their stacks are not needed
  Error.stackTraceLimit = 0;
});
afterAll(() => {
  Error.stackTraceLimit = stackTraceLimit;
});

beforeEach(() => {
  forbidden = oneIn(SIZES.every, all, turn++);
});

describe('in a model', () => {
  /** Each name is used in its own object of one model, so that the model is built once. */
  const pieces = (make: (names: readonly string[]) => Partial<Model>): { readonly graph: Graph; readonly index: ReadonlyMap<string, number> } => ({
    graph: compile(modelOf(make(forbidden)), 'zq'),
    index: new Map(forbidden.map((f, i) => [f, i])),
  });
  type Kind = 'view' | 'logic' | 'property' | 'measure' | 'mapping';
  const checked = (kind: Kind, make: (names: readonly string[]) => Partial<Model>): string[] => {
    const { graph, index } = pieces(make);
    return passing(forbidden, (f) => refusal(() => checkModel(graph, parser, [{ kind, name: `zq_${index.get(f)}`, offset: 0 }])));
  };
  /** A call and an attribute over the text `value`. */
  const BOTH: readonly (readonly [what: string, write: (f: string, value: string) => string])[] = [
    ['as a call', (f, value) => `${quoted(f)}(${value})`],
    ['as an attribute', (f, value) => `(${value}).${quoted(f)}`],
    ['as a qualified call', (f, value) => `pg_catalog.${quoted(f)}(${value})`],
  ];

  describe.each(BOTH)('%s', (_, write) => {
    it('in a calculated property', { timeout: patience(60_000) }, () => {
      const made = checked('property', (names) => ({
        properties: names.map((f, i) => ({ name: `zq_${i}`, type: 'string', multi: false, description: null, tags: {}, expression: write(f, 'zq_name') })),
      }));
      expect(made).toEqual([]);
    });

    it('in a measure', { timeout: patience(60_000) }, () => {
      const made = checked('measure', (names) => ({
        measures: names.map((f, i) => ({
          name: `zq_${i}`,
          type: 'bigint',
          description: null,
          tags: {},
          expression: `COUNT(${write(f, 'zq_name')})`,
          filter: null,
        })),
      }));
      expect(made).toEqual([]);
    });

    it("in a measure's WHERE", { timeout: patience(60_000) }, () => {
      const made = checked('measure', (names) => ({
        measures: names.map((f, i) => ({
          name: `zq_${i}`,
          type: 'bigint',
          description: null,
          tags: {},
          expression: 'COUNT(zq_name)',
          filter: `${write(f, 'zq_name')} IS NULL`,
        })),
      }));
      expect(made).toEqual([]);
    });

    const view = (i: number, sql: string, datasource: string | null = null) => ({
      name: `zq_${i}`,
      cube: false,
      datasource,
      description: null,
      tags: {},
      sql,
      columns: [{ name: 'v' }],
    });

    it('in a view', { timeout: patience(60_000) }, () => {
      expect(checked('view', (names) => ({ views: names.map((f, i) => view(i, `SELECT ${write(f, 'zq_name')} AS v FROM svc.zq_one`)) }))).toEqual([]);
    });

    it.each([
      ['a column', (f: string) => write(f, 'label')],
      ['a qualified column', (f: string) => write(f, 't.label')],
      ['a whole row', (f: string) => write(f, 't')],
    ])('in a view on tables, on %s', { timeout: patience(60_000) }, (what, value) => {
      const isColumn = what === 'a whole row' && value('f') === '(t)."f"';
      const { graph, index } = pieces((names) => ({ views: names.map((f, i) => view(i, `SELECT ${value(f)} AS v FROM raw.one t`, 'main')) }));
      const planned = (f: string): Plan => planSelect(contextOf(graph), { text: `SELECT v FROM vsvc.zq_${index.get(f)}`, offset: 0 });
      const passed = passing(forbidden, (f) => refusal(() => planned(f)));
      if (!isColumn) {
        expect(passed).toEqual([]);
        return;
      }
      // a column of the table may have the name of a function that does not take a row; PostgreSQL reads `t.f` as that column, or finds nothing
      expect(passed.filter((f) => ofRows.has(f))).toEqual([]);
      expect(passed.filter((f) => !planned(f).sql.includes(`t.${quoteDouble(f)}`) && !planned(f).sql.includes(`t.${f}`))).toEqual([]);
    });

    const mapping = (i: number, sql: string) => ({
      name: `zq_${i}`,
      kind: 'concept' as const,
      concept: 'zq_one',
      property: null,
      link: null,
      datasource: 'main',
      sql,
      columns: [{ name: 'zq_id' }, { name: 'zq_name' }],
    });
    it('in a mapping', { timeout: patience(60_000) }, () => {
      const made = checked('mapping', (names) => ({
        mappings: names.map((f, i) => mapping(i, `SELECT t.id AS zq_id, ${write(f, 't.label')} AS zq_name FROM raw.one t`)),
      }));
      expect(made).toEqual([]);
    });

    it("in a mapping's WHERE", { timeout: patience(60_000) }, () => {
      const made = checked('mapping', (names) => ({
        mappings: names.map((f, i) => mapping(i, `SELECT id AS zq_id, label AS zq_name FROM raw.one WHERE ${write(f, 'label')} IS NULL`)),
      }));
      expect(made).toEqual([]);
    });

    it('in the condition of a logic concept', { timeout: patience(60_000) }, () => {
      const made = checked('logic', (names) => ({
        concepts: names.map((f, i) =>
          conceptOf(`zq_${i}`, [], { parents: ['zq_one'], logic: { schema: 'svc' as const, concept: 'zq_one', condition: `${write(f, 'zq_name')} IS NULL` } }),
        ),
      }));
      expect(made).toEqual([]);
    });

    it('in the condition of a policy', { timeout: patience(60_000) }, () => {
      const one = context.graph.concept('zq_one') as Concept;
      expect(passing(forbidden, (f) => refusal(() => checkRowCondition(context, one, `${write(f, 'zq_name')} IS NULL`)))).toEqual([]);
    });

    it('in a mask', { timeout: patience(60_000) }, () => {
      const known = context.graph.model.properties;
      expect(passing(forbidden, (f) => refusal(() => checkMaskExpression(context, known, write(f, 'zq_name'))))).toEqual([]);
    });
  });

  it('as columns of tables in a view on them, functions that take any row', () => {
    const view = (column: string) => ({
      name: 'zq_v',
      cube: false,
      datasource: 'main',
      description: null,
      tags: {},
      sql: `SELECT t.${column} AS v FROM raw.one t`,
      columns: [{ name: 'v' }],
    });
    const read = (column: string): string | undefined =>
      refusal(() => planSelect(contextOf(compile(modelOf({ views: [view(column)] }), 'zq')), { text: 'SELECT v FROM vsvc.zq_v', offset: 0 }));
    expect(read('label')).toBeUndefined();
    const ofRows = [
      'pg_column_size',
      'pg_column_compression',
      'pg_column_toast_chunk_id',
      'pg_collation_for',
      'hash_record',
      'record_out',
      'record_send',
      'pg_typeof',
    ];
    expect(ofRows.filter((f) => read(f) === undefined)).toEqual([]);
  });
});
