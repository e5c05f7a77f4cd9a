/** SHOW (docs/design/statements-and-versions.md#show-desc-and-describe-concept): lists with the same rows as the system tables. */
import { can, canSee } from '../../auth/grants.ts';
import { listTokens, readAccess } from '../../catalog/access.ts';
import { readChanges } from '../../catalog/audit.ts';
import { findUser } from '../../catalog/changes.ts';
import { readCounts } from '../../catalog/counts.ts';
import { adminState } from '../../catalog/rights.ts';
import { readStatistics } from '../../catalog/statistics.ts';
import { badRequest, didYouMean, forbidden, nearest, type SvcError } from '../../errors.ts';
import type { Name, Show } from '../../language/statements.ts';
import { neutralSchema } from '../../ontology/apply/context.ts';
import type { Graph } from '../../ontology/graph.ts';
import { fold } from '../../ontology/names.ts';
import { filteredAgents } from '../caller/agents.ts';
import { lacks, unknownInStatement } from '../caller/lookup.ts';
import { visibleAccess } from '../caller/system-access.ts';
import type { OpenOntology, Session } from '../session.ts';
import { benchmarksOf } from './benchmarks.ts';
import { visibleCaches } from './caches.ts';
import { describable } from './describe-columns.ts';
import { DEFAULT_TRANSITIVITY } from './detail.ts';
import { visibleExamples } from './examples.ts';
import { visibleHistory } from './history.ts';
import { visibleJobs } from './jobs.ts';
import { ACCESS_TABLES, AGENT_TABLES, COUNT_TABLES, isLate, SYSTEM_TABLES, type SystemContext, systemRows } from './system.ts';
import { type LateRows, systemContext } from './system-context.ts';
import { versionRow, versionRows } from './versions.ts';

// loaded together, because both are for lists of what a model has
export { describeRelation } from './describe-relation.ts';

/** SHOW x is SELECT * FROM SYS_x. `ontology`: the request must name an ontology. */
const LISTS: Readonly<Record<string, { readonly ontology: boolean }>> = {
  ONTOLOGIES: { ontology: false },
  ONTOLOGY: { ontology: true },
  CONCEPTS: { ontology: true },
  PROPERTIES: { ontology: true },
  VIEWS: { ontology: true },
  AGENTS: { ontology: false },
  POLICIES: { ontology: true },
  GRANTS: { ontology: false },
  EXAMPLES: { ontology: true },
  DATASOURCES: { ontology: false },
  TAGS: { ontology: true },
  CACHES: { ontology: true },
  JOBS: { ontology: true },
};

type Shown = (show: Showing) => LateRows | Promise<LateRows>;

/** The context of a SHOW statement. */
interface Showing {
  readonly session: Session;
  readonly statement: Show;
  /** The words after the first one. */
  readonly rest: readonly Name[];
  readonly graph: Graph | undefined;
}

const OTHERS: Readonly<Record<string, Shown>> = {
  VERSION: (show) => ofOntology(show, (draft) => () => versionRow(show.session, draft)),
  VERSIONS: (show) => ofOntology(show, (draft) => () => versionRows(show.session, draft)),
  CONFIG: (show) => ofOntology(show, (draft, graph) => now(config(show.session, draft, graph))),
  SCHEMAS: (show) => {
    end(show);
    return now(schemas(show.session).map((schema) => ({ schema })));
  },
  TABLES: tables,
  TOKEN: tokens,
  DATASOURCE: async (show) => {
    const [name] = show.rest;
    if (name === undefined)
      throw badRequest('syntax_error', 'expected the name of a datasource after SHOW DATASOURCE', { offset: show.statement.source.offset });
    end(show, 1);
    return (await import('./datasource-tables.ts')).datasourceTables(show.session, name);
  },
  CREATE: async ({ session, statement, rest, graph }) => (await import('./show-create.ts')).showCreate(session, statement, rest, graph),
};

/** The first words after SHOW. */
export const SHOWN: readonly string[] = [...Object.keys(LISTS), ...Object.keys(OTHERS)].sort();

