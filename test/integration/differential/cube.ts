/**
 * A query on a cube (docs/design/aggregates-over-several-paths.md#cubes) as the query on the cube's concept that it means: dimensions mean their
 * expressions, measures for their calls in the query's own grouping, after WHERE on dimensions; its FROM replaces the cube.
 */
import type { Expr, Item, Select } from './expr.ts';
import { op, walk } from './expr.ts';
import type { World } from './world.ts';

const memo = new WeakMap<Select, Select>();

/** The select itself where it does not read a cube. */
export function lowered(s: Select, world: World): Select {
  if (!s.from.some((f) => f.src.k === 'cube')) return s;
  let out = memo.get(s);
  if (!out) {
    out = lower(s, world);
    memo.set(s, out);
  }
  return out;
}

const both = (a: Expr | null, b: Expr | null): Expr | null => (a && b ? op('and', 'bool', a, b) : (a ?? b));

/** Whether an item of a cube's select list is a measure (else a dimension). */
export function isMeasure(e: Expr): boolean {
  let any = false;
  walk(
    e,
    (x) => {
      if (x.k === 'agg' || x.k === 'mea') any = true;
    },
    false,
  );
  return any;
}

function lower(s: Select, world: World): Select {
  const at = s.from.find((f) => f.src.k === 'cube')!;
  const cube = world.views!.find((v) => at.src.k === 'cube' && v.name === at.src.name)!;
  const body = cube.q.body as Select;
  const definition = (name: string): Expr => (body.items.find((i) => i.k === 'expr' && i.as === name) as Item & { k: 'expr' }).e;
  const sub = (e: Expr): Expr => {
    switch (e.k) {
      case 'col':
        return e.leaf.k === 'out' && e.rel === at.alias ? definition(e.leaf.name) : e;
      case 'cm': {
        const call = definition(e.name);
        if (call.k !== 'agg' && call.k !== 'mea') throw new Error(`no measure ${e.name}`);
        return { ...call, filter: both(call.filter, e.filter && sub(e.filter)) };
      }
      case 'op':
        return { ...e, args: e.args.map(sub) };
      case 'agg':
        return { ...e, arg: e.arg && sub(e.arg), filter: e.filter && sub(e.filter), ...(e.arg ? {} : { roots: true }) };
      default:
        return e;
    }
  };
  const items: Item[] = s.items.flatMap((i): Item[] => {
    if (i.k !== 'expr') return cube.kinds.map(([name]) => ({ k: 'expr', e: dimensionOr(name), as: name }));
    return [{ ...i, as: i.as ?? (i.e.k === 'col' && i.e.leaf.k === 'out' ? i.e.leaf.name : i.e.k === 'cm' ? i.e.name : null) }];
  });
  function dimensionOr(name: string): Expr {
    const e = definition(name);
    return isMeasure(e)
      ? { k: 'cm', fn: null, rel: '', name, filter: null, kind: e.kind }
      : { k: 'col', rel: at.alias, path: [], leaf: { k: 'out', name }, kind: e.kind };
  }
  const from = s.from.map((f) => ({ ...(f === at ? { ...body.from[0]!, join: f.join } : f), on: f.on && sub(f.on) }));
  const base = { ...s, from, where: both(body.where, s.where && sub(s.where)), having: s.having && sub(s.having) };
  const order = s.order.map((o) => ({ ...o, by: typeof o.by === 'number' ? o.by : sub(o.by) }));
  const calls = s.group !== null || items.some((i) => i.k === 'expr' && marked(i.e));
  if (calls) return { ...base, order, group: s.group?.map(sub) ?? null, items: items.map((i) => (i.k === 'expr' ? { ...i, e: sub(i.e) } : i)) };
  // Neither aggregate nor GROUP BY: grouped by the dimensions that it selects; without any, one row.
  const group: Expr[] = [];
  const grouped = items.map((i): Item => {
    if (i.k !== 'expr' || i.e.k === 'cm') return i.k === 'expr' ? { ...i, e: sub(i.e) } : i;
    group.push(sub(i.e));
    return { ...i, e: { k: 'grp', i: group.length - 1, kind: i.e.kind } };
  });
  return { ...base, order, items: grouped, group: group.length ? group : null };
}

/** Whether a query's own text contains an aggregate. */
function marked(e: Expr): boolean {
  let any = false;
  walk(
    e,
    (x) => {
      if (x.k === 'agg' || x.k === 'mea' || (x.k === 'cm' && x.fn !== null)) any = true;
    },
    false,
  );
  return any;
}
