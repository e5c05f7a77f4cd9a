/** Queries of expr.ts as the SQL text that a caller would send. */
import type { Col, Expr, FromItem, Hop, Item, Order, Query, Scalar, Select } from './expr.ts';
import type { World } from './world.ts';

export interface PrintOptions {
  /** Identifiers that need quotes are written in back-quotes. */
  readonly backQuotes: boolean;
}

const PLAIN = /^[a-z_][a-z0-9_]*$/;
const RESERVED = new Set(['order', 'group', 'select', 'from', 'where', 'user', 'end', 'all', 'table']);

export class Printer {
  private readonly inverses = new Map<string, string | null>();
  private readonly quote: string;
  private groups: readonly Expr[] = [];
  private qualify = true;

  constructor(world: World, options: PrintOptions) {
    for (const c of world.concepts) for (const r of c.rels) this.inverses.set(r.name, r.inverse);
    this.quote = options.backQuotes ? '`' : '"';
  }

  name(text: string): string {
    return PLAIN.test(text) && !RESERVED.has(text) ? text : this.quote + text.replaceAll(this.quote, this.quote + this.quote) + this.quote;
  }

  hop(h: Hop): string {
    const inverse = this.inverses.get(h.rel) ?? null;
    const name = !h.inv ? h.rel : inverse === null || h.tilde ? `~${h.rel}` : inverse;
    return `${name}[${h.bracket}${h.star === null ? '' : h.star === 'default' ? '*' : `*${h.star}`}]`;
  }

  /** The text of a column without its relation, unquoted. */
  colText(c: Col): string {
    const hops = c.path.map((h) => this.hop(h)).join('.');
    let text: string;
    if (c.leaf.k === 'link') text = `${hops}_${c.leaf.name}`;
    else if (c.leaf.k === 'level') text = `${hops}_transitivity_level`;
    else {
      const leaf = c.leaf.k === 'typeof' ? `_type_of_${c.leaf.concept}` : c.leaf.name;
      text = hops ? `${hops}.${leaf}` : leaf;
    }
    return c.shout ? text.toUpperCase() : text;
  }

  col(c: Col): string {
    const text = this.name(this.colText(c));
    return this.qualify && !c.bare && c.rel !== '' ? `${c.rel}.${text}` : text;
  }

  expr(e: Expr): string {
    switch (e.k) {
      case 'lit':
        return literal(e.v, e.kind);
      case 'col':
        return this.col(e);
      case 'alias':
        return this.name(e.name);
      case 'grp':
        return this.expr(this.groups[e.i]!);
      case 'grouping':
        return `GROUPING(${e.of.map((i) => this.expr(this.groups[i]!)).join(', ')})`;
      case 'op':
        return this.op(e.op, e.args);
      case 'mea': {
        const text = `measure.${[...e.path.map((h) => this.hop(h)), e.name].join('.')}`;
        const name = this.name(e.shout ? text.toUpperCase() : text);
        return `${e.fn}(${this.qualify && e.rel !== '' ? `${e.rel}.` : ''}${name})${this.filter(e.filter)}`;
      }
      case 'cm': {
        const name = `${this.qualify ? `${e.rel}.` : ''}${this.name(e.name)}`;
        return e.fn === null ? name : `${e.fn}(${name})${this.filter(e.filter)}`;
      }
      case 'mref':
        return this.name(e.name);
      case 'agg': {
        const arg = e.arg === null ? '*' : this.expr(e.arg);
        const by = [...(e.order ?? []).map((o) => this.expr(o.e) + (o.desc ? ' DESC' : '')), arg].join(', ');
        const filter = this.filter(e.filter);
        if (e.fn === 'array_agg') return `array_to_string(array_agg(${arg} ORDER BY ${by})${filter}, ',', '~')`;
        if (e.fn === 'mode') return `mode() WITHIN GROUP (ORDER BY ${arg})${filter}`;
        if (e.fn === 'percentile_disc' || e.fn === 'percentile_cont') return `${e.fn}(0.5) WITHIN GROUP (ORDER BY ${arg})${filter}`;
        const order = e.fn === 'string_agg' ? `, ',' ORDER BY ${by}` : '';
        return `${e.fn}(${e.distinct ? 'DISTINCT ' : ''}${arg}${order})${filter}`;
      }
      case 'win': {
        const arg = e.arg ? this.expr(e.arg) : e.fn === 'count' ? '*' : '';
        const parts: string[] = [];
        if (e.partition.length) parts.push(`PARTITION BY ${e.partition.map((p) => this.expr(p)).join(', ')}`);
        if (e.order.length) parts.push(`ORDER BY ${e.order.map((o) => this.expr(o.e) + (o.desc ? ' DESC' : '')).join(', ')}`);
        return `${e.fn}(${arg}) OVER (${parts.join(' ')})`;
      }
      case 'exists':
        return `${e.not ? 'NOT ' : ''}EXISTS (${this.query(e.q)})`;
      case 'insub':
        return `${this.atom(e.e)} ${e.not ? 'NOT ' : ''}IN (${this.query(e.q)})`;
      case 'scalar':
        return `(${this.query(e.q)})`;
    }
  }

