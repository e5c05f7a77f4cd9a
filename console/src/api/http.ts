/** Requests to the service's public API with the caller's token. */
import { computed, signal } from '@preact/signals';
import { texts } from '../texts.ts';
import { parseExact } from './exact.ts';
import { Failure } from './failure.ts';
import { credential, isSameUser, onOtherUser, renewed, signOut } from './session.ts';

/** The product's name: the first segment of the path of the page. */
export const product = location.pathname.split('/')[1] ?? 'svc';
/** The path of the API, `/svc/api`. */
export const apiPath = `/${product}/api`;

/** The user that the console shows the graph as (impersonation); null: the caller itself. */
export const seenAs = signal<string | null>(null);
onOtherUser(() => (seenAs.value = null));

/** With whose eyes the console sees: answers for somebody else are not shown. */
export const eyes = computed(() => JSON.stringify([credential.value?.user ?? credential.value?.value ?? null, seenAs.value]));

interface Options {
  readonly method?: 'GET' | 'POST';
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
}

/** Sends a request. A token that has expired is renewed once, for the same user. @param path below `/svc/api` @throws Failure; DOMException `AbortError` */
export async function send(path: string, { method = 'GET', body, headers = {}, signal: aborted }: Options = {}): Promise<Response> {
  const [first, as] = [credential.value, seenAs.value];
  for (let attempt = 0; ; attempt++) {
    const own = credential.value;
    if (own === null || first === null || !isSameUser(own, first)) throw new Failure(401, 'credential_missing', texts.failure.signedOut, texts.failure.signIn);
    const response = await fetch(`${apiPath}${path}`, {
      method,
      credentials: 'omit',
      redirect: 'error',
      headers: {
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        [own.header]: own.value,
        ...(as === null ? {} : { 'x-api-impersonate-user': encodeName(as) }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(aborted === undefined ? {} : { signal: aborted }),
    });
    if (response.ok) return response;
    // another request may have renewed the token meanwhile
    if (response.status === 401 && attempt === 0 && (credential.value !== own || (await renewed()))) continue;
    const failure = await read(response);
    if (response.status === 401 && credential.value === own) signOut(own.form === null ? failure.message : texts.session.ended);
    throw failure;
  }
}

/** Header values are bytes; names beyond ASCII are sent as UTF-8. */
const encodeName = (name: string): string => String.fromCharCode(...new TextEncoder().encode(name));

interface RpcError {
  readonly message: string;
  readonly data?: { readonly code?: string; readonly hint?: string };
}

async function read(response: Response): Promise<Failure> {
  try {
    const body = (await response.json()) as { data?: string; code?: string; hint?: string; position?: number; error?: RpcError };
    // an error of the MCP server has the form of JSON-RPC
    const { data, code, hint, position } = body.error === undefined ? body : { position: undefined, ...body.error.data, data: body.error.message };
    return new Failure(response.status, code ?? `http_${response.status}`, String(data ?? response.statusText), hint ?? null, position ?? null);
  } catch {
    return new Failure(response.status, `http_${response.status}`, texts.failure.status(response.status));
  }
}

/** `data` of a JSON answer. @throws as `send` */
export async function data<T>(path: string, options: Options = {}): Promise<T> {
  const response = await send(path, options);
  return (parseExact(await response.text()) as { data: T }).data;
}

/** Whether the service runs on the user's own machine, as `npm start` does it. */
export const isLocal = /^(?:127\.|localhost$|\[::1\]$)/.test(location.hostname);

/** Refuses everything that would change something. */
export const READ_ONLY = { 'x-read-only': 'true' };

/**
 * The rows of a statement that reads, all at once: for answers that are known to be short. The service refuses statements that change something, so a text that a
 * link contains, or that is being typed, has no effect. @throws as `send`
 */
export const query = <T>(
  ontology: string | null,
  sql: string,
  options: { readonly signal?: AbortSignal; readonly limit?: number } = {},
): Promise<readonly T[]> =>
  data<readonly T[]>('/query', {
    method: 'POST',
    body: { ontology_name: ontology ?? '', query: sql },
    headers: { ...READ_ONLY, ...(options.limit === undefined ? {} : { 'results-limit': String(options.limit) }) },
    signal: options.signal,
  });

/** How many statements of `change` have run. */
export const changes = signal(0);

/** Runs a statement that changes something, after the user has seen it and pressed its button. @throws as `send` */
export async function change<T>(ontology: string | null, sql: string): Promise<readonly T[]> {
  const rows = await data<readonly T[]>('/query', { method: 'POST', body: { ontology_name: ontology ?? '', query: sql } });
  changes.value++;
  return rows;
}

export { Failure, failureOf } from './failure.ts';
export { identifier, literal } from './names.ts';
