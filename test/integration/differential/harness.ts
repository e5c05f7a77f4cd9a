/** Runs a case both ways: planned and run on PostgreSQL (databases.ts), and evaluated in memory. */
import { loadNodeParser } from '../../../src/cli/node-parser.ts';
import { SvcError } from '../../../src/errors.ts';
import type { SqlParser } from '../../../src/language/parser.ts';
import { compile } from '../../../src/ontology/compile.ts';
import type { Graph } from '../../../src/ontology/graph.ts';
import type { MappingDef, ViewDef } from '../../../src/ontology/model.ts';
import { CachedCubes } from '../../../src/planner/cached/reading.ts';
import { type Counted, cubeSelect, triedPlan } from '../../../src/planner/cached/select.ts';
import { CachedViews, viewSelect } from '../../../src/planner/cached/views.ts';
import { cachedSelect } from '../../../src/planner/cached.ts';
import { type CachedTable, type Plan, type PlanContext, planSelect } from '../../../src/planner/index.ts';
import { decorrelate } from '../../../src/planner/lower/decorrelate.ts';
import type { Access } from '../../../src/planner/secure/access.ts';
import { type Declared, verify } from '../../../src/planner/verify/index.ts';
import { sqlFor } from '../../../src/service/read/placements.ts';
import { Refused } from './block.ts';
import type { Row } from './compare.ts';
import { expectedLines, gotLines, sameLines } from './compare.ts';
import { type CaseDatabase, caseDatabase } from './databases.ts';
import { ddlOf, modelOf } from './ddl.ts';
import type { Result } from './evaluate.ts';
import { Evaluator, TooLarge } from './evaluate.ts';
import type { Expr, Query, Select } from './expr.ts';
import { op, selectsOf, walkQuery } from './expr.ts';
import type { Change } from './onto.ts';
import { Printer } from './print.ts';
import type { Case } from './shrink.ts';
import type { World } from './world.ts';

export interface Outcome {
  /**
   * `proved`: the same, for paths that part and that a proof makes one; `refused`: by both; `not_yet`: the planner does not have it; `engine`: a distributed database
   * refuses it; `large`: left out.
   */
  readonly kind: 'same' | 'proved' | 'refused' | 'not_yet' | 'engine' | 'large' | 'fail';
  /** Of a failure: what is the same in failures of one cause. Of what is too large: who says so (`evaluator`, `too_complex` of the planner), or `late`: the time-out of the database. */
  readonly cause: string;
  readonly rows: number;
  readonly text: string;
}

interface Run {
  readonly rows: readonly Row[] | null;
  readonly error: { readonly cause: string; readonly code: string; readonly text: string } | null;
  readonly physical: string;
}

/** CACHES=all|none caches every mapping, or no mapping. */
const CACHES = process.env.CACHES ?? 'some';

export class Harness {
  private readonly db: CaseDatabase;
  private readonly parser: SqlParser;
  private readonly cached = new Map<MappingDef, CachedTable>();
  /** The cached cubes and views. */
  private readonly views = new Map<ViewDef, { readonly table: CachedTable; readonly sql: string; readonly hasPaths: boolean }>();
  /** The number of plans that read cached mappings. */
  readCaches = 0;
  /** The number of plans that read cached cubes. */
  readCubes = 0;
  /** The number of plans that read cached cubes with paths. */
  readPaths = 0;
  /** The number of cubes that are not cached because a to-one path leads to several rows. */
  multiplied = 0;
  /** The number of plans that read cached views. */
  readViews = 0;
  /** The number of cached tables that a distributed database refuses to make. */
  refusedTables = 0;
  private world: World | null = null;
  private graph: Graph | null = null;

  private constructor(db: CaseDatabase, parser: SqlParser) {
    this.db = db;
    this.parser = parser;
  }

  static async open(): Promise<Harness> {
    return new Harness(await caseDatabase(), await loadNodeParser());
  }

  close(): Promise<void> {
    return this.db.close();
  }

  private async enter(world: World): Promise<void> {
    if (this.world === world) return;
    this.world = null;
    await this.db.exec(ddlOf(world));
    this.graph = compile(modelOf(world), 'world');
    await this.cache(this.graph);
    await this.cacheViews(this.graph);
    this.world = world;
  }

