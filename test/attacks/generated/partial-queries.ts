/** Requests about a model of partial-model.ts that show or compare values, or fail on some. */
import type { Rng } from '../../integration/differential/rng.ts';
import { CALCULATED, MEASURES, type PartConcept, type PartModel, PROPS, Shape } from './partial-model.ts';

/** SQL, or the path of a GET. `sorted`: the order of rows counts. */
export interface Ask {
  readonly text: string;
  readonly path: boolean;
  readonly sorted: boolean;
}

const ALL = [...Object.keys(PROPS), ...Object.keys(CALCULATED), 'k0', 'k1'];

/** A condition over an expression that may raise an error. */
function fails(r: Rng, prop: string, at: string): string {
  const n = r.int(0, 8);
  if (prop === 'e0') return r.pick([`10 / (${at} - 1.25) > -99`, `${at} * 1e38::real > ${n}`, `CAST(${at} AS integer) > ${n}`, `COALESCE(${at}, ${n}) > 1`]);
  if (/^[nfrvhk]\d/.test(prop))
    return r.pick([`10 / (${at} - ${n}) > -99`, `${at} * 9223372036854775807 > ${n}`, `sqrt(${at} - ${n}) >= 0`, `${at} + 1 > ${n}`]);
  if (/^[sg]/.test(prop)) return r.pick([`CAST(${at} AS bigint) >= ${n}`, `${at} LIKE 'k\\'`, `'k1' ~ ${at}`, `1 / (length(${at}) - ${r.int(0, 2)}) > -9`]);
  if (prop === 'd0') return r.pick([`10 / (${at} - 1.5) > -99`, `CAST(${at} AS decimal(4,2)) > 0`]);
  return r.pick([`${at} + ${n} > '2020-01-01'`, `1 / (extract(day FROM ${at}) - ${n}) > -99`]);
}
function compares(r: Rng, prop: string, at: string): string {
  const n = r.int(0, 6);
  const value = /^[sg]/.test(prop) ? r.pick(["'k1'", "'x'", "'3'", "''"]) : prop === 't0' ? "'2020-01-03'" : prop === 'd0' ? '1.5' : `${n}`;
  return r.pick([
    `${at} = ${value}`,
    `${at} > ${value}`,
    `${at} IN (${value}, ${value})`,
    `${at} IS NULL`,
    `${at} IS NOT NULL`,
    `${at} IS DISTINCT FROM ${value}`,
    `${value} >= ${at}`,
    `${at} BETWEEN ${value} AND ${value}`,
  ]);
}

class Writer {
  readonly r: Rng;
  readonly model: PartModel;
  readonly shape: Shape;
  readonly #readable: readonly PartConcept[];
  constructor(r: Rng, model: PartModel, reads: ReadonlySet<string>) {
    this.r = r;
    this.model = model;
    this.shape = new Shape(model);
    const readable = model.concepts.filter((c) => reads.has(c.name));
    this.#readable = readable.length > 0 ? readable : model.concepts;
  }

