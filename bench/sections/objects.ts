/** (objects) What Durable Objects cost: their requests, the time that these take and the rows that they write, counted for one use of each of them. */

import { consent } from '../../test/integration/support/consent.ts';
import { Visitor } from '../../test/integration/support/visitor.ts';
import { buildService } from '../lib/build.ts';
import { callOf } from '../lib/mcp.ts';
import { loadModel, post, SERVICE_BINDINGS, serviceSettings, startScripts, worldDatabase } from '../lib/stack.ts';
import { note, table } from '../lib/table.ts';

/** Each use is repeated, so that what happens once does not count much. */
const TIMES = 20;
const PASSWORD = 'Correct-horse-9!';
const SQL = "SELECT name FROM svc.city WHERE entity_id = 'city:2761369'";
const CALLBACK = 'http://127.0.0.1:33418/callback';

interface Count {
  readonly requests: number;
  readonly ms: number;
  readonly rowsWritten: number;
}
type Counts = Readonly<Record<string, Count>>;

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

class Uses {
  readonly #base: string;
  readonly #key: Readonly<Record<string, string>>;

  constructor(base: string, adminToken: string) {
    this.#base = base;
    this.#key = { 'x-api-key': adminToken };
  }

  counts = async (): Promise<Counts> => (await (await fetch(`${this.#base}/counts`)).json()) as Counts;

  async rows(query: string, ontology_name = 'world'): Promise<readonly Record<string, unknown>[]> {
    return JSON.parse(String(await post(`${this.#base}/svc/api/query`, { ontology_name, query }, this.#key))).data;
  }

  async #sent(path: string, init: RequestInit): Promise<Response> {
    const response = await fetch(`${this.#base}/svc${path}`, init);
    if (!response.ok) throw new Error(`${path}: HTTP ${response.status} ${await response.text()}`);
    return response;
  }

  async #json(path: string, body: unknown): Promise<Record<string, string>> {
    return (await this.#sent(path, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })).json() as Promise<
      Record<string, string>
    >;
  }

  async #form(path: string, fields: Record<string, string>): Promise<Record<string, string>> {
    return (await this.#sent(path, { method: 'POST', body: new URLSearchParams(fields) })).json() as Promise<Record<string, string>>;
  }

  async call(credential: Readonly<Record<string, string>> = this.#key): Promise<void> {
    const { body, headers } = callOf('2026-07-28', 'execute_sql', { ontology: 'world', query: SQL });
    const answer = await this.#sent('/api/mcp', {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers, ...credential },
      body: JSON.stringify(body),
    });
    const text = await answer.text();
    if (text.includes('"isError":true')) throw new Error(text);
  }

