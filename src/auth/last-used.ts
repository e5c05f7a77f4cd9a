/** The last use of API tokens: written after the answer, at most once a minute (docs/design/credentials.md#api-tokens). */
import { ByteStore } from '../cache.ts';
import type { CatalogDb } from '../catalog/db.ts';
import { noteUse } from '../catalog/token-use.ts';

const INTERVAL_MS = 60_000;

// a separate store, so that these entries do not evict others
const recorded = new ByteStore(256 * 1024).view<number>('used');

/** Records in the background that a token was used. A failed write is not repeated; the next use after a minute is written again. */
export function tokenUsed(
  id: string,
  { db, now, waitUntil }: { readonly db: CatalogDb; readonly now: () => number; readonly waitUntil: (work: Promise<unknown>) => void },
): void {
  const last = recorded.get(id);
  if (last !== undefined && now() - last < INTERVAL_MS) return;
  recorded.set(id, now(), 8);
  waitUntil(noteUse(db, id).catch(() => undefined));
}