  /** Makes cached tables of about half of the mappings of about half of the worlds. */
  private async cache(graph: Graph): Promise<void> {
    this.cached.clear();
    await this.db.exec('DROP SCHEMA IF EXISTS cached CASCADE; CREATE SCHEMA cached');
    const { mappings } = graph.model;
    if (CACHES === 'none' || (CACHES === 'some' && mappings.reduce((n, m) => n + m.sql.length, 0) % 2 === 0)) return;
    for (const [i, mapping] of mappings.entries()) {
      if (CACHES === 'some' && (mapping.sql.length + i) % 2 === 0) continue;
      const select = cachedSelect(graph, this.parser, mapping, new Set());
      if (typeof select === 'string') continue;
      const table = { mapping: mapping.name, schema: 'cached', name: `m${i}`, asOf: 0 };
      if (await this.make(table.name, select)) this.cached.set(mapping, table);
    }
  }

  /** Makes a cached table, for where a distributed database has its tables. @returns false if that refuses it */
  private async make(name: string, made: { readonly sql: string; readonly declared: Declared }): Promise<boolean> {
    const { distributed } = this.db;
    const rows = verify(this.parser, sqlFor(distributed?.target(), this.parser, made).sql, made.declared).sql;
    try {
      await this.db.exec(`CREATE TABLE cached.${name} AS ${rows}`);
    } catch (error) {
      if (!distributed?.refuses(error)) throw error;
      this.refusedTables++;
      return false;
    }
    return true;
  }

  /** Makes the tables of all cubes and views that can be cached, but for `CACHES=none`. */
  private async cacheViews(graph: Graph): Promise<void> {
    this.views.clear();
    if (CACHES === 'none') return;
    for (const [i, view] of graph.model.views.entries()) {
      const context = { graph, parser: this.parser, product: 'svc', activeDatasource: 'main' };
      const made = triedPlan(() => (view.cube ? cubeSelect(context, view) : viewSelect(context, view)));
      if (made === undefined || typeof made === 'string') continue;
      if (!(await this.make(`u${i}`, made))) continue;
      const table = { mapping: view.name, of: view.cube ? 'cube' : 'view', schema: 'cached', name: `u${i}`, asOf: 0 } as const;
      const counted = 'counted' in made ? made.counted : undefined;
      if (counted && !(await this.isCountedOnce(table.name, counted))) this.multiplied++;
      else this.views.set(view, { table, sql: made.sql, hasPaths: counted !== undefined });
    }
  }

  /** False if paths multiply the rows of a cube. */
  async isCountedOnce(table: string, { rows, total }: Counted): Promise<boolean> {
    const [same = 'true'] = await this.db.read(`SELECT to_json(sum(${rows}) = max(${total}))::text FROM cached.${table}`, []);
    return same !== 'false';
  }

  private viewTables(): Pick<PlanContext, 'cubes' | 'views'> {
    const names = new Set([...this.views.keys()].map((v) => v.name.toLowerCase()));
    const tableOf = (view: ViewDef, { sql }: { readonly sql: string }): CachedTable | undefined => {
      const known = this.views.get(view);
      return known?.sql === sql ? known.table : undefined;
    };
    return { cubes: new CachedCubes(names, tableOf), views: new CachedViews(names, tableOf) };
  }

