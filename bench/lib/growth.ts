/** The memory of the console's page after many expansions and undos. */
import type { CDPSession, Page } from 'playwright-core';

/**
 * Expands an entity and undoes it, and returns the memory of the page divided by that after the first ten times.
 * @param expand the name of the button that expands it to one other entity
 */
export async function memoryGrowth(page: Page, cdp: CDPSession, expand: string, expansions: number): Promise<number> {
  const undo = page.getByRole('button', { name: 'Undo' });
  const entities = page.locator('.entity');
  const used = async (): Promise<number> => {
    await cdp.send('HeapProfiler.collectGarbage');
    return ((await cdp.send('Runtime.getHeapUsage')) as { usedSize: number }).usedSize;
  };
  const times = async (n: number): Promise<void> => {
    for (let i = 0; i < n; i++) {
      await page.getByRole('button', { name: expand }).click();
      await entities.nth(1).waitFor();
      await undo.click();
      await entities.nth(1).waitFor({ state: 'detached' });
    }
  };
  await times(10);
  const before = await used();
  await times(expansions);
  return (await used()) / before;
}
