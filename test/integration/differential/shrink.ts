/** Smaller cases of a failing one: parts of the query, then of the world, taken away. A broken candidate fails otherwise and is passed over. */
import type { Expr, FromItem, Item, Query, Select } from './expr.ts';
import { lit } from './expr.ts';
import type { World } from './world.ts';

/** One world and the queries over it. */
export interface Case {
  readonly world: World;
  readonly queries: readonly Query[];
  readonly backQuotes: boolean;
}

export function* shrinkCase(c: Case): Generator<Case> {
  if (c.queries.length > 1) {
    for (const q of c.queries) yield { ...c, queries: [q] };
    return;
  }
  if (c.backQuotes) yield { ...c, backQuotes: false };
  for (const q of c.queries.flatMap((x) => [...shrinkQuery(x)])) yield { ...c, queries: [q] };
  for (const world of shrinkWorld(c.world, JSON.stringify(c.queries))) yield { ...c, world };
}

const without = <T>(list: readonly T[], i: number): T[] => list.filter((_, k) => k !== i);
const replaced = <T>(list: readonly T[], i: number, v: T): T[] => list.map((x, k) => (k === i ? v : x));

function* shrinkQuery(q: Query): Generator<Query> {
  for (const c of q.ctes) yield c.q;
  if (q.ctes.length) yield { ...q, ctes: [] };
  for (const [i, c] of q.ctes.entries()) for (const s of shrinkQuery(c.q)) yield { ...q, ctes: replaced(q.ctes, i, { ...c, q: s }) };
  if (q.body.k === 'setop') {
    const { body } = q;
    yield { ...q, body: body.left };
    yield { ...q, body: body.right };
    for (const left of shrinkSelect(body.left)) yield { ...q, body: { ...body, left } };
    for (const right of shrinkSelect(body.right)) yield { ...q, body: { ...body, right } };
    return;
  }
  for (const f of q.body.from) if (f.src.k === 'sub') yield { ctes: q.ctes, body: f.src.q.body };
  for (const body of shrinkSelect(q.body)) yield { ...q, body };
}

function* shrinkSelect(s: Select): Generator<Select> {
  if (s.order.length) yield { ...s, order: [], on: null, limit: null, offset: null };
  if (s.limit !== null || s.offset !== null) yield { ...s, limit: null, offset: null };
  if (s.on) yield { ...s, on: null };
  if (s.distinct) yield { ...s, distinct: false };
  if (s.where) yield { ...s, where: null };
  if (s.having) yield { ...s, having: null };
  if (s.sets) yield { ...s, sets: null };
  for (let i = s.from.length - 1; i >= 0 && s.from.length > 1; i--) {
    const from = without(s.from, i).map((f, k): FromItem => (k === 0 ? { ...f, join: 'first', on: null } : f));
    yield { ...s, from };
  }
  if (s.items.length > 1 && !s.order.length) for (let i = 0; i < s.items.length; i++) yield { ...s, items: without(s.items, i) };
  if (s.group)
    for (let i = 0; i < s.group.length; i++) {
      const items = s.items
        .filter((x) => !(x.k === 'expr' && x.e.k === 'grp' && x.e.i === i))
        .map((x): Item => (x.k === 'expr' && x.e.k === 'grp' && x.e.i > i ? { ...x, e: { ...x.e, i: x.e.i - 1 } } : x));
      const group = without(s.group, i);
      if (items.length) yield { ...s, items, group: group.length ? group : null, sets: null, order: [], on: null, limit: null };
    }
  if (s.where) for (const where of shrinkExpr(s.where)) yield { ...s, where };
  if (s.having) for (const having of shrinkExpr(s.having)) yield { ...s, having };
  for (const [i, f] of s.from.entries()) {
    if (f.on) for (const on of shrinkExpr(f.on)) yield { ...s, from: replaced(s.from, i, { ...f, on }) };
    if (f.join === 'left' || f.join === 'right' || f.join === 'full') yield { ...s, from: replaced(s.from, i, { ...f, join: 'inner' }) };
    if (f.src.k === 'sub') for (const q of shrinkQuery(f.src.q)) yield { ...s, from: replaced(s.from, i, { ...f, src: { ...f.src, q } }) };
  }
  for (const [i, x] of s.items.entries()) if (x.k === 'expr') for (const e of shrinkExpr(x.e)) yield { ...s, items: replaced(s.items, i, { ...x, e }) };
  if (s.group) for (const [i, g] of s.group.entries()) for (const e of shrinkExpr(g)) yield { ...s, group: replaced(s.group, i, e) };
}

