/** Embedded databases in the memory of the test's process. */
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PGlite } from '@electric-sql/pglite';

const PROJECT = fileURLToPath(new URL('../../../', import.meta.url));

/** The files of an empty database. Test files of one process share it, so it is not a variable of this module, which is loaded again for each file. */
const shared = globalThis as { emptyDatabase?: Promise<Blob> };

/** They are kept on the disk, because initdb takes 6 seconds of CPU time and more. */
async function empty(): Promise<Blob> {
  const { version } = JSON.parse(readFileSync(join(PROJECT, 'node_modules/@electric-sql/pglite/package.json'), 'utf8')) as { version: string };
  const folder = join(PROJECT, 'node_modules/.cache/embedded');
  const ready = join(folder, `memory-${version}.tar`);
  if (existsSync(ready)) return new Blob([readFileSync(ready)]);
  const first = await PGlite.create();
  const files = await first.dumpDataDir('none');
  await first.close();
  mkdirSync(folder, { recursive: true });
  // other processes may do the same at the same time
  const mine = `${ready}.${randomBytes(6).toString('hex')}`;
  writeFileSync(mine, Buffer.from(await files.arrayBuffer()));
  renameSync(mine, ready);
  return files;
}

/** An empty database without the roles of the service. It is a copy: creating one takes a second and more of CPU time. */
export async function memoryDatabase(): Promise<PGlite> {
  shared.emptyDatabase ??= empty();
  return PGlite.create({ loadDataDir: await shared.emptyDatabase });
}
