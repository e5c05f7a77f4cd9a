/** Clients of the MCP server in a separate thread, so that they are not delayed by other work of the process. */
import { Agent, request as httpRequest } from 'node:http';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { callOf, greeting, type McpMessage, REVISIONS, type Revision, request } from './mcp.ts';
import { quantile } from './measure.ts';

/** Clients, each with its own credential and kept-alive connection: even ones use the older protocol, odd ones the newer. */
export interface Clients {
  readonly url: string;
  /** API tokens; client i uses token i modulo their number. */
  readonly tokens: readonly string[];
  readonly clients: number;
  readonly milliseconds: number;
  /** The calls of each loop, after initialization and tools/list. */
  readonly calls: readonly Call[];
}

/** A tool call, and the number of rows of its answer; null: the call is an error. */
export interface Call {
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly rows: number | null;
}

export interface ClientsResult {
  readonly loops: number;
  readonly calls: number;
  readonly bytes: number;
  /** The first errors, and their number: refused connections, statuses, errors, answers with other rows. */
  readonly faults: readonly string[];
  readonly faultCount: number;
  /** Times of calls, by the number of rows of the answer. */
  readonly milliseconds: readonly { readonly rows: string; readonly p50: number; readonly p95: number }[];
}

/** Runs the clients. */
export function work(what: Clients): Promise<ClientsResult> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL(import.meta.url), { workerData: what });
    worker.once('message', resolve);
    worker.once('error', reject);
  });
}

const MOST_FAULTS = 10;

async function run({ url, tokens, clients, milliseconds, calls }: Clients): Promise<ClientsResult> {
  const end = performance.now() + milliseconds;
  const took = new Map<string, number[]>();
  const faults: string[] = [];
  const counts = { loops: 0, calls: 0, bytes: 0, faultCount: 0 };
  const failed = (fault: string): void => {
    counts.faultCount++;
    if (faults.length < MOST_FAULTS) faults.push(fault.slice(0, 300));
  };
  const client = async (number: number): Promise<void> => {
    const revision = REVISIONS[number % 2] as Revision;
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const key = tokens[number % tokens.length] as string;
    const result = async (message: McpMessage): Promise<Answer['result']> => {
      const { status, text } = await send(url, agent, key, message);
      counts.bytes += text.length;
      const answer = status === 200 ? (JSON.parse(text) as Answer) : {};
      if (answer.result === undefined) throw new Error(`HTTP ${status}: ${text}`);
      return answer.result;
    };
    while (performance.now() < end) {
      try {
        await result(greeting(revision));
        const listed = await result(request(revision, 'tools/list'));
        if (listed?.tools?.length !== 10) throw new Error(`${listed?.tools?.length} tools`);
        for (const { tool, args, rows } of calls) {
          const begun = performance.now();
          const answer = await result(callOf(revision, tool, args));
          const name = rows === null ? 'an error' : String(rows);
          const times = took.get(name) ?? [];
          times.push(performance.now() - begun);
          took.set(name, times);
          counts.calls++;
          const found = answer?.isError === true ? null : rowsOf(answer);
          if (found !== rows) throw new Error(`${tool} answered ${found} rows for ${rows}: ${JSON.stringify(answer).slice(0, 200)}`);
        }
        counts.loops++;
      } catch (error) {
        failed(String(error));
      }
    }
    agent.destroy();
  };
  await Promise.all(Array.from({ length: clients }, (_, number) => client(number)));
  const times = [...took].map(([rows, all]) => ({ rows, p50: quantile(all, 0.5), p95: quantile(all, 0.95) }));
  return { ...counts, faults, milliseconds: times };
}

interface Answer {
  readonly result?: {
    readonly tools?: readonly unknown[];
    readonly isError?: boolean;
    readonly structuredContent?: Readonly<Record<string, unknown>>;
    readonly content?: readonly { readonly text: string }[];
  };
}

/** The number of rows of an answer; its text must agree. */
function rowsOf(result: Answer['result']): number {
  const { structuredContent = {}, content = [] } = result ?? {};
  const list = (of: Readonly<Record<string, unknown>>): number => (Object.values(of).find(Array.isArray) ?? []).length;
  const found = list(structuredContent);
  return list(JSON.parse(content[0]?.text ?? '{}')) === found ? found : Number.NaN;
}

function send(url: string, agent: Agent, key: string, { body, headers }: McpMessage): Promise<{ readonly status: number; readonly text: string }> {
  const text = JSON.stringify(body);
  const all = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text), 'x-api-key': key, ...headers };
  return new Promise((resolve, reject) => {
    const sent = httpRequest(url, { method: 'POST', agent, headers: all }, (answer) => {
      const chunks: Buffer[] = [];
      answer.on('data', (chunk: Buffer) => chunks.push(chunk));
      answer.on('error', reject);
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, text: Buffer.concat(chunks).toString() }));
    });
    sent.on('error', reject);
    sent.end(text);
  });
}

if (!isMainThread && workerData !== null) parentPort?.postMessage(await run(workerData as Clients));
