/** A fixed small world for the tests of the second opinion itself. */
import type { Expr, Scalar } from './expr.ts';
import { col, lit, op } from './expr.ts';
import type { ConceptSpec, MappingSpec, PropSpec, RelSpec, World } from './world.ts';

const prop = (name: string, type: string, kind: PropSpec['kind'], multi = false, expr: Expr | null = null): PropSpec => ({ name, type, kind, multi, expr });
const concept = (name: string, rest: Partial<ConceptSpec>): ConceptSpec => ({
  name,
  parents: [],
  props: [],
  multi: [],
  key: [],
  label: [],
  rels: [],
  logic: null,
  ...rest,
});
const fk = (
  name: string,
  target: string,
  source: string[],
  references: string[],
  inverse: string | null,
  transitive: RelSpec['transitive'] = null,
): RelSpec => ({
  name,
  kind: 'fk',
  target,
  source,
  references,
  inverse,
  transitive,
});
const map = (into: string, table: string, columns: Record<string, string>): MappingSpec => ({
  name: `map_${table}`,
  kind: 'concept',
  concept: into,
  property: null,
  rel: null,
  far: null,
  near: null,
  table,
  columns: Object.entries(columns).map(([column, as]) => ({ column, as })),
  where: null,
  typed: true,
});
const table = (name: string, columns: string, rows: Scalar[][]) => ({
  name,
  columns: columns.split(', ').map((c) => ({ name: c.split(' ')[0]!, type: c.split(' ')[1]! })),
  rows,
});
const own = (name: string, kind: PropSpec['kind']) => col('', [], { k: 'prop', name }, kind);

