/** The order of the planner's stages and of the service's layers, and the remaining import cycles of files. */
import { describe, expect, it } from 'vitest';
import { importsOf } from './imports.ts';
import { circles, innerImports, read, SOURCES } from './repository.ts';

/** The parts of the planner in the order in which a query passes them: a part imports values only of those before it (docs/design/planner.md#stages). */
const STAGES = [
  'plan',
  'guard',
  'facts',
  'print',
  'effort',
  'verify',
  'read',
  'secure',
  'bind',
  'lower',
  'plan-state',
  'check',
  'cached',
  'index',
  'logical',
  'filter',
  'touched',
  'enforcement',
];

/** The layers of the service, each with what it may import: itself and those before. The first has the files next to the folders. */
const ROOMS = ['', 'caller', 'describe', 'read', 'write', 'ops'];

describe('the layers of the service', () => {
  const roomOf = (file: string): number => ROOMS.indexOf(/^service\/(?:([^/]+)\/)?[^/]+$/.exec(file)?.[1] ?? '');
  const files = SOURCES.filter((f) => f.startsWith('src/service/'));

  it('cover all of it', () => expect(files.filter((f) => roomOf(f.slice(4)) < 0)).toEqual([]));

  it('import in one direction, types too', () => {
    const wrong = files.flatMap((file) =>
      innerImports(file, importsOf(read(file))).flatMap(({ target }) =>
        target.startsWith('service/') && roomOf(target) > roomOf(file.slice(4)) ? [`${file} -> ${target}`] : [],
      ),
    );
    expect(wrong).toEqual([]);
  });
});

describe('the stages of the planner', () => {
  const stageOf = (file: string): number => STAGES.indexOf(file.slice('planner/'.length).replace(/(\/|\.ts$).*/, ''));

  it('cover all of it', () => expect(SOURCES.filter((f) => f.startsWith('src/planner/') && stageOf(f.slice(4)) < 0)).toEqual([]));

  it('import in one direction', () => {
    const wrong = SOURCES.filter((f) => f.startsWith('src/planner/')).flatMap((file) =>
      innerImports(file, importsOf(read(file))).flatMap(({ target, typeOnly }) =>
        !typeOnly && target.startsWith('planner/') && stageOf(target) > stageOf(file.slice(4)) ? [`${file} -> ${target}`] : [],
      ),
    );
    expect(wrong).toEqual([]);
  });

  it('have files of fewer than 300 lines', () => {
    const files = SOURCES.filter((f) => f.startsWith('src/planner/'));
    expect(files.filter((f) => read(f).trimEnd().split('\n').length >= 300)).toEqual([]);
  });

  it('keep what they remember between plans by parts of the model or of the policies, never by nodes of a tree', () => {
    const keys = SOURCES.filter((f) => f.startsWith('src/planner/')).flatMap((f) => [...read(f).matchAll(/new WeakMap(?:<(\w+))?/g)].map(([, key]) => key));
    // `object`: the property, measure or condition that an expression belongs to (read/texts.ts)
    expect([...new Set(keys)].toSorted()).toEqual(['Access', 'Concept', 'Graph', 'MappingDef', 'ViewDef', 'object']);
  });
});

describe('the files of src', () => {
  it('import each other in a cycle only where a grammar or the model is recursive', () => {
    // binding: a query contains queries, views and conditions. Lowering: the rows of a concept are joined with rows of others, and the conditions of logic concepts and
    // policies contain queries that are lowered where they are needed. Printing: the grammar.
    expect(circles()).toMatchInlineSnapshot(`
      [
        [
          "planner/bind/condition.ts",
          "planner/bind/from.ts",
          "planner/bind/named.ts",
          "planner/bind/relation.ts",
          "planner/bind/resolve.ts",
          "planner/bind/views.ts",
        ],
        [
          "planner/lower/admitted.ts",
          "planner/lower/aggregate/block.ts",
          "planner/lower/aggregate/conditions.ts",
          "planner/lower/aggregate/fold.ts",
          "planner/lower/aggregate/levels.ts",
          "planner/lower/branch.ts",
          "planner/lower/calculated/branch-paths.ts",
          "planner/lower/calculated/row-paths.ts",
          "planner/lower/emission.ts",
          "planner/lower/finish.ts",
          "planner/lower/joins.ts",
          "planner/lower/links.ts",
          "planner/lower/logic.ts",
          "planner/lower/pairs.ts",
          "planner/lower/sources.ts",
          "planner/lower/visible.ts",
          "planner/lower/walk-edges.ts",
          "planner/lower/walk.ts",
        ],
        [
          "planner/print/expression.ts",
          "planner/print/from.ts",
          "planner/print/function.ts",
          "planner/print/json.ts",
          "planner/print/operators.ts",
          "planner/print/select.ts",
        ],
      ]
    `);
  });
});
