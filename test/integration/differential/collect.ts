/**
 * All failures of a run, one shrunk example a cause, on standard output:
 * `node test/integration/differential/collect.ts [cases] [seed] [examples]`. The test stops at the first one.
 */
import fc from 'fast-check';
import { Cases } from './cases.ts';
import type { Outcome } from './harness.ts';
import { Harness, shrunk } from './harness.ts';
import type { Case } from './shrink.ts';
import { shrinkCase } from './shrink.ts';

const PER_WORLD = 20;
const [cases = '2000', seed = String(Date.now() % 2 ** 31), examples = '12'] = process.argv.slice(2);
const harness = await Harness.open();
const counts = new Map<string, number>();
const causes = new Map<string, { n: number; case: Case; outcome: Outcome }>();
const start = performance.now();
for (const c of fc.sample(new Cases(PER_WORLD), { numRuns: Math.ceil(Number(cases) / PER_WORLD), seed: Number(seed) })) {
  const all = await harness.outcomes(c).catch((e: Error): Outcome[] => [{ kind: 'fail', cause: `world: ${e.message}`, rows: 0, text: String(e.stack) }]);
  for (const [i, o] of all.entries()) {
    const kind = o.kind === 'same' ? (o.rows ? 'same, some rows' : 'same, no rows') : o.kind;
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
    if (o.kind !== 'fail' && o.kind !== 'not_yet' && o.kind !== 'engine') continue;
    const known = causes.get(o.cause);
    if (known) known.n++;
    else causes.set(o.cause, { n: 1, case: { ...c, queries: c.queries.slice(i, i + 1) }, outcome: o });
  }
}
console.log({ seed, seconds: Math.round((performance.now() - start) / 1000), ...Object.fromEntries(counts) });
let shown = 0;
const list = [...causes].sort((a, b) => b[1].n - a[1].n);
for (const [cause, { n }] of list) console.log(`${n} x ${cause}`);
for (const [cause, { n, case: c, outcome }] of list) {
  if (outcome.kind !== 'fail' || shown++ >= Number(examples)) continue;
  const small = await shrunk(c, cause, async (x) => (await harness.outcomes(x)).find((o) => o.kind === 'fail') ?? null, shrinkCase, 600);
  console.log(`\n===== ${n} x ${cause}\n${(small?.outcome ?? outcome).text}`);
}
await harness.close();