  /** An asynchronous statement whose result is asked for until it is there. @returns the number of questions */
  async background(): Promise<number> {
    const headers = { ...this.#key, 'content-type': 'text/plain' };
    const begun = await this.#sent('/openapi/ontology/world/query', { method: 'POST', headers: { ...headers, 'x-async': 'true' }, body: SQL });
    const { response_id } = (await begun.json()) as { response_id: string };
    for (let polls = 1; ; polls++) {
      await pause(200);
      const { status } = (await (await this.#sent(`/openapi/get-async-results/${response_id}`, { headers })).json()) as { status: string };
      if (status === 'completed') return polls;
    }
  }

  async logIn(password: string): Promise<void> {
    const browser = new Visitor((path, init) => fetch(this.#base + path, init));
    await browser.logIn('olive', password);
  }

  /** A client registers, its user logs in and allows it, and it gets its tokens. @returns its credential */
  async authorize(): Promise<Record<string, string>> {
    const registered = await this.#json('/oauth/register', { client_name: 'Weaver', redirect_uris: [CALLBACK], token_endpoint_auth_method: 'none' });
    const client_id = registered.client_id as string;
    const verifier = crypto.randomUUID() + crypto.randomUUID();
    const digest = Buffer.from(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(verifier))).toString('base64url');
    const resource = `${this.#base}/svc/api/mcp`;
    const asked = { response_type: 'code', client_id, redirect_uri: CALLBACK, code_challenge: digest, code_challenge_method: 'S256', state: 'x', resource };
    const back = await consent(`${this.#base}/svc/oauth/authorize?${new URLSearchParams(asked)}`, 'olive', PASSWORD);
    const code = back.searchParams.get('code') ?? '';
    return {
      client_id,
      ...(await this.#form('/oauth/token', { grant_type: 'authorization_code', code, client_id, redirect_uri: CALLBACK, code_verifier: verifier, resource })),
    };
  }

  refresh(client_id: string, refresh_token: string): Promise<Record<string, string>> {
    return this.#form('/oauth/token', { grant_type: 'refresh_token', refresh_token, client_id });
  }
}

/** What `work` adds to the counts, for each of `times` uses. */
async function counted(uses: Uses, name: string, times: number, work: () => Promise<unknown>): Promise<string[][]> {
  const before = await uses.counts();
  for (let i = 0; i < times; i++) await work();
  const after = await uses.counts();
  const each = (n: number): string => (n / times).toFixed(1);
  return Object.entries(after).flatMap(([object, now]) => {
    const was = before[object] as Count;
    const requests = now.requests - was.requests;
    return requests === 0 ? [] : [[name, object, each(requests), each(now.ms - was.ms), each(now.rowsWritten - was.rowsWritten)]];
  });
}

export async function run(): Promise<void> {
  const database = await worldDatabase();
  const { adminToken, bindings } = await serviceSettings(database);
  const script = await buildService('objects', 'bench/worker/counted.ts');
  const writer = { DATASOURCE_MAIN_WRITER: database.local.secret('kg_dev') };
  const running = await startScripts({ service: { script, bindings: { ...bindings, ...writer }, more: SERVICE_BINDINGS } });
  try {
    const base = running.urls.service as string;
    await loadModel(base, adminToken);
    const uses = new Uses(base, adminToken);
    await uses.rows(`CREATE USER olive PASSWORD '${PASSWORD}'; GRANT QUERY ON ALL ontology.world TO USER olive`, '');
    await uses.call();
    const lines = await counted(uses, 'a call of a tool', TIMES, () => uses.call());
    let polls = 0;
    const background = await counted(uses, 'an asynchronous statement', TIMES, async () => {
      polls += await uses.background();
    });
    lines.push(...background);
    lines.push(...(await counted(uses, 'a login with the right password', 5, () => uses.logIn(PASSWORD))));
    lines.push(...(await counted(uses, 'a login with a wrong password', 3, () => uses.logIn('no'))));
    let tokens: Record<string, string> = {};
    lines.push(
      ...(await counted(uses, 'a new OAuth client, with its login', 3, async () => {
        tokens = await uses.authorize();
      })),
    );
    lines.push(...(await counted(uses, 'a call of a tool by OAuth', TIMES, () => uses.call({ authorization: `Bearer ${tokens.access_token}` }))));
    lines.push(
      ...(await counted(uses, 'new OAuth tokens', TIMES, async () => {
        tokens = { ...tokens, ...(await uses.refresh(tokens.client_id as string, tokens.refresh_token as string)) };
      })),
    );
    await database.local.exec('CREATE SCHEMA IF NOT EXISTS svc_cache');
    await uses.rows("CREATE JOB j SCHEDULE '1 1 1 1 *' AS CACHE MAPPING map_region OPTIONS (schema = 'svc_cache')");
    lines.push(
      ...(await counted(uses, 'RUN JOB and its run', 3, async () => {
        const [before] = await uses.rows('SHOW JOBS');
        await uses.rows('RUN JOB j');
        for (let tries = 0; tries < 300; tries++) {
          await pause(200);
          const [now] = await uses.rows('SHOW JOBS');
          if (now?.last_run !== before?.last_run && now?.status === 'succeeded') return;
        }
        throw new Error('the job did not run');
      })),
    );
    table(`(objects) requests to Durable Objects, ${database.name}`, ['use', 'object', 'requests', 'ms', 'rows written'], lines);
    note(
      `For each use. An asynchronous statement was asked for ${(polls / TIMES).toFixed(1)} times; 10 minutes later one more alarm deletes it. The ms are the time in the objects' methods, waiting included. workerd on one machine shows no time outside of them, no transport to an object at another place, and no processor time of one object. The platform adds the time until an idle object leaves the memory, about 10 s, only if it cannot hibernate meanwhile.`,
    );
  } finally {
    await running.stop();
  }
}
