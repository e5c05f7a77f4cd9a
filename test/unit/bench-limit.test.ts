import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { limited } from '../../bench/lib/limit.ts';

describe('the limit of a section of the benchmarks', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'bench-limit-'));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it('ends a section that takes too long, and writes what it found', async () => {
    const at = join(folder, 'late');
    await expect(limited(() => new Promise(() => undefined), 0.0001, at)).rejects.toThrow(`stopped after 0.0001 minutes; ${at} has`);
    expect(readFileSync(join(at, 'threads.txt'), 'utf8')).toMatch(/^processor time of threads/);
  });

  it('does not affect other sections', async () => {
    await limited(async () => undefined, 10, join(folder, 'none'));
    await expect(limited(() => Promise.reject(new Error('of the section')), 10, join(folder, 'none'))).rejects.toThrow('of the section');
  });
});
