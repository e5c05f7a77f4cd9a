import { readdirSync } from 'node:fs';
import { expect, it } from 'vitest';
import { LATEST_MIGRATION } from '../../../src/catalog/migrations.ts';

it('LATEST_MIGRATION is the newest file of migrations/', () => {
  const files = readdirSync(new URL('../../../migrations/', import.meta.url)).filter((name) => name.endsWith('.sql'));
  expect(`${LATEST_MIGRATION}.sql`).toBe(files.sort().at(-1));
});