  /** Plans and runs a text; faults of either become an error in the result. */
  private async run(text: string, access?: Access, isLive = false): Promise<Run> {
    let physical = '';
    try {
      // half of the texts are planned with counted rows, with which single hops are folded
      const rowsOf = text.length % 2 === 0 ? () => 100 : undefined;
      // and the rows of some are made as for a datasource that may lose the names of columns
      const keepsNames = () => text.length % 3 !== 0;
      const cached = (mapping: MappingDef) => this.cached.get(mapping);
      const tables = isLive ? {} : this.viewTables();
      const { distributed } = this.db;
      const place = distributed ? { keepsNames: () => false, target: () => distributed.target() } : { keepsNames };
      const context = { graph: this.graph!, parser: this.parser, product: 'svc', activeDatasource: 'main', access, rowsOf, cached, ...place, ...tables };
      const plan = planSelect(context, { text, offset: 0 });
      physical = verify(this.parser, plan.sql, plan.declared).sql;
      if (plan.caches.some((c) => c.of === undefined)) this.readCaches++;
      if (plan.caches.some((c) => c.of === 'cube')) this.readCubes++;
      if (plan.caches.some((c) => c.of === 'view')) this.readViews++;
      if ([...this.views.values()].some((c) => c.hasPaths && plan.caches.includes(c.table))) this.readPaths++;
      // text parameters go as they are; what a distributed database refuses is planned again
      const read = ({ sql, params, isRewritten, nextRewrite }: Plan): Promise<readonly string[]> =>
        this.db.read(sql, params as string[]).catch((e) => {
          const rewrite = isRewritten ? nextRewrite : decorrelate;
          if (!rewrite || !distributed?.refuses(e)) throw e;
          const again = planSelect({ ...context, rewrite }, { text, offset: 0 });
          physical = verify(this.parser, again.sql, again.declared).sql;
          return read(again);
        });
      const rows = await read(plan);
      return { rows: rows.map((json) => JSON.parse(json) as Row), error: null, physical };
    } catch (e) {
      const error = e as Error & { code?: string };
      const own = error instanceof SvcError;
      const isLate = error.code === '57014';
      const code = own ? error.code : physical === '' ? 'crash' : this.db.distributed?.refuses(e) ? 'not_distributed' : isLate ? 'late' : 'postgres';
      const gist = error.message.replace(/"[^"]*"|`[^`]*`|'[^']*'/g, '_').replace(/\d+/g, 'N');
      const place = own || physical !== '' ? '' : ` ${(error.stack ?? '').split('\n')[1]?.replace(/^.*\/(src\/[^:]*).*$/, '$1') ?? ''}`;
      return {
        rows: null,
        error: { cause: `${code}: ${gist}${place}`, code, text: own || physical !== '' ? `${code}: ${error.message}` : String(error.stack) },
        physical,
      };
    }
  }

  /** The outcomes of a case's queries; `policies`: as a caller under them. */
  async outcomes(c: Case, policies?: (printer: Printer) => { readonly access: Access; readonly change: Change }): Promise<Outcome[]> {
    await this.enter(c.world);
    const printer = new Printer(c.world, c);
    const made = policies?.(printer);
    const evaluator = new Evaluator(c.world, made?.change);
    const out: Outcome[] = [];
    for (const q of c.queries) out.push(await this.one(c, q, evaluator, printer, made?.access));
    return out;
  }

  /** Compares the rows of queries that may read cached cubes with those of the same queries without them. */
  async alike(c: Case): Promise<Outcome[]> {
    await this.enter(c.world);
    const printer = new Printer(c.world, c);
    const out: Outcome[] = [];
    for (const q of c.queries) {
      const text = printer.query(q);
      const [live, cached] = [await this.run(text, undefined, true), await this.run(text)];
      const [want, got] = [live, cached].map((r) => (r.rows ? gotLines(r.rows) : [r.error?.code ?? '']));
      const same = sameLines(want as string[], got as string[], isTotal(q));
      out.push({
        kind: same ? 'same' : 'fail',
        cause: same ? '' : `live: ${shape(q)}`,
        rows: live.rows?.length ?? 0,
        text: same ? text : report(c, text, null, cached),
      });
    }
    return out;
  }

  private async one(c: Case, q: Query, evaluator: Evaluator, printer: Printer, access?: Access): Promise<Outcome> {
    const text = printer.query(q);
    let expected: Result | Refused;
    try {
      expected = evaluator.run(q);
    } catch (e) {
      if (e instanceof TooLarge) return { kind: 'large', cause: 'evaluator', rows: 0, text };
      if (!(e instanceof Refused)) return { kind: 'fail', cause: `evaluator: ${(e as Error).message}`, rows: 0, text: `${text}\n${(e as Error).stack}` };
      expected = e;
    }
    const run = await this.run(text, access);
    const fail = (cause: string): Outcome => ({
      kind: 'fail',
      cause,
      rows: 0,
      text: `${report(c, text, expected, run, isTotal(q))}${access ? `\n\n-- policies\n${JSON.stringify(access, null, 1)}` : ''}`,
    });
    if (run.error?.code === 'not_distributed') return { kind: 'engine', cause: run.error.cause, rows: 0, text: report(c, text, null, run) };
    if (run.error?.code === 'too_complex' || run.error?.code === 'late') return { kind: 'large', cause: run.error.code, rows: 0, text };
    if (run.error?.code === 'not_yet') return { kind: 'not_yet', cause: run.error.cause, rows: 0, text };
    let same: 'same' | 'proved' = 'same';
    if (expected instanceof Refused && !run.error && [...expected.codes].every((c) => c === 'fanout')) {
      try {
        expected = evaluator.proved(q);
        same = 'proved';
      } catch (e) {
        if (e instanceof TooLarge) return { kind: 'large', cause: 'evaluator', rows: 0, text };
        if (!(e instanceof Refused)) throw e;
      }
    }
    if (expected instanceof Refused) {
      // Where two rules are broken, the planner names the one that it comes upon first.
      if (run.error && [...expected.codes].some((c) => c === run.error?.code)) return { kind: 'refused', cause: '', rows: 0, text };
      return fail(`${run.error ? run.error.cause : 'answered'}: ${expected.message} expected`);
    }
    if (run.error) return fail(run.error.cause);
    const want = expectedLines(expected.columns, expected.rows);
    const got = gotLines(run.rows!);
    if (sameLines(want, got, isTotal(q))) return { kind: same, cause: '', rows: want.length, text };
    return fail(
      want.length !== got.length
        ? `mismatch: number of rows (${shape(q)})`
        : sameLines(want, got, false)
          ? 'mismatch: order'
          : `mismatch: values (${shape(q)})`,
    );
  }

