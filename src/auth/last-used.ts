/** When API tokens were used last: written after the answer, and at most once a minute (docs/design/credentials.md#api-tokens). */
import { ByteStore } from '../cache.ts';
import type { CatalogDb } from '../catalog/db.ts';
import { noteUse } from '../catalog/tokens.ts';

const EVERY_MS = 60_000;

// a store of its own, so that what is noted here never pushes out what requests need
const noted = new ByteStore(256 * 1024).view<number>('used');

/** Notes that a token was used, in the background. A write that fails is made up for by the next minute's. */
export function tokenUsed(
  id: string,
  { db, now, waitUntil }: { readonly db: CatalogDb; readonly now: () => number; readonly waitUntil: (work: Promise<unknown>) => void },
): void {
  const last = noted.get(id);
  if (last !== undefined && now() - last < EVERY_MS) return;
  noted.set(id, now(), 8);
  waitUntil(noteUse(db, id).catch(() => undefined));
}
