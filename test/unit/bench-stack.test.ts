/** The Worker that the benchmarks and tests start has the bindings of the one that is deployed. */
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { SERVICE_BINDINGS } from '../../bench/lib/stack.ts';

it('the stack of the benchmarks has the Durable Objects of wrangler.toml', () => {
  const text = readFileSync(new URL('../../wrangler.toml', import.meta.url), 'utf8');
  const objects = [...text.matchAll(/^\[\[durable_objects\.bindings\]\]\nname = "(\w+)"\nclass_name = "(\w+)"$/gm)];
  expect(objects.length).toBeGreaterThan(3);
  expect(SERVICE_BINDINGS.durableObjects).toEqual(Object.fromEntries(objects.map(([, name, className]) => [name, { className, useSQLite: true }])));
});
