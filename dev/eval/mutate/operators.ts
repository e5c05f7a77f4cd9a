/** Ways to change a SELECT into a wrong one, each a typical mistake of a person or a language model. Each returns all statements that it can make from one. */

import { quoteBack, quoteLiteral } from '../../../src/language/quote.ts';
import type { Concept, Graph, Relationship } from '../../../src/ontology/graph.ts';
import { type Analysis, type Column, replaced } from './analysis.ts';
import { clauses, conditions } from './clauses.ts';

export interface Operator {
  readonly name: string;
  readonly of: (sql: Analysis, graph: Graph) => readonly string[];
}

/** Swaps two letters in the middle. */
function misspelt(name: string): string {
  const at = Math.max(0, Math.floor(name.length / 2) - 1);
  for (let i = at; i + 1 < name.length; i++) if (name[i] !== name[i + 1]) return name.slice(0, i) + name[i + 1] + name[i] + name.slice(i + 2);
  return `${name}${name}`;
}

/** The concept at the end of a column, and the property there; undefined: it names no property. */
function ending({ name, relation, path }: Column): { readonly concept: Concept; readonly property: string; readonly before: string } | undefined {
  if (path)
    return path.kind === 'column'
      ? { concept: (path.hops.at(-1) as PathHop).columns, property: path.name, before: name.slice(0, name.length - path.name.length) }
      : undefined;
  const concept = relation?.of && 'concept' in relation.of ? relation.of.concept : undefined;
  return concept && propertiesOf(concept).some((p) => p.name === name.toLowerCase()) ? { concept, property: name, before: '' } : undefined;
}

type PathHop = NonNullable<Column['path']>['hops'][number];

const propertiesOf = (concept: Concept): readonly { readonly name: string; readonly type: string }[] =>
  [...concept.properties, ...concept.multi].map(({ def }) => ({ name: def.name.toLowerCase(), type: kindOf(def.type) }));

const kindOf = (type: string): string => (/int|float|double|decimal/.test(type) ? 'number' : /date|time/.test(type) ? 'moment' : type);

const put = (sql: Analysis, column: Column, name: string): string => replaced(sql.text, column, quoteBack(name));

/** Another property instead of each, of the same kind of type or of another. */
const otherProperty = (sql: Analysis, sameKind: boolean): string[] =>
  sql.columns.flatMap((column) => {
    const end = ending(column);
    if (end === undefined) return [];
    const all = propertiesOf(end.concept);
    const kind = all.find((p) => p.name === end.property.toLowerCase())?.type;
    return all.filter((p) => p.name !== end.property.toLowerCase() && (p.type === kind) === sameKind).map((p) => put(sql, column, end.before + p.name));
  });

/** The text of a path with its hop `at` replaced; null: removed. */
function withHop(column: Column, at: number, hop: string | null): string {
  const pieces = column.name.match(/[^[\]]*\[[^\]]*\]/g) as string[];
  const tail = column.name.slice(pieces.join('').length);
  const hops = pieces.map((p) => p.replace(/^\./, ''));
  return hops.flatMap((h, i) => (i === at ? (hop === null ? [] : [hop]) : [h])).join('.') + tail;
}

/** The concept where each hop of a path starts. */
const starts = (column: Column): readonly Concept[] => {
  const root = column.relation?.of && 'concept' in column.relation.of ? [column.relation.of.concept] : [];
  return [...root, ...(column.path?.hops ?? []).map((h) => h.columns)];
};

/** Each hop replaced by another relationship of the concept where it starts. */
const otherRelationship = (sql: Analysis, fits: (hop: PathHop, other: Relationship) => boolean): string[] =>
  sql.columns.flatMap((column) =>
    (column.path?.hops ?? []).flatMap((hop, i) =>
      (starts(column)[i]?.relationships ?? [])
        .filter((r) => r.name !== hop.relationship.name && fits(hop, r))
        .map((r) => put(sql, column, withHop(column, i, `${r.name}[${r.target.name}${hop.depth === null || r.transitive === null ? '' : `*${hop.depth}`}]`))),
    ),
  );

