/** Random requests about a model of kin-world.ts, in which values are shown, compared, or fail. */
import type { Rng } from '../../integration/differential/rng.ts';
import type { KinWorld } from './kin-world.ts';
import type { Ask } from './partial-queries.ts';

type Start = 'being' | 'cat' | 'pet' | 'elder' | 'mayor' | 'tame' | 'grand' | 'town' | 'memo' | 'thing';

const STARTS: readonly Start[] = ['being', 'being', 'cat', 'pet', 'elder', 'mayor', 'tame', 'grand', 'town', 'memo', 'thing'];
const OF_BEING = [
  'tag',
  'tag',
  'n',
  'n',
  'code',
  'open',
  'boss_tag',
  'friends',
  'known',
  'nicks',
  'sums',
  'home_rank',
  'tags',
  'risk',
  'id',
  'boss',
  'home',
  'extra',
  'nick',
  'nick',
] as const;
const OF_TOWN = ['no', 'name', 'rank', 'open', 'code', 'crowd'] as const;
const OF_MEMO = ['mid', 'ref', 'txt', 'open'] as const;
const NUMBERS = new Set(['n', 'friends', 'known', 'sums', 'risk', 'id', 'boss', 'home', 'no', 'crowd', 'mid', 'since', 'who', 'place', 'transitivity_level']);
const BEINGS: readonly Start[] = ['being', 'being', 'cat', 'pet', 'elder', 'mayor', 'tame', 'grand'];

const isBeing = (c: Start): boolean => BEINGS.includes(c);

class Writer {
  readonly r: Rng;
  readonly w: KinWorld;
  constructor(r: Rng, w: KinWorld) {
    this.r = r;
    this.w = w;
  }

  props(c: Start): readonly string[] {
    return c === 'town' ? OF_TOWN : c === 'memo' ? OF_MEMO : c === 'thing' ? ['code', 'tag', 'rank', 'open'] : OF_BEING;
  }

  hop(c: Start): { readonly text: string; readonly to: Start; readonly walk: boolean; readonly columns: readonly string[] } {
    const { r } = this;
    const seen = BEINGS.filter((b) => this.w.reads === null || this.w.reads.has(b));
    const being = (): Start => r.pick(seen.length > 0 && r.chance(90) ? seen : BEINGS);
    if (isBeing(c)) {
      const depth = r.chance(50) ? r.pick(['*', '*2', '*3']) : '';
      const to = being();
      return r.pick([
        { text: `friend[${to}]`, to, walk: false, columns: [] },
        { text: `\`~friend\`[${to}]`.replaceAll('`', ''), to, walk: false, columns: [] },
        { text: `${r.pick(['knows', '~knows', 'knows'])}[${to}${depth}]`, to, walk: depth !== '', columns: [] },
        { text: `${r.pick(['reports_to', 'leads'])}[${to}${depth}]`, to, walk: depth !== '', columns: [] },
        { text: 'lives_in[town]', to: 'town' as const, walk: false, columns: [] },
        { text: 'visits[town]', to: 'town' as const, walk: false, columns: ['who', 'place', 'since', 'tag', 'rank'] },
        { text: 'noted[memo]', to: 'memo' as const, walk: false, columns: [] },
      ]);
    }
    if (c === 'town') {
      const to = being();
      return r.pick([
        { text: `houses[${to}]`, to, walk: false, columns: [] },
        { text: `visited[${to}]`, to, walk: false, columns: ['who', 'place', 'since', 'tag', 'rank'] },
        { text: 'noted[memo]', to: 'memo' as const, walk: false, columns: [] },
      ]);
    }
    if (c === 'thing') return { text: 'noted[memo]', to: 'memo', walk: false, columns: [] };
    const to = r.pick<Start>(['thing', 'being', 'pet', 'town', 'elder']);
    return { text: `about[${to}]`, to, walk: false, columns: [] };
  }

  hops(c: Start): ReturnType<Writer['hop']> {
    const one = this.hop(c);
    if (!this.r.chance(30)) return one;
    const two = this.hop(one.to);
    return { ...two, text: `${one.text}.${two.text}` };
  }

