/** A question end to end: an MCP client signs in by OAuth at the service as `npm start` starts it, and asks in words. */
import { Client, StreamableHTTPClientTransport, UnauthorizedError } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { chat, type Stub, startStub } from '../unit/llm/stub.ts';
import { consent } from './support/consent.ts';
import { type Started, startAsDeveloper } from './support/npm-start.ts';

const PASSWORD = 'Correct-horse-9!';
const SQL = 'SELECT COUNT(*) AS animals FROM svc.animal';

let stub: Stub;
let service: Started;
beforeAll(async () => {
  stub = await startStub();
  service = await startAsDeveloper({ LLM_TYPE: 'openai-compatible', LLM_BASE_URL: `${stub.url}/v1`, LLM_MODEL: 'm', LLM_API_KEY: 'k' });
  await service.sql('CREATE TABLE t_animal (no int PRIMARY KEY, called text)');
  await service.sql("INSERT INTO t_animal VALUES (1, 'Ada'), (2, 'Bob')");
  await service.query(`CREATE ONTOLOGY park; CREATE CONCEPT animal (no integer, name string, PRIMARY KEY (no));
    CREATE MAPPING m INTO animal AS SELECT no, called AS name FROM public.t_animal`);
  await service.query(`CREATE USER olive PASSWORD '${PASSWORD}'; GRANT QUERY ON ALL ontology.park TO USER olive`);
});
afterAll(async () => {
  await service?.stop();
  await stub?.close();
});

it('gets answer, SQL and rows', async () => {
  stub.play((response, { raw }) =>
    chat(response, JSON.stringify(raw.includes('"answer"') ? { answer: 'There are 2 animals.' } : { reason: 'r', sql: SQL, refusal: null })),
  );
  const kept: { client?: object; tokens?: object; verifier?: string; asked?: URL } = {};
  const authProvider = {
    redirectUrl: 'http://127.0.0.1:4711/callback',
    clientMetadata: {
      client_name: 'Test',
      redirect_uris: ['http://127.0.0.1:4711/callback'],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    },
    clientInformation: () => kept.client as never,
    saveClientInformation: (client: object) => {
      kept.client = client;
    },
    tokens: () => kept.tokens as never,
    saveTokens: (tokens: object) => {
      kept.tokens = tokens;
    },
    codeVerifier: () => kept.verifier ?? '',
    saveCodeVerifier: (verifier: string) => {
      kept.verifier = verifier;
    },
    redirectToAuthorization: (url: URL) => {
      kept.asked = url;
    },
  };
  const transport = () => new StreamableHTTPClientTransport(new URL(`${service.base}/svc/api/mcp`), { authProvider });
  const first = transport();
  await expect(new Client({ name: 'test', version: '1' }).connect(first)).rejects.toBeInstanceOf(UnauthorizedError);
  const back = await consent(String(kept.asked), 'olive', PASSWORD);
  await first.finishAuth(back.searchParams);

  const client = new Client({ name: 'test', version: '1' });
  await client.connect(transport());
  const steps: (string | undefined)[] = [];
  const result = await client.callTool(
    { name: 'ask_question', arguments: { prompt: 'How many animals are there?', ontology: 'park', show_result_set: true, verbose: true } },
    { onprogress: ({ message }) => steps.push(message) },
  );
  expect(steps).toEqual(['Writing the SQL', 'Putting the rows into words']);
  await client.close();
  expect(result.structuredContent).toMatchObject({
    answer: 'There are 2 animals.',
    sql: SQL,
    rows: [{ animals: 2 }],
    details: { model: 'openai-compatible/m', tries: [{ sql: SQL, error: null }] },
  });
  expect(stub.heard.every((h) => h.headers.authorization === 'Bearer k')).toBe(true);
});
