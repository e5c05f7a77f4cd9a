/** A proxy between the Worker and the SQL endpoint that breaks answers in the way that a request's text names. */
import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

/**
 * What is done with an answer of the database: it may write to the answer, or to its socket below HTTP. `real` returns the database's answer, which is kept for
 * requests that differ only in the name of their fault.
 */
export type Fault = (answer: { readonly response: ServerResponse; readonly socket: Socket; readonly real: () => Promise<Buffer> }) => void | Promise<void>;

export interface FaultProxy {
  readonly endpoint: string;
  readonly port: number;
  /** The number of requests for a fault. */
  asked(name: string): number;
  /** The number of requests that the Worker aborted before their answer's end. */
  abandoned(name: string): number;
  close(): Promise<void>;
}

/** A request names a fault by `fault:<name>` anywhere in its body; other requests are unchanged. */
export async function startFaultProxy(upstream: string, faults: Readonly<Record<string, Fault>>, onPort = 0): Promise<FaultProxy> {
  const asked = new Map<string, number>();
  const abandoned = new Map<string, number>();
  const count = (of: Map<string, number>, name: string) => of.set(name, (of.get(name) ?? 0) + 1);
  const answers = new Map<string, Buffer>();
  const server = createServer(async (request, response) => {
    const body = await read(request);
    const name = /fault:([a-z0-9_]+)/.exec(body.toString())?.[1];
    const fault = name === undefined ? undefined : faults[name];
    const gone = new AbortController();
    response.once('close', () => gone.abort());
    const real = async (): Promise<Buffer> => {
      const { 'content-length': _, ...headers } = request.headers;
      const key = `${JSON.stringify(headers)} ${body.toString().replaceAll(`fault:${name}`, 'fault')}`;
      const kept = answers.get(key);
      if (kept) return kept;
      // continues after the Worker has given up, so that the next attempt has the answer
      const answer = await forward(upstream, request, body);
      if (answer.status === 200) answers.set(key, answer.body);
      return answer.body;
    };
    response.on('error', () => undefined);
    if (name === undefined || fault === undefined) {
      const {
        status,
        headers,
        body: text,
      } = await forward(upstream, request, body, gone.signal).catch(() => ({ status: 502, headers: {}, body: Buffer.from('') }));
      response.writeHead(status, headers).end(text);
      return;
    }
    count(asked, name);
    response.once('close', () => {
      if (!response.writableFinished) count(abandoned, name);
    });
    try {
      await fault({ response, socket: request.socket, real });
    } catch (error) {
      // the Worker has given up before the answer of the database
      if (!gone.signal.aborted) throw error;
    }
  });
  server.keepAliveTimeout = 600_000;
  await new Promise<void>((resolve) => server.listen(onPort, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    endpoint: `http://127.0.0.1:${port}/sql`,
    port,
    asked: (name) => asked.get(name) ?? 0,
    abandoned: (name) => abandoned.get(name) ?? 0,
    close: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

async function read(request: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of request as AsyncIterable<Buffer>) parts.push(part);
  return Buffer.concat(parts);
}

interface Forwarded {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly body: Buffer;
}

/** The database's answer. `signal` ends the request. */
function forward(upstream: string, { headers }: IncomingMessage, body: Buffer, signal?: AbortSignal): Promise<Forwarded> {
  const { host, connection, ...passed } = headers;
  return new Promise((resolve, reject) => {
    const request = httpRequest(
      upstream,
      { method: 'POST', headers: { ...passed, 'content-length': body.length }, ...(signal && { signal }) },
      async (response) => {
        const all = await read(response).catch(reject);
        if (all)
          resolve({ status: response.statusCode ?? 502, headers: { 'content-type': 'application/json', 'content-length': String(all.length) }, body: all });
      },
    );
    request.on('error', reject);
    request.end(body);
  });
}
