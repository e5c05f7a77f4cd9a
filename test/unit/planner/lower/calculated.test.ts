/** The limits of calculated properties that follow paths, and the errors of their expressions. */
import { describe, expect, it } from 'vitest';
import { graphOf } from '../../../../examples/world/graph.ts';
import { loadNodeParser } from '../../../../src/cli/node-parser.ts';
import { SvcError } from '../../../../src/errors.ts';
import { compile } from '../../../../src/ontology/compile.ts';
import { checkModel } from '../../../../src/planner/check.ts';
import { planSelect } from '../../../../src/planner/index.ts';
import { withTypes } from '../../../support/typed.ts';

const parser = await loadNodeParser();
const names = (n: number): string[] => Array.from({ length: n }, (_, i) => `p${i}`);
const model = (expressions: readonly string[]): string => `CREATE ONTOLOGY o;
  ${expressions.map((e, i) => `CREATE PROPERTY p${i} decimal AS SELECT ${e};`).join('\n')}
  CREATE CONCEPT box (box_id int, up int, size int, ${names(expressions.length)
    .map((p) => `${p} decimal,`)
    .join(' ')} PRIMARY KEY (box_id), CONSTRAINT within FOREIGN KEY (up) REFERENCES box (box_id) INVERSEOF contains);
  CREATE MAPPING m INTO (box) AS SELECT id AS box_id, up, size FROM t.box`;
const code = (run: () => unknown): string => {
  try {
    run();
  } catch (error) {
    if (error instanceof SvcError) return error.code;
    throw error;
  }
  return '';
};
const check = (expression: string): string => {
  const graph = graphOf(model([expression]), 'o', parser);
  return code(() => checkModel(graph, parser, [{ kind: 'property', name: 'p0', offset: 0 }]));
};

describe('chains of calculated properties over paths', () => {
  it.each([
    ['of one row', (p: string) => `${p} + ${p}`, 'too_complex'],
    // calls over the same rows share one grouped sub-select
    ['along a path to several rows', (p: string) => `SUM("contains[box].${p}") + MAX("contains[box].${p}" + 1)`, ''],
    ['along a path to one row', (p: string) => `"within[box].${p}" + "within[box].up" * "within[box].${p}" + ${p}`, 'too_complex'],
  ])('that double end with too_complex: %s', (_, next, once) => {
    const expressions = ['SUM("contains[box].size")', ...names(17).map(next)];
    const context = { graph: graphOf(model(expressions), 'o', parser), parser, product: 'svc', activeDatasource: 'main' };
    expect(code(() => planSelect(context, { text: 'SELECT p17 FROM svc.box WHERE box_id = 1', offset: 0 }))).toBe('too_complex');
    expect(code(() => planSelect(context, { text: 'SELECT p17 FROM svc.box', offset: 0 }))).toBe(once);
  });
});

describe('an expression over paths', () => {
  it.each([
    ['"contains[box].size" + 1', 'several_values'],
    ['COUNT(*)', 'bad_expression'],
    ['SUM(size)', 'bad_expression'],
    ['SUM("within[box].size")', 'bad_expression'],
    ['SUM(MAX("contains[box].size"))', 'bad_expression'],
    ['SUM("contains[box].size" * "within[box].contains[box].size")', 'fanout'],
    ['SUM("contains[box].size") FILTER (WHERE "within[box].contains[box].size" > 1)', 'fanout'],
    ['SUM("contains[box].*")', 'bad_path'],
    ['(SELECT 1)', 'bad_expression'],
    ['SUM("contains[box].size" * "within[box].size") FILTER (WHERE "contains[box].up" > size)', ''],
    ['COUNT(DISTINCT "contains[box].contains[box].size") + "within[box].within[box].size"', ''],
  ])('%s: %s', (expression, expected) => expect(check(expression)).toBe(expected));
});

describe('a count over a path, in rows with a policy', () => {
  const text = `CREATE ONTOLOGY o; CREATE PROPERTY inside bigint AS SELECT COUNT("contains[box].box_id"); CREATE PROPERTY deep bigint AS SELECT COUNT("contains[box*9].box_id");
    CREATE CONCEPT box (box_id integer, up integer, size integer, inside bigint, deep bigint, PRIMARY KEY (box_id),
      CONSTRAINT within FOREIGN KEY (up) REFERENCES box (box_id) INVERSEOF contains TRANSITIVE(9));
    CREATE MAPPING m INTO (box) AS SELECT id AS box_id, up, size FROM t.box`;
  const graph = compile(withTypes(graphOf(text, 'o', parser).model), 'o');
  const rows = [{ concept: 'box', conditions: [{ policy: 'p', condition: '"within[box].size" < 3' }] }];
  const access = { rows, masks: [], caller: { username: 'x', roles: [], claims: {} }, maskKey: 'k' };
  const context = { graph, parser, product: 'svc', activeDatasource: 'main', access };

  it.each([
    ['inside', false],
    // a walk takes a number of steps that depends on the row, and may run out of time
    ['deep', true],
  ])('%s has a barrier: %s', (name, expected) =>
    expect(planSelect(context, { text: `SELECT box_id FROM svc.box WHERE ${name} > 5`, offset: 0 }).sql.includes('OFFSET 0')).toBe(expected),
  );
});
