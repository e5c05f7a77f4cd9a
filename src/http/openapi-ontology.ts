/** The OpenAPI 3.1 document of one ontology: a path for each concept and view that the caller may see, with its columns as schemas. */
import { type DocumentBase, document } from './openapi.ts';
import { ASYNC_PARAMETERS, ASYNC_STARTED, CHANGE_PARAMETERS, FILTERS_TEXT, SQL_BODY } from './openapi-operations.ts';
import { FILTER_PARAMETERS, type JsonObject, operation, ROW_PARAMETERS, ref, rowsAnswer, STATEMENT, use } from './openapi-parts.ts';

/** The part of the answer of get_ontology that is used. */
export interface DescribedOntology {
  readonly version: string;
  readonly ontology: readonly {
    readonly concept: string;
    readonly description: string | null;
    readonly properties: readonly DescribedProperty[];
  }[];
  readonly views: Readonly<
    Record<string, { readonly description: string | null; readonly columns: readonly { readonly name: string; readonly type: string | null }[] }>
  >;
}
interface DescribedProperty {
  readonly name: string;
  readonly type: string;
  readonly description: string | null;
  readonly is_multi: boolean;
  readonly is_measure: boolean;
}

const INTEGERS: Readonly<Record<string, string | undefined>> = { smallint: 'int32', integer: 'int32', bigint: 'int64' };
const NUMBERS = new Set(['float', 'double', 'decimal']);
/** Types whose values are texts with a JSON Schema format. There is no format for a timestamp without time zone. */
const FORMATS: Readonly<Record<string, string | undefined>> = { date: 'date', timestamptz: 'date-time', uuid: 'uuid' };
const TEXTS = new Set(['string', 'time', 'timestamp', 'datetime', 'bytea', 'interval', 'timetz', 'inet', 'cidr']);

/** The JSON Schema of a column's values; `{}` if the type does not determine it. Every column may be null. */
function valueSchema(type: string | null): JsonObject {
  const name = (type ?? '').split('(', 1)[0] as string;
  if (name.startsWith('_')) return { type: ['array', 'null'] };
  const integer = Object.hasOwn(INTEGERS, name) ? INTEGERS[name] : undefined;
  if (integer !== undefined) return { type: ['integer', 'null'], format: integer };
  // JSON has no NaN or infinity; PostgreSQL writes them as texts
  if (NUMBERS.has(name)) return { type: ['number', 'string', 'null'] };
  if (name === 'boolean') return { type: ['boolean', 'null'] };
  const format = Object.hasOwn(FORMATS, name) ? FORMATS[name] : undefined;
  if (format !== undefined) return { type: ['string', 'null'], format };
  return TEXTS.has(name) ? { type: ['string', 'null'] } : {};
}

interface Column {
  readonly name: string;
  readonly type: string | null;
  readonly description?: string | null;
}

const rowSchema = (columns: readonly Column[]): JsonObject => ({
  type: 'object',
  // with _select_, paths or nested, an answer has other members, too
  properties: Object.fromEntries(columns.map((c) => [c.name, { ...valueSchema(c.type), ...(c.description == null ? {} : { description: c.description }) }])),
});

/** Columns of every concept. */
const ENTITY: readonly Column[] = [
  { name: 'entity_id', type: 'string', description: '`<concept>:<key>`' },
  { name: 'entity_type', type: 'string', description: 'The concept whose mapping gives the row' },
  { name: 'entity_label', type: 'string' },
];

/** Makes unique names of components. Characters that are not allowed become `_`, and duplicates get a number. */
class Names {
  readonly #taken = new Set<string>();
  of(prefix: string, name: string): string {
    const wanted = `${prefix}${name.replace(/[^A-Za-z0-9._-]/g, '_')}`;
    let free = wanted;
    for (let n = 2; this.#taken.has(free); n++) free = `${wanted}_${n}`;
    this.#taken.add(free);
    return free;
  }
}

/** Builds the document of the ontology `name`. */
export function ontologyDocument(base: DocumentBase, name: string, detail: DescribedOntology): JsonObject {
  const { product } = base;
  const path = encodeURIComponent(name);
  const names = new Names();
  const schemas: Record<string, JsonObject> = {};
  const paths: Record<string, JsonObject> = {};
  const add = (kind: 'concept' | 'view', thing: string, description: string | null, columns: readonly Column[]): void => {
    const id = names.of(`${kind}.`, thing);
    schemas[id] = rowSchema(columns);
    paths[`/${product}/api/q/${path}/${kind}/${encodeURIComponent(thing)}`] = {
      get: operation({
        id,
        tag: kind === 'concept' ? 'Concepts' : 'Views',
        summary: `Rows of the ${kind} ${thing}`,
        description: `${description === null ? '' : `${description}. `}${FILTERS_TEXT}`,
        parameters: [...FILTER_PARAMETERS, ...ROW_PARAMETERS, use('x-ontology-version')],
        answers: { 200: rowsAnswer('Rows and the executed SQL', listed(id)) },
        fails: STATEMENT,
      }),
    };
  };
  for (const concept of detail.ontology) {
    const own = concept.properties.filter((p) => !p.is_multi && !p.is_measure);
    add('concept', concept.concept, concept.description, [...ENTITY, ...own]);
  }
  for (const [view, { description, columns }] of Object.entries(detail.views)) add('view', view, description, columns);
  paths[`/${product}/openapi/ontology/${path}/query`] = {
    post: operation({
      id: 'query_text',
      tag: 'SQL',
      summary: 'Runs SQL in a text body; the answer is an array of rows',
      parameters: [...ASYNC_PARAMETERS, ...CHANGE_PARAMETERS, ...ROW_PARAMETERS, use('x-ontology-version')],
      body: SQL_BODY,
      answers: { 200: rowsAnswer('Rows of the last statement', 'Rows'), 202: ASYNC_STARTED },
      fails: STATEMENT,
    }),
  };
  return document(
    { ...base, release: detail.version },
    `${product}: ${name}`,
    `Concepts and views of the ontology \`${name}\` that the caller may see.`,
    paths,
    schemas,
  );
}

const listed = (row: string): JsonObject => ({
  type: 'object',
  required: ['status', 'data', 'executed_query'],
  properties: { status: { type: 'string', const: 'success' }, data: { type: 'array', items: ref(row) }, executed_query: { type: 'string' } },
});
