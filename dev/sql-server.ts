import { createHash, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { Answer, type AnswerLimits } from './sql/answer.ts';
import type { Backend } from './sql/backend.ts';
import type { Metrics } from './sql/metrics.ts';
import { type Login, RequestFault, readConnectionString, readRequest } from './sql/protocol.ts';
import { Unauthenticated } from './sql/unauthenticated.ts';

const MAX_REQUEST_BYTES = 16 * 1024 * 1024;
/** The most requests of a connection at once. Clients and proxies send the next one after the answer; pipelined ones would each take memory at once. */
const MOST_PIPELINED = 8;
/** How long the rest of the body of a refused request is read, so that its caller can read the answer. */
const LINGER_MS = 1000;
/** The default of `greetingMs`. Node's own times are one and two minutes. */
const GREETING_MS = 15_000;
/** A Host header that names the loopback interface: another one comes from a page whose name leads to this machine. */
export const LOOPBACK = /^(127\.0\.0\.1|localhost|\[::1\])(:\d+)?$/i;
/** Content types that a page of another origin may post without a preflight request (Fetch standard, CORS-safelisted). */
const SIMPLE_TYPE = /^\s*(text\/plain|application\/x-www-form-urlencoded|multipart\/form-data)\b/i;

/** The parameters of the server. */
export interface SqlServerOptions {
  backend: Backend;
  /** 0 or undefined: a free port. */
  port?: number;
  /** Default 127.0.0.1; another address only together with `tls`. */
  host?: string;
  tls?: { cert: string; key: string };
  /** Default: 64 MiB, completely buffered, as on Neon. */
  limits?: Partial<AnswerLimits>;
  metrics?: Metrics | undefined;
  /** The time limit for the TLS handshake, and for the headers of a request. Default: 15 seconds. */
  greetingMs?: number;
  /** How long a connection without a login may be idle after an answer. Default: 5 seconds. */
  idleMs?: number;
}

/** A running server. */
export interface SqlServer {
  /** The URL for requests: `http://127.0.0.1:PORT/sql`. */
  endpoint: string;
  port: number;
  /** Stops listening, gives running requests `graceMs` (default 0) to end, aborts those that are left, and closes the back end. */
  close(graceMs?: number): Promise<void>;
}

/**
 * Starts an HTTP server with the SQL-over-HTTP protocol of Neon's proxy at `/sql`, for the requests and answers of
 * `@neondatabase/serverless`. It is stricter than Neon's proxy: only loopback Host values (unless
 * it has TLS), 401 for a wrong or missing login, and no CORS headers.
 */
export async function startSqlServer(options: SqlServerOptions): Promise<SqlServer> {
  const { backend, tls, host = '127.0.0.1', greetingMs = GREETING_MS } = options;
  if (!tls && host !== '127.0.0.1' && host !== '::1') throw new Error(`without TLS the SQL endpoint listens on 127.0.0.1 only, not on ${host}`);
  const maxBytes = options.limits?.maxBytes ?? 64 * 1024 * 1024;
  const limits = { maxBytes, holdBytes: options.limits?.holdBytes ?? maxBytes };
  const unauthenticated = new Unauthenticated(options.idleMs);
  const handle = (request: IncomingMessage, response: ServerResponse) => {
    if (!isInTurn(request, response)) return;
    count(response, options.metrics);
    unauthenticated.answering(request.socket, response);
    void answer({ backend, limits, unauthenticated, loopbackOnly: !tls }, request, response);
  };
  const times = { headersTimeout: greetingMs, connectionsCheckingInterval: greetingMs / 5 };
  const server: Server = tls ? createTlsServer({ ...tls, ...times, handshakeTimeout: greetingMs }, handle) : createServer(times, handle);
  server.on('connection', (socket: Socket) => unauthenticated.arrived(socket));
  // node would answer these with 417 itself, and keep the connection
  server.on('checkExpectation', handle);
  // A kept-alive connection must not be closed just before the client's next request.
  server.keepAliveTimeout = 600_000;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port ?? 0, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
  const { port } = server.address() as AddressInfo;
  return {
    port,
    endpoint: `${tls ? 'https' : 'http'}://${host.includes(':') ? `[${host}]` : host}:${port}/sql`,
    close: async (graceMs = 0) => {
      const closed = new Promise((resolve) => server.close(resolve));
      if (graceMs > 0) await idle(server, closed, graceMs);
      server.closeAllConnections();
      await closed;
      await backend.close();
    },
  };
}

/** The requests of a connection that have no answer yet. */
const inProgress = new WeakMap<Socket, number>();

/** False for a request too many: the connection is closed. */
function isInTurn({ socket }: IncomingMessage, response: ServerResponse): boolean {
  const before = inProgress.get(socket) ?? 0;
  if (before >= MOST_PIPELINED) socket.destroy();
  if (socket.destroyed) return false;
  inProgress.set(socket, before + 1);
  response.once('close', () => inProgress.set(socket, (inProgress.get(socket) ?? 1) - 1));
  return true;
}

/** Waits until all requests have ended, or the time has passed. A connection that is kept alive is closed after its request. */
async function idle(server: Server, closed: Promise<unknown>, graceMs: number): Promise<void> {
  const closing = setInterval(() => server.closeIdleConnections(), 50);
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise((resolve) => {
    timer = setTimeout(resolve, graceMs);
  });
  await Promise.race([closed, late]);
  clearInterval(closing);
  clearTimeout(timer);
}

function count(response: ServerResponse, metrics: Metrics | undefined): void {
  if (metrics === undefined) return;
  const begun = performance.now();
  response.once('close', () => metrics.request(response.writableFinished ? response.statusCode : undefined, (performance.now() - begun) / 1000));
}

interface Parts {
  readonly backend: Backend;
  readonly limits: AnswerLimits;
  readonly unauthenticated: Unauthenticated;
  readonly loopbackOnly: boolean;
}

async function answer({ backend, limits, unauthenticated, loopbackOnly }: Parts, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const gone = new AbortController();
  response.once('close', () => {
    if (!response.writableFinished) gone.abort();
  });
  response.on('error', () => gone.abort());
  const output = new Answer(response, limits, transactionHeaders(request));
  let after: (() => Promise<void>) | undefined;
  try {
    guard(request, loopbackOnly);
    const login = readLogin(request);
    // before the body, which would be kept in memory for callers without a password
    const caller = { address: request.socket.remoteAddress ?? '', signal: gone.signal };
    if (!(await backend.accepts(login, caller))) throw new RequestFault(401, 'the login of the Neon-Connection-String header is refused', '28P01');
    unauthenticated.loggedIn(request.socket);
    const body = await readBody(request);
    after = await backend.run(readRequest(body, request.headers, login), output, gone.signal);
    output.end();
  } catch (error) {
    // a short body is read until then
    await new Promise(setImmediate);
    if (!gone.signal.aborted) {
      // If the connection ended later, it could end while its caller sends the next request. If a part of the body is unread, the caller could miss the answer.
      if (request.complete && unauthenticated.includes(request.socket)) response.setHeader('connection', 'close');
      output.fail(error);
      endBody(request);
    }
  } finally {
    await after?.();
  }
}

/** Closes the connection if the body of a request that was answered does not end soon: node would read the rest of it for ever. */
function endBody(request: IncomingMessage): void {
  if (request.complete) return;
  const timer = setTimeout(() => request.socket.destroy(), LINGER_MS).unref();
  request.once('end', () => clearTimeout(timer));
}

/** Refuses requests that a web page could send without the user's consent, and requests outside of the protocol. */
function guard(request: IncomingMessage, loopbackOnly: boolean): void {
  const { headers } = request;
  // node takes the first one, a proxy may take another
  if (request.headersDistinct.host?.length !== 1) throw new RequestFault(400, 'a request has one Host header');
  if (loopbackOnly && !LOOPBACK.test(headers.host ?? '')) throw new RequestFault(421, 'the SQL endpoint answers on the loopback interface only');
  if (request.url?.split('?')[0]?.replace(/\/$/, '') !== '/sql') throw new RequestFault(404, 'only /sql exists');
  if (request.method !== 'POST') throw new RequestFault(405, 'the SQL endpoint accepts only POST');
  const site = headers['sec-fetch-site'];
  const foreign = headers.origin !== undefined && !isLoopbackOrigin(headers.origin);
  const type = headers['content-type'];
  if (site === 'cross-site' || site === 'same-site' || (foreign && (type === undefined || SIMPLE_TYPE.test(type))))
    throw new RequestFault(403, 'the SQL endpoint does not answer web pages');
}

function isLoopbackOrigin(origin: string): boolean {
  return URL.canParse(origin) && LOOPBACK.test(new URL(origin).host);
}

function readLogin(request: IncomingMessage): Login {
  const text = request.headers['neon-connection-string'];
  const login = typeof text === 'string' ? readConnectionString(text) : undefined;
  if (!login) throw new RequestFault(401, 'the SQL endpoint needs the Neon-Connection-String header with user, password and database', '28000');
  return login;
}

/** The body of a request. By events, which cost less than iteration. */
function readBody(request: IncomingMessage): Promise<string> {
  return new Promise((resolve, reject) => {
    const parts: Buffer[] = [];
    let size = 0;
    request.on('data', (part: Buffer) => {
      size += part.length;
      if (size <= MAX_REQUEST_BYTES) parts.push(part);
      else reject(new RequestFault(413, `request is too large (max is ${MAX_REQUEST_BYTES} bytes)`));
    });
    request.on('end', () => resolve(Buffer.concat(parts).toString('utf8')));
    request.on('error', reject);
    const left = () => reject(new Error('the caller has disconnected'));
    request.on('close', left);
    if (request.destroyed) left();
  });
}

/** The transaction headers of a batch are returned with the answer, as by Neon's proxy. */
function transactionHeaders({ headers }: IncomingMessage): Record<string, string> {
  const names = ['neon-batch-isolation-level', 'neon-batch-read-only', 'neon-batch-deferrable'];
  return Object.fromEntries(names.flatMap((n) => (typeof headers[n] === 'string' && headers[n] !== 'false' ? [[n, headers[n]]] : [])));
}

/** Compares two secrets in constant time. */
export function sameSecret(a: string, b: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(a), digest(b));
}