  /** A column of dsvc, and its property. */
  column(c: Start): readonly [string, string] {
    const { r } = this;
    if (!r.chance(55)) {
      const p = r.pick(this.props(c));
      return [p, p];
    }
    const hop = this.hops(c);
    if (hop.columns.length > 0 && r.chance(50)) {
      const p = r.pick(hop.columns);
      return [`"${hop.text}_${p}"`, p];
    }
    if (hop.walk && r.chance(20)) return [`"${hop.text}_transitivity_level"`, 'transitivity_level'];
    const p = r.pick(this.props(hop.to));
    return [`"${hop.text}.${p}"`, p];
  }

  fails(p: string, at: string): string {
    // 7 and 1 are values, and lengths of texts, that only hidden rows and masked values have
    const n = this.r.pick([7, 7, 0, this.r.int(0, 9)]);
    if (p === 'open') return `1 / (${at}::int - ${n % 2}) > -9`;
    if (NUMBERS.has(p))
      return this.r.pick([
        `10 / (${at} - ${n}) > -99`,
        `10 / (${at} - ${n}) > -99`,
        `${at} * 9223372036854775807 > ${n}`,
        `sqrt(${at} - ${n}) >= 0`,
        `CAST(${at} AS smallint) > ${n}`,
      ]);
    return this.r.pick([
      `CAST(${at} AS bigint) >= ${n}`,
      `CAST(substr(${at}, 2) AS bigint) >= ${n % 3}`,
      `${at} LIKE 'k\\'`,
      `'k1' ~ ${at}`,
      `1 / (length(${at}) - 1) > -9`,
      `1 / (length(${at}) - ${1 + (n % 3)}) > -9`,
    ]);
  }

  compares(p: string, at: string): string {
    const n = this.r.int(0, 9);
    if (p === 'open') return `${at} IS NOT TRUE`;
    const value = NUMBERS.has(p) ? `${n}` : this.r.pick(["'k1'", "'k0'", "'k7'", "'x'", "'Secret'", "'c3'", "'t1'"]);
    return this.r.pick([
      `${at} = ${value}`,
      `${at} > ${value}`,
      `${at} IN (${value}, ${value})`,
      `${at} IS NULL`,
      `${at} IS NOT NULL`,
      `${value} >= ${at}`,
      `${at} IS DISTINCT FROM ${value}`,
    ]);
  }

  get masksKey(): boolean {
    return this.w.masks.some((m) => m.prop === 'id' || m.prop === 'no');
  }

  /** Mostly a concept that may be read. */
  start(): Start {
    const { reads } = this.w;
    const readable = STARTS.filter((c) => reads === null || reads.has(c) || c === 'thing');
    return this.r.pick(this.r.chance(92) ? readable : STARTS);
  }

