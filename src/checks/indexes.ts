/** Finds the columns that paths join by, and checks that the tables have indexes on them. */
import type { Node, RangeVar } from '@pgsql/types';
import { fixed } from '../engine/statement.ts';
import type { SqlParser } from '../language/parser.ts';
import type { Concept, Graph } from '../ontology/graph.ts';
import type { MappingDef } from '../ontology/model.ts';
import { sameName } from '../ontology/names.ts';
import { namesOf } from '../planner/plan/tree.ts';
import { identifier } from '../planner/print/lexical.ts';
import { type Check, guarded } from './checks.ts';
import type { DataReader, Finding } from './reader.ts';

/** Columns of one table. */
interface Joined {
  readonly datasource: string;
  readonly schema: string;
  readonly table: string;
  readonly columns: readonly string[];
  /** The relationship that joins by them. */
  readonly by: string;
}

/** The table columns that relationships join by, each once. Only columns that mappings pass through unchanged. */
function joinedColumns(graph: Graph, parser: SqlParser): Joined[] {
  const found = new Map<string, Joined>();
  const physical = new Map<MappingDef, ReadonlyMap<string, Physical>>();
  const add = (mapping: MappingDef, names: readonly string[], by: string): void => {
    let known = physical.get(mapping);
    if (known === undefined) {
      known = physicalColumns(mapping.sql, parser);
      physical.set(mapping, known);
    }
    const columns = names.map((name) => [...(known ?? [])].find(([n]) => sameName(n, name))?.[1]);
    const [first] = columns;
    if (!first || !columns.every((c) => c?.schema === first.schema && c.table === first.table)) return;
    const joined = { datasource: mapping.datasource, schema: first.schema, table: first.table, columns: columns.map((c) => (c as Physical).column), by };
    const key = JSON.stringify([joined.datasource, joined.schema, joined.table, [...joined.columns].sort()]);
    if (!found.has(key)) found.set(key, joined);
  };
  const side = (concept: Concept, names: readonly string[], by: string): void => {
    for (const mapping of mappingsOf(concept)) add(mapping, names, by);
  };
  for (const concept of graph.concepts) {
    for (const r of concept.relationships) {
      if (r.from !== concept || r.isInverse) continue;
      const by = `${concept.name}.${r.name}`;
      if (r.kind === 'fk') {
        side(
          concept,
          r.source.map((p) => p.name),
          by,
        );
        side(
          r.target,
          r.references.map((p) => p.name),
          by,
        );
      }
      for (const { mapping, near, far } of r.links) {
        for (const end of [near, far]) {
          add(mapping, end.columns, by);
          const ended = graph.concept(end.concept);
          if (ended) side(ended, end.references, by);
        }
      }
    }
  }
  return [...found.values()];
}

/** The mappings of a concept. For a logic concept, those of its source. */
function mappingsOf(concept: Concept): readonly MappingDef[] {
  const seen = new Set<Concept>();
  let at = concept;
  while (at.rows.kind === 'logic' && !seen.has(at)) {
    seen.add(at);
    at = at.rows.source;
  }
  return at.rows.kind === 'mappings' ? at.rows.sources.map((s) => s.mapping) : [];
}

interface Physical {
  readonly schema: string;
  readonly table: string;
  readonly column: string;
}

/** The table column of each output column of a SELECT that is a plain column reference. Other output columns are omitted. */
export function physicalColumns(sql: string, parser: SqlParser): ReadonlyMap<string, Physical> {
  const columns = new Map<string, Physical>();
  let statement: Node | undefined;
  try {
    statement = parser.parse(sql).stmts[0]?.stmt;
  } catch {
    return columns; // written with back-quotes or the like: its columns are not looked at
  }
  const select = statement && 'SelectStmt' in statement ? statement.SelectStmt : undefined;
  if (!select || (select.op && select.op !== 'SETOP_NONE') || select.withClause || select.groupClause) return columns;
  const ranges: RangeVar[] = [];
  const visit = (item: Node | undefined): boolean => {
    if (item && 'JoinExpr' in item) return visit(item.JoinExpr.larg) && visit(item.JoinExpr.rarg);
    if (!item || !('RangeVar' in item)) return false;
    ranges.push(item.RangeVar);
    return true;
  };
  const isPlain = (select.fromClause ?? []).map(visit).every(Boolean);
  for (const target of select.targetList ?? []) {
    const { name, val } = 'ResTarget' in target ? target.ResTarget : {};
    const fields = val && 'ColumnRef' in val ? namesOf(val.ColumnRef.fields) : [];
    const column = fields.at(-1);
    if (!column) continue;
    const qualifier = fields.at(-2);
    const range =
      qualifier === undefined ? (isPlain && ranges.length === 1 ? ranges[0] : undefined) : ranges.find((r) => (r.alias?.aliasname ?? r.relname) === qualifier);
    if (range?.relname) columns.set(name ?? column, { schema: range.schemaname ?? 'public', table: range.relname, column });
  }
  return columns;
}

/** First columns of the valid, non-partial indexes of tables. Views and foreign tables are not in the result. */
const INDEXED = fixed`SELECT json_build_object('schema', n.nspname, 'table', c.relname, 'first', (
    SELECT coalesce(json_agg(DISTINCT a.attname), '[]') FROM pg_catalog.pg_index i
    JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum = i.indkey[0]
    WHERE i.indrelid = c.oid AND i.indisvalid AND i.indpred IS NULL))::text
  FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
  WHERE c.relkind IN ('r', 'p') AND (n.nspname, c.relname) IN (SELECT x->>0, x->>1 FROM json_array_elements($1::json) x)`;

/** Checks that report tables without an index that starts with a column that a path joins by. One for each datasource of mappings. */
export function checksOfIndexes(reader: DataReader): readonly Check[] {
  const { graph, parser } = reader.context;
  let joined: Map<string, Joined[]> | undefined;
  return [...new Set(graph.model.mappings.map((m) => m.datasource))].map((datasource) => () => {
    joined ??= Map.groupBy(joinedColumns(graph, parser), (j) => j.datasource);
    return checkIndexes(reader, datasource, joined.get(datasource) ?? []);
  });
}

async function checkIndexes(reader: DataReader, datasource: string, group: readonly Joined[]): Promise<readonly Finding[]> {
  if (group.length === 0) return [];
  return guarded(`datasource ${datasource}`, async () => {
    const tables = (await reader.run(datasource, INDEXED, [JSON.stringify(group.map((j) => [j.schema, j.table]))])) as unknown as {
      readonly schema: string;
      readonly table: string;
      readonly first: readonly string[];
    }[];
    return group.flatMap(({ schema, table, columns, by }): Finding[] => {
      const known = tables.find((t) => t.schema === schema && t.table === table);
      if (!known || columns.some((c) => known.first.includes(c))) return [];
      const index = `CREATE INDEX ON ${identifier(schema)}.${identifier(table)} (${columns.map(identifier).join(', ')})`;
      return [{ severity: 'warning', code: 'missing_index', object: `relationship ${by}`, message: `paths join by columns without an index: ${index}` }];
    });
  });
}