export const STORE: World = {
  props: [
    prop('id', 'bigint', 'int'),
    prop('name', 'string', 'text'),
    prop('city_ref', 'bigint', 'int'),
    prop('boss', 'bigint', 'int'),
    prop('salary', 'decimal(10,2)', 'num'),
    prop('credit', 'double', 'num'),
    prop('segment', 'string', 'text'),
    prop('topic', 'string', 'text', true),
    prop('no', 'bigint', 'int'),
    prop('client', 'bigint', 'int'),
    prop('status', 'string', 'text'),
    prop('freight', 'decimal(10,2)', 'num'),
    prop('sku', 'string', 'text'),
    prop('price', 'decimal(10,2)', 'num'),
    prop('city_id', 'bigint', 'int'),
    prop('code', 'string', 'text'),
    prop('part', 'integer', 'int'),
    prop('twice', 'double', 'num', false, op('*', 'num', own('credit', 'num'), lit(2, 'int'))),
  ],
  concepts: [
    concept('city', { props: ['city_id', 'name'], key: ['city_id'], label: ['name'] }),
    concept('person', {
      props: ['id', 'name', 'city_ref'],
      key: ['id'],
      label: ['name'],
      rels: [
        fk('lives_in', 'city', ['city_ref'], ['city_id'], 'has_resident'),
        { name: 'knows', kind: 'mtm', target: 'person', source: [], references: [], inverse: 'known_by', transitive: 5 },
      ],
    }),
    concept('employee', { parents: ['person'], props: ['boss', 'salary'], rels: [fk('reports_to', 'employee', ['boss'], ['id'], 'manages', 'default')] }),
    concept('customer', { parents: ['person'], props: ['credit', 'segment', 'twice'], multi: ['topic'] }),
    concept('star', { parents: ['customer'] }),
    concept('big', { parents: ['customer'], logic: { schema: 'svc', concept: 'customer', cond: op('>=', 'bool', own('credit', 'num'), lit(100, 'num')) } }),
    concept('buyer', {
      parents: ['customer'],
      logic: {
        schema: 'dsvc',
        concept: 'customer',
        cond: op(
          '=',
          'bool',
          col('', [{ rel: 'placed_by', inv: true, tilde: false, bracket: 'order', star: null }], { k: 'prop', name: 'status' }, 'text'),
          lit('sent', 'text'),
        ),
      },
    }),
    concept('order', {
      props: ['no', 'client', 'status', 'freight'],
      key: ['no'],
      rels: [
        fk('placed_by', 'customer', ['client'], ['id'], 'placed'),
        { name: 'includes', kind: 'mtm', target: 'item', source: [], references: [], inverse: null, transitive: null },
      ],
    }),
    concept('item', { props: ['sku', 'price'], key: ['sku'] }),
    concept('stock', { props: ['code', 'part'], key: ['code', 'part'] }),
    concept('memo', { props: ['status'] }),
  ],
  tables: [
    table('city', 'city_id int4, name text', [
      [1, 'Bern'],
      [2, 'Rome'],
    ]),
    table('emp', 'id int4, name varchar(20), city int2, boss int4, pay numeric', [
      [11, 'Ada', 1, null, 10],
      [12, 'Bob', 2, 11, 5],
      [13, 'Cid', 1, 12, 2.5],
      [14, 'Dot', null, 99, 1],
    ]),
    table('cust', 'id int8, name char(8), city int4, credit float8, segment text', [
      [1, 'Ann', 1, 100, 'r'],
      [2, 'Ben', 1, 50, 'r'],
      [3, 'Cem', 2, 25, 'w'],
      [4, 'Dan', null, null, null],
    ]),
    table('topic', 'cust int4, topic text', [
      [1, 'chess'],
      [1, 'music'],
      [2, 'chess'],
      [9, 'lost'],
      [null, 'lost'],
    ]),
    table('knows', 'a int4, b int4', [
      [1, 2],
      [2, 3],
      [3, 1],
      [3, 11],
      [11, 12],
      [5, 5],
    ]),
    table('ord', 'no int4, cust int4, status text, freight numeric(8,2)', [
      [101, 1, 'sent', 5],
      [102, 1, 'sent', 7.5],
      [103, 2, 'open', 5],
      [104, 3, 'lost', 0],
      [105, null, 'open', null],
      [106, 77, 'sent', 1],
    ]),
    table('item', 'sku text, price numeric', [
      ['A', 10],
      ['B', 2.5],
      ['C', 1],
    ]),
    table('inc', 'no int4, sku text, qty int4', [
      [101, 'A', 2],
      [101, 'B', 1],
      [102, 'A', 1],
      [102, 'A', 1],
      [103, 'X', 9],
      [104, null, 3],
    ]),
    table('stock', 'code text, part int4', [
      ['a|b%c', 1],
      ['x', 2],
    ]),
    table('memo', 'status text', [['m'], ['m']]),
  ],
  mappings: [
    map('city', 'city', { city_id: 'city_id', name: 'name' }),
    map('employee', 'emp', { id: 'id', name: 'name', city: 'city_ref', boss: 'boss', pay: 'salary' }),
    map('customer', 'cust', { id: 'id', name: 'name', city: 'city_ref', credit: 'credit', segment: 'segment' }),
    map('order', 'ord', { no: 'no', cust: 'client', status: 'status', freight: 'freight' }),
    map('item', 'item', { sku: 'sku', price: 'price' }),
    map('stock', 'stock', { code: 'code', part: 'part' }),
    map('memo', 'memo', { status: 'status' }),
    { ...map('customer', 'topic', { cust: 'id', topic: 'topic' }), kind: 'multi', property: 'topic' },
    {
      ...map('person', 'knows', { a: 'a', b: 'b' }),
      kind: 'link',
      concept: null,
      rel: 'knows',
      near: { columns: ['a'], concept: 'person', references: ['id'] },
      far: { columns: ['b'], concept: 'person', references: ['id'] },
    },
    {
      ...map('order', 'inc', { no: 'no', sku: 'sku', qty: 'qty' }),
      kind: 'link',
      concept: null,
      rel: 'includes',
      near: { columns: ['no'], concept: 'order', references: ['no'] },
      far: { columns: ['sku'], concept: 'item', references: ['sku'] },
    },
  ],
  defaultTransitivity: null,
};
