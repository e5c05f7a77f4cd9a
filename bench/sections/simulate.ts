/** (simulate) 10,000 tenants at 300 locations, simulated over costs that are measured in the same run. */
import { quantile } from '../lib/measure.ts';
import { note, table } from '../lib/table.ts';
import { CALLERS, CONCEPTS, type Costs, measureCosts } from '../simulate/costs.ts';
import { type Design, type Load, type Simulated, simulate } from '../simulate/simulate.ts';

const TENANTS = 10_000;
const LOAD: Load = { tenants: TENANTS, callers: CALLERS, locations: 300, requestsPerDay: 100e6, startsPerDay: 1e6, lifetime: 1800 };
/** The Worker runs near the catalog, so requests of all locations share isolates, of which fewer start. */
const PLACED: Load = { ...LOAD, locations: 1, startsPerDay: 50_000 };

const MONTH = 30 * 86_400;
/** Dollars for a million operations of Workers KV, at the list prices that docs/operating.md has. */
const KV_DOLLARS = { reads: 0.5, writes: 5 };
const MIB = 1024 * 1024;

const cores = (of: Simulated, costs: Costs, snapshotMs: number): number =>
  (of.snapshotReads * snapshotMs + of.modelReads * costs.modelMs + of.auditWrites * costs.auditMs) / 1000;
const dollars = (of: Simulated): number => ((of.kvReads * KV_DOLLARS.reads + of.kvWrites * KV_DOLLARS.writes) * MONTH) / 1e6;
const n = (value: number): string => (value >= 100 ? value.toFixed(0) : value.toFixed(1)).replace(/\B(?=(\d{3})+$)/g, ',');
const share = (value: number): string => `${(100 * value).toFixed(0)} %`;

export async function run(): Promise<void> {
  const numbers = [10, 100, 1000, TENANTS];
  const measured = await measureCosts(numbers);
  const at = (tenants: number): Costs => measured.get(tenants) as Costs;
  table(
    `(simulate) what the catalog costs: processor time of PostgreSQL, ${CALLERS} callers and ${CONCEPTS} concepts for each tenant`,
    ['tenants', 'snapshot of a caller', '', 'of all ontologies', '', 'a model', 'audit of a request'],
    numbers.map((tenants) => {
      const c = at(tenants);
      const kib = (bytes: number): string => `${n(bytes / 1024)} KiB`;
      const ms = (value: number): string => `${n(value)} ms`;
      return [String(tenants), ms(c.snapshotMs), kib(c.snapshotBytes), ms(c.wholeMs), kib(c.wholeBytes), ms(c.modelMs), ms(c.auditMs)];
    }),
  );

  const c = at(TENANTS);
  const own: Design = { snapshotBytes: c.snapshotBytes, modelBytes: c.modelBytes, kv: 'misses cached' };
  const variants: readonly (readonly [string, Load, Design, number])[] = [
    ['all ontologies in each snapshot', LOAD, { ...own, snapshotBytes: c.wholeBytes }, c.wholeMs],
    ['only those that the caller sees (the service)', LOAD, own, c.snapshotMs],
    ['the same; KV shows a write at its location at once', LOAD, { ...own, kv: 'at once' }, c.snapshotMs],
    ['the same without KV', LOAD, { ...own, kv: 'none' }, c.snapshotMs],
    ['with [placement], 50,000 starts', PLACED, own, c.snapshotMs],
    ['with [placement], without KV', PLACED, { ...own, kv: 'none' }, c.snapshotMs],
  ];
  const rows = variants.map(([name, load, design, snapshotMs]) => {
    const of = simulate(load, design);
    const age = (q: number): string => `${quantile(of.ages, q).toFixed(0)} s`;
    const store = (q: number): string => `${n(quantile(of.stores, q) / MIB)} MiB`;
    return [
      name,
      n(of.isolates),
      share(of.fromMemory),
      share(of.fromKv),
      n(of.snapshotReads),
      n(of.modelReads),
      n(of.auditWrites),
      n(cores(of, c, snapshotMs)),
      `${n(of.kvReads)} / ${n(of.kvWrites)}`,
      `$${n(dollars(of))}`,
      `${age(0.5)} / ${age(0.99)} / ${age(1)}`,
      `${store(0.5)} / ${store(0.99)}`,
    ];
  });
  const head = [
    '',
    'isolates',
    'rights from memory',
    'from KV',
    'snapshots/s',
    'models/s',
    'audits/s',
    'cores of the catalog',
    'KV reads / writes a second',
    'KV a month',
    'age of rights: median, 99 %, most',
    'store: median, 99 %',
  ];
  const { requestsPerDay, startsPerDay, locations } = LOAD;
  table(
    `(simulate) ${n(TENANTS)} tenants, ${locations} locations, ${n(requestsPerDay / 1e6)} million requests and ${n(startsPerDay / 1e6)} million starts of isolates a day`,
    head,
    rows,
  );
  note(
    'Assumed: tenants and locations are used as 1, 1/2, 1/3, ...; 80 % of the requests of a tenant come from one location; an isolate lives 30 minutes. Ten minutes are counted, after ten of warm-up.',
  );
}
