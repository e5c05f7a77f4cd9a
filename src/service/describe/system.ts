/**
 * System tables (docs/design/statements-and-versions.md#system-tables): the visible part of the model and of the service, as rows that are sent with the query.
 */

import { canSee } from '../../auth/grants.ts';
import { made, visited, withinAnswer } from '../../budget.ts';
import type { Relationship } from '../../ontology/graph.ts';
import { isRaw, type MappingDef } from '../../ontology/model.ts';
import { sameName } from '../../ontology/names.ts';
import type { SystemTable } from '../../planner/plan/context.ts';
import { visibleAgents } from '../caller/agents.ts';
import { visibleOntologies } from '../caller/lookup.ts';
import { policyLines } from '../caller/policies.ts';
import { resourceText } from '../caller/system-access.ts';
import { columnType, includedNames, mappingsOf, measureText, transitivityOf } from './detail.ts';
import { permissionsOf } from './permissions.ts';
import { RESTRICTIONS } from './restrictions.ts';
import { STATISTICS } from './statistics.ts';
import { joined, orNull, Source, type SystemContext } from './system-source.ts';
import { viewColumnsText, viewJson } from './view-columns.ts';

export type { SystemContext } from './system-source.ts';

/** Tables that need `SystemContext.access`, which is read from the catalog each time. */
export const ACCESS_TABLES: ReadonlySet<string> = new Set(['SYS_USERS', 'SYS_ROLES', 'SYS_GRANTS']);
/** Tables that need `SystemContext.counts`. */
export const COUNT_TABLES: ReadonlySet<string> = new Set(['SYS_CONCEPT_MAPPINGS', 'SYS_VIEWS']);
/** Tables that need `SystemContext.agents`, whose lists depend on models. */
export const AGENT_TABLES: ReadonlySet<string> = new Set(['SYS_AGENTS_OPTIONS']);
const OTHER_LATE_TABLES: ReadonlySet<string> = new Set([
  'SYS_EXAMPLES',
  'SYS_KNOWLEDGEBASE_EXAMPLES',
  'SYS_AGENTS_BENCHMARKS',
  'SYS_AGENTS_HISTORY',
  'SYS_PROPERTIES_STATISTICS',
  'SYS_AUDIT',
  'SYS_CACHES',
  'SYS_JOBS',
]);
/** True if rows of a table must be read from the catalog when the statement is executed. */
export const isLate = (table: string): boolean =>
  ACCESS_TABLES.has(table) || COUNT_TABLES.has(table) || AGENT_TABLES.has(table) || OTHER_LATE_TABLES.has(table);

type Type = SystemTable['columns'][number]['type'];
type Value = string | number | boolean | null;
/** This number of characters in a row costs as much as a node. */
const CHARACTERS_OF_A_NODE = 100;
/** This number of columns costs as much as a node. */
const COLUMNS_OF_A_NODE = 4;

interface Table {
  /** `name` (text), or `name:type`. */
  readonly columns: string;
  readonly rows: (s: Source) => Iterable<readonly Value[]>;
}

const RELATIONSHIP =
  'relationship_name, target_concept, inverse_name, is_inverse:boolean, is_mtm:boolean, transitivity:integer, source_properties, target_properties, description';
/** New columns are at the end of a table, for clients that read columns by position. */
const RELATIONSHIP_END = 'is_symmetric:boolean, includes';

const relationshipRow = (s: Source, r: Relationship): readonly Value[] => [
  r.name,
  r.target.name,
  r.inverseName,
  r.isInverse,
  r.kind === 'mtm',
  transitivityOf(s.graph, r.transitive),
  orNull(joined(r.source.map((p) => p.name))),
  orNull(joined(r.references.map((p) => p.name))),
  r.description,
];
const relationshipEnd = (r: Relationship): readonly Value[] => [r.symmetric, orNull(joined(includedNames(r)))];

/** The target of a mapping, as in SYS_MAPPINGS. */
const targetOf = (m: MappingDef): string =>
  m.link !== null ? `${m.link.back.concept}.${m.link.forward.relationship}` : m.property === null ? (m.concept ?? '') : `${m.concept}.${m.property}`;