  /** rows(Q) = rows(Q where p) + rows(Q where NOT p) + rows(Q where p IS NULL), only with the planner; null: it does not apply. */
  async partition(c: Case, q: Query): Promise<Outcome | null> {
    const s = q.body;
    if (s.k !== 'select' || !s.where || s.on || s.from.some((f) => f.src.k === 'cube') || s.group || s.distinct || s.limit !== null || s.offset !== null)
      return null;
    if (s.items.some((i) => i.k === 'expr' && special(i.e))) return null;
    await this.enter(c.world);
    const printer = new Printer(c.world, c);
    const p = s.where;
    const text = (where: Expr) => printer.query({ ...q, body: { ...s, where, order: [] } satisfies Select });
    const parts = [p, op('not', 'bool', p), op('isnull', 'bool', p)];
    const whole = await this.run(text(op('or', 'bool', ...parts)));
    if (whole.error) return null;
    const got: string[] = [];
    for (const part of parts) {
      const run = await this.run(text(part));
      if (!run.rows) return { kind: 'fail', cause: `partition: ${run.error!.cause}`, rows: 0, text: report(c, text(part), null, run) };
      got.push(...gotLines(run.rows));
    }
    const want = gotLines(whole.rows!);
    if (sameLines(want, got, false)) return { kind: 'same', cause: '', rows: want.length, text: text(p) };
    return { kind: 'fail', cause: 'partition', rows: 0, text: `${ddlOf(c.world)}\n\n${text(p)}\n\nwhole: ${want.join('\n  ')}\n\nparts: ${got.join('\n  ')}` };
  }
}

/** Windows see other rows in each part. */
function special(e: Expr): boolean {
  return e.k === 'win' || e.k === 'agg' || e.k === 'mea' || (e.k === 'op' && e.args.some(special));
}

const isTotal = (q: Query): boolean => q.body.k === 'select' && q.body.order.length > 0;

/** A rough kind of a query, so that failures of different causes are not thrown together. */
function shape(q: Query): string {
  const words = new Set<string>();
  if (q.body.k === 'setop') words.add('set');
  else if (q.body.group || q.body.items.some((i) => i.k === 'expr' && special(i.e) && i.e.k !== 'win')) words.add('grouped');
  if (q.ctes.length) words.add('cte');
  for (const s of selectsOf(q)) {
    if (s.sets) words.add('sets');
    for (const f of s.from) if (f.src.k === 'view' || f.src.k === 'cube') words.add(f.src.k);
  }
  walkQuery(q, (e) => {
    if (e.k === 'exists' || e.k === 'insub' || e.k === 'scalar') words.add('sub-query');
    if (e.k === 'agg' && e.filter) words.add('filter');
    if (e.k === 'mea') words.add(e.path.length ? 'measure of a path' : 'measure');
    if ((e.k === 'mea' || e.k === 'cm') && e.filter) words.add('filter');
    if (e.k === 'win') words.add('window');
    if (e.k === 'col' && e.path.length) words.add('path');
    if (e.k === 'col' && e.path.some((h) => h.star !== null)) words.add('walk');
    if (e.k === 'col' && e.leaf.k === 'multi') words.add('multi');
  });
  return [...words].sort().join(' ') || 'plain';
}