  private filter(e: Expr | null): string {
    return e ? ` FILTER (WHERE ${this.expr(e)})` : '';
  }

  private atom(e: Expr): string {
    if (e.k === 'grp') return this.atom(this.groups[e.i]!);
    const text = this.expr(e);
    return e.k === 'op' && !['coalesce', 'upper', 'length', 'nullif'].includes(e.op) ? `(${text})` : e.k === 'exists' || e.k === 'insub' ? `(${text})` : text;
  }

  private op(o: string, args: readonly Expr[]): string {
    const [a, b, c] = args.map((x) => this.atom(x));
    switch (o) {
      case 'and':
      case 'or':
        return args.map((x) => this.atom(x)).join(o === 'and' ? ' AND ' : ' OR ');
      case 'not':
        return `NOT ${a}`;
      case 'isnull':
        return `${a} IS NULL`;
      case 'notnull':
        return `${a} IS NOT NULL`;
      case 'istrue':
        return `${a} IS TRUE`;
      case 'distinct':
        return `${a} IS DISTINCT FROM ${b}`;
      case 'not distinct':
        return `${a} IS NOT DISTINCT FROM ${b}`;
      case 'in':
      case 'not in':
        return `${a} ${o.toUpperCase()} (${args
          .slice(1)
          .map((x) => this.expr(x))
          .join(', ')})`;
      case 'any':
        return `${a} = ANY (ARRAY[${args
          .slice(1)
          .map((x) => this.expr(x))
          .join(', ')}])`;
      case 'between':
        return `${a} BETWEEN ${b} AND ${c}`;
      case 'like':
      case 'not like':
        return `${a} ${o.toUpperCase()} ${b}`;
      case 'case':
        return `CASE WHEN ${a} THEN ${b}${args.length > 2 ? ` ELSE ${c}` : ''} END`;
      case 'coalesce':
      case 'upper':
      case 'length':
      case 'nullif':
        return `${o}(${args.map((x) => this.expr(x)).join(', ')})`;
      default:
        return `${a} ${o} ${b}`;
    }
  }

  private item(i: Item): string {
    if (i.k === 'star') return '*';
    if (i.k === 'wild') {
      const text = this.name(`${i.path.map((h) => this.hop(h)).join('.')}.*`);
      return this.qualify ? `${i.rel}.${text}` : text;
    }
    return this.expr(i.e) + (i.as === null ? '' : ` AS ${this.name(i.as)}`);
  }

