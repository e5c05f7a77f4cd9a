import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseStatement } from '../../../src/language/classify.ts';
import { printConcept, printModel } from '../../../src/language/print.ts';
import { printExample } from '../../../src/language/print-service.ts';
import { quoteBack, quoteDouble, quoteLiteral } from '../../../src/language/quote.ts';
import { splitScript } from '../../../src/language/split.ts';
import type { ConceptElement, Name, Statement, TagList } from '../../../src/language/statements.ts';
import type { ConceptDef, MappingDef, MeasureDef, Model, PropertyDef, RelationshipDef, Tags, ViewDef } from '../../../src/ontology/model.ts';
import { EMPTY_MODEL } from '../../../src/ontology/model.ts';
import { generated } from '../../support/generated.ts';
import * as any from './arbitrary.ts';

const texts = (names: readonly Name[]): string[] => names.map((n) => n.text);
const tags = (list: TagList): Tags => Object.fromEntries(list.map(({ key, value }) => [key.text, value]));
const isKind =
  <K extends ConceptElement['kind']>(kind: K) =>
  (e: ConceptElement): e is Extract<ConceptElement, { kind: K }> =>
    e.kind === kind;

/** The simplest application of a printed script: the printed objects, piece by piece. */
function read(script: string): { name: string; model: Model } {
  const statements = splitScript(script).map(parseStatement);
  const of = <K extends Statement['kind']>(kind: K) => statements.filter((s): s is Extract<Statement, { kind: K }> => s.kind === kind);
  const [ontology] = of('create_ontology');
  const concept = (s: Extract<Statement, { kind: 'create_concept' }>): ConceptDef => ({
    name: s.name.text,
    parents: texts(s.parents).filter((p) => p !== 'thing'),
    properties: s.elements.filter(isKind('property')).map((e) => e.name.text),
    multi: s.elements.filter(isKind('multivalue')).map((e) => e.name.text),
    measures: s.elements.filter(isKind('measure')).map((e) => e.name.text),
    primaryKey: s.elements.filter(isKind('primary_key')).flatMap((e) => texts(e.names)),
    label: s.elements.filter(isKind('label')).flatMap((e) => texts(e.names)),
    relationships: s.elements.flatMap((e): RelationshipDef[] => {
      if (e.kind !== 'foreign_key' && e.kind !== 'multireference') return [];
      const common = {
        name: e.name.text,
        target: e.target.text,
        inverse: e.inverse?.text ?? null,
        transitive: e.transitive,
        description: e.description,
        ...(e.symmetric ? { symmetric: true as const } : {}),
        ...(e.includes.length > 0 ? { includes: texts(e.includes) } : {}),
      };
      return [
        e.kind === 'foreign_key'
          ? { ...common, kind: 'fk', source: texts(e.source), references: texts(e.references) }
          : { ...common, kind: 'mtm', source: [], references: [] },
      ];
    }),
    description: s.description,
    tags: tags(s.tags),
    logic: s.logic === null ? null : { schema: s.logic.schema?.text as 'svc', concept: s.logic.concept.text, condition: s.logic.condition.text },
  });
  const mapping = (s: Extract<Statement, { kind: 'create_mapping' }>): MappingDef => {
    const end = (i: 0 | 1) => {
      if (s.target.kind !== 'link') throw new Error('no link');
      const { relationship, columns, concept: target, references } = s.target.constraints[i];
      return { relationship: relationship.text, columns: texts(columns), concept: target.text, references: texts(references) };
    };
    return {
      name: s.name.text,
      kind: s.target.kind,
      concept: s.target.kind === 'link' ? null : s.target.concept.text,
      property: s.target.kind === 'multi' ? s.target.property.text : null,
      link: s.target.kind === 'link' ? { forward: end(0), back: end(1) } : null,
      datasource: s.datasource?.text ?? '',
      sql: s.sql.text,
      columns: [],
    };
  };
  const { description = null, ...config } = Object.fromEntries(of('alter_ontology').map((s) => [s.key.text, s.value]));
  const model: Model = {
    ...EMPTY_MODEL,
    description,
    config,
    properties: of('create_property').map((s) => ({
      name: s.name.text,
      type: s.type.text,
      multi: s.multi,
      description: s.description,
      tags: tags(s.tags),
      expression: s.expression?.text ?? null,
    })),
    measures: of('create_measure').map((s) => ({
      name: s.name.text,
      type: s.type.text,
      description: s.description,
      tags: tags(s.tags),
      expression: s.expression.text,
      filter: s.filter?.text ?? null,
    })),
    concepts: of('create_concept').map(concept),
    mappings: of('create_mapping').map(mapping),
    views: of('create_view').map((s) => ({
      name: s.name.text,
      cube: s.cube,
      datasource: s.datasource?.text ?? null,
      description: s.description,
      tags: tags(s.tags),
      sql: s.sql.text,
      columns: [],
    })),
  };
  expect(statements).toHaveLength(
    1 + of('alter_ontology').length + model.properties.length + model.measures.length + model.concepts.length + model.mappings.length + model.views.length,
  );
  return { name: ontology?.name.text ?? '', model };
}

