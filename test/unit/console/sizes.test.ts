/** The gzipped size of the console: what the first view loads, and everything. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { buildConsole } from '../../../scripts/build-console.ts';

describe('the size of the console', () => {
  it('is at most 45 kB for the first view, and 260 kB in all', async () => {
    const folder = await buildConsole();
    const sizeOf = (file: string): number => gzipSync(readFileSync(join(folder, file)), { level: 9 }).length;
    const first = [...readFileSync(join(folder, 'index.html'), 'utf8').matchAll(/assets\/[\w-]+\.\w+/g)].map(([file]) => file);
    expect(first.filter((file) => /main-\w+\.js/.test(file)).length).toBe(1);
    const sum = (files: readonly string[]): number => files.reduce((total, file) => total + sizeOf(file), sizeOf('index.html'));
    expect(sum(first)).toBeLessThan(45_000);
    expect(sum(readdirSync(join(folder, 'assets')).map((name) => `assets/${name}`))).toBeLessThan(260_000);
  });
});
