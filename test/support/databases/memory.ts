/** Embedded databases in the memory of the test's process. */
import { PGlite } from '@electric-sql/pglite';

/** The files of an empty database. Test files of one process share it, so it is not a variable of this module, which is loaded again for each file. */
const shared = globalThis as { emptyDatabase?: Promise<Blob> };

async function empty(): Promise<Blob> {
  const first = await PGlite.create();
  const files = await first.dumpDataDir('none');
  await first.close();
  return files;
}

/** An empty database without the roles of the service. It is a copy: creating one takes a second and more of CPU time. */
export async function memoryDatabase(): Promise<PGlite> {
  shared.emptyDatabase ??= empty();
  return PGlite.create({ loadDataDir: await shared.emptyDatabase });
}
