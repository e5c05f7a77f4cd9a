/** A reader of data that is stopped. */
import { afterEach, describe, expect, it, vi } from 'vitest';
import { guarded } from '../../../src/checks/checks.ts';
import { type DataContext, DataReader } from '../../../src/checks/reader.ts';
import { parseDatasourceSecret } from '../../../src/engine/datasource.ts';
import { fixed } from '../../../src/engine/statement.ts';

const readerOf = (signal: AbortSignal): DataReader => {
  const datasource = { name: 'main', ...parseDatasourceSecret('postgres://user:word@db.example.com/db') };
  return new DataReader({ datasources: new Map([['main', datasource]]), timeoutMs: 1000, signal } as unknown as DataContext);
};
const checked = (reader: DataReader) =>
  guarded('mapping m', async () => {
    await reader.run('main', fixed`SELECT 1`);
    return [];
  });

afterEach(() => vi.unstubAllGlobals());

describe('a check that is stopped', () => {
  it('sends nothing after it, and is no finding', async () => {
    const control = new AbortController();
    const fetch = vi.fn((_: unknown, { signal }: RequestInit) => {
      const over = new Promise<never>((_resolve, reject) => signal?.addEventListener('abort', () => reject(signal.reason)));
      control.abort(new Error('over'));
      return over;
    });
    vi.stubGlobal('fetch', fetch);
    await expect(checked(readerOf(control.signal))).rejects.toThrow('over');
    expect(fetch).toHaveBeenCalledTimes(1);
    await expect(checked(readerOf(control.signal))).rejects.toThrow('over');
    expect(fetch).toHaveBeenCalledTimes(1);
  });
});
