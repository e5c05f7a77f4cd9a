/** The model that the console shows: always that of the current user and ontology. */
import { afterAll, beforeAll, expect, it, vi } from 'vitest';

interface Signal<T> {
  value: T;
}

/** Signals of the console's modules, which need a browser's types; they are loaded by a path that the compiler does not follow. */
async function signals(): Promise<{
  readonly credential: Signal<unknown>;
  readonly seenAs: Signal<string | null>;
  readonly model: Signal<{ readonly concepts: ReadonlyMap<string, unknown> } | null>;
  readonly modelFailure: Signal<unknown>;
}> {
  const modules = await Promise.all(
    ['api/session', 'api/http', 'model/current'].map((file) => import(new URL(`../../../console/src/${file}.ts`, import.meta.url).href)),
  );
  return Object.assign({}, ...modules);
}

/** The requests that wait for an answer: who asks, and how to answer. */
const waiting: { readonly as: string | null; readonly answer: (response: Response) => void }[] = [];

beforeAll(() => {
  vi.stubGlobal('location', new URL('http://127.0.0.1/svc/console/#/shop/model'));
  vi.stubGlobal('addEventListener', () => {});
  vi.stubGlobal('document', { querySelector: () => null, addEventListener: () => {} });
  vi.stubGlobal('fetch', (_url: string, { headers }: { readonly headers: Readonly<Record<string, string>> }) => {
    return new Promise<Response>((answer) => waiting.push({ as: headers['x-api-impersonate-user'] ?? null, answer }));
  });
});
afterAll(() => vi.unstubAllGlobals());

const settled = (): Promise<void> => new Promise((done) => setTimeout(done, 0));

/** The answer of `get_ontology` with one concept. */
const answerOf = (concept: string): Response =>
  Response.json({
    status: 'success',
    data: {
      version: '',
      datasources: [],
      properties: {},
      views: {},
      ontology: [
        {
          concept,
          inheritance: ['thing'],
          description: null,
          primary_keys: [],
          label_keys: [],
          query: null,
          properties: [],
          relationships: [],
          mappings: [],
          tags: {},
        },
      ],
    },
  });

it('does not use an answer for an earlier user that arrives late', async () => {
  const { credential, seenAs, model, modelFailure } = await signals();
  credential.value = { header: 'x-api-key', value: 'tk_1', user: 'ann', form: null };
  seenAs.value = 'bob';
  await settled();
  expect(waiting.map(({ as }) => as)).toEqual([null, 'bob']);
  waiting[1]?.answer(answerOf('seen_by_bob'));
  await settled();
  expect([...(model.value?.concepts.keys() ?? [])]).toEqual(['seen_by_bob']);
  waiting[0]?.answer(answerOf('secret'));
  await settled();
  expect([...(model.value?.concepts.keys() ?? [])]).toEqual(['seen_by_bob']);
  expect(modelFailure.value).toBeNull();
});

it('does not show the failure of an earlier request', async () => {
  const { seenAs, modelFailure } = await signals();
  seenAs.value = 'eve';
  seenAs.value = 'bob';
  await settled();
  waiting[2]?.answer(Response.json({ status: 'error', data: 'not yours', code: 'forbidden' }, { status: 403 }));
  await settled();
  expect(modelFailure.value).toBeNull();
});

it('stays signed out when a token arrives after signing out', async () => {
  const { credential } = await signals();
  const { renewed, signOut } = await import(new URL('../../../console/src/api/session.ts', import.meta.url).href);
  credential.value = { header: 'x-api-key', value: 'tk_2', user: 'ann', form: 'f' };
  await settled();
  const before = waiting.length;
  const renewal = renewed() as Promise<boolean>;
  signOut();
  waiting[before]?.answer(Response.json({ token: 'tk_3', user: 'ann', lifetime: 900 }));
  expect(await renewal).toBe(false);
  expect(credential.value).toBeNull();
});

it('neither repeats the request of an earlier user, nor signs the next one out when its token has ended', async () => {
  const { credential } = await signals();
  const { send } = await import(new URL('../../../console/src/api/http.ts', import.meta.url).href);
  const next = { header: 'x-api-key', value: 'tk_5', user: 'bob', form: null };
  credential.value = { header: 'x-api-key', value: 'tk_4', user: 'ann', form: null };
  await settled();
  const before = waiting.length;
  const sent = (send('/get_ontologies') as Promise<unknown>).then(
    () => 'answered',
    (error: { code: string }) => error.code,
  );
  credential.value = next;
  await settled();
  const after = waiting.length;
  waiting[before]?.answer(Response.json({ status: 'error', data: 'expired', code: 'credential_invalid' }, { status: 401 }));
  expect(await sent).toBe('credential_missing');
  expect(credential.value).toBe(next);
  expect(waiting.length).toBe(after);
});