/**
 * Prepares a SHOW statement.
 * @throws SvcError 400 `unknown_statement`, `unknown_*`, `syntax_error`, `no_ontology`; 403; 503
 */
export async function prepareShow(session: Session, statement: Show, graph: Graph | undefined): Promise<LateRows> {
  const [what, ...rest] = statement.words as [Name, ...Name[]];
  const word = what.text.toUpperCase();
  const show: Showing = { session, statement, rest, graph };
  const list = Object.hasOwn(LISTS, word) ? LISTS[word] : undefined;
  if (list !== undefined) {
    end(show);
    if (list.ontology) required(show);
    return systemList(show, `SYS_${word}`);
  }
  const shown = Object.hasOwn(OTHERS, word) ? OTHERS[word] : undefined;
  if (shown === undefined) throw unknownShow(what);
  return shown(show);
}

const now = (rows: readonly unknown[]): LateRows => {
  return async () => rows;
};

function unknownShow(what: Name): SvcError {
  const near = nearest(what.text, SHOWN);
  return badRequest('unknown_statement', `unknown statement \`SHOW ${what.text}\`${didYouMean(near && `SHOW ${near}`)}`, {
    offset: what.offset,
    hint: `After SHOW expected one of ${SHOWN.slice(0, -1).join(', ')} or ${SHOWN.at(-1)}`,
  });
}

/** @throws SvcError 400 `syntax_error` if words are left */
function end({ rest, statement }: Showing, taken = 0): void {
  const more = rest[taken];
  if (more === undefined) return;
  const shown = statement.words.slice(0, taken + 1).map((w) => w.text);
  throw badRequest('syntax_error', `expected the end of the statement after SHOW ${shown.join(' ')}, found \`${more.text}\``, { offset: more.offset });
}

/** @throws SvcError 400 `no_ontology` */
function required({ session, statement, graph }: Showing): { readonly draft: OpenOntology; readonly graph: Graph } {
  const { draft } = session;
  if (draft !== undefined && graph !== undefined) return { draft, graph };
  throw badRequest('no_ontology', 'This statement reads an ontology, but the request names none', {
    offset: statement.source.offset,
    hint: 'Send the name of the ontology in ontology_name',
  });
}

function ofOntology(show: Showing, rows: (draft: OpenOntology, graph: Graph) => LateRows): LateRows {
  end(show);
  const { draft, graph } = required(show);
  return rows(draft, graph);
}

/** Adds to the context what `tables` need from the catalog: visible users, roles and grants, row counts, lists of agents, examples, history. @throws SvcError 503 */
export async function withLate(session: Session, context: SystemContext, tables: Iterable<string>): Promise<SystemContext> {
  const { runtime } = session.request;
  const { db } = runtime;
  const names = [...tables];
  const { draft } = session;
  const { ontology, graph, version } = context;
  const access = names.some((t) => ACCESS_TABLES.has(t)) ? visibleAccess(session.caller, await readAccess(db)) : undefined;
  const counts = draft && !draft.changed && names.some((t) => COUNT_TABLES.has(t)) ? await readCounts(db, draft.version) : undefined;
  const statistics = draft && !draft.changed && names.includes('SYS_PROPERTIES_STATISTICS') ? await readStatistics(db, draft.version) : undefined;
  const agents = names.some((t) => AGENT_TABLES.has(t)) ? await filteredAgents(session.request.runtime, session.caller) : undefined;
  const listsExamples = names.includes('SYS_EXAMPLES') || names.includes('SYS_KNOWLEDGEBASE_EXAMPLES');
  const examples = ontology && listsExamples ? await visibleExamples(session.request, session.caller, ontology, graph, version) : undefined;
  const benchmarks = names.includes('SYS_AGENTS_BENCHMARKS') ? await benchmarksOf(session.request, session.caller) : undefined;
  const history = names.includes('SYS_AGENTS_HISTORY') ? await visibleHistory(runtime, session.caller, ontology) : undefined;
  const changes = names.includes('SYS_AUDIT') && session.caller.principal.isAdmin ? await readChanges(db) : undefined;
  const caches = ontology && names.includes('SYS_CACHES') ? await visibleCaches(session, ontology, graph) : undefined;
  const jobs = ontology && names.includes('SYS_JOBS') ? await visibleJobs(session, ontology, graph) : undefined;
  return { ...context, access, counts, statistics, agents, examples, benchmarks, history, changes, caches, jobs };
}

