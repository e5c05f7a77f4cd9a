/** Reads R2RML: triples maps with their tables, subjects and objects. */
import type { Term } from 'n3';
import { tokenize } from '../../language/lexer.ts';
import { fold } from '../../ontology/names.ts';
import { type Axioms, short } from './rdf-axioms.ts';
import { expand, localName, term } from './rdf-terms.ts';

/** A template: the texts around its columns, and the columns. */
export interface Template {
  readonly shape: string;
  readonly columns: readonly string[];
}

export interface TermMap {
  readonly column?: string;
  readonly template?: Template;
  readonly constant?: Term;
  readonly parent?: { readonly map: string; readonly joins: readonly { readonly child: string; readonly parent: string }[] };
  readonly datatype?: string;
}

export interface TriplesMap {
  readonly iri: string;
  /** The name of the mapping, in documents of this service. */
  readonly own: string | undefined;
  readonly datasource: string;
  /** The query, or the table. */
  readonly query: string | undefined;
  readonly table: string | undefined;
  readonly subject: Template | undefined;
  readonly classes: readonly string[];
  /** The concept whose values a map of this service has. */
  readonly valuesOf: string | undefined;
  readonly objects: readonly { readonly predicate: string; readonly object: TermMap }[];
}

/** The name of a column in the spelling of PostgreSQL: R2RML writes SQL identifiers. */
export const columnName = (text: string): string => (/^".*"$/s.test(text.trim()) ? text.trim().slice(1, -1).replaceAll('""', '"') : text.trim().toLowerCase());

function templateOf(text: string): Template {
  const columns: string[] = [];
  const shape = text.replace(/\\[\\{}]|\{((?:\\.|[^\\}])*)\}/g, (all, column: string | undefined) => {
    if (column === undefined) return all;
    columns.push(columnName(column.replace(/\\([\\{}])/g, '$1')));
    return '{}';
  });
  return { shape, columns };
}

/** Reads all triples maps. @param losses gets a line for each part that is not read */
export function readMaps(axioms: Axioms, losses: string[]): TriplesMap[] {
  const nodes = [...axioms.subjects('rr:logicalTable'), ...axioms.subjects('rr:subjectMap'), ...axioms.subjects('rr:subject')];
  const unique = [...new Map(nodes.map((n) => [n.id, n])).values()];
  return unique.flatMap((node) => {
    axioms.mark(node, 'rdf:type', term('rr:TriplesMap'));
    const [table] = axioms.take(node, 'rr:logicalTable');
    const [subjectMap] = axioms.take(node, 'rr:subjectMap');
    const [constant] = axioms.take(node, 'rr:subject');
    const query = table && axioms.text(table, 'rr:sqlQuery');
    const name = table && axioms.text(table, 'rr:tableName');
    if (table) {
      axioms.take(table, 'rr:sqlVersion');
      axioms.mark(table, 'rdf:type', term('rr:LogicalTable'));
    }
    if (constant !== undefined || (query ?? name) === undefined) {
      losses.push(`triples map ${short(node)}: ${constant === undefined ? 'it has no table' : 'its subject is a constant'}`);
      return [];
    }
    const subject = subjectMap && termMap(axioms, subjectMap);
    const classes = subjectMap ? axioms.iris(subjectMap, 'rr:class') : [];
    const template = subject?.template ?? (subject?.column === undefined ? undefined : { shape: '{}', columns: [subject.column] });
    if (template === undefined) losses.push(`triples map ${short(node)}: its subject has no template and no column`);
    const objects = axioms.take(node, 'rr:predicateObjectMap').flatMap((p) => predicateObjects(axioms, p, losses));
    const constants = objects.filter((o) => o.predicate === expand('rdf:type') && o.object.constant?.termType === 'NamedNode');
    return [
      {
        iri: node.value,
        own: axioms.text(node, 'kg:name'),
        datasource: axioms.text(node, 'kg:datasource') ?? 'main',
        query: query?.trim().replace(/;\s*$/, ''),
        table: name,
        subject: template,
        classes: [...classes, ...constants.map((o) => o.object.constant?.value ?? '')],
        valuesOf: axioms.iris(node, 'kg:valuesOf')[0],
        objects: objects.filter((o) => o.predicate !== expand('rdf:type')),
      },
    ];
  });
}

function predicateObjects(axioms: Axioms, node: Term, losses: string[]): { predicate: string; object: TermMap }[] {
  axioms.mark(node, 'rdf:type', term('rr:PredicateObjectMap'));
  const predicates = [...axioms.iris(node, 'rr:predicate'), ...axioms.take(node, 'rr:predicateMap').flatMap((m) => axioms.iris(m, 'rr:constant'))];
  const objects = [
    ...axioms.take(node, 'rr:object').map((constant): TermMap => ({ constant })),
    ...axioms.take(node, 'rr:objectMap').map((m) => termMap(axioms, m)),
  ];
  if (predicates.length === 0) losses.push(`predicate of ${short(node)}: it is not a constant`);
  return predicates.flatMap((predicate) => objects.map((object) => ({ predicate, object })));
}

function termMap(axioms: Axioms, node: Term): TermMap {
  for (const type of ['rr:TermMap', 'rr:SubjectMap', 'rr:ObjectMap', 'rr:RefObjectMap'] as const) axioms.mark(node, 'rdf:type', term(type));
  const column = axioms.text(node, 'rr:column');
  const template = axioms.text(node, 'rr:template');
  const [constant] = axioms.take(node, 'rr:constant');
  const [parent] = axioms.take(node, 'rr:parentTriplesMap');
  const [datatype] = axioms.iris(node, 'rr:datatype');
  axioms.take(node, 'rr:termType');
  const joins = axioms
    .take(node, 'rr:joinCondition')
    .map((j) => ({ child: columnName(axioms.text(j, 'rr:child') ?? ''), parent: columnName(axioms.text(j, 'rr:parent') ?? '') }));
  return {
    ...(column === undefined ? {} : { column: columnName(column) }),
    ...(template === undefined ? {} : { template: templateOf(template) }),
    ...(constant === undefined ? {} : { constant }),
    ...(parent === undefined ? {} : { parent: { map: parent.value, joins } }),
    ...(datatype === undefined ? {} : { datatype }),
  };
}

/** A name for the mapping of a triples map. */
export const mapName = (m: TriplesMap): string => m.own ?? fold(localName(m.iri)).replace(/[^\p{L}\p{N}_]+/gu, '_');

/** The table or query of a triples map as an item of FROM. The name of a database is left out. */
export function fromOf(m: TriplesMap, once: (loss: string) => void): string {
  if (m.query !== undefined) return `(\n${m.query}\n) AS "source"`;
  const parts = tokenize(m.table ?? '').filter((t) => t.kind === 'word' || t.kind === 'name');
  if (parts.length > 2) once(`database of ${m.table}: a mapping reads the database of its data source`);
  return `${parts
    .slice(-2)
    .map((t) => (m.table ?? '').slice(t.start, t.end))
    .join('.')} AS "source"`;
}
