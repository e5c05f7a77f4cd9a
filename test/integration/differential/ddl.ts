/** The physical tables of a world as DDL, and its ontology as a Model. */
import type { Model } from '../../../src/ontology/model.ts';
import { EMPTY_MODEL } from '../../../src/ontology/model.ts';
import { literal, Printer } from './print.ts';
import type { LinkEndSpec, MappingSpec, World } from './world.ts';

/** The PostgreSQL schema of the tables. */
export const SCHEMA = 't';

export function ddlOf(world: World): string {
  const out = [`DROP SCHEMA IF EXISTS ${SCHEMA} CASCADE; CREATE SCHEMA ${SCHEMA};`];
  for (const t of world.tables) {
    out.push(`CREATE TABLE ${SCHEMA}.${t.name} (${t.columns.map((c) => `${c.name} ${c.type}`).join(', ')});`);
    if (t.rows.length)
      out.push(
        `INSERT INTO ${SCHEMA}.${t.name} VALUES ${t.rows.map((r) => `(${r.map((v) => (v === null ? 'NULL' : literal(v, 'text'))).join(', ')})`).join(', ')};`,
      );
  }
  return out.join('\n');
}

/** PostgreSQL's own names of the types that the tables use. */
const OWN: Readonly<Record<string, string>> = { varchar: 'varchar', char: 'bpchar', numeric: 'numeric' };

const conditionOf = ({ column, operator, value }: NonNullable<MappingSpec['where']>): string =>
  value === null ? `${column} IS NULL` : `${column} ${operator} ${literal(value, 'text')}`;

export function modelOf(world: World): Model {
  const p = new Printer(world, { backQuotes: false });
  const typeOf = (m: MappingSpec, column: string): string => {
    const type = world.tables.find((t) => t.name === m.table)!.columns.find((c) => c.name === column)!.type;
    const base = type.replace(/\(.*$/, '');
    return OWN[base] ?? base;
  };
  const end = (e: LinkEndSpec, relationship: string) => ({ relationship, columns: e.columns, concept: e.concept, references: e.references });
  // Names match without regard to case: mappings without types give their columns in PostgreSQL's lower case.
  const given = (m: MappingSpec, n: string) => (!m.typed && /^[a-z_]\w*$/i.test(n) ? n.toLowerCase() : n);
  const quoted = (n: string) => `"${n.replaceAll('"', '""')}"`;
  const inverse = new Map(world.concepts.flatMap((c) => c.rels.map((r) => [r.name, r.inverse ?? `~${r.name}`] as const)));
  return {
    ...EMPTY_MODEL,
    config: world.defaultTransitivity === null ? {} : { default_transitivity: String(world.defaultTransitivity) },
    properties: world.props.map((d) => ({
      name: d.name,
      type: d.type,
      multi: d.multi,
      description: null,
      tags: {},
      expression: d.expr ? p.expr(d.expr) : null,
    })),
    measures: (world.measures ?? []).map((m) => ({
      name: m.name,
      type: m.type,
      description: null,
      tags: {},
      expression: p.expr(m.expr),
      filter: m.filter ? p.expr(m.filter) : null,
    })),
    views: (world.views ?? []).map((v) => ({
      name: v.name,
      cube: v.cube,
      datasource: null,
      description: null,
      tags: {},
      sql: p.query(v.q),
      columns: v.kinds.map(([name]) => ({ name })),
    })),
    concepts: world.concepts.map((c) => ({
      name: c.name,
      parents: c.parents,
      properties: c.props,
      multi: c.multi,
      measures: c.measures ?? [],
      primaryKey: c.key,
      label: c.label,
      relationships: c.rels.map((r) => ({
        name: r.name,
        kind: r.kind,
        target: r.target,
        source: r.source,
        references: r.references,
        inverse: r.inverse,
        transitive: r.transitive,
        ...(r.symmetric ? { symmetric: r.symmetric } : {}),
        ...(r.includes ? { includes: r.includes } : {}),
        description: null,
      })),
      description: null,
      tags: {},
      logic: c.logic ? { schema: c.logic.schema, concept: c.logic.concept, condition: p.expr(c.logic.cond) } : null,
    })),
    mappings: world.mappings.map((m) => ({
      name: m.name,
      kind: m.kind,
      concept: m.concept,
      property: m.property,
      link: m.rel === null ? null : { forward: end(m.far!, m.rel), back: end(m.near!, inverse.get(m.rel)!) },
      datasource: 'main',
      sql:
        `SELECT ${m.columns.map((c) => `${c.column} AS ${quoted(given(m, c.as))}`).join(', ')} FROM ${SCHEMA}.${m.table}` +
        (m.where ? ` WHERE ${conditionOf(m.where)}` : ''),
      columns: m.columns.map((c) => (m.typed ? { name: c.as, type: typeOf(m, c.column) } : { name: given(m, c.as) })),
    })),
  };
}
