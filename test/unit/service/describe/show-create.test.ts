/** SHOW CREATE ONTOLOGY over generated models: its script, applied to an empty model, creates an equal model. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseStatement } from '../../../../src/language/classify.ts';
import { printModel } from '../../../../src/language/print.ts';
import { printAgent, printAttachments, printDatasource } from '../../../../src/language/print-service.ts';
import { splitScript } from '../../../../src/language/split.ts';
import type { Model } from '../../../../src/ontology/model.ts';
import { modelOf } from '../../../integration/differential/ddl.ts';
import { genWorld } from '../../../integration/differential/gen-world.ts';
import { Rng } from '../../../integration/differential/rng.ts';
import { generated } from '../../../support/generated.ts';
import { run } from '../../ontology/script.ts';

/** Everything except CREATE ONTOLOGY, which creates no part of a model. */
function applied(script: string): Model {
  const [head, ...rest] = splitScript(script);
  if (head === undefined || parseStatement(head).kind !== 'create_ontology') throw new Error('it begins with CREATE ONTOLOGY');
  return run(rest.map((s) => s.text).join(';\n')).model;
}

const awkward = fc.constantFrom(null, '', "it's", 'two\nlines', '-- no; comment', '/* open', '`x`', "a = 'b'", '\u{1f701}', "E'\\n", '$$');
const tags = fc.dictionary(fc.constantFrom('pii', 'with space', 'quo`te', 'select'), awkward.map(String), { maxKeys: 2 });

/** A generated world with descriptions, tags, measures and views. */
const models = fc.integer().chain((seed) =>
  fc
    .record({ texts: fc.array(awkward, { minLength: 12, maxLength: 12 }), tags: fc.array(tags, { minLength: 4, maxLength: 4 }) })
    .map(({ texts, tags: tagged }): Model => {
      // fast-check's own random numbers seed the world, so that a failure shrinks by its texts
      let state = seed >>> 0;
      const next = (min: number, max: number): number => {
        state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
        return min + Math.floor((state / 2 ** 32) * (max - min + 1));
      };
      const world = genWorld(new Rng({ nextInt: next } as never));
      const model = modelOf(world);
      const text = (i: number) => texts[i % texts.length] ?? null;
      const first = model.concepts[0];
      return {
        ...model,
        description: text(0) || null,
        properties: model.properties.map((p, i) => ({ ...p, description: text(i), tags: tagged[i % 4] ?? {} })),
        measures: [{ name: 'how many', type: 'bigint', description: text(3), tags: tagged[1] ?? {}, expression: 'COUNT(*)', filter: null }],
        concepts: model.concepts.map((c, i) => ({ ...c, description: text(i + 5), tags: tagged[(i + 1) % 4] ?? {}, measures: i === 0 ? ['how many'] : [] })),
        views: first
          ? [
              {
                name: 'a view',
                cube: false,
                datasource: null,
                description: text(7),
                tags: tagged[2] ?? {},
                sql: `SELECT entity_id AS id FROM svc."${first.name}"`,
                columns: [{ name: 'id' }],
              },
            ]
          : [],
      };
    }),
);

/** The datasource has the types of columns. */
const untyped = (m: Model) => ({
  ...m,
  mappings: m.mappings.map((x) => ({ ...x, columns: x.columns.map((c) => c.name) })),
  views: m.views.map((x) => ({ ...x, columns: x.columns.map((c) => c.name) })),
});

describe('the script of SHOW CREATE', () => {
  it('creates an equal model', () => {
    fc.assert(
      fc.property(models, (model) => {
        const once = applied(printModel(model, 'zoo', 'svc'));
        expect(untyped(once)).toEqual(untyped(model));
        expect(applied(printModel(once, 'zoo', 'svc'))).toEqual(once);
      }),
      generated(100),
    );
  });

  it('of an agent and a datasource is parsed with the same content', () => {
    fc.assert(
      fc.property(awkward, fc.uniqueArray(fc.constantFrom('a', 'b c', 'd`e'), { minLength: 1 }), tags, (description, ontologies, options) => {
        const parsed = parseStatement({ text: printAgent({ name: 'a g', description, ontologies, options }), offset: 0 });
        expect(parsed).toMatchObject({ kind: 'create_agent', replace: true, name: { text: 'a g' }, description });
        if (parsed.kind !== 'create_agent') return;
        expect(parsed.ontologies.map((o) => o.text)).toEqual(ontologies);
        expect(Object.fromEntries(parsed.options.map((o) => [o.key.text, o.value]))).toEqual(options);
      }),
      generated(),
    );
    const text = printDatasource({ name: 'old one', type: 'postgres', secret: 'DATASOURCE_OLD', options: { a: 'b' } });
    expect(parseStatement({ text, offset: 0 })).toMatchObject({
      kind: 'create_datasource',
      name: { text: 'old one' },
      secret: { text: 'DATASOURCE_OLD' },
      replace: true,
    });
  });

  it('attaches the other datasources than main', () => {
    const of = (datasources: string[], active: string | null) =>
      printAttachments('zoo', datasources, active).map((s) => s.replace('ALTER ONTOLOGY `zoo` ', ''));
    expect(of(['main'], 'main')).toEqual([]);
    expect(of(['main', 'b'], 'main')).toEqual(['ADD DATASOURCE IF NOT EXISTS `b`']);
    expect(of(['b'], 'b')).toEqual(['ADD DATASOURCE IF NOT EXISTS `b`', 'ACTIVATE DATASOURCE `b`', 'REMOVE DATASOURCE IF EXISTS `main`']);
  });
});
