/** docs/rest.md: its requests run against the service, and the answers on the page are those of the service. */
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeBearer } from '../../src/auth/bearer.ts';
import { startService, type TestService } from '../support/service.ts';
import { SimulatedModel } from '../support/tools.ts';

const llm = new SimulatedModel();
const PAGE = new URL('../../docs/rest.md', import.meta.url);

/** ```` ```http ```` with a request, and the block after it with the answer, if there is one yet. */
const EXAMPLE = /^```http\n((?:GET|POST|DELETE|OPTIONS) [\s\S]*?)\n```\n(?:\n```http\nHTTP [\s\S]*?\n```\n)?/gm;
const TABLES = /^```sql tables\n([\s\S]*?)\n```$/gm;
/** Headers that the page shows. */
const SHOWN =
  /^(content-type|etag|allow|retry-after|www-authenticate|vary|access-control-allow-origin|access-control-allow-methods|access-control-allow-headers|x-ontology-version)$/;

const text = await readFile(PAGE, 'utf8');
const requests = [...text.matchAll(EXAMPLE)].map(([, request = '']) => request);

const SALT = 'a long random salt';

let service: TestService;
const statuses: number[] = [];
const answers: string[] = [];

beforeAll(async () => {
  // the question of the page has this answer
  llm.says(["SELECT name FROM svc.customer WHERE city = 'Rome' ORDER BY name"], '', 'Ann and Cem live in Rome.');
  service = await startService({
    parts: { llm },
    settings: {
      ALLOWED_CONFIG_ENVS_IN_API: 'ROW_LIMIT,ADMIN_TOKEN',
      ROW_LIMIT: '3000',
      CORS_ORIGINS: 'https://app.example',
      API_AUTH_SALT: SALT,
    },
  });
  for (const [, sql = ''] of text.matchAll(TABLES))
    for (const statement of sql.split(/;$/m)) if (statement.trim() !== '') await service.database.exec(statement);
  await service.rows("CREATE USER ann PASSWORD 'correct horse'");
  known.set('BEARER', await makeBearer({ user: 'ann', password: 'correct horse' }, SALT, Date.now()));
  for (const request of requests) answers.push(await run(request));
});
afterAll(() => service.close());

/** The values of `$NAMES` on the page. */
const known = new Map<string, string>();
const uuids = new Map<string, string>();
/** Values that differ in each run, as the page has them. */
const stable = (messageText: string): string =>
  messageText
    .replace(/[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/g, (uuid) => {
      if (!uuids.has(uuid)) uuids.set(uuid, `00000000-0000-4000-8000-${String(uuids.size + 1).padStart(12, '0')}`);
      return uuids.get(uuid) as string;
    })
    .replace(/\btk_[0-9A-Za-z]{33}\b/g, 'tk_...')
    .replace(/W\/"[0-9a-f]{32}"/g, 'W/"..."');

async function run(request: string): Promise<string> {
  known.set('TOKEN', service.token);
  const [head = '', ...rest] = request.replace(/\$([A-Z_]+)/g, (whole, name: string) => known.get(name) ?? whole).split('\n\n');
  const [first = '', ...lines] = head.split('\n');
  const [method = '', path = ''] = first.split(' ');
  const headers = Object.fromEntries(lines.map((line) => line.split(/:\s(.*)/, 2) as [string, string]));
  const body = rest.join('\n\n');
  const send = () => service.fetch(path, { method, headers, ...(body === '' ? {} : { body }) });
  let response = await send();
  let got = await response.text();
  for (let i = 0; i < 1500 && got.startsWith('{"status":"running"'); i++) {
    await new Promise((resolve) => setTimeout(resolve, 20));
    response = await send();
    got = await response.text();
  }
  statuses.push(response.status);
  remember(response.headers, got);
  // headers of every answer are shown only once, in the section on cross-origin requests
  const shown = [...response.headers].filter(
    ([name, value]) =>
      SHOWN.test(name) && !(name === 'content-type' && value.startsWith('application/json')) && (name !== 'vary' || value !== 'origin' || method === 'OPTIONS'),
  );
  const json = response.headers.get('content-type')?.startsWith('application/json') === true;
  return stable(
    [
      `HTTP ${response.status}`,
      ...shown.map(([name, value]) => `${name}: ${value}`),
      ...(got === '' ? [] : ['', json ? print(parse(shortened(path, got))) : got.replaceAll('\r\n', '\n').trimEnd()]),
    ].join('\n'),
  );
}

function remember(headers: Headers, got: string): void {
  const etag = headers.get('etag');
  if (etag !== null) known.set('ETAG', etag);
  const id = /"response_id":"([^"]+)"/.exec(got)?.[1];
  if (id !== undefined) known.set('RESPONSE_ID', id);
}

