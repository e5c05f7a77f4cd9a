/** The answer of the service to a generated request, as a text that can be compared. */
import { reached, type TestService } from '../../support/service.ts';
import type { Ask } from './partial-queries.ts';

/** A value as text, regardless of the order of lists: of rows, and of related rows. */
function unordered(value: unknown): string {
  if (Array.isArray(value)) return value.map(unordered).sort().join('\n');
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  return `{${Object.entries(value).map(([name, v]) => `${name}: ${unordered(v)}`)}}`;
}

/** How an answer is asked for and compared. */
export interface Compared {
  readonly nested: boolean;
  /** True if the order of the rows is compared. */
  readonly isOrdered: boolean;
  /** Replaces what may differ between equal answers. */
  readonly shown?: (text: string) => string;
}

/** Sends a request with a token. @returns the status with the rows, or with the whole answer if it has none */
export async function answerOf(s: TestService, ask: Ask, ontology: string, token: string, { nested, isOrdered, shown }: Compared): Promise<string> {
  const headers: Record<string, string> = { 'x-api-key': token, 'x-request-id': 'one', ...(nested ? { nested: 'true' } : {}) };
  const response = await reached(() =>
    ask.path
      ? s.fetch(`/svc/api/q/${ontology}/${ask.text}`, { headers })
      : s.fetch('/svc/api/query', {
          method: 'POST',
          headers: { ...headers, 'content-type': 'application/json' },
          body: JSON.stringify({ ontology_name: ontology, query: ask.text }),
        }),
  );
  const received = await response.text();
  const text = shown ? shown(received) : received;
  const json = JSON.parse(text);
  if (response.status !== 200 || !Array.isArray(json.data)) return `${response.status} ${text}`;
  return `200 ${isOrdered ? json.data.map((row: unknown) => JSON.stringify(row)).join('\n') : unordered(json.data)}`;
}
