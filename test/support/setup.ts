/**
 * Setup of the integration project. Files of one process share the packages in node_modules. The modules of the service, which cache users, rights and plans, are
 * loaded again for each file. A file that replaces a module with vi.mock must restore it after its tests.
 *
 * Passwords are hashed with low cost: the real cost is 0.2 s of CPU time each, and test/unit/auth/passwords.test.ts covers it.
 */
import { vi } from 'vitest';

vi.resetModules();

vi.mock('node:crypto', async (original) => {
  const real = await original<typeof import('node:crypto')>();
  const scrypt = ((password, salt, length, options, callback) => real.scrypt(password, salt, length, { ...options, N: 16 }, callback)) as typeof real.scrypt;
  return { ...real, scrypt };
});