function systemList({ session, graph }: Showing, table: string): LateRows {
  const context = systemContext(session, graph);
  if (!isLate(table)) return now(systemRows(context)(table)?.rows ?? []);
  return async () => systemRows(await withLate(session, context, [table]))(table)?.rows ?? [];
}

/** The settings of an ontology, including defaults. Allowed functions are shown only to callers who may see names of the datasource. */
function config({ caller }: Session, { row }: OpenOntology, { model }: Graph): readonly unknown[] {
  const { principal } = caller;
  const showsTables = can(principal, 'edit', ['ontology', row.name]) || (row.active !== null && can(principal, 'query', ['datasource', row.active]));
  return [
    { key: 'default_transitivity', value: model.config.default_transitivity ?? String(DEFAULT_TRANSITIVITY) },
    { key: 'quote', value: model.config.quote ?? '`' },
    { key: 'allowed_functions', value: showsTables ? (row.allowedFunctions ?? '') : null },
  ];
}

const schemas = ({ request }: Session): readonly string[] => ['', 'e', 'd', 'v'].map((p) => p + request.runtime.config.product);

/** SHOW TABLES [IN schema] */
function tables(show: Showing): LateRows {
  const { session, rest } = show;
  const [word, schemaName] = rest;
  if (word !== undefined && (fold(word.text) !== 'in' || schemaName === undefined)) {
    throw badRequest('syntax_error', `expected \`IN\` and a schema, found \`${word.text}\``, { offset: word.offset });
  }
  end(show, schemaName === undefined ? 0 : 2);
  const { product } = session.request.runtime.config;
  const neutral = schemaName === undefined ? undefined : neutralSchema(schemaName.text, product);
  const known = schemas(session);
  const schema = neutral?.replace(/svc$/, () => product);
  if (schemaName !== undefined && (schema === undefined || !known.includes(schema))) throw unknownInStatement('schema', schemaName, known);
  const { graph } = required(show);
  const { concepts, views } = describable(graph);
  const namesIn = (s: string): readonly string[] => (s === `v${product}` ? views : s === product ? [...concepts, ...SYSTEM_TABLES] : concepts);
  return now(known.filter((s) => schema === undefined || s === schema).flatMap((s) => namesIn(s).map((table) => ({ schema: s, table }))));
}

/** SHOW TOKEN FOR u: the caller's own tokens, or with EDIT on the user. Only administrators see tokens of administrators. */
async function tokens(show: Showing): Promise<LateRows> {
  const { session, rest, statement } = show;
  const [word, user] = rest;
  if (word === undefined || fold(word.text) !== 'for' || user === undefined) {
    throw badRequest('syntax_error', 'expected `FOR` and the name of a user after SHOW TOKEN', { offset: word?.offset ?? statement.source.offset });
  }
  end(show, 2);
  const { principal } = session.caller;
  const { db } = session.request.runtime;
  const own = fold(user.text) === fold(principal.name);
  if (!own && !canSee(principal, ['user', user.text])) throw unknownInStatement('user', user, []);
  if (!own && !can(principal, 'edit', ['user', user.text])) throw lacks('EDIT', `user.${user.text}`, user.offset);
  return async () => {
    const found = await findUser(db, user.text);
    if (found === undefined) throw unknownInStatement('user', user, []);
    if (found.id !== principal.userId && !principal.isAdmin && (await adminState(db, found.id)).admin)
      throw forbidden('forbidden', 'Only administrators may see tokens of administrators', { offset: user.offset });
    return listTokens(db, found.id);
  };
}