  ask(): Ask {
    const { r } = this;
    const c = this.start();
    const schema = r.pick(['dsvc', 'dsvc', 'dsvc', 'esvc', 'svc']);
    const from = `${schema}.${c}`;
    const plain = (): readonly [string, string] => {
      const p = r.pick(this.props(c).filter((q) => q !== 'nick' && (q !== 'extra' || c === 'cat' || c === 'pet')));
      return [p, p];
    };
    const own = (): readonly [string, string] => (schema === 'dsvc' ? this.column(c) : plain());
    const [x, p] = own();
    const [y, q] = own();
    const condition = r.chance(50) ? this.fails(p, x) : this.compares(p, x);
    const other = this.start();
    const op = r.pick(this.props(other).filter((o) => o !== 'nick'));
    const hop = this.hops(c);
    const sql = (text: string, sorted = false): Ask => ({ text, path: false, sorted });
    const get = (text: string): Ask => ({ text, path: true, sorted: false });
    const type = (prop: string): string => (prop === 'open' ? 'b' : NUMBERS.has(prop) ? 'n' : 't');
    const same = this.props(other).filter((o) => type(o) === type(p) && o !== 'nick');
    const joined = same.length > 0 ? r.pick(same) : op;
    const id = r.pick(['being', 'town', 'memo']);
    const ids = `'${id}:${r.int(1, 14)}', 'being:${r.int(1, 14)}', 'town:${r.int(1, 5)}'`;
    const forms: (() => Ask)[] = [
      () => sql(`SELECT * FROM ${from}`),
      () => sql(`SELECT entity_id, entity_label, entity_type, ${x} AS x, ${y} AS y FROM ${from}`),
      () => sql(`SELECT entity_id, ${x} AS x, ${y} AS y FROM ${from}`),
      () => sql(`SELECT entity_id, ${x} AS x FROM ${from} WHERE ${condition}`),
      () => sql(`SELECT entity_id, ${y} AS x FROM ${from} WHERE ${condition}`),
      () => sql(`SELECT entity_id, ${x} AS x FROM ${from} WHERE ${condition} AND ${this.compares(q, y)}`),
      () => sql(`SELECT entity_id FROM ${from} WHERE NOT (${condition}) OR ${this.compares(q, y)}`),
      () => sql(`SELECT ${x} AS x, count(*) AS n FROM ${from} GROUP BY ${x}`),
      () => sql(`SELECT ${x} AS x, count(${y}) AS m FROM ${from} GROUP BY ${x}`),
      () => sql(`SELECT entity_id, max(${x}::text) AS m, count(${y}) AS k FROM ${from} GROUP BY entity_id`),
      () => sql(`SELECT ${x} AS x, ${y} AS y, count(*) AS n FROM ${from} GROUP BY GROUPING SETS ((${x}), (${y}), ())`),
      () => sql(`SELECT max(${x}::text) AS m, min(${x}::text) AS k, count(DISTINCT ${x}) AS n FROM ${from} WHERE ${this.compares(q, y)}`),
      () => sql(`SELECT count(*) FILTER (WHERE ${condition}) AS n FROM ${from}`),
      () => sql(`SELECT sum(CASE WHEN ${condition} THEN 1 ELSE 0 END) AS s FROM ${from}`),
      () => sql(`SELECT DISTINCT ${x} AS x FROM ${from}`),
      () => sql(`SELECT to_jsonb(c) AS j FROM ${from} c`),
      () => sql(`SELECT (c).tag AS x, c AS w FROM svc.${isBeing(c) ? c : 'being'} c`),
      () => sql(`SELECT ${x} AS x, rank() OVER (ORDER BY ${x}) AS k, count(*) OVER (PARTITION BY ${y}) AS l FROM ${from}`),
      () => sql(`SELECT c.${x} AS x FROM ${from} c WHERE EXISTS (SELECT 1 FROM dsvc.${other} o WHERE o.${joined} = c.${x})`),
      () => sql(`SELECT c.entity_id AS a, o.entity_id AS b FROM ${from} c JOIN dsvc.${other} o ON o.${joined} = c.${x}`),
      () => sql(`SELECT count(*) AS n FROM ${from} c JOIN dsvc.${other} o ON o.entity_id = c.entity_id WHERE ${this.compares(op, `o.${op}`)}`),
      () => sql(`SELECT entity_id, (SELECT count(*) FROM dsvc.${other} o WHERE ${this.fails(op, `o.${op}`)}) AS n FROM ${from}`),
      () => sql(`SELECT entity_id FROM ${from} WHERE ${x} NOT IN (SELECT ${joined} FROM dsvc.${other})`),
      () => sql(`SELECT entity_id, ${x} AS x FROM ${from} WHERE entity_id IN (${ids})`),
      () => sql(`SELECT entity_id, ${x} AS x FROM ${from} WHERE entity_id = '${id}:${r.int(1, 14)}' OR ${condition}`),
      () => sql(`SELECT entity_id, _type_of_${r.pick(['cat', 'pet', 'elder', 'mayor', 'town', 'being'])} AS t FROM dsvc.${c}`),
      () =>
        sql(
          `SELECT entity_id, ${x} AS x FROM dsvc.${c} WHERE _type_of_${r.pick(['cat', 'pet', 'elder'])} AND ${condition}`.replace(
            'dsvc',
            schema === 'dsvc' ? 'dsvc' : schema,
          ),
        ),
      () => sql(`SELECT sum("measure.${r.pick(['total', 'heads'])}") AS s FROM dsvc.${c}`),
      () => sql(`SELECT ${schema === 'dsvc' ? x : 'open'} AS x, sum("measure.${r.pick(['total', 'heads'])}") AS s FROM dsvc.${c} GROUP BY 1`),
      () => sql(`SELECT sum("measure.${hop.text}.${r.pick(['total', 'heads'])}") AS s FROM dsvc.${c}`),
      () => sql(`SELECT entity_id, "${hop.text}.*" FROM dsvc.${c}`),
      () => sql(`SELECT entity_id, "${hop.text}.entity_id" AS i, "${hop.text}.entity_label" AS l, "${hop.text}.entity_type" AS t FROM dsvc.${c}`),
      () => sql(`SELECT entity_id, count("${hop.text}.entity_id") AS n FROM dsvc.${c} GROUP BY entity_id`),
      () => sql(`SELECT count(DISTINCT "${hop.text}.entity_id") AS n, count("${hop.text}.entity_id") AS m FROM dsvc.${c}`),
      () => sql(`SELECT entity_id FROM dsvc.${c} WHERE "${hop.text}.entity_id" IS NULL`),
      () => sql(`SELECT entity_id FROM dsvc.${c} WHERE "${hop.text}.entity_id" IN (${ids})`),
      () => sql(`WITH c AS (SELECT ${x} AS x, ${y} AS y FROM ${from}) SELECT a.x, b.y FROM c a JOIN c b ON a.x = b.x`),
      () => sql(`SELECT ${x}::text AS x FROM ${from} UNION SELECT ${op}::text FROM esvc.${other}`),
      () => sql(`SELECT string_agg(${x}::text, ',' ORDER BY ${x}::text) AS t FROM ${from}`),
      () =>
        sql(`SELECT c.open, l.x FROM ${from} c CROSS JOIN LATERAL (SELECT max(o.${op}::text) AS x FROM dsvc.${other} o WHERE ${this.fails(p, `c.${x}`)}) l`),
      () => sql(`EXPLAIN SELECT entity_id FROM ${from} WHERE ${condition}`),
      () => sql(`EXPLAIN (LOGICAL) SELECT entity_id, ${y} FROM ${from} WHERE ${condition}`),
      () =>
        sql(
          r.pick([
            'SELECT * FROM svc.SYS_MAPPINGS',
            'SELECT * FROM svc.SYS_PROPERTIES_STATISTICS',
            `DESC dsvc.${c}`,
            'SHOW CONCEPTS',
            'SELECT * FROM svc.SYS_CONCEPTS',
          ]),
        ),
      () =>
        sql(
          r.pick([
            `SELECT * FROM vsvc.everyone`,
            'SELECT tag, other, seen FROM vsvc.pairs',
            'SELECT * FROM vsvc.census',
            'SELECT place, sum(total) AS t FROM vsvc.census GROUP BY place',
          ]),
        ),
      () => sql(`SELECT * FROM vsvc.everyone WHERE ${this.fails('tag', r.pick(['tag', 'code']))}`),
      () => sql(`SELECT other, seen FROM vsvc.pairs WHERE ${r.chance(50) ? this.fails('tag', 'seen') : this.fails('tag', 'other')}`),
      () =>
        get(`concept/${c}?_subj_=${p}&_op_=${r.pick(['eq', 'gt', 'lte', 'not_eq'])}&_comp_=${NUMBERS.has(p) ? r.int(0, 9) : r.pick(['k1', 'k7', 'Secret'])}`),
      () => get(`concept/${c}?_subj_=${encodeURIComponent(`${hop.text}.${r.pick(this.props(hop.to))}`)}&_op_=gt&_comp_=2`),
      () => get(`concept/${c}?_subj_=entity_id&_op_=in&_comp_=${encodeURIComponent('being:1,being:2,being:5,being:9,town:2')}`),
      () => get(`concept/${c}?_select_=${p},${q}`),
    ];
    return r.pick(forms)();
  }
}

/** A number of random requests. */
export function kinAsks(r: Rng, w: KinWorld, count: number): Ask[] {
  const writer = new Writer(r, w);
  return Array.from({ length: count }, () => writer.ask());
}
