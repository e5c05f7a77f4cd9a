/**
 * Setup of the integration project. Files of one process share the packages in node_modules; the modules of the service, which remember users, rights and plans, are
 * loaded anew for each file. A file that replaces a module with vi.mock takes the replacement back after its tests.
 *
 * Passwords are hashed with little work: the real cost is 0.2 s of CPU time each, and test/unit/auth/passwords.test.ts covers it.
 */
import { vi } from 'vitest';

vi.resetModules();

vi.mock('node:crypto', async (original) => {
  const real = await original<typeof import('node:crypto')>();
  const scrypt = ((password, salt, length, options, callback) => real.scrypt(password, salt, length, { ...options, N: 16 }, callback)) as typeof real.scrypt;
  return { ...real, scrypt };
});