const nullable = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: null });
const names = (minLength: number) => fc.array(any.name, { minLength, maxLength: 3 });
const tagsOf = fc
  .uniqueArray(fc.tuple(any.name, any.text), { maxLength: 2, selector: ([key]) => key })
  .filter((l) => l.every(([key]) => key !== '__proto__'))
  .map((l) => Object.fromEntries(l));
const type = fc.constantFrom('string', 'integer', 'bigint', 'decimal(10,2)', 'timestamptz', 'json');
const expression = fc.constantFrom(
  'a',
  "concat(`a b`, ' ; ')",
  'CASE WHEN a THEN 1 END',
  "(SELECT 'WHERE')",
  'SUM(a) FILTER (WHERE b)',
  'a -- c\n + b',
  '"x""y"',
);
const select = fc.constantFrom(
  'SELECT 1',
  "SELECT ';' AS a FROM s.t WHERE x = $$;$$",
  'WITH a AS (SELECT 1) SELECT * FROM a',
  '(SELECT 1)',
  'VALUES (1)',
  'SELECT `a` /* ; */\n, 2',
);
const described = { description: nullable(any.text), tags: tagsOf };

const property: fc.Arbitrary<PropertyDef> = fc.record({ name: any.name, type, multi: fc.boolean(), ...described, expression: nullable(expression) });
const measure: fc.Arbitrary<MeasureDef> = fc.record({ name: any.name, type, ...described, expression, filter: nullable(expression) });
const relationship: fc.Arbitrary<RelationshipDef> = fc
  .record({
    name: any.name,
    kind: fc.constantFrom('fk', 'mtm'),
    target: any.name,
    source: names(1),
    references: names(1),
    inverse: nullable(any.name),
    transitive: fc.constantFrom(null, 'default' as const, 1, 32),
    description: nullable(any.text),
    composed: fc.record(
      {
        symmetric: fc.constant(true as const),
        includes: fc.array(
          fc.tuple(fc.constantFrom('', '~'), any.name).map(([sign, n]) => sign + n),
          { minLength: 1, maxLength: 3 },
        ),
      },
      { requiredKeys: [] },
    ),
  })
  .map(({ composed, ...r }) => ({ ...r, ...composed }))
  .map((r) => (r.kind === 'fk' ? { ...r, kind: 'fk' } : { ...r, kind: 'mtm', source: [], references: [] }));
const concept = (properties: readonly PropertyDef[], measures: readonly MeasureDef[]): fc.Arbitrary<ConceptDef> =>
  fc.record({
    name: any.name,
    parents: names(0).map((list) => list.filter((n) => n !== 'thing')),
    properties: fc.subarray(properties.map((p) => p.name)),
    multi: fc.subarray(properties.map((p) => p.name)),
    measures: fc.subarray(measures.map((m) => m.name)),
    primaryKey: names(0),
    label: names(0),
    relationships: fc.array(relationship, { maxLength: 3 }),
    ...described,
    logic: nullable(fc.record({ schema: fc.constantFrom('svc', 'esvc', 'dsvc'), concept: any.name, condition: expression })),
  });
const end = fc.record({
  relationship: fc.tuple(fc.constantFrom('', '~'), any.name).map(([sign, n]) => sign + n),
  columns: names(1),
  concept: any.name,
  references: names(1),
});
const mapping: fc.Arbitrary<MappingDef> = fc
  .record({
    name: any.name,
    kind: fc.constantFrom('concept', 'multi', 'link'),
    concept: any.name,
    property: any.name,
    link: fc.record({ forward: end, back: end }),
    datasource: any.name,
    sql: select,
  })
  .map((m) => ({
    ...m,
    kind: m.kind as MappingDef['kind'],
    concept: m.kind === 'link' ? null : m.concept,
    property: m.kind === 'multi' ? m.property : null,
    link: m.kind === 'link' ? m.link : null,
    columns: [],
  }));
