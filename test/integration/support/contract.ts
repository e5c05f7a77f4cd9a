/** Compares answers with an OpenAPI document: operation, status, headers, content-type and body. */
import { z } from 'zod';

// biome-ignore lint/suspicious/noExplicitAny: an OpenAPI document is walked
export type Document = any;

/** The compared parts of an answer. */
export interface GivenAnswer {
  readonly status: number;
  header(name: string): string | null;
  readonly text: string;
}

const resolved = (doc: Document, value: Document): Document =>
  value?.$ref === undefined
    ? value
    : value.$ref
        .slice(2)
        .split('/')
        .reduce((at: Document, key: string) => at?.[key], doc);

const validators = new WeakMap<object, z.ZodType>();

/** The schema of a document's body as a validator: references resolved, and no undescribed member. */
function validator(doc: Document, schema: Document): z.ZodType {
  let made = validators.get(schema);
  if (made === undefined) {
    const walk = (value: Document): Document => {
      if (Array.isArray(value)) return value.map(walk);
      if (typeof value !== 'object' || value === null) return value;
      const copy = Object.fromEntries(Object.entries(value).map(([k, v]) => [k, walk(v)])) as Document;
      if (typeof copy.$ref === 'string') copy.$ref = copy.$ref.replace('#/components/schemas/', '#/$defs/');
      // the validator's integers end at 2^53
      if (copy.format === 'int64') return { type: ['number', 'null'] };
      if (copy.type === 'object' && copy.properties !== undefined && !('openapi' in copy.properties)) copy.additionalProperties ??= false;
      return copy;
    };
    made = z.fromJSONSchema({ ...walk(schema), $defs: walk(doc.components.schemas) });
    validators.set(schema, made);
  }
  return made;
}

/** The path of the document for a URL; undefined if it describes none. */
export function pathOf(doc: Document, path: string): string | undefined {
  // as it is sent: a URL parser would change it
  const plain = (path.split(/[?#]/)[0] as string).replace(/\/$/, '');
  return Object.keys(doc.paths).find((template) => {
    const pattern = template.replace(/[.*+?^$()|[\]\\]/g, '\\$&').replace(/\{[^}]+\}/g, '[^/]+?');
    return new RegExp(`^${pattern}$`).test(plain);
  });
}

/** Errors that a request to any URL may get. They do not belong to an operation. */
const OUTSIDE: Readonly<Record<number, readonly string[]>> = {
  // `openapi/<name>` without its `.json` is checked like the path with it
  401: ['credential_missing', 'invalid_token'],
  403: ['forbidden'],
  // the document of an ontology without a name belongs to no ontology
  404: ['unknown_path', 'unknown_ontology'],
  405: ['method_not_allowed'],
  414: ['url_too_long'],
  421: ['misdirected_request'],
};

/** The problem with an answer; the empty text: it matches the document. */
export function breach(doc: Document, method: string, path: string, given: GivenAnswer): string {
  const { status, text } = given;
  if (!/^[A-Za-z0-9._-]{1,128}$/.test(given.header('x-request-id') ?? '')) return 'x-request-id is missing';
  const type = (given.header('content-type') ?? '').replace(/;.*/, '');
  const operation = doc.paths[pathOf(doc, path) ?? '']?.[method.toLowerCase()];
  if (operation === undefined) return method === 'HEAD' ? '' : outside(doc, given, type);
  const described = resolved(doc, operation.responses[status]);
  if (described === undefined) return outside(doc, given, type) === '' ? '' : `${operation.operationId}: its status ${status} is not described`;
  for (const name of ['etag', 'www-authenticate', 'retry-after'])
    if (described.headers?.[name] !== undefined && !(name === 'retry-after' && status === 503) && !given.header(name)) return `${name} is missing`;
  if (described.content === undefined) return text === '' ? '' : 'there is a body';
  if (!Object.hasOwn(described.content, type)) return `its content-type ${type} is not described`;
  if (type !== 'application/json') return '';
  const result = validator(doc, described.content[type].schema).safeParse(JSON.parse(text));
  if (!result.success) return z.prettifyError(result.error);
  return status >= 400 && text !== NO_RESPONSE && JSON.parse(text).request_id !== given.header('x-request-id') ? 'another request_id' : '';
}

/** The one error with another form (docs/design/statements-and-versions.md#statements-that-run-on). */
const NO_RESPONSE = '{"error":"Response not found"}';

/** The problem with an answer to a request that is not an operation. */
function outside(doc: Document, given: GivenAnswer, type: string): string {
  if (type !== 'application/json') return `status ${given.status} of the content-type ${type}, on no operation`;
  const result = validator(doc, doc.components.schemas.Failure).safeParse(JSON.parse(given.text));
  if (!result.success) return z.prettifyError(result.error);
  const { code } = result.data as { code: string };
  if (!OUTSIDE[given.status]?.includes(code)) return `status ${given.status} ${code}, on no operation`;
  return given.status === 405 && !given.header('allow') ? 'allow is missing' : '';
}
