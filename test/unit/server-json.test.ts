/**
 * server.json, which describes this server for the MCP registry: the constraints of its schema (2025-12-11, that is
 * https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json) as far as servers on the
 * network need them, further checks of the registry, and that its content is correct.
 */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { mcpMounts } from '../../src/mcp/mounts.ts';
import { namedBy } from '../../src/service.ts';

const read = (name: string) => JSON.parse(readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8'));
const SCHEMA = 'https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json';

// the schema allows unknown members; here they are typos
const input = z.strictObject({
  description: z.string().optional(),
  isRequired: z.boolean().optional(),
  format: z.enum(['string', 'number', 'boolean', 'filepath']).optional(),
  value: z.string().optional(),
  isSecret: z.boolean().optional(),
  default: z.string().optional(),
  placeholder: z.string().optional(),
  choices: z.array(z.string()).optional(),
});
const remote = z.strictObject({
  type: z.enum(['streamable-http', 'sse']),
  // a template, except for its scheme
  url: z.string().regex(/^https:\/\/[^\s]+$/),
  headers: z.array(input.extend({ name: z.string(), variables: z.record(z.string(), input).optional() })).optional(),
  variables: z.record(z.string(), input).optional(),
});
const server = z.strictObject({
  $schema: z.literal(SCHEMA),
  name: z
    .string()
    .min(3)
    .max(200)
    .regex(/^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/),
  title: z.string().min(1).max(100).optional(),
  description: z.string().min(1).max(100),
  // one version, not a range
  version: z
    .string()
    .max(255)
    .regex(/^\d+\.\d+\.\d+(-[\w.]+)?$/),
  websiteUrl: z.url().optional(),
  remotes: z.array(remote),
});
type Server = z.output<typeof server>;

const names = (template: string): string[] => [...template.matchAll(/\{([^}]*)\}/g)].map(([, name]) => name as string);

/** The registry's objections; empty: it accepts the document. */
function faults(document: unknown): string[] {
  const { success, data, error } = server.safeParse(document);
  if (!success) return error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`);
  return data.remotes.flatMap(({ url, variables = {}, headers = [] }) => [
    ...names(url).flatMap((name) => (Object.hasOwn(variables, name) ? [] : [`{${name}} of ${url} is not declared`])),
    ...Object.keys(variables).flatMap((name) => (names(url).includes(name) ? [] : [`${name} is not in ${url}`])),
    ...(URL.canParse(url.replace(/\{[^}]*\}/g, 'placeholder')) ? [] : [`${url} makes no URL`]),
    ...headers.flatMap((header) => (header.isSecret && (header.default ?? header.value) !== undefined ? [`${header.name} publishes a secret`] : [])),
  ]);
}

const document = read('server.json') as Server;

describe('server.json', () => {
  it('is valid', () => expect(faults(document)).toEqual([]));

  it.each<[string, (made: Server) => void]>([
    ['a description that is too long', (made) => Object.assign(made, { description: 'x'.repeat(101) })],
    ['a name without a namespace', (made) => Object.assign(made, { name: 'svc' })],
    ['a range of versions', (made) => Object.assign(made, { version: '^0.1.0' })],
    ['an unknown member', (made) => Object.assign(made, { remote: [] })],
    ['another transport', (made) => Object.assign(made.remotes[0] as object, { type: 'http' })],
    ['an address that is a variable', (made) => Object.assign(made.remotes[0] as object, { url: '{base}/svc/api/mcp' })],
    ['a variable that is not declared', (made) => Object.assign(made.remotes[0] as object, { variables: { host: {} } })],
    ['a published secret', (made) => Object.assign(made.remotes[0]?.headers?.[0] as object, { default: 'tk_x' })],
  ])('would not be with %s', (_, change) => {
    const made = structuredClone(document);
    change(made);
    expect(faults(made)).toHaveLength(1);
  });

  it('has the version of the package', () => expect(document.version).toBe(read('package.json').version));

  it('names existing URLs and headers', () => {
    const paths = mcpMounts('svc', '0', {} as never).map(({ path }) => `https://{host}/{product}${path}`);
    const expected = { 'streamable-http': '/api/mcp', sse: '/api/mcp/sse' };
    expect(document.remotes.map(({ type, url }) => [type, url])).toEqual(
      Object.entries(expected).map(([type, path]) => [type, `https://{host}/{product}${path}`]),
    );
    for (const { url, headers = [] } of document.remotes) {
      expect(paths).toContain(url);
      const [key, ...others] = headers.map(({ name }) => name);
      expect(key).toBe('x-api-key');
      const read = namedBy(new Headers(others.map((name) => [name, `by ${name}`])), new URLSearchParams());
      expect(read).toEqual({ ontology: 'by x-ontology', agent: 'by x-agent', conversation: null });
    }
  });
});