const OTHER: Readonly<Record<string, string>> = { sum: 'AVG', avg: 'SUM', count: 'SUM', min: 'MAX', max: 'MIN', bool_and: 'bool_or', bool_or: 'bool_and' };
const TURNED: Readonly<Record<string, string>> = { '=': '<>', '<>': '=', '<': '>', '>': '<', '<=': '>=', '>=': '<=' };
const NEXT: Readonly<Record<string, string>> = { '<': '<=', '>': '>=', '<=': '<', '>=': '>' };

const comparisons = (sql: Analysis, by: Readonly<Record<string, string>>): string[] =>
  sql.comparisons.flatMap((c) => {
    const other = by[sql.text.slice(c.start, c.end)];
    return other === undefined ? [] : [replaced(sql.text, c, other)];
  });

const isCoded = (value: string): boolean => /^\d{4}-\d\d-\d\d/.test(value);
const turned = (value: string): string => (value === value.toLowerCase() ? value.toUpperCase() : value.toLowerCase());

/** Parents, children and siblings; `thing` does not relate concepts. */
function family(concept: Concept): readonly Concept[] {
  const parents = concept.parents.filter((p) => p.def !== null);
  return [...new Set([...parents, ...concept.children, ...parents.flatMap((p) => p.children)])].filter((o) => o !== concept);
}

/** The relation of FROM replaced. */
const relations = (sql: Analysis, by: (concept: Concept) => readonly string[]): string[] =>
  sql.relations.flatMap((r) =>
    r.of && 'concept' in r.of ? by(r.of.concept).map((name) => replaced(sql.text, r, `${r.schema ?? 'dsvc'}.${quoteBack(name)}`)) : [],
  );

