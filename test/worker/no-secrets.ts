/**
 * Setup of every test file in the Workers runtime: at its end, everything that was logged is searched for the secrets of
 * the service and for every credential and password that the requests of this file, and of earlier files in the same runtime, contained.
 */
import { afterAll, expect, inject, vi } from 'vitest';

interface Kept {
  readonly logged: string[];
  /** The secrets of all files of the runtime so far: a late line may contain one of an earlier file. */
  readonly secrets: Set<string>;
  /** Those of the current file. */
  readonly own: Set<string>;
}

/** Files share a runtime. Only the first one replaces its functions. */
const runtime = globalThis as { keptBySetup?: Kept };
const isFirst = runtime.keptBySetup === undefined;
runtime.keptBySetup ??= { logged: [], secrets: new Set(), own: new Set() };
const { secrets, own } = runtime.keptBySetup;

/** Everything that was logged so far in this file. */
export const { logged } = runtime.keptBySetup;
logged.length = 0;
own.clear();

const keep = (secret: string | null | undefined): void => {
  // shorter secrets also occur in other words
  if (secret == null || secret.length < 6) return;
  secrets.add(secret);
  own.add(secret);
};

/** The password in a connection string, which a variable contains directly or in JSON. */
const passwordOf = (connection: string): string | undefined => /:\/\/[^:/@\s]+:([^@\s]+)@/.exec(connection)?.[1];

for (const name of ['adminToken', 'strangersToken', 'apiAuthSalt', 'sessionSecret'] as const) keep(inject(name));
for (const name of ['catalogUrl', 'datasource'] as const) keep(passwordOf(inject(name)));

const HEADERS = ['x-api-key', 'x-jwt-token', 'authorization', 'cookie'];

/** The parts of a request that must not appear in a log. */
function note(headers: Headers, body: unknown): void {
  for (const name of HEADERS) {
    const value = headers.get(name);
    keep(value);
    for (const part of (value ?? '').split(/[\s;=]+/)) if (part.length >= 20) keep(part);
  }
  if (typeof body !== 'string') return;
  for (const [, password] of body.matchAll(/PASSWORD\s*=?\s*'([^']+)'/gi)) keep(password);
  keep(new URLSearchParams(body).get('password'));
}

/** Keeps the tokens in an answer. */
function tokensIn(text: string): void {
  for (const [token] of text.matchAll(/tk_[0-9A-Za-z]{33}/g)) keep(token);
}

/** Records what is logged, and the secrets in requests and answers. */
function watch(): void {
  for (const method of ['log', 'info', 'warn', 'error', 'debug'] as const) {
    const real = console[method].bind(console);
    console[method] = (...args: unknown[]) => {
      logged.push(args.map((a) => (a instanceof Error ? `${a.message}\n${a.stack}` : typeof a === 'string' ? a : JSON.stringify(a))).join(' '));
      real(...args);
    };
  }

  const RealRequest = globalThis.Request;
  globalThis.Request = class extends RealRequest {
    constructor(...[input, init]: ConstructorParameters<typeof RealRequest>) {
      super(input, init);
      note(this.headers, init?.body);
    }
  };

  const realJson = Response.prototype.json;
  const realText = Response.prototype.text;
  Response.prototype.text = async function text(this: Response) {
    const body = await realText.call(this);
    tokensIn(body);
    return body;
  };
  Response.prototype.json = async function json<T>(this: Response) {
    const value = await realJson.call(this);
    tokensIn(JSON.stringify(value));
    return value as T;
  };
}
if (isFirst) watch();

afterAll(async () => {
  // the next file has the same globals
  vi.restoreAllMocks();
  vi.useRealTimers();
  // lines are written after the answer is sent
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(own.size).toBeGreaterThan(4);
  const leaks = logged.filter((line) => [...secrets].some((secret) => line.includes(secret)) || /tk_[0-9A-Za-z]{33}|eyJ[\w-]+\.eyJ/.test(line));
  expect(leaks).toEqual([]);
});