const TABLES: Readonly<Record<string, Table>> = {
  SYS_ONTOLOGIES: {
    columns: 'ontology, description',
    rows: ({ context }) => visibleOntologies(context.caller.snapshot, context.caller.principal).map((o) => [o.name, o.description]),
  },
  SYS_ONTOLOGY: {
    columns: 'concept, inheritance, inheritance_level:integer, primary_keys, label_keys, description, query',
    rows: (s) =>
      s.concepts.map((c) => [
        c.name,
        orNull(joined(c.parents.map((p) => p.name))),
        c.level,
        orNull(joined((c.key?.properties ?? []).map((p) => p.name))),
        orNull(joined(c.label.map((p) => p.name))),
        c.def?.description ?? null,
        s.logicQuery(c),
      ]),
  },
  SYS_CONCEPTS: { columns: 'concept, description', rows: (s) => s.concepts.map((c) => [c.name, c.def?.description ?? null]) },
  SYS_PROPERTIES: {
    columns: 'property_name, property_type, is_measure:boolean, is_multi:boolean, description, logic_query',
    rows: (s) => [
      ...s.graph.model.properties.map((p): readonly Value[] => [p.name, p.type, false, p.multi, p.description, s.texts.property(p)]),
      ...s.graph.model.measures.map((m): readonly Value[] => [m.name, m.type, true, false, m.description, measureText(m, s.texts)]),
    ],
  },
  SYS_CONCEPT_PROPERTIES: {
    columns: 'concept, property_name, property_type, tables, datasource_id',
    *rows(s) {
      for (const c of s.concepts) {
        for (const { def } of [...c.properties, ...c.multi]) {
          visited(c.rows.kind === 'mappings' ? 10 * c.rows.sources.length : 1);
          const rows = c.rows.kind === 'mappings' ? c.rows.sources.map((x) => x.mapping).filter((m) => s.graph.mapping(m.name) !== undefined) : [];
          const from = (def.multi ? c.multiMappings.filter((m) => sameName(m.property ?? '', def.name)) : rows).filter((m) =>
            m.columns.some((x) => sameName(x.name, def.name)),
          );
          yield [c.name, def.name, def.type, s.tablesOfAll(from), s.datasourcesOf(from)];
        }
        for (const { def } of c.measures) yield [c.name, def.name, def.type, null, null];
      }
    },
  },
  SYS_RELATIONSHIPS: {
    columns: `${RELATIONSHIP}, ${RELATIONSHIP_END}`,
    *rows(s) {
      for (const c of s.concepts) for (const r of s.relationshipsOf(c)) if (r.from === c) yield [...relationshipRow(s, r), ...relationshipEnd(r)];
    },
  },
  SYS_CONCEPT_RELATIONSHIPS: {
    columns: `concept, ${RELATIONSHIP}, tables, datasource_id, ${RELATIONSHIP_END}`,
    *rows(s) {
      for (const c of s.concepts) for (const r of s.relationshipsOf(c)) yield [c.name, ...relationshipRow(s, r), ...s.linksOf(r), ...relationshipEnd(r)];
    },
  },
  SYS_MAPPINGS: {
    columns: 'mapping_name, mapping_type, target, datasource, query',
    rows: (s) => s.graph.model.mappings.map((m) => [m.name, m.kind, targetOf(m), m.datasource, s.texts.showsTables(m.datasource) ? m.sql : null]),
  },
  SYS_CONCEPT_MAPPINGS: {
    columns: 'concept, mapping_name, number_of_rows:bigint, tables, datasource_id',
    *rows(s) {
      for (const c of s.concepts) for (const m of mappingsOf(c)) yield [c.name, m.name, s.rowsOfMapping(m), s.tablesOf(m.sql, m.datasource), m.datasource];
    },
  },
  SYS_INHERITANCE: {
    columns: 'base_concept, derived_concept',
    *rows(s) {
      for (const c of s.concepts) for (const p of c.parents) yield [p.name, c.name];
    },
  },
  SYS_VIEWS: {
    columns: 'view_name, description, is_cube:boolean, tables, number_of_rows:bigint, query, view_json, view_properties',
    rows: (s) => {
      return s.graph.model.views.map((v) => {
        const raw = isRaw(v) ? v.datasource : null;
        return [
          v.name,
          v.description,
          v.cube,
          s.tablesOfView(v),
          s.rowsOfView(v),
          raw === null ? s.textOfView(v) : s.texts.showsTables(raw) ? v.sql : null,
          viewJson(s.context.parser, v),
          viewColumnsText(v),
        ];
      });
    },
  },
  SYS_VIEW_PROPERTIES: {
    columns: 'view_name, property_name, property_type',
    *rows(s) {
      for (const v of s.graph.model.views) for (const c of v.columns) yield [v.name, c.name, columnType(c)];
    },
  },
  SYS_TAGS: {
    columns: 'target_type, target_name, tag_name, tag_value',
    *rows(s) {
      for (const c of s.concepts) for (const [k, v] of Object.entries(c.def?.tags ?? {})) yield ['concept', c.name, k, v];
      const { properties, measures } = s.graph.model;
      for (const p of properties) for (const [k, v] of Object.entries(p.tags)) yield ['property', p.name, k, v];
      for (const m of measures) for (const [k, v] of Object.entries(m.tags)) yield ['measure', m.name, k, v];
      // includes cubes, because ALTER VIEW accepts them; SYS_VIEWS distinguishes them
      for (const w of s.graph.model.views) for (const [k, v] of Object.entries(w.tags)) yield ['ontology view', w.name, k, v];
    },
  },
  SYS_DATASOURCES: {
    columns: 'name, target_type, is_active:boolean',
    rows: ({ context }) => {
      const { ontology, caller } = context;
      return caller.snapshot.datasources
        .filter((d) => (ontology === undefined ? canSee(caller.principal, ['datasource', d.name]) : ontology.datasources.includes(d.key)))
        .map((d) => [d.name, d.type, ontology?.active === d.key]);
    },
  },
  SYS_AGENTS: {
    columns: 'agent_name, knowledge_bases, description',
    *rows({ context }) {
      for (const { agent, ontologies } of visibleAgents(context.caller)) yield [agent.name, joined(ontologies), agent.description];
    },
  },
  SYS_AGENTS_OPTIONS: {
    columns: 'agent_name, option_name, option_value',
    *rows({ context }) {
      for (const { agent, ontologies } of context.agents ?? []) {
        yield [agent.name, 'ontology', ontologies.join(',')];
        for (const [k, v] of Object.entries(agent.options)) yield [agent.name, k, v];
      }
    },
  },
  SYS_AGENTS_HISTORY: {
    columns:
      'user_name, agent_name, question, concept, query, status, started:timestamptz, duration_ms:bigint, tokens:bigint, tries:integer, error, ontology, actor',
    rows: ({ context }) =>
      (context.history ?? []).map((h) => [
        h.user,
        h.agent,
        h.question,
        h.concept,
        h.query,
        h.status,
        h.started,
        h.durationMs,
        h.tokens,
        h.tries,
        h.error,
        h.ontology,
        h.actor,
      ]),
  },
  SYS_EXAMPLES: {
    columns: 'question, query, valid:boolean, error, changed_by, changed_on:timestamptz, description',
    rows: ({ context }) => (context.examples ?? []).map((e) => [e.question, e.query, e.error === null, e.error, e.changedBy, e.changedOn, e.description]),
  },
  // clients of this field call the examples of an ontology its knowledge base
  SYS_KNOWLEDGEBASE: {
    columns: 'knowledge_base, ontologies, changed_on:timestamptz',
    rows: ({ context }) => visibleOntologies(context.caller.snapshot, context.caller.principal).map((o) => [o.name, o.name, null]),
  },
  SYS_KNOWLEDGEBASE_EXAMPLES: {
    columns: 'knowledge_base, example_name, question, query, instructions, validate_sql:integer, changed_on:timestamptz',
    rows: ({ context }) =>
      (context.examples ?? [])
        .filter((e) => e.error === null)
        .map((e) => [context.ontology?.name ?? null, e.question, e.question, e.query, e.description, 1, e.changedOn]),
  },
  SYS_KNOWLEDGEBASE_RULES: {
    columns: 'knowledge_base, rule_name, rule_type, target_name, target_type, instructions, changed_on:timestamptz',
    rows: () => [],
  },
  SYS_AGENTS_BENCHMARKS: {
    columns: 'benchmark_name, agent_name, description, number_of_questions:integer, benchmark, updated_at:timestamptz, changed_by_user',
    rows: ({ context }) =>
      (context.benchmarks ?? []).map(({ agent, description, questions, updated, changedBy }) => {
        const numbered = Object.fromEntries(questions.map((q, i) => [`Q${i + 1}`, q]));
        return [agent, agent, description, questions.length, JSON.stringify(numbered), updated, changedBy];
      }),
  },
  SYS_POLICIES: {
    columns: 'policy_name, kind, concept, property, grantees, definition',
    rows: (s) => {
      const { ontology, caller } = s.context;
      return ontology === undefined ? [] : policyLines(caller, ontology, s.graph, s.print);
    },
  },
  // ontologies have no domains, but clients of this field query them first
  SYS_DOMAINS: { columns: 'name, description, ontologies', rows: () => [] },
  SYS_USERS: {
    columns: 'user_name, email, tenant, active:boolean, created:timestamptz, first_name, last_name',
    rows: ({ context }) => (context.access?.users ?? []).map((u) => [u.name, u.email, u.tenant, u.active, u.created, u.firstName, u.lastName]),
  },
  SYS_ROLES: { columns: 'role_name, user_name', rows: ({ context }) => (context.access?.roles ?? []).map((r) => [r.role, r.user]) },
  SYS_GRANTS: {
    columns: 'grantee_type, grantee, privilege, resource, is_all:boolean, grant_option:boolean',
    rows: ({ context }) =>
      (context.access?.grants ?? []).map((g) => [g.kind, g.grantee, g.privilege.toUpperCase(), resourceText(g.resource), g.all, g.grantOption]),
  },
  SYS_PERMISSIONS: { columns: 'permission, resource, is_all:boolean, grant_option:boolean', rows: permissionsOf },
  SYS_AUDIT: {
    columns: 'changed_on:timestamptz, user_name, actor, action, statements, ontology, request_id',
    rows: ({ context }) => (context.changes ?? []).map((c) => [c.at, c.user, c.actor, c.action, c.object, c.ontology, c.requestId]),
  },
  SYS_CACHES: {
    columns:
      'mapping_name, datasource, table_name, number_of_rows:bigint, as_of:timestamptz, max_age_seconds:integer, state, error, failed_on:timestamptz, incremental, last_full:timestamptz, cube_name, view_name',
    rows: ({ context }) =>
      (context.caches ?? []).map((c) => [
        c.mapping,
        c.datasource,
        c.table,
        c.rows,
        c.asOf,
        c.maxAge,
        c.state,
        c.error,
        c.failed,
        c.incremental,
        c.lastFull,
        c.cube,
        c.view,
      ]),
  },
  SYS_RESTRICTIONS: RESTRICTIONS,
  SYS_PROPERTIES_STATISTICS: STATISTICS,
  SYS_JOBS: {
    columns: 'job_name, job_type, target, schedule, status, last_run:timestamptz, next_run:timestamptz, message, timezone, maker, statement',
    rows: ({ context }) =>
      (context.jobs ?? []).map((j) => [j.name, j.type, j.target, j.schedule, j.status, j.lastRun, j.nextRun, j.message, j.timezone, j.maker, j.statement]),
  },
};

