/**
 * `npm run bench [-- start a b budget c d nested cache peer auth policies mcp tpch fanout walks scale cubes console tpch-1 citus mcp-load objects]`: measures the built script in workerd and prints tables with ratios.
 * With `--page` it writes them into docs/performance.md too.
 * Read the ratios rather than the times: both sides of each were measured alternately, on the same machine, in the same minutes.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { cpus, loadavg } from 'node:os';
import { join } from 'node:path';
import { OUT } from './lib/build.ts';
import { limited, MINUTES } from './lib/limit.ts';
import { type Figure, figureCells, mergedRows, withPart } from './lib/page.ts';
import { closeConnections, closeDatabase } from './lib/stack.ts';
import { table, tableLines, taken } from './lib/table.ts';
import { SECTIONS } from './sections.ts';

const PAGE = new URL('../docs/performance.md', import.meta.url);
const AIMS = ['', 'aim', 'result', 'met'];

const named = process.argv.slice(2).filter((name) => name !== '--page');
const toPage = process.argv.includes('--page');
const wanted = named.length > 0 ? named : Object.keys(SECTIONS).filter((name) => !SECTIONS[name]?.named);
const unknown = wanted.filter((name) => !(name in SECTIONS));
if (unknown.length > 0) {
  const known = Object.entries(SECTIONS).map(([k, s]) => `${k} (${s.what})`);
  console.error(`npm run bench: there is no section ${unknown.join(', ')}; there are ${known.join(', ')}`);
  process.exit(1);
}

const loads = [loadavg()[0] as number];
const machine = (): string =>
  `Node ${process.versions.node}, ${cpus().length} processors, load ${Math.min(...loads).toFixed(1)} to ${Math.max(...loads).toFixed(1)}`;

/** Writes what a section printed, and its figures, into docs/performance.md. */
async function writePage(section: string, text: string, figures: readonly Figure[]): Promise<void> {
  const page = await readFile(PAGE, 'utf8');
  const rows = mergedRows(page, figures.map(figureCells), new Set([section]), Object.keys(SECTIONS));
  const last = `Last run: ${new Date().toISOString().slice(0, 10)}, ${machine()}.`;
  const parts: Readonly<Record<string, string>> = { [section]: text, aims: tableLines(AIMS, rows).join('\n'), machine: last };
  await writeFile(
    PAGE,
    Object.entries(parts).reduce((made, [name, part]) => withPart(made, name, part), page),
  );
}

console.log(machine());
let failed = false;
const all: Figure[] = [];
for (const name of wanted) {
  const begun = performance.now();
  try {
    const { load, minutes = MINUTES } = SECTIONS[name]!;
    const { run } = await load();
    await limited(run, minutes, join(OUT, `stopped-${name}-${Date.now()}`));
    loads.push(loadavg()[0] as number);
    const { text, figures } = taken();
    all.push(...figures);
    if (toPage) await writePage(name, text, figures);
  } catch (error) {
    failed = true;
    taken();
    console.error(`\nsection ${name} failed: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
  }
  console.log(`\n(${name}) took ${((performance.now() - begun) / 1000).toFixed(0)} s`);
}
if (all.length > 0) table('aims', AIMS, all.map(figureCells));
console.log(`\n${machine()}`);
closeConnections();
await closeDatabase();
process.exitCode = failed ? 1 : 0;
