/** The built Worker, as `npm start` has it: built again only if one of its inputs changed, and at most once in a run of the tests, by the first file that needs it. */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { OUT, readScript, type Script } from '../../../bench/lib/build.ts';
import { builtWorker } from '../../../dev/start/built.ts';

const PATIENCE_MS = 220_000;

/** @throws Error if it cannot be built */
export async function builtService(): Promise<Script> {
  const run = process.env.TEST_BUILD;
  // without the test runner
  if (run === undefined) return readBuilt();
  const marks = join(OUT, run);
  mkdirSync(marks, { recursive: true });
  const [ready, failed] = [join(marks, 'ready'), join(marks, 'failed')];
  if (isFirst(join(marks, 'begun'))) {
    try {
      const script = await readBuilt();
      writeFileSync(ready, '');
      return script;
    } catch (error) {
      writeFileSync(failed, '');
      throw error;
    }
  }
  for (const end = Date.now() + PATIENCE_MS; !existsSync(ready); ) {
    if (existsSync(failed) || Date.now() > end) throw new Error('the service is not built: see the first test file that uses it');
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return readBuilt();
}

const readBuilt = async (): Promise<Script> => readScript(await builtWorker(), 'index.js');

/** Creates a folder; false if it exists. */
function isFirst(folder: string): boolean {
  try {
    mkdirSync(folder);
    return true;
  } catch {
    return false;
  }
}