export const OPERATORS: readonly Operator[] = [
  {
    name: 'a misspelled property',
    of: (sql) =>
      sql.columns.flatMap((column) => {
        const end = ending(column);
        return end === undefined ? [] : [put(sql, column, end.before + misspelt(end.property))];
      }),
  },
  { name: 'another property, of another type', of: (sql) => otherProperty(sql, false) },
  { name: 'another property, of the same type', of: (sql) => otherProperty(sql, true) },
  {
    name: 'another measure, or column of the view',
    of: (sql) =>
      sql.columns.flatMap((column) => {
        const { name, relation } = column;
        if (relation?.of === undefined) return [];
        const all = 'columns' in relation.of ? relation.of.columns : relation.of.concept.measures.map(({ def }) => `measure.${def.name}`);
        return all.includes(name) ? all.filter((n) => n !== name).map((n) => put(sql, column, n)) : [];
      }),
  },
  { name: 'another relationship, to another concept', of: (sql) => otherRelationship(sql, (hop, r) => r.target !== hop.relationship.target) },
  { name: 'another relationship, to the same concept', of: (sql) => otherRelationship(sql, (hop, r) => r.target.name === hop.relationship.target.name) },
  {
    name: 'the relationship in the other direction',
    of: (sql) =>
      sql.columns.flatMap((column) =>
        (column.path?.hops ?? []).flatMap(({ relationship: r, columns, depth }, i) =>
          r.inverseName === null ? [] : [put(sql, column, withHop(column, i, `${r.inverseName}[${columns.name}${depth === null ? '' : `*${depth}`}]`))],
        ),
      ),
  },
  {
    name: 'a hop left out',
    of: (sql) =>
      sql.columns.flatMap((column) =>
        (column.path?.hops.length ?? 0) < 2 ? [] : (column.path?.hops ?? []).map((_, i) => put(sql, column, withHop(column, i, null))),
      ),
  },
  {
    name: 'one step instead of a walk',
    // the whole statement, otherwise it would have two different paths
    of: (sql) =>
      sql.columns.some((c) => c.path?.hops.some((h) => h.depth !== null))
        ? [sql.text.replaceAll(/\*\d*\]_transitivity_level/g, '*1]_transitivity_level').replaceAll(/\*\d*\]/g, '*1]')]
        : [],
  },
  {
    name: 'an aggregate left out',
    of: (sql) =>
      sql.calls.filter((c) => !c.star).map((c) => replaced(sql.text, c, sql.text.slice(c.inside.start, c.inside.end).replace(/^\s*DISTINCT\b/i, ''))),
  },
  {
    name: 'another aggregate',
    of: (sql) => sql.calls.flatMap((c) => (OTHER[c.name] === undefined || c.star ? [] : [replaced(sql.text, c.nameSpan, OTHER[c.name] as string)])),
  },
  { name: 'COUNT(*) instead of COUNT(x)', of: (sql) => sql.calls.filter((c) => c.name === 'count' && !c.star).map((c) => replaced(sql.text, c.inside, '*')) },
  { name: 'GROUP BY left out', of: (sql) => clauses(sql, 'group').map((c) => replaced(sql.text, c, '')) },
  {
    name: 'a literal of another type',
    of: (sql) => sql.literals.map((l) => replaced(sql.text, l, l.kind === 'number' ? "'many'" : isCoded(l.value) ? quoteLiteral('last year') : '42')),
  },
  {
    name: 'a text in another case',
    of: (sql) => sql.literals.flatMap((l) => (l.kind === 'text' && turned(l.value) !== l.value ? [replaced(sql.text, l, quoteLiteral(turned(l.value)))] : [])),
  },
  {
    name: 'another value',
    of: (sql) =>
      sql.literals.flatMap((l) => {
        if (l.kind === 'number') return Number(l.value) === 0 ? [] : [replaced(sql.text, l, String(Number(l.value) * 10))];
        return [replaced(sql.text, l, quoteLiteral(isCoded(l.value) ? `${Number(l.value.slice(0, 4)) - 1}${l.value.slice(4)}` : `${l.value}s`))];
      }),
  },
  { name: 'a condition left out', of: conditions },
  { name: 'a comparison reversed', of: (sql) => comparisons(sql, TURNED) },
  { name: 'the limit of a comparison left out or in', of: (sql) => comparisons(sql, NEXT) },
  {
    name: 'OR instead of AND',
    of: (sql) => sql.tokens.flatMap((t, i) => (t.kind === 'word' && /^and$/i.test(t.value) && !isBetween(sql, i) ? [replaced(sql.text, t, 'OR')] : [])),
  },
  { name: 'a related concept', of: (sql) => relations(sql, (c) => family(c).map((o) => o.name)) },
  {
    name: 'a concept of another kind',
    of: (sql, graph) =>
      relations(sql, (c) =>
        graph.concepts.filter((o) => !o.isA(c) && !c.isA(o) && !o.ancestors.some((a) => a.def !== null && c.ancestors.includes(a))).map((o) => o.name),
      ),
  },
  { name: 'svc instead of dsvc', of: (sql) => sql.relations.flatMap((r) => (r.schema === 'dsvc' ? [replaced(sql.text, r, `svc.${quoteBack(r.name)}`)] : [])) },
  {
    name: 'a table instead of a concept',
    of: (sql) => sql.relations.flatMap((r) => (r.schema === undefined ? [] : [replaced(sql.text, r, `public.${quoteBack(r.name)}`)])),
  },
  {
    name: 'sorted the other way',
    of: (sql) =>
      sql.tokens.flatMap((t) => (t.kind === 'word' && /^(asc|desc)$/i.test(t.value) ? [replaced(sql.text, t, /^asc$/i.test(t.value) ? 'DESC' : 'ASC')] : [])),
  },
  { name: 'LIMIT left out', of: (sql) => clauses(sql, 'limit').map((c) => replaced(sql.text, c, '')) },
];

/** Whether the AND at `at` belongs to a BETWEEN. */
function isBetween({ tokens }: Analysis, at: number): boolean {
  for (let i = at - 1; i >= 0 && i >= at - 4; i--) {
    const { value } = tokens[i] as { readonly value: string };
    if (/^between$/i.test(value)) return true;
    if (/^(and|or|where)$/i.test(value)) return false;
  }
  return false;
}