  /** Mostly a concept that may be read. */
  concept(): PartConcept {
    return this.r.pick(this.r.chance(90) ? this.#readable : this.model.concepts);
  }

  /** Mostly a property that the concept or a descendant has. */
  prop(name: string): string {
    const near = this.model.concepts.filter((c) => this.shape.isA(c.name, name)).flatMap((c) => this.shape.props(c.name).filter((p) => ALL.includes(p)));
    return near.length > 0 && this.r.chance(95) ? this.r.pick(near) : this.r.pick(ALL);
  }
  /** A path of one or two hops from a concept, without its last part, or null. */
  hop(name: string): { readonly text: string; readonly to: string; readonly link: boolean } | null {
    const { r, shape } = this;
    const ways: { readonly rel: string; readonly to: string; readonly link: boolean; readonly walk: boolean }[] = [];
    const isKin = (c: string, target: string): boolean => shape.isA(c, target) || shape.isA(target, c);
    const kin = (target: string): string => {
      const readable = this.#readable.filter((c) => isKin(c.name, target));
      return readable.length > 0 && r.chance(85) ? r.pick(readable).name : any(target);
    };
    const any = (target: string): string =>
      r.pick([target, target, ...this.model.concepts.filter((c) => shape.isA(c.name, target)).map((c) => c.name), ...shape.lineage(target).map((c) => c.name)]);
    for (const c of this.model.concepts) {
      if (c.rel !== null) {
        const walk = shape.isA(c.name, c.rel.target);
        if (shape.isA(name, c.name)) ways.push({ rel: c.rel.name, to: kin(c.rel.target), link: false, walk });
        if (shape.isA(name, c.rel.target)) ways.push({ rel: r.pick([`${c.rel.name}_back`, `~${c.rel.name}`]), to: kin(c.name), link: false, walk });
      }
      if (c.link && shape.isA(name, c.name)) ways.push({ rel: 'y0', to: kin('b0'), link: true, walk: false });
      if (c.link && shape.isA(name, 'b0')) ways.push({ rel: 'y1', to: kin(c.name), link: true, walk: false });
    }
    if (ways.length === 0) return null;
    const way = r.pick(ways);
    return { text: `${way.rel}[${way.to}${way.walk && r.chance(60) ? r.pick(['*', '*2', '*4']) : ''}]`, to: way.to, link: way.link };
  }
  hops(name: string): ReturnType<Writer['hop']> {
    const one = this.hop(name);
    const two = one !== null && this.r.chance(25) ? this.hop(one.to) : null;
    return one === null || two === null ? one : { ...two, text: `${one.text}.${two.text}` };
  }

  /** A column of dsvc, and its property. */
  column(name: string): readonly [string, string] {
    const { r } = this;
    const hop = r.chance(45) ? this.hops(name) : null;
    if (hop?.link && r.chance(40)) return [`"${hop.text}_w"`, 'n0'];
    if (hop !== null) {
      const p = r.chance(10) ? 'v0' : this.prop(hop.to);
      return [`"${hop.text}.${p}"`, p];
    }
    if (r.chance(12)) return ['v0', 'v0'];
    const p = this.prop(name);
    return [p, p];
  }

  ask(c: PartConcept): Ask {
    const { r } = this;
    const schema = r.pick(['dsvc', 'dsvc', 'dsvc', 'esvc', 'svc']);
    const name = r.chance(7) ? 'thing' : c.name;
    const from = `${schema}.${name}`;
    const start = name === 'thing' ? r.pick(['a0', 'b0']) : name;
    const own = (): readonly [string, string] => {
      const p = this.prop(start);
      return schema === 'dsvc' ? this.column(start) : [p, p];
    };
    const [x, p] = own();
    const [y, q] = own();
    const condition = r.chance(60) ? fails(r, p, x) : compares(r, p, x);
    const other = this.concept().name;
    const hop = this.hops(start);
    const view = r.pick([...this.model.views, { name: 'w0', props: ['n0'], cube: false }]);
    const vp = r.pick(view.props);
    const sql = (text: string, sorted = false): Ask => ({ text, path: false, sorted });
    const get = (text: string): Ask => ({ text, path: true, sorted: false });
    const viewed = (): Ask =>
      view.cube
        ? r.pick([
            sql(`SELECT * FROM vsvc.${view.name}`),
            sql(`SELECT sum(total) AS s, sum(n) AS c FROM vsvc.${view.name} WHERE ${r.pick([fails, compares])(r, vp, vp)}`),
            sql(`SELECT ${vp}, sum(total) AS s FROM vsvc.${view.name} GROUP BY ${vp}`),
          ])
        : r.pick([
            sql(`SELECT * FROM vsvc.${view.name} WHERE ${fails(r, vp, vp)}`),
            sql(`SELECT who, ${vp} FROM vsvc.${view.name} v WHERE ${compares(r, vp, `v.${vp}`)}`),
            sql(`SELECT count(*) AS n, max(${vp}) AS m FROM vsvc.${view.name}`),
            get(`view/${view.name}?_subj_=${vp}&_op_=gt&_comp_=2`),
            sql(`SELECT v.who, x.entity_id AS id FROM vsvc.${view.name} v JOIN ${from} x ON x.${p.startsWith('v') ? 'n0' : p} = v.${vp}`),
          ]);
    const walk = hop === null ? 'entity_id' : `"${hop.text}.${r.pick(['entity_id', 'entity_label', 'entity_type'])}"`;
    const forms: (() => Ask)[] = [
      () => sql(`SELECT * FROM ${from}`),
      () => sql(`SELECT entity_id, entity_label, entity_type, ${x} AS x, ${y} AS y FROM ${from}`),
      () => sql(`SELECT entity_id, ${x} AS x FROM ${from} WHERE ${condition}`),
      () => sql(`SELECT entity_id, ${x} AS x FROM ${from} WHERE ${condition}`),
      () => sql(`SELECT entity_id, ${x} AS x FROM ${from} WHERE ${condition} AND ${compares(r, q, y)}`),
      () => sql(`SELECT entity_id FROM ${from} WHERE NOT (${condition}) OR ${compares(r, q, y)}`),
      () => sql(`SELECT ${x} AS x, entity_id FROM ${from} ORDER BY ${x} DESC NULLS LAST, entity_id LIMIT 2`, true),
      () => sql(`SELECT entity_id FROM ${from} ORDER BY ${y}, ${x} NULLS FIRST, entity_id LIMIT 3 OFFSET 1`, true),
      () => sql(`SELECT ${x} AS x, count(*) AS n FROM ${from} GROUP BY ${x}`),
      () => sql(`SELECT ${x} AS x, count(${y}) AS m FROM ${from} GROUP BY ${r.pick(['entity_id', start.startsWith('b') ? 'bid' : 'id'])}`),
      () =>
        sql(
          `SELECT ${x} AS x, max(${y}) AS m FROM ${from} GROUP BY entity_id, id HAVING NOT (${condition}) ORDER BY ${x}`.replace(
            'id HAVING',
            start.startsWith('b') ? 'bid HAVING' : 'id HAVING',
          ),
        ),
      () => sql(`SELECT ${x} AS x, count(*) AS n FROM ${from} GROUP BY ROLLUP (${x})`),
      () =>
        sql(
          `SELECT c.entity_id, l.x FROM ${from} c CROSS JOIN LATERAL (SELECT max(o.${this.prop(other)}::text) AS x FROM dsvc.${other} o WHERE ${fails(r, p, x.startsWith('"') ? `c.${x}` : `c.${x}`)}) l`,
        ),
      () => sql(`SELECT ${x} AS x, ${condition} AS y FROM ${from} WHERE ${compares(r, q, y)} FETCH FIRST 9 ROWS ONLY`),
      () => sql(`SELECT ${x} AS x, max(${y}) AS m FROM ${from} GROUP BY ${x} HAVING count(${y}) > ${r.int(0, 1)}`),
      () => sql(`SELECT count(${x}) AS n, min(${x}) AS a, max(${x}) AS b FROM ${from}`),
      () => sql(`SELECT sum(CASE WHEN ${condition} THEN 1 ELSE 0 END) AS s FROM ${from}`),
      () => sql(`SELECT count(*) FILTER (WHERE ${condition}) AS n FROM ${from}`),
      () => sql(`SELECT DISTINCT ${x} AS x FROM ${from}`),
      () => sql(`SELECT to_jsonb(c) AS j FROM ${from} c`),
      () => sql(`SELECT c.*, ${condition} AS y FROM ${from} c`),
      () => sql(`SELECT entity_id, rank() OVER (ORDER BY ${x}) AS k, lag(${y}) OVER (ORDER BY ${x}, entity_id) AS l FROM ${from}`),
      () => sql(`SELECT c.entity_id FROM ${from} c WHERE EXISTS (SELECT 1 FROM dsvc.${other} o WHERE o.${this.prop(other)} = c.${this.prop(start)})`),
      () => sql(`SELECT c.entity_id AS a, o.entity_id AS b FROM ${from} c JOIN dsvc.${other} o ON o.${this.prop(other)} = c.${this.prop(start)}`),
      () => sql(`SELECT entity_id, (SELECT count(*) FROM dsvc.${other} o WHERE ${fails(r, 'n0', 'o.n0')}) AS n FROM ${from}`),
      () => sql(`SELECT entity_id FROM ${from} WHERE ${this.prop(start)} NOT IN (SELECT ${this.prop(other)} FROM dsvc.${other})`),
      () => sql(`SELECT entity_id FROM ${from} WHERE entity_id = '${r.pick(['a0', 'b0'])}:${r.int(1, 66)}' OR ${condition}`),
      () => sql(`SELECT entity_id, ${x} AS x FROM ${from} WHERE entity_id IN ('a0:1', 'a0:12', 'a0:23', 'a0:34', 'b0:51', 'b0:62')`),
      () => sql(`SELECT entity_id, _type_of_${other} AS t FROM dsvc.${name}`),
      () => sql(`SELECT entity_id FROM dsvc.${name} WHERE _type_of_${other} AND ${condition}`),
      () => sql(`SELECT sum("measure.${r.pick(Object.keys(MEASURES))}") AS s FROM dsvc.${name}`),
      () => sql(`SELECT ${x} AS x, sum("measure.${r.pick(Object.keys(MEASURES))}") AS s FROM dsvc.${name} GROUP BY ${x}`),
      () => sql(`SELECT entity_id, ${walk} AS w FROM dsvc.${name}`),
      () => sql(`SELECT entity_id, ${walk} AS w FROM dsvc.${name} WHERE ${condition}`),
      ...(hop === null
        ? []
        : [
            () => sql(`SELECT sum("measure.${hop.text}.${r.pick(Object.keys(MEASURES))}") AS s FROM dsvc.${name}`),
            () => sql(`SELECT entity_id, "${hop.text}.*" FROM dsvc.${name}`),
            () => sql(`SELECT entity_id, count("${hop.text}.entity_id") AS n FROM dsvc.${name} GROUP BY entity_id`),
            () => sql(`SELECT entity_id, "${hop.text}_transitivity_level" AS l, "${hop.text}.entity_id" AS x FROM dsvc.${name}`),
            () => sql(`SELECT entity_id FROM dsvc.${name} WHERE "${hop.text}.entity_id" IS NULL`),
            () => get(`concept/${name}?_subj_=${encodeURIComponent(`${hop.text}.${this.prop(hop.to)}`)}&_op_=gt&_comp_=2`),
          ]),
      () => sql(`WITH c AS (SELECT entity_id, ${x} AS x FROM ${from}) SELECT a.entity_id FROM c a JOIN c b ON a.x = b.x`),
      () => sql(`SELECT ${x}::text AS x FROM ${from} UNION SELECT ${this.prop(other)}::text FROM esvc.${other}`),
      () => sql(`SELECT string_agg(${x}::text, ',' ORDER BY ${x}::text) AS t FROM ${from}`),
      () => sql(`EXPLAIN SELECT entity_id FROM ${from} WHERE ${condition}`),
      () => sql(`EXPLAIN (LOGICAL) SELECT entity_id, ${y} FROM ${from} WHERE ${condition}`),
      () =>
        sql(r.pick(['SELECT * FROM svc.SYS_MAPPINGS', 'SELECT * FROM svc.SYS_ONTOLOGY', `DESC dsvc.${name}`, 'SHOW CONCEPTS', 'SELECT * FROM svc.SYS_TABLES'])),
      () => get(`concept/${name}?_subj_=${p}&_op_=${r.pick(['eq', 'gt', 'lte', 'not_eq'])}&_comp_=${r.int(0, 5)}`),
      () => get(`concept/${name}?_select_=${p}&_order_=${p}`),
      () => get(`concept/${name}?_subj_=${p}&_op_=is_null`),
      viewed,
      viewed,
      viewed,
    ];
    return r.pick(forms)();
  }
}

/** A number of random requests, most of them about concepts that may be read. */
export function genAsks(r: Rng, model: PartModel, reads: ReadonlySet<string>, count: number): Ask[] {
  const writer = new Writer(r, model, reads);
  return Array.from({ length: count }, () => writer.ask(writer.concept()));
}
