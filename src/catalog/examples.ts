/** Verified examples in the catalog (docs/design/statements-and-versions.md#examples): attached to an ontology, not part of a version. */
import { cacheOf } from '../cache.ts';
import { type Call, type CatalogDb, call, DbError, sql } from './db.ts';

/** An example of an ontology. Its SQL uses neutral names. */
export interface ExampleRow {
  readonly question: string;
  readonly description: string | null;
  readonly query: string;
  readonly changedBy: string;
  /** The user's id. Names can be reused by other users. */
  readonly changedById: string;
  /** ISO 8601 in UTC, to the microsecond. */
  readonly changedOn: string;
}

const BUMP = sql`UPDATE kg_catalog.ontologies SET example_generation = example_generation + 1 WHERE id = $1`;
const CREATE = sql`INSERT INTO kg_catalog.examples (ontology_id, key, question, description, query, changed_by, changed_by_id) 
  VALUES ($1, encode(sha256(convert_to($2, 'UTF8')), 'hex'), $3, $4, $5, $6, $7)`;
const DROP = sql`DELETE FROM kg_catalog.examples WHERE ontology_id = $1 AND key = encode(sha256(convert_to($2, 'UTF8')), 'hex')`;
// `examples` is null if the generation is the known one; the size matters for examples of releases that did not limit it
const READ = sql`SELECT o.example_generation::text AS generation, CASE WHEN o.example_generation = $2::bigint THEN NULL ELSE (
    SELECT coalesce(json_agg(json_build_object('question', e.question, 'description', e.description, 'query', e.query, 'changedBy', e.changed_by, 'changedById', e.changed_by_id,
      'changedOn', (to_json(e.changed AT TIME ZONE 'UTC') #>> '{}') || '+00:00') ORDER BY e.question COLLATE "C"), '[]')
      FROM (SELECT *, sum(octet_length(x.question) + coalesce(octet_length(x.description), 0) + octet_length(x.query)) OVER (ORDER BY x.question COLLATE "C", x.key) AS size
        FROM kg_catalog.examples x WHERE x.ontology_id = o.id) e WHERE e.size <= 16000000)::text
  END AS examples FROM kg_catalog.ontologies o WHERE o.id = $1::uuid`;

/** Stores an example under its question's key; the catalog hashes it, because a script has a thousand. If `replace`, deletes the example with that key first. Fails with 23505 if it was created, and with 23503 if the ontology was dropped, concurrently. */
export const createExample = (
  ontologyId: string,
  key: string,
  example: Pick<ExampleRow, 'question' | 'description' | 'query'>,
  by: { readonly userId: string; readonly name: string },
  replace: boolean,
): readonly Call[] => [
  call(BUMP, ontologyId),
  ...(replace ? [call(DROP, ontologyId, key)] : []),
  call(CREATE, ontologyId, key, example.question, example.description, example.query, by.name, by.userId),
];

export const dropExample = (ontologyId: string, key: string): readonly Call[] => [call(BUMP, ontologyId), call(DROP, ontologyId, key)];

interface Kept {
  readonly generation: string;
  readonly rows: readonly ExampleRow[];
}

const kept = cacheOf<Kept>('examples');

/** Reads the current examples of an ontology, ordered by question. Each call asks the catalog, which sends them only if they changed. @throws SvcError 503 */
export async function readExamples(db: CatalogDb, ontologyId: string): Promise<readonly ExampleRow[]> {
  const known = kept.get(ontologyId);
  try {
    const [row] = await db.query(READ, [ontologyId, known?.generation ?? null]);
    if (row === undefined) return [];
    if (known !== undefined && row.examples == null) return known.rows;
    const text = String(row.examples);
    const rows = JSON.parse(text) as readonly ExampleRow[];
    kept.set(ontologyId, { generation: String(row.generation), rows }, text.length * 3);
    return rows;
  } catch (error) {
    // the table or column does not exist until its migration is applied
    if (error instanceof DbError && /^42(P01|703)$/.test(error.sqlstate)) return [];
    throw error;
  }
}