function* shrinkExpr(e: Expr): Generator<Expr> {
  switch (e.k) {
    case 'op':
      for (const a of e.args) if (a.kind === e.kind && a.k !== 'lit') yield a;
      if (e.args.length > 2 && (e.op === 'in' || e.op === 'not in' || e.op === 'any')) yield { ...e, args: e.args.slice(0, -1) };
      if (e.kind === 'bool' && e.op !== 'notnull' && e.args[0]?.k === 'col') yield { k: 'op', op: 'notnull', args: [e.args[0]], kind: 'bool' };
      for (const [i, a] of e.args.entries()) for (const x of shrinkExpr(a)) yield { ...e, args: replaced(e.args, i, x) };
      break;
    case 'agg':
      if (e.filter) {
        yield { ...e, filter: null };
        for (const filter of shrinkExpr(e.filter)) yield { ...e, filter };
      }
      if (e.distinct) yield { ...e, distinct: false };
      if (e.order?.length) yield { ...e, order: [] };
      if (e.arg) for (const arg of shrinkExpr(e.arg)) yield { ...e, arg };
      break;
    case 'mea':
    case 'cm':
      if (e.filter) {
        yield { ...e, filter: null };
        for (const filter of shrinkExpr(e.filter)) yield { ...e, filter };
      }
      break;
    case 'win':
      if (e.order.length && !e.fn.includes('rank')) yield { ...e, order: [] };
      if (e.partition.length) yield { ...e, partition: [] };
      break;
    case 'col':
      if (e.shout) yield { ...e, shout: false };
      break;
    case 'exists':
    case 'insub':
    case 'scalar':
      if (e.kind === 'bool') yield lit(true, 'bool');
      if (e.k !== 'exists' && e.k !== 'insub' && e.kind === 'int') yield lit(1, 'int');
      for (const q of shrinkQuery(e.q)) yield { ...e, q };
      break;
    default:
  }
}

function* shrinkWorld(w: World, queries: string): Generator<World> {
  const said = (name: string, inWorld: unknown = '') => queries.includes(JSON.stringify(name)) || JSON.stringify(inWorld).includes(JSON.stringify(name));
  const { measures = [], views = [] } = w;
  for (const v of views) {
    const rest = views.filter((x) => x !== v);
    if (!said(v.name, rest)) yield { ...w, views: rest };
    if (v.q.body.k === 'select' && v.q.body.where)
      yield { ...w, views: views.map((x) => (x === v ? { ...v, q: { ...v.q, body: { ...v.q.body, where: null } as Select } } : x)) };
  }
  for (const m of measures) {
    const rest = measures.filter((x) => x !== m);
    if (!said(m.name, [rest, views]))
      yield { ...w, measures: rest, concepts: w.concepts.map((c) => ({ ...c, measures: (c.measures ?? []).filter((x) => x !== m.name) })) };
    if (m.filter) yield { ...w, measures: measures.map((x) => (x === m ? { ...m, filter: null } : x)) };
    if (m.expr.k === 'op')
      for (const e of m.expr.args) if (e.kind === m.kind && e.k !== 'lit') yield { ...w, measures: measures.map((x) => (x === m ? { ...m, expr: e } : x)) };
  }
  for (const [i, m] of w.mappings.entries()) {
    const mappings = without(w.mappings, i);
    yield { ...w, mappings, tables: w.tables.filter((t) => t.name !== m.table || mappings.some((x) => x.table === t.name)) };
  }
  for (const [i, c] of w.concepts.entries()) {
    const rest = without(w.concepts, i);
    if (said(c.name, [rest.map((x) => [x.parents, x.logic]), w.mappings, w.views])) continue;
    yield { ...w, concepts: rest.map((x) => ({ ...x, rels: x.rels.filter((r) => r.target !== c.name) })) };
  }
  for (const [i, c] of w.concepts.entries()) {
    for (const [k, r] of c.rels.entries()) {
      if (said(r.name, [w.concepts.map((x) => x.logic), w.views])) continue;
      yield { ...w, concepts: replaced(w.concepts, i, { ...c, rels: without(c.rels, k) }), mappings: w.mappings.filter((m) => m.rel !== r.name) };
      const { includes, ...plain } = r;
      for (const name of includes ?? []) {
        const less = includes!.filter((n) => n !== name);
        yield { ...w, concepts: replaced(w.concepts, i, { ...c, rels: replaced(c.rels, k, less.length ? { ...plain, includes: less } : plain) }) };
      }
    }
    if (c.label.length) yield { ...w, concepts: replaced(w.concepts, i, { ...c, label: [] }) };
  }
  for (const [i, t] of w.tables.entries()) {
    if (t.rows.length > 2) {
      const half = t.rows.length >> 1;
      yield { ...w, tables: replaced(w.tables, i, { ...t, rows: t.rows.slice(0, half) }) };
      yield { ...w, tables: replaced(w.tables, i, { ...t, rows: t.rows.slice(half) }) };
    }
    for (let k = 0; k < t.rows.length; k++) yield { ...w, tables: replaced(w.tables, i, { ...t, rows: without(t.rows, k) }) };
  }
  for (const p of w.props) {
    if (
      said(p.name, [
        w.concepts.map((c) => [c.key, c.label, c.rels, c.logic]),
        w.props.map((x) => x.expr),
        w.mappings.map((m) => m.property),
        w.measures,
        w.views,
      ])
    )
      continue;
    yield {
      ...w,
      props: w.props.filter((x) => x !== p),
      concepts: w.concepts.map((c) => ({ ...c, props: c.props.filter((x) => x !== p.name), multi: c.multi.filter((x) => x !== p.name) })),
      mappings: w.mappings.map((m) => ({ ...m, columns: m.columns.filter((x) => x.as !== p.name) })),
    };
  }
}