const view: fc.Arbitrary<ViewDef> = fc.record({
  name: any.name,
  cube: fc.boolean(),
  datasource: nullable(any.name),
  ...described,
  sql: select,
  columns: fc.constant([]),
});
const folded = { selector: (def: { name: string }) => def.name.toLowerCase(), maxLength: 4 };
const model: fc.Arbitrary<Model> = fc.tuple(fc.uniqueArray(property, folded), fc.uniqueArray(measure, folded)).chain(([properties, measures]) =>
  fc.record({
    format: fc.constant(EMPTY_MODEL.format),
    description: nullable(any.text.filter((t) => t !== '')),
    config: fc
      .subarray([
        ['default_transitivity', '5'],
        ['quote', '"'],
      ] as [string, string][])
      .map((l) => Object.fromEntries(l)),
    properties: fc.constant(properties),
    measures: fc.constant(measures),
    concepts: fc.array(concept(properties, measures), { maxLength: 3 }),
    mappings: fc.array(mapping, { maxLength: 3 }),
    views: fc.array(view, { maxLength: 3 }),
  }),
) as fc.Arbitrary<Model>;

describe('printModel', () => {
  it('is parsed back to the same model', () => {
    fc.assert(
      fc.property(any.name, model, (name, printed) => {
        expect(read(printModel(printed, name, 'svc'))).toEqual({ name, model: printed });
      }),
      generated(300),
    );
  });

  it('prints like a person would write', () => {
    const of: PropertyDef = { name: 'k', type: 'bigint', multi: false, description: null, tags: {}, expression: null };
    const c: ConceptDef = {
      name: 'c',
      parents: [],
      properties: ['K'],
      multi: [],
      measures: [],
      primaryKey: ['k'],
      label: [],
      relationships: [{ name: 'up', kind: 'fk', target: 'c', source: ['k'], references: ['k'], inverse: null, transitive: 3, description: null }],
      description: "it's",
      tags: {},
      logic: null,
    };
    const small: Model = { ...EMPTY_MODEL, properties: [of], concepts: [c] };
    expect(printModel(small, 'o', 'svc')).toBe(`CREATE ONTOLOGY \`o\` IF NOT EXISTS;
CREATE OR REPLACE PROPERTY \`k\` bigint;
CREATE OR REPLACE CONCEPT \`c\` (
  \`K\` bigint,
  PRIMARY KEY (\`k\`),
  CONSTRAINT \`up\` FOREIGN KEY (\`k\`) REFERENCES \`c\` (\`k\`) TRANSITIVE(3)
) INHERITS (\`thing\`) DESCRIPTION = 'it''s';
`);
    const logic: ConceptDef = {
      ...c,
      properties: [],
      primaryKey: [],
      relationships: [],
      description: null,
      logic: { schema: 'dsvc', concept: 'c', condition: 'k > 1' },
    };
    expect(printConcept(logic, small, 'acme')).toBe('CREATE OR REPLACE CONCEPT `c` INHERITS (`thing`) FROM `dacme`.`c` WHERE k > 1');
    expect(() => printConcept({ ...c, properties: ['gone'] }, small, 'svc')).toThrow('gone');
  });
});

describe('printExample', () => {
  it('is parsed back to the same example', () => {
    const question = any.text.filter((t) => /[\p{L}\p{N}]/u.test(t) && !/[^\P{Cc}\t\n\r]/u.test(t));
    fc.assert(
      fc.property(question, nullable(any.text.filter((t) => !/[^\P{Cc}\t\n\r]/u.test(t))), select, (asked, described, query) => {
        const [source, ...more] = splitScript(`${printExample({ question: asked, description: described, query })};`);
        expect(more).toEqual([]);
        expect(source && parseStatement(source)).toMatchObject({ question: { text: asked }, description: described, sql: { text: query }, replace: true });
      }),
      generated(200),
    );
  });
});

describe('quotes', () => {
  it('are doubled', () => {
    expect([quoteLiteral("it's"), quoteDouble('a"b'), quoteBack('a`b')]).toEqual(["'it''s'", '"a""b"', '`a``b`']);
  });
});
