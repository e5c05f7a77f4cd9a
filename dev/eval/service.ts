/** The service for the evaluation: the tools of its MCP server, each question as its caller. */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { Row } from './compare.ts';
import { patientFetch } from './patient-fetch.ts';
import type { Place } from './place.ts';

/** The result of a tool, or the text of its error. */
export type Said<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: string };

export interface Rows {
  readonly rows: readonly Row[];
  readonly truncated: boolean;
}

/** The answer of query_data, with its details (`verbose`). */
export interface Asked extends Rows {
  readonly sql: string;
  readonly concept: string;
  readonly calls: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Calls of the model for the SQL. */
  readonly tries: number;
}

export interface EvalService {
  /** query_data. @throws Error where the service itself cannot be reached */
  ask(question: string, caller: string | undefined, most: number): Promise<Said<Asked>>;
  /** execute_sql. @throws as `ask` */
  run(sql: string, caller: string | undefined): Promise<Said<Rows>>;
  /** execute_sql with dry_run: the planner and the datasource's EXPLAIN. @throws as `ask` */
  check(sql: string, caller: string | undefined): Promise<Said<{ readonly plan: string | null }>>;
  close(): Promise<void>;
}

/** A question ends after three times LLM_TIMEOUT, so this is only a limit: the longest time of a timer. */
const TIMEOUT_MS = 2 ** 31 - 1;

type Content = readonly { readonly type: string; readonly text?: string }[];

/** The MCP server of a service, for one ontology; the questions are asked with an agent, if one is named. */
export function overMcp(place: Place, ontology: string, agent?: string): EvalService {
  const clients = new Map<string | undefined, Promise<Client>>();
  const connect = async (caller: string | undefined): Promise<Client> => {
    const client = new Client({ name: 'evaluation', version: '1' });
    const headers = { 'x-api-key': await place.tokenOf(caller), ...(agent === undefined ? {} : { 'x-agent': agent }) };
    await client.connect(
      new StreamableHTTPClientTransport(new URL(`${place.base}/${place.product}/api/mcp/`), { requestInit: { headers }, fetch: patientFetch }),
    );
    return client;
  };
  const call = async <T>(caller: string | undefined, name: string, args: object, read: (answer: Readonly<Record<string, unknown>>) => T): Promise<Said<T>> => {
    const known = clients.get(caller) ?? connect(caller);
    clients.set(caller, known);
    const result = await (await known).callTool({ name, arguments: { ...args, ontology } }, { timeout: TIMEOUT_MS });
    if (!result.isError) return { ok: true, value: read(result.structuredContent as Readonly<Record<string, unknown>>) };
    return { ok: false, error: (result.content as Content).map((c) => c.text ?? '').join('\n') };
  };
  const rowsOf = ({ rows, truncated }: Readonly<Record<string, unknown>>): Rows => ({ rows: rows as readonly Row[], truncated: truncated === true });
  return {
    ask: (prompt, caller, most) =>
      call(caller, 'query_data', { prompt, max_limit: most, verbose: true }, (answer) => ({ ...rowsOf(answer), ...detailsOf(answer) })),
    run: (query, caller) => call(caller, 'execute_sql', { query }, rowsOf),
    check: (query, caller) => call(caller, 'execute_sql', { query, dry_run: true }, ({ plan }) => ({ plan: typeof plan === 'string' ? plan : null })),
    close: async () => {
      for (const client of clients.values()) await client.then((c) => c.close()).catch(() => undefined);
    },
  };
}

function detailsOf(answer: Readonly<Record<string, unknown>>): Omit<Asked, keyof Rows> {
  const details = (answer.details ?? {}) as { readonly costs?: Readonly<Record<string, unknown>> };
  const cost = (name: string): number => (typeof details.costs?.[name] === 'number' ? details.costs[name] : 0);
  const calls = cost('calls');
  return {
    sql: String(answer.sql ?? ''),
    concept: String(answer.concept ?? ''),
    calls,
    inputTokens: cost('inputTokens'),
    outputTokens: cost('outputTokens'),
    // the others: one for the concept if words did not decide
    tries: calls - ('concept' in ((details.costs?.milliseconds as object | undefined) ?? {}) ? 1 : 0),
  };
}
