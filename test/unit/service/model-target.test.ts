/** Model files over generated models: what a model's statements describe is the model itself, in any order and number of files. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { loadNodeParser } from '../../../src/cli/node-parser.ts';
import { createSqlReader } from '../../../src/language/expressions.ts';
import { printModel } from '../../../src/language/print.ts';
import { splitScript } from '../../../src/language/split.ts';
import { type ApplyContext, applyStatement, finish, isApplicable, Places } from '../../../src/ontology/apply.ts';
import { EMPTY_MODEL, type Model } from '../../../src/ontology/model.ts';
import { dropAll } from '../../../src/service/ops/drop-all.ts';
import { Files, keyOf, kindOf, nameOf } from '../../../src/service/ops/file-statements.ts';
import { changesBetween, objectsOf } from '../../../src/service/ops/model-changes.ts';
import { dropsOf } from '../../../src/service/ops/model-files.ts';
import { targetOf } from '../../../src/service/ops/model-target.ts';
import { Cases } from '../../integration/differential/cases.ts';
import { modelOf } from '../../integration/differential/ddl.ts';
import type { Case } from '../../integration/differential/shrink.ts';
import { generated, patience } from '../../support/generated.ts';
import { sizesOf } from '../../support/sizes.ts';

const SIZES = sizesOf('unit/service/model-target');
const parser = await loadNodeParser();

const context = (): ApplyContext => ({
  ...createSqlReader(parser, 'svc'),
  ontology: 'world',
  datasources: null,
  activeDatasource: 'main',
  product: 'svc',
  places: new Places(),
});
/** The statements of a model, one file each, without CREATE ONTOLOGY. */
const filesOf = (model: Model, order: (texts: string[]) => string[]): Files =>
  new Files(
    order(splitScript(printModel(model, 'world', 'svc')).map((s) => s.text))
      .filter((text) => !/^CREATE (OR REPLACE )?ONTOLOGY `world`/.test(text))
      .map((text, i) => ({ name: `${i}.kg`, text })),
  );
const explicitIn = (files: Files): ReadonlySet<string> => new Set(files.statements.map((s) => keyOf(kindOf(s), nameOf(s))));
const target = (base: Model, files: Files, prune: boolean): Model =>
  targetOf(base, files, { source: null, prune, exists: true, context: context() }).graph.model;
const changes = (before: Model, after: Model, files: Files) =>
  changesBetween(objectsOf(before, 'world', 'svc', explicitIn(files)), objectsOf(after, 'world', 'svc', explicitIn(files)));

/** Plans files with prune, and applies the statements and drops of the plan one after the other, as a script. */
async function appliedTo(base: Model, files: Files) {
  const options = { source: null, prune: true, exists: true };
  const plan = targetOf(base, files, { ...options, context: context() });
  const planned = changes(base, plan.graph.model, files);
  const script = { ...context(), places: new Places() };
  const changed = new Set(planned.map((c) => keyOf(c.kind, c.name)));
  let made = plan.statements(changed, false).reduce((m, s) => (isApplicable(s) ? applyStatement(m, s, script) : m), base);
  await dropAll(dropsOf(planned, plan.orphans, files.text.length), async (statement) => {
    if (isApplicable(statement)) made = applyStatement(made, statement, script);
  });
  made = finish(base, made, script).graph.model;
  return { graph: plan.graph, made, again: changes(made, target(made, files, true), files) };
}

const models = fc.tuple(new Cases(1), fc.infiniteStream(fc.nat())).map(([made, numbers]: [Case, IterableIterator<number>]) => ({
  model: modelOf(made.world),
  shuffled: <T>(list: T[]): T[] =>
    list
      .map((value) => [numbers.next().value as number, value] as const)
      .sort(([a], [b]) => a - b)
      .map(([, value]) => value),
}));

describe('model files', () => {
  it('are compared with a model of very many properties in linear time', () => {
    // comparing each property with each other one would take minutes
    const properties = Array.from({ length: 100_000 }, (_, i) => ({
      name: `p${i}`,
      type: 'integer',
      multi: false,
      description: null,
      tags: {},
      expression: null,
    }));
    const base: Model = { ...EMPTY_MODEL, properties };
    const files = new Files([{ name: 'a.kg', text: 'CREATE PROPERTY q integer' }]);
    const found = targetOf(base, files, { source: null, prune: false, exists: true, context: context() });
    expect(found.orphans).toEqual([]);
    expect(found.statements(new Set(['property q']), false)).toHaveLength(1);
  });

  it(
    'of a model describe the model, in any order; applying them again, and to the model itself, changes nothing',
    () => {
      fc.assert(
        fc.property(models, ({ model, shuffled }) => {
          const files = filesOf(model, shuffled);
          const made = target(EMPTY_MODEL, files, false);
          expect(changes(model, made, files)).toEqual([]);
          for (const prune of [false, true]) expect(changes(made, target(made, files, prune), files)).toEqual([]);
        }),
        generated(SIZES.models, SIZES.models),
      );
    },
    patience(60_000),
  );

  it(
    'of another model, applied with prune, leave exactly that model; the statements of the plan lead to it, and then the plan is empty',
    async () => {
      await fc.assert(
        fc.asyncProperty(models, models, async ({ model, shuffled }, other) => {
          const files = filesOf(model, shuffled);
          const { graph, made: planned, again } = await appliedTo(other.model, files);
          const made = graph.model;
          expect(changes(made, planned, files)).toEqual([]);
          expect(planned.properties.map((p) => p.name).sort()).toEqual(made.properties.map((p) => p.name).sort());
          expect(again).toEqual([]);
          // settings stay if the files do not give them
          expect(changes(model, made, files).filter((c) => c.kind !== 'ontology')).toEqual([]);
          expect(made.properties.map((p) => p.name).sort()).toEqual(model.properties.map((p) => p.name).sort());
        }),
        generated(SIZES.models, SIZES.models),
      );
    },
    patience(60_000),
  );
});
