/** A fake of `fetch`: answers from a list, and records the requests. */
import type { Fetch } from '../../../src/engine/client.ts';
import type { Datasource } from '../../../src/engine/datasource.ts';
import { SvcError } from '../../../src/errors.ts';

export const DS: Datasource = { name: 'main', url: 'postgres://u:p@ep-x.region.example/db', endpoint: 'https://api.region.example/sql' };

export interface Asked {
  readonly url: string;
  readonly init: RequestInit;
  readonly body: { query?: string; params?: unknown[]; queries?: { query: string; params: unknown[] }[] };
}

export type Answer = (asked: Asked) => Response | Promise<Response>;

/** Returns one answer after the other; the last one repeatedly. */
export function fake(...answers: Answer[]): { fetch: Fetch; asked: Asked[] } {
  const asked: Asked[] = [];
  const fetch: Fetch = async (url, init) => {
    const request = { url, init, body: JSON.parse(init.body as string) };
    asked.push(request);
    const answer = answers[Math.min(asked.length, answers.length) - 1] as Answer;
    return await answer(request);
  };
  return { fetch, asked };
}

const PROBED = ['default_transaction_read_only', 'statement_timeout', 'search_path', 'TimeZone', 'DateStyle', 'IntervalStyle', 'bytea_output'];
const NAMES = [...PROBED, 'extra_float_digits', 'standard_conforming_strings', 'jit'];
const VALUES = ['on', '30s', '""', 'UTC', 'ISO, MDY', 'postgres', 'hex', '1', 'on', 'off'];

/** The result of SHOW ALL for a role with all settings; `changes`: other values, by their index. */
export const shown = (changes: Readonly<Record<number, string>> = {}): string[][] => [
  ['allow_system_table_mods', 'off', 'another setting'],
  ...NAMES.map((name, i) => [name, changes[i] ?? (VALUES[i] as string), 'what it does']),
];

/** The result of the probe for a role with all settings, with this timeout. */
export const probeRows = (timeout: string): string[][] => shown({ 1: timeout });

const result = (rows: string): string => `{"fields":[{"name":"row","dataTypeID":114}],"rows":${rows},"command":"SELECT","rowAsArray":true}`;

/** The text of an answer to any request, rows being JSON texts of row objects. */
export function envelope(asked: Asked, rows: readonly string[], probe: readonly (readonly string[])[] = probeRows('0')): string {
  const last = result(`[${rows.map((r) => `[${r}]`).join(',')}]`);
  const { queries } = asked.body;
  if (queries === undefined) return last;
  const before = queries.slice(0, -1).map((q) => (q.query === 'SHOW ALL' ? result(JSON.stringify(probe)) : result('[]')));
  return `{"results":[${[...before, last].join(',')}]}`;
}

/** An answer with rows. */
export const rowsAnswer =
  (rows: readonly string[], probe?: readonly (readonly string[])[]): Answer =>
  (asked) => {
    const text = envelope(asked, rows, probe);
    return new Response(text, { headers: { 'content-length': String(new TextEncoder().encode(text).length) } });
  };

/** A response whose body comes in pieces; an Error aborts it. */
export function inPieces(
  pieces: Iterable<Uint8Array | string | Error>,
  headers: Record<string, string> = {},
): { response: Response; pulled: () => number; cancelled: () => boolean } {
  const iterator = pieces[Symbol.iterator]();
  let pulled = 0;
  let cancelled = false;
  const body = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        const { done, value } = iterator.next();
        if (done) return controller.close();
        pulled++;
        if (value instanceof Error) return controller.error(value);
        controller.enqueue(typeof value === 'string' ? new TextEncoder().encode(value) : value.slice());
      },
      cancel() {
        cancelled = true;
      },
    },
    { highWaterMark: 0 },
  );
  return { response: new Response(body, { headers }), pulled: () => pulled, cancelled: () => cancelled };
}

/** The SvcError that a promise is rejected with. */
export async function refusal(promise: Promise<unknown>): Promise<SvcError> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof SvcError) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
}

export const textOf = async (body: Uint8Array | ReadableStream<Uint8Array>): Promise<string> => await new Response(body as BodyInit).text();
