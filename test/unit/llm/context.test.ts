import { describe, expect, it } from 'vitest';
import { type ContextParts, sqlContext } from '../../../src/llm/context.ts';
import type { QuestionModel, Subject, SubjectColumn, SubjectRelationship } from '../../../src/service.ts';

const column = (name: string, more: Partial<SubjectColumn> = {}): SubjectColumn => ({
  name,
  type: 'text',
  description: null,
  tags: {},
  isMeasure: false,
  isMulti: false,
  isKey: false,
  isLabel: false,
  inheritedFrom: null,
  ...more,
});
const to = (name: string, target: string, more: Partial<SubjectRelationship> = {}): SubjectRelationship => ({
  name,
  target,
  toMany: false,
  transitivity: null,
  isInverse: false,
  description: null,
  ...more,
});
const concept = (
  name: string,
  columns: readonly SubjectColumn[],
  relationships: readonly SubjectRelationship[] = [],
  more: Partial<Subject> = {},
): Subject => ({
  kind: 'concept',
  name,
  description: null,
  tags: {},
  parents: [],
  condition: null,
  columns,
  relationships,
  ...more,
});

/** A sample of the column `status`. */
const known = (values: readonly string[], complete: boolean, distinct: number) => ({
  name: 'status',
  values: values.map((value) => ({ value, count: 1 })),
  complete,
  distinct,
});

const order = concept(
  'order',
  [
    column('no', { type: 'integer', isKey: true }),
    column('status', { description: 'How far it is\nby now', tags: { unit: 'none' } }),
    column('freight', { type: 'decimal', isMeasure: true }),
  ],
  [to('placed_by', 'customer', { description: 'who ordered' })],
  { description: 'What was sold', condition: "status <> 'lost'" },
);
const customer = concept(
  'customer',
  [column('name', { isLabel: true })],
  [to('~placed_by', 'order', { toMany: true }), to('lives_in', 'city'), to('boss', 'customer', { transitivity: 3 })],
);
const city = concept('city', [column('name'), column('population', { type: 'bigint' })], [to('~lives_in', 'customer', { toMany: true })]);
const totals: Subject = { ...concept('order`totals', [column('total')]), kind: 'view' };

function model(subjects: readonly Subject[]): QuestionModel {
  return { ontology: 'o', version: 'v', key: 'k', shape: 's', subjects, subject: (name) => subjects.find((s) => s.name === name) };
}
const text = (parts: Partial<ContextParts> = {}): string =>
  sqlContext({
    model: model([order, customer, city, totals]),
    subject: order,
    others: [totals],
    question: 'How much?',
    depth: 2,
    product: 'svc',
    values: (s, c) => (s === order && c === 'status' ? known(['shipped', "it's"], true, 2) : undefined),
    ...parts,
  });

describe('the graph in a prompt', () => {
  it('has the relation with its columns, values, paths, and the columns of their targets', () => {
    expect(text()).toBe(`FROM dsvc.\`order\` -- What was sold
It contains only rows that satisfy: status <> 'lost'
Columns:
  \`no\` integer, key
  \`status\` text -- How far it is by now [unit: none]; all values: 'shipped', 'it''s'
  \`measure.freight\` decimal, measure
Paths (write \`path.column\`; a measure at its end: \`measure.path.name\`):
  \`placed_by[customer]\` to one customer -- who ordered
  \`placed_by[customer].lives_in[city]\` to one city
Columns at the end of paths:
customer
  \`name\` text, label
city
  \`name\` text
  \`population\` bigint
Other relations of the knowledge graph o:
vsvc.\`order\`\`totals\` (a view)`);
  });

  it('has all values of a short list, and examples of a long one', () => {
    const values = Array.from({ length: 40 }, (_, i) => `v${i}`);
    const prompt = (complete: boolean, distinct: number, n: number) =>
      / values[^:]*: .*/
        .exec(text({ values: (s, c) => (s === order && c === 'status' ? known(values.slice(0, n), complete, distinct) : undefined) }))?.[0]
        .split(',').length;
    expect([prompt(true, 15, 15), prompt(true, 40, 40), prompt(false, 12, 12), prompt(false, 4000, 40)]).toEqual([15, 8, 8, 3]);
  });

  it('has paths up to the depth limit', () => {
    expect(text({ depth: 1 })).not.toContain('city');
    expect(text({ depth: 0 })).not.toContain('Paths');
  });

  it('marks transitive and to-many paths', () => {
    const prompt = text({ subject: customer, depth: 1 });
    expect(prompt).toContain('`boss[customer]` to one customer, transitive: `boss[customer*3]` walks up to 3 steps');
    expect(prompt).toContain('`~placed_by[order]` to many order');
  });

  it('begins with the words of the question', () => {
    const many = concept('hub', [column('x')], [to('a', 'order'), to('b', 'customer'), to('c', 'city')]);
    const prompt = text({ model: model([many, order, customer, city]), subject: many, question: 'What is the population of the cities?', depth: 1 });
    expect(prompt.indexOf('\ncity')).toBeLessThan(prompt.indexOf('\norder'));
  });

  it('keeps names and omits details if there is little room', () => {
    const wide = concept(
      'wide',
      Array.from({ length: 900 }, (_, i) => column(`column_${i}`, { description: 'long '.repeat(40) })),
    );
    const prompt = text({ model: model([wide]), subject: wide, others: [] });
    expect(prompt.length).toBeLessThan(20_100);
    expect(prompt).toContain('`column_899`');
  });

  it('has as many names as fit, those of the question first', () => {
    const wide = concept(
      'wide',
      Array.from({ length: 3000 }, (_, i) => column(i === 2500 ? 'turnover' : i === 2700 ? 'id' : `some_rather_long_column_${i}`, { isKey: i === 2700 })),
    );
    const prompt = text({ model: model([wide]), subject: wide, others: [], question: 'What was the turnover?' });
    expect(prompt.length).toBeLessThan(20_100);
    expect(prompt.length).toBeGreaterThan(18_000);
    expect(prompt).toContain('`turnover`, `id`');
  });

  it('leaves room for paths next to many columns, and for columns next to many paths', () => {
    const hub = concept(
      'hub',
      Array.from({ length: 200 }, (_, i) => column(`column_${i}`, { description: 'what it says of that '.repeat(6) })),
      [...Array.from({ length: 150 }, (_, i) => to(`of_${i}`, 'city', { description: 'where that is, and why '.repeat(6) })), to('placed_by', 'customer')],
    );
    const prompt = text({ model: model([hub, customer, city]), subject: hub, others: [totals], question: 'Which customers?' });
    expect(prompt.length).toBeLessThan(20_100);
    for (const part of ['`column_199`', '`placed_by[customer]`', '\ncity\n', '\ncustomer\n', 'vsvc.`order``totals`']) expect(prompt).toContain(part);
  });

  it('has the tags of relations', () => {
    const tagged = { ...order, tags: { synonyms: 'deal,\nsale' } };
    expect(text({ subject: tagged })).toContain('FROM dsvc.`order` -- What was sold [synonyms: deal, sale]');
  });

  it('stays small on a densely connected graph', () => {
    const names = Array.from({ length: 60 }, (_, i) => `c${i}`);
    const all = names.map((n) =>
      concept(
        n,
        [column('name')],
        names.map((t) => to(`to_${t}`, t, { toMany: true })),
      ),
    );
    expect(text({ model: model(all), subject: all[0] as Subject, others: all, depth: 5 }).length).toBeLessThan(20_100);
  });
});