/** For a long document the page shows only its beginning and one schema. */
function shortened(path: string, got: string): string {
  if (!path.endsWith('.json')) return got;
  const { openapi, info, paths, components } = JSON.parse(got);
  return JSON.stringify({
    openapi,
    info,
    paths: Object.fromEntries(Object.keys(paths).map((p) => [p, '...'])),
    components: { schemas: { 'concept.order': components.schemas['concept.order'] } },
  });
}

/** A number with the digits of the answer: 2.50 is not 2.5. */
class Digits {
  readonly digits: string;
  constructor(digits: string) {
    this.digits = digits;
  }
}
const parse = (json: string): unknown =>
  JSON.parse(json, (_key, value, ...[context]: [{ source?: string }?]) => (typeof value === 'number' ? new Digits(context?.source ?? '?') : value));

/** JSON on one line if it fits, else one line per member. */
function print(value: unknown, indent = ''): string {
  const flat = line(value);
  if (flat.length + indent.length <= 150 || typeof value !== 'object' || value === null || value instanceof Digits) return flat;
  const inner = `${indent}  `;
  if (Array.isArray(value)) return `[\n${value.map((v) => inner + print(v, inner)).join(',\n')}\n${indent}]`;
  return `{\n${Object.entries(value)
    .map(([k, v]) => `${inner}${JSON.stringify(k)}: ${print(v, inner)}`)
    .join(',\n')}\n${indent}}`;
}
function line(value: unknown): string {
  if (value instanceof Digits) return value.digits;
  if (Array.isArray(value)) return `[${value.map(line).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  return `{${Object.entries(value)
    .map(([k, v]) => `${JSON.stringify(k)}: ${line(v)}`)
    .join(', ')}}`;
}

describe('docs/rest.md', () => {
  it('has an example of every endpoint', async () => {
    const document = (await (await service.fetch('/svc/api/openapi.json', { headers: { 'x-api-key': service.token } })).json()) as {
      paths: Record<string, object>;
    };
    const asked = requests.map((r) => (/ ([^?\s]+)/.exec(r)?.[1] ?? '').replace(/\/$/, ''));
    const missing = Object.keys(document.paths).filter(
      (path) => !asked.some((a) => new RegExp(`^${path.replace(/\./g, '\\.').replace(/\{[^}]+\}/g, '[^/]+')}$`).test(a)),
    );
    // the text names them: the times of the first one vary, one is the whole of the other, and the page is not data
    expect(missing).toEqual(['/svc/api/health/ready', '/svc/api/openapi.json', '/svc/api/docs']);
    for (const path of missing) expect(text).toContain(path);
  });

  it('shows successful answers, except the documented errors', () => {
    const failed = requests.filter((_, i) => (statuses[i] ?? 0) >= 400).map((r) => r.split('\n')[0]);
    expect(failed).toEqual([
      'GET /svc/api/get_ontologies/',
      'POST /svc/api/get_token',
      'POST /svc/api/query/',
      'GET /svc/openapi/get-async-results/0f8fad5b-d9cb-469f-a165-70867728950e',
      'GET /svc/api/get_config/ADMIN_TOKEN',
      'POST /svc/api/llm_prompts/generate_sqls',
      'POST /svc/openapi/ontology/shop/query',
      'GET /svc/api/get_ontology/shp',
      'DELETE /svc/api/query',
    ]);
  });

  it('has the answers of the service', async () => {
    let i = 0;
    const page = text.replace(EXAMPLE, (_whole, request: string) => `\`\`\`http\n${request}\n\`\`\`\n\n\`\`\`http\n${answers[i++]}\n\`\`\`\n`);
    await expect(page).toMatchFileSnapshot('../../docs/rest.md');
  });
});
