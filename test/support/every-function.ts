/** Every function of PostgreSQL, a small model in which to call them, and whether a statement is refused. */
import { loadNodeParser } from '../../src/cli/node-parser.ts';
import { SvcError } from '../../src/errors.ts';
import { compile } from '../../src/ontology/compile.ts';
import type { Graph } from '../../src/ontology/graph.ts';
import { EMPTY_MODEL, type Model } from '../../src/ontology/model.ts';
import { ALLOWED_FUNCTIONS } from '../../src/planner/guard/index.ts';
import { type PlanContext, planSelect } from '../../src/planner/index.ts';
import { databases } from './analysis/database.ts';
import { conceptOf } from './concepts.ts';

export const parser = await loadNodeParser();

/** Functions that must not be called: all names, and those that can be written without quotes. */
export interface Forbidden {
  readonly names: readonly string[];
  readonly plain: ReadonlySet<string>;
  /** Functions that take a row as their only argument. */
  readonly ofRows: ReadonlySet<string>;
}

const OF_ROWS = `SELECT DISTINCT proname::text AS n FROM pg_proc
  WHERE pronamespace = 'pg_catalog'::regnamespace AND pronargs >= 1 AND pronargs - pronargdefaults <= 1
    AND (proargtypes[0]::regtype::text IN ('"any"', 'anyelement', 'anynonarray', 'anycompatible', 'anycompatiblenonarray', 'record') OR provariadic = '"any"'::regtype)`;

/** The functions of all available PostgreSQL versions. */
export async function forbiddenFunctions(): Promise<Forbidden> {
  const all = new Set<string>();
  const keywords = new Set<string>();
  const ofRows = new Set<string>();
  for (const db of await databases()) {
    for (const { n } of await db.query("SELECT DISTINCT proname::text AS n FROM pg_proc WHERE pronamespace = 'pg_catalog'::regnamespace")) all.add(String(n));
    for (const { n } of await db.query(OF_ROWS)) ofRows.add(String(n));
    for (const { n } of await db.query("SELECT word AS n FROM pg_get_keywords() WHERE catcode <> 'U'")) keywords.add(String(n));
    await db.close();
  }
  const names = [...all].filter((n) => !ALLOWED_FUNCTIONS.has(n)).sort();
  return { names, plain: new Set(names.filter((n) => /^[a-z_][a-z0-9_]*$/.test(n) && !keywords.has(n))), ofRows };
}

/** Two concepts; no property has the name of a function. `more`: further statements of the model. */
export function modelOf(more: Partial<Model> = {}): Model {
  const property = (name: string, type: string) => ({ name, type, multi: false, description: null, tags: {}, expression: null });
  const concept = (name: string, properties: readonly string[]) => conceptOf(name, properties, { primaryKey: ['zq_id'], label: ['zq_name'] });
  const mapping = (name: string, sql: string) => ({
    name,
    kind: 'concept' as const,
    concept: name.slice(2),
    property: null,
    link: null,
    datasource: 'main',
    sql,
    columns: [{ name: 'zq_id' }, { name: 'zq_name' }],
  });
  return {
    ...EMPTY_MODEL,
    ...more,
    properties: [property('zq_id', 'bigint'), property('zq_name', 'string'), ...(more.properties ?? [])],
    concepts: [concept('zq_one', ['zq_id', 'zq_name', ...(more.properties ?? []).map((p) => p.name)]), ...(more.concepts ?? [])].map((c) =>
      c.name === 'zq_one' ? { ...c, measures: (more.measures ?? []).map((m) => m.name) } : c,
    ),
    mappings: [mapping('m_zq_one', 'SELECT id AS zq_id, label AS zq_name FROM raw.one'), ...(more.mappings ?? [])].map((m) => ({
      ...m,
      concept: m.concept === null ? null : m.name === 'm_zq_one' ? 'zq_one' : m.concept,
    })),
  };
}

export const contextOf = (graph: Graph): PlanContext => ({ graph, parser, product: 'svc', activeDatasource: 'main' });
export const context = contextOf(compile(modelOf(), 'zq'));
export const quoted = (name: string): string => `"${name}"`;

/** The code with which a statement is refused; undefined if it is accepted. Anything but a 400 is an error of the service. */
export function refusal(run: () => unknown): string | undefined {
  try {
    run();
    return undefined;
  } catch (error) {
    if (!(error instanceof SvcError) || error.status !== 400) throw error;
    return error.code;
  }
}
export const planned = (text: string): string | undefined => refusal(() => planSelect(context, { text, offset: 0 }));

/** Names for which `make` returns a statement that is accepted, or refused for an unrelated reason (a syntax error). */
export function passing(names: Iterable<string>, make: (name: string) => string | undefined): string[] {
  const wrong: string[] = [];
  for (const name of names) {
    const code = make(name);
    if (code === undefined || code === 'syntax_error') wrong.push(`${name}${code === undefined ? '' : ` (${code})`}`);
  }
  return wrong;
}
