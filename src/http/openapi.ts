/** The OpenAPI 3.1 document of the service (docs/design/rows-and-json.md#documents). */
import { clientPaths } from './openapi-clients.ts';
import { API, ASYNC_RESULTS, DOCUMENTS, STATEMENTS_AS_TEXT } from './openapi-operations.ts';
import { bodySchemas, HEADERS, type JsonObject, PARAMETERS, RESPONSES } from './openapi-parts.ts';
import { questionPaths } from './openapi-questions.ts';

/** The content of all documents. */
export interface DocumentBase {
  readonly product: string;
  /** The release of the service. */
  readonly release: string;
  /** The address of the service; null: the address of the document. */
  readonly url: string | null;
}

/** Operations under their whole paths. */
const below = (prefix: string, paths: JsonObject): JsonObject => Object.fromEntries(Object.entries(paths).map(([path, item]) => [`${prefix}/${path}`, item]));

/** Builds the document of the service. */
export function serviceDocument(base: DocumentBase): JsonObject {
  const { product } = base;
  const paths: JsonObject = {
    ...below(`/${product}/api`, API),
    ...below(`/${product}/openapi`, STATEMENTS_AS_TEXT),
    ...questionPaths(product),
    ...clientPaths(product),
    ...below(`/${product}/openapi`, ASYNC_RESULTS),
    ...below(`/${product}/api`, DOCUMENTS),
  };
  return document(base, `${product}: knowledge-graph query API`, SERVICE_TEXT(product), paths, {});
}

const SERVICE_TEXT = (product: string): string =>
  `Every path works with and without a trailing slash. Every error is \`{"status":"error",...}\` with a \`code\`. The virtual schemas in SQL are ` +
  `\`${product}\`, \`e${product}\`, \`d${product}\` and \`v${product}\`.`;

/** Builds a document from its paths and schemas. */
export const document = ({ release, url }: DocumentBase, title: string, description: string, paths: JsonObject, schemas: JsonObject): JsonObject => ({
  openapi: '3.1.0',
  info: { title, version: release, description },
  servers: [{ url: url ?? '/' }],
  security: [{ ApiToken: [] }, { Bearer: [] }, { Jwt: [] }],
  paths,
  components: {
    securitySchemes: {
      ApiToken: { type: 'apiKey', in: 'header', name: 'x-api-key', description: 'A user API token; it begins with `tk_`' },
      Bearer: { type: 'http', scheme: 'bearer', description: 'The same token as `Authorization: Bearer`' },
      UserPassword: { type: 'http', scheme: 'bearer', bearerFormat: 'Fernet', description: 'The output of `npm run generate-bearer`; only for `get_token`' },
      Jwt: {
        type: 'apiKey',
        in: 'header',
        name: 'x-jwt-token',
        description: 'A JWT of an identity provider, if JWTs are enabled; the header `x-jwt-tenant-id` names its tenant',
      },
    },
    headers: HEADERS,
    parameters: PARAMETERS(),
    responses: RESPONSES,
    schemas: { ...bodySchemas(), ...schemas },
  },
});
