/** Makes the triples that an R2RML document describes, from the rows of a database. Enough of R2RML for what `kg export` writes. */
import { DataFactory, Parser, type Quad, Store, type Term } from 'n3';

const RR = 'http://www.w3.org/ns/r2rml#';
const TYPE = DataFactory.namedNode('http://www.w3.org/1999/02/22-rdf-syntax-ns#type');

type Row = Readonly<Record<string, unknown>>;

/**
 * @param rowsOf the rows of a query, with values as JSON has them
 * @param most the number of rows to read of a triples map, by the end of its IRI
 */
export async function triplesOf(r2rml: string, rowsOf: (sql: string) => Promise<readonly Row[]>, most: Readonly<Record<string, number>> = {}): Promise<Quad[]> {
  const store = new Store(new Parser().parse(r2rml));
  const all = (s: Term, p: string): Term[] => store.getObjects(s, DataFactory.namedNode(RR + p), null);
  const one = (s: Term, p: string): Term | undefined => all(s, p)[0];
  const text = (s: Term, p: string): string => one(s, p)?.value ?? '';
  const column = (identifier: string): string => (identifier.startsWith('"') ? identifier.slice(1, -1).replaceAll('""', '"') : identifier);
  const value = (row: Row, identifier: string): string | undefined => {
    const found = row[column(identifier)];
    return found === null || found === undefined ? undefined : typeof found === 'object' ? JSON.stringify(found) : String(found);
  };
  const object = (row: Row, map: Term): Term | undefined => {
    const template = one(map, 'template')?.value;
    if (template === undefined) {
      const found = value(row, text(map, 'column'));
      return found === undefined ? undefined : DataFactory.literal(found, one(map, 'datatype') as never);
    }
    let isWhole = true;
    const iri = template.replace(/\{([^}]*)\}/g, (_, name: string) => {
      const found = value(row, name);
      isWhole &&= found !== undefined;
      return encodeURIComponent(found ?? '');
    });
    return !isWhole ? undefined : text(map, 'termType') === `${RR}BlankNode` ? DataFactory.blankNode(iri.replace(/\W/g, '_')) : DataFactory.namedNode(iri);
  };

  const maps = store.getSubjects(DataFactory.namedNode(`${RR}logicalTable`), null, null);
  const rows = new Map<string, readonly Row[]>();
  for (const map of maps) {
    const limit = Object.entries(most).find(([end]) => map.value.endsWith(end))?.[1];
    const sql = text(one(map, 'logicalTable') as Term, 'sqlQuery');
    rows.set(map.value, await rowsOf(limit === undefined ? sql : `SELECT * FROM (${sql}) q LIMIT ${limit}`));
  }
  const quads: Quad[] = [];
  for (const map of maps) {
    const subjectMap = one(map, 'subjectMap') as Term;
    for (const row of rows.get(map.value) ?? []) {
      const subject = object(row, subjectMap);
      if (subject === undefined) continue;
      const add = (p: Term, o: Term | undefined): void => {
        if (o !== undefined) quads.push(DataFactory.quad(subject as never, p as never, o as never));
      };
      for (const c of all(subjectMap, 'class')) add(TYPE, c);
      for (const po of all(map, 'predicateObjectMap'))
        for (const p of all(po, 'predicate')) for (const o of all(po, 'objectMap')) if (one(o, 'parentTriplesMap') === undefined) add(p, object(row, o));
    }
    joins(map, subjectMap);
  }
  return quads;

  /** The links of foreign keys: rows of the parent with the same values. */
  function joins(map: Term, subjectMap: Term): void {
    for (const po of all(map, 'predicateObjectMap'))
      for (const o of all(po, 'objectMap')) {
        const parent = one(o, 'parentTriplesMap');
        if (parent === undefined) continue;
        const pairs = all(o, 'joinCondition').map((j) => [text(j, 'child'), text(j, 'parent')] as const);
        const keyOf = (row: Row, side: 0 | 1): string => JSON.stringify(pairs.map((p) => value(row, p[side]) ?? null));
        const parents = Map.groupBy(rows.get(parent.value) ?? [], (row) => keyOf(row, 1));
        const parentMap = one(parent, 'subjectMap') as Term;
        for (const row of rows.get(map.value) ?? []) {
          const subject = object(row, subjectMap);
          if (subject === undefined || pairs.some(([child]) => value(row, child) === undefined)) continue;
          for (const found of parents.get(keyOf(row, 0)) ?? [])
            for (const p of all(po, 'predicate')) quads.push(DataFactory.quad(subject as never, p as never, object(found, parentMap) as never));
        }
      }
  }
}