/** A system table with its rows. */
export interface SystemRows {
  readonly name: string;
  readonly columns: SystemTable['columns'];
  readonly rows: readonly Readonly<Record<string, Value>>[];
}

/** Names of all system tables. */
export const SYSTEM_TABLES: readonly string[] = Object.keys(TABLES);

/** Returns the columns of a system table. @param name in upper case @returns undefined for an unknown name */
export function systemColumns(name: string): SystemTable['columns'] | undefined {
  const table = Object.hasOwn(TABLES, name) ? TABLES[name] : undefined;
  return table?.columns.split(', ').map((column) => {
    const [columnName, type] = column.split(':') as [string, Type | undefined];
    return { name: columnName, type: type ?? 'text' };
  });
}

/** Returns a function that builds a system table by name (in upper case), or undefined for an unknown name. */
export function systemRows(context: SystemContext): (name: string) => SystemRows | undefined {
  let source: Source | undefined;
  return (name) => {
    const columns = systemColumns(name);
    if (columns === undefined) return undefined;
    source ??= new Source(context);
    const from = source;
    const rows = withinAnswer(`the system table ${name}`, context.answers, () =>
      Array.from((TABLES[name] as Table).rows(from), (row) => {
        made(row.reduce<number>((n, v) => n + (typeof v === 'string' ? v.length : 0), 0) / CHARACTERS_OF_A_NODE + row.length / COLUMNS_OF_A_NODE);
        return Object.fromEntries(columns.map((c, i) => [c.name, row[i] ?? null]));
      }),
    );
    return { name, columns, rows };
  };
}

/** As `systemRows`, in the planner's format. */
export function systemTables(context: SystemContext): (name: string) => SystemTable | undefined {
  const read = systemRows(context);
  return (name) => {
    const table = read(name);
    if (table === undefined) return undefined;
    const rows = table.rows.map((row) => JSON.stringify(row));
    const longestRow = rows.reduce((most, { length }) => Math.max(most, length), 0);
    return { name, columns: table.columns, json: `[${rows.join(',')}]`, longestRow };
  };
}