function report(c: Case, text: string, expected: Result | Refused | null, run: Run, ordered = false): string {
  const shown = (lines: string[]) => (ordered ? lines : lines.sort());
  const want =
    expected === null
      ? ['(rows)']
      : expected instanceof Refused
        ? [`400 ${[...expected.codes].join(' or ')}`]
        : shown(expectedLines(expected.columns, expected.rows));
  const got = run.error ? [run.error.text] : shown(gotLines(run.rows!));
  return [
    `-- tables\n${ddlOf(c.world)}`,
    `-- model\n${modelText(c.world)}`,
    `-- query\n${text}`,
    `-- the second opinion expects\n${want.join('\n') || '(no rows)'}`,
    `-- the planner's SQL gives\n${got.join('\n') || '(no rows)'}`,
    `-- the planner's SQL\n${run.physical}`,
  ].join('\n\n');
}

/** The model in short, near to modelling statements. */
function modelText(world: World): string {
  const m = modelOf(world);
  const type = new Map(m.properties.map((p) => [p.name, p.type + (p.expression ? ` AS ${p.expression}` : '')]));
  const out = m.concepts.map((c) => {
    const parts = [
      ...c.properties.map((p) => `${p} ${type.get(p)}`),
      ...c.measures.map((p) => `${p} MEASURE`),
      ...c.multi.map((p) => `CONSTRAINT ${p} MULTIVALUE ${type.get(p)}`),
      ...(c.primaryKey.length ? [`PRIMARY KEY (${c.primaryKey.join(', ')})`] : []),
      ...(c.label.length ? [`LABEL (${c.label.join(', ')})`] : []),
      ...c.relationships.map((r) => {
        const t = r.transitive === null ? '' : r.transitive === 'default' ? ' TRANSITIVE' : ` TRANSITIVE(${r.transitive})`;
        const how = r.kind === 'fk' ? `FOREIGN KEY (${r.source.join(', ')}) REFERENCES ${r.target} (${r.references.join(', ')})` : `MULTIREFERENCE ${r.target}`;
        return `CONSTRAINT ${r.name} ${how}${r.inverse ? ` INVERSEOF ${r.inverse}` : ''}${t}${r.symmetric ? ' SYMMETRIC' : ''}${r.includes ? ` INCLUDES (${r.includes.join(', ')})` : ''}`;
      }),
    ];
    return `CONCEPT ${c.name} (${parts.join(', ')})${c.parents.length ? ` INHERITS (${c.parents.join(', ')})` : ''}${c.logic ? ` FROM ${c.logic.schema}.${c.logic.concept} WHERE ${c.logic.condition}` : ''}`;
  });
  for (const x of m.mappings) {
    const into = x.link
      ? `(${[x.link.forward, x.link.back].map((e) => `CONSTRAINT ${e.relationship} FOREIGN KEY (${e.columns.join(', ')}) REFERENCES ${e.concept} (${e.references.join(', ')})`).join(', ')})`
      : `INTO ${x.concept}${x.property ? ` MULTIVALUE ${x.property}` : ''}`;
    out.push(`MAPPING ${x.name} ${into} AS ${x.sql}`);
  }
  for (const x of m.measures) out.push(`MEASURE ${x.name} ${x.type} AS SELECT ${x.expression}${x.filter ? ` WHERE ${x.filter}` : ''}`);
  for (const x of m.views) out.push(`${x.cube ? 'CUBE' : 'VIEW'} "${x.name}" AS ${x.sql}`);
  if (world.defaultTransitivity !== null) out.push(`default_transitivity = ${world.defaultTransitivity}`);
  return out.join('\n');
}

/** The smallest case with the same cause that is found in `budget` tries. */
export async function shrunk(
  c: Case,
  cause: string,
  fails: (c: Case) => Promise<Outcome | null>,
  candidates: (c: Case) => Iterable<Case>,
  budget: number,
): Promise<{ readonly case: Case; readonly outcome: Outcome } | null> {
  let best: { case: Case; outcome: Outcome } | null = null;
  let at = c;
  for (let left = budget; left > 0; ) {
    let next: Case | null = null;
    for (const candidate of candidates(at)) {
      if (left-- <= 0) break;
      let outcome: Outcome | null;
      try {
        outcome = await fails(candidate);
      } catch {
        continue;
      }
      if (outcome?.kind !== 'fail' || outcome.cause.replace(/ \(.*$/, '') !== cause.replace(/ \(.*$/, '')) continue;
      best = { case: candidate, outcome };
      next = candidate;
      break;
    }
    if (!next) break;
    at = next;
  }
  return best;
}
