/** The line of a request, and the data point that Analytics Engine gets of it. */
import { expect, it } from 'vitest';
import { createToken } from '../../../src/auth/tokens.ts';
import { pointOf } from '../../../src/http/log.ts';
import { asked, fakeRuntime } from './fake-runtime.ts';

it('a request is counted without its user, and with what failed', async () => {
  const token = createToken();
  const lines: Readonly<Record<string, unknown>>[] = [];
  const spans: string[] = [];
  const span = (name: string) => {
    spans.push(name);
    return () => void spans.push(`-${name}`);
  };
  const runtime = fakeRuntime({ ADMIN_TOKEN: token }, { measured: (line) => void lines.push(line), span });
  await asked('/svc/api/get_ontologies', { headers: { 'x-api-key': token } }, runtime);
  await asked('/svc/api/nothing?secret=1', {}, runtime);
  expect(lines.map(pointOf)).toEqual([
    { indexes: [''], blobs: ['GET', '/svc/api/get_ontologies', '200', '', '', '', '', '', ''], doubles: Array.from({ length: 8 }, () => expect.any(Number)) },
    {
      indexes: [''],
      blobs: ['GET', '/svc/api/nothing', '404', 'unknown_path', '', '', '', '', ''],
      doubles: Array.from({ length: 8 }, () => expect.any(Number)),
    },
  ]);
  // one span at a time, and each one ends
  expect(spans.slice(0, 4)).toEqual(['plan', '-plan', 'auth', '-auth']);
  expect(spans.length % 2).toBe(0);
  expect(spans.filter((_, i) => i % 2 === 1)).toEqual(spans.filter((_, i) => i % 2 === 0).map((name) => `-${name}`));
});

it('a data point fits into the limits of Analytics Engine', () => {
  const { indexes, blobs } = pointOf({ ontology: '\u{1f600}'.repeat(200), path: '\u20ac'.repeat(16_000), ms: 3 });
  expect(new TextEncoder().encode(indexes[0]).length).toBeLessThanOrEqual(96);
  expect(blobs.reduce((sum, text) => sum + new TextEncoder().encode(text).length, 0)).toBeLessThan(16 * 1024);
});
