/** A client of the service for the command line: REST, with a token. */
import { readFile } from 'node:fs/promises';
import { setTimeout } from 'node:timers/promises';
import { BadConnection, type Connection, endpointOf, readConnection } from '../connection.ts';
import { NOT_READ } from '../errors.ts';
import { Failure } from './failure.ts';

type Env = Readonly<Record<string, string | undefined>>;

/** An answer of `POST /<product>/api/query/`. */
export interface Answer {
  readonly status: number;
  readonly rows: readonly Readonly<Record<string, unknown>>[];
  /** Set if the service returned an error. */
  readonly fault?: { readonly code: string; readonly message: string; readonly hint: string | undefined; readonly position: number | undefined };
}

/** An answer of another path: its `data`, or an error. */
export interface Posted extends Pick<Answer, 'status' | 'fault'> {
  readonly data: unknown;
}

export interface ServiceClient {
  readonly base: string;
  query(sql: string, ontology: string): Promise<Answer>;
  /** Sends a JSON body to a path below `/<product>/api/`. */
  post(path: string, body: unknown): Promise<Posted>;
}

/**
 * Finds the service by KG_URL and KG_TOKEN, or else by the session file that `npm start` writes (SESSION_FILE, default .dev/session.json). The session's
 * token is sent only to the session's address (docs/design/platform-rules.md#the-command-line).
 *
 * @throws Failure that says what is missing
 */
export async function findService(env: Env): Promise<ServiceClient> {
  const file = sessionFile(env);
  const given = env.KG_URL?.trim();
  const session = given && env.KG_TOKEN ? {} : await readSession(file);
  const base = withoutSlash(given || text(session.base_url) || '');
  if (base === '') throw new Failure(`no service found: set KG_URL and KG_TOKEN, or start one here with npm start (there is no session file ${file})`);
  const own = text(session.base_url) !== undefined && withoutSlash(text(session.base_url) ?? '') === base;
  const token = env.KG_TOKEN?.trim() || (own ? text(session.admin_token) : undefined);
  if (!token) throw new Failure(`no token for ${base}: set KG_TOKEN`);
  const product = env.PRODUCT_NAME?.trim() || 'svc';
  const post = (path: string, body: unknown): Promise<Posted> => send(`${base}/${product}/api/${path}`, token, body);
  const query = async (sql: string, ontology: string): Promise<Answer> => {
    const { data, ...answer } = await post('query/', { ontology_name: ontology, query: sql });
    return { ...answer, rows: Array.isArray(data) ? data : [] };
  };
  return { base, query, post };
}

const withoutSlash = (url: string): string => url.replace(/\/+$/, '');
const text = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined);

/** The path of the session file that `npm start` writes. */
export const sessionFile = (env: Env): string => env.SESSION_FILE?.trim() || '.dev/session.json';

/**
 * A connection of the session file: of the owner of the tables (`database_url`), of the role that queries use, or of the catalog's owner.
 * Undefined if the file has none, or a string that is no connection.
 *
 * @throws Failure if the file is damaged
 */
export async function sessionConnection(
  env: Env,
  role: 'database_url' | 'reader_url' | 'catalog_url',
): Promise<(Connection & { readonly endpoint: string }) | undefined> {
  const { [role]: url, sql_endpoint: endpoint } = await readSession(sessionFile(env));
  if (typeof url !== 'string') return undefined;
  try {
    const connection = readConnection(JSON.stringify({ url, endpoint }));
    return { url: connection.url, endpoint: endpointOf(connection) };
  } catch (e) {
    if (e instanceof BadConnection) return undefined;
    throw e;
  }
}

/** The content of a session file; empty if the file does not exist. @throws Failure if it is damaged */
export async function readSession(file: string): Promise<Readonly<Record<string, unknown>>> {
  let content: string;
  try {
    content = await readFile(file, 'utf8');
  } catch {
    return {};
  }
  try {
    const session: unknown = JSON.parse(content);
    if (typeof session === 'object' && session !== null) return { ...session };
  } catch {
    // reported below
  }
  throw new Failure(`the session file ${file} is damaged; npm start writes a new one`);
}

/** How many times a request is repeated that the service refused without reading it. */
const REPETITIONS = 3;
/** The longest pause before a repetition. */
const MOST_SECONDS = 30;

/** Sends a request. One that the service was too busy to read has had no effect, so it is sent again after the pause of `retry-after`. */
async function send(url: string, token: string, content: unknown): Promise<Posted> {
  for (let left = REPETITIONS; ; left--) {
    const { posted, retryAfter } = await sendOnce(url, token, content);
    const isUnread = posted.status === 503 && posted.fault?.code === 'busy' && posted.fault.message === NOT_READ;
    if (!isUnread || left === 0 || retryAfter === undefined) return posted;
    await setTimeout(1000 * Math.min(retryAfter, MOST_SECONDS));
  }
}

/** @returns `retryAfter`: the seconds of the header */
async function sendOnce(url: string, token: string, content: unknown): Promise<{ readonly posted: Posted; readonly retryAfter: number | undefined }> {
  let response: Response;
  let body: string;
  try {
    response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': token },
      body: JSON.stringify(content),
      redirect: 'error',
      signal: AbortSignal.timeout(300_000),
    });
    body = await response.text();
  } catch (e) {
    const cause = e instanceof Error && e.cause instanceof Error && 'code' in e.cause ? e.cause.code : e instanceof Error ? e.name : 'unknown fault';
    throw new Failure(`the service at ${new URL(url).origin} does not answer (${String(cause)})`);
  }
  const answer = parsed(body);
  if (response.ok && answer.status === 'success') return { posted: { status: response.status, data: answer.data }, retryAfter: undefined };
  if (answer.status !== 'error') throw new Failure(`${new URL(url).origin} answered ${response.status}, but not like this service`);
  const { position } = answer;
  const seconds = response.headers.get('retry-after') ?? '';
  const fault = {
    code: text(answer.code) ?? 'error',
    message: text(answer.data) ?? `HTTP ${response.status}`,
    hint: text(answer.hint),
    position: typeof position === 'number' ? position : undefined,
  };
  return { posted: { status: response.status, data: undefined, fault }, retryAfter: /^\d+$/.test(seconds) ? Number(seconds) : undefined };
}

function parsed(body: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(body);
    return typeof value === 'object' && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}