  private from(f: FromItem): string {
    const src =
      f.src.k === 'concept'
        ? `${f.src.schema}.${this.name(f.src.concept)}`
        : f.src.k === 'cte'
          ? f.src.name
          : f.src.k === 'view' || f.src.k === 'cube'
            ? `vsvc.${this.name(f.src.name)}`
            : `${f.lateral ? 'LATERAL ' : ''}(${this.query(f.src.q)})`;
    const text = `${src} ${f.alias}`;
    const on = f.on ? ` ON ${this.expr(f.on)}` : '';
    switch (f.join) {
      case 'first':
        return text;
      case 'comma':
        return `, ${text}`;
      case 'cross':
        return ` CROSS JOIN ${text}`;
      case 'inner':
        return ` JOIN ${text}${on}`;
      default:
        return ` ${f.join.toUpperCase()} JOIN ${text}${on}`;
    }
  }

  private order(o: Order): string {
    return (typeof o.by === 'number' ? String(o.by) : this.expr(o.by)) + (o.desc ? ' DESC' : '') + (o.nulls ? ` NULLS ${o.nulls.toUpperCase()}` : '');
  }

  select(s: Select): string {
    const before = [this.groups, this.qualify] as const;
    this.groups = s.group ?? [];
    this.qualify = s.qualify;
    const parts = [
      `SELECT ${s.distinct ? 'DISTINCT ' : ''}${this.on(s)}${s.items.map((i) => this.item(i)).join(', ')}`,
      ` FROM ${s.from.map((f) => this.from(f)).join('')}`,
    ];
    if (s.where) parts.push(` WHERE ${this.expr(s.where)}`);
    if (s.group?.length) {
      const text = s.group.map((g) => this.expr(g));
      if (!s.sets) parts.push(` GROUP BY ${text.join(', ')}`);
      else if (s.sets.rollup) parts.push(` GROUP BY ROLLUP (${text.join(', ')})`);
      else parts.push(` GROUP BY GROUPING SETS (${s.sets.sets.map((set) => `(${set.map((i) => text[i]).join(', ')})`).join(', ')})`);
    }
    if (s.having) parts.push(` HAVING ${this.expr(s.having)}`);
    if (s.order.length) parts.push(` ORDER BY ${s.order.map((o) => this.order(o)).join(', ')}`);
    if (s.limit !== null) parts.push(` LIMIT ${s.limit}`);
    if (s.offset !== null) parts.push(` OFFSET ${s.offset}`);
    [this.groups, this.qualify] = before;
    return parts.join('');
  }

  private on(s: Select): string {
    if (!s.on) return '';
    const { by } = s.on;
    // PostgreSQL takes the first column of a text, which need not be the one that is sorted by.
    const texts = s.items.map((i) => (i.k === 'expr' ? this.expr(i.e).toLowerCase().replace(/["`]/g, '') : ''));
    const text = s.order.slice(0, s.on.n).map((o) => {
      const i = s.items[(o.by as number) - 1]!;
      return by === 'number' || i.k !== 'expr' || i.e.k === 'lit' || new Set(texts).size < texts.length ? String(o.by) : this.expr(i.e);
    });
    return `DISTINCT ON (${text.join(', ')}) `;
  }

  query(q: Query): string {
    const ctes = q.ctes.length ? `WITH ${q.ctes.map((c) => `${c.name} AS (${this.query(c.q)})`).join(', ')} ` : '';
    return ctes + (q.body.k === 'select' ? this.select(q.body) : `${this.select(q.body.left)} ${q.body.op} ${this.select(q.body.right)}`);
  }
}

export function literal(v: Scalar, kind: string): string {
  if (v === null)
    return kind === 'text'
      ? 'CAST(NULL AS text)'
      : kind === 'bool'
        ? 'CAST(NULL AS boolean)'
        : kind === 'date'
          ? 'CAST(NULL AS date)'
          : 'CAST(NULL AS integer)';
  if (typeof v === 'boolean') return v ? 'TRUE' : 'FALSE';
  if (typeof v === 'number') return v < 0 ? `(${v})` : String(v);
  return kind === 'date' ? `DATE '${v}'` : `'${v.replaceAll("'", "''")}'`;
}
