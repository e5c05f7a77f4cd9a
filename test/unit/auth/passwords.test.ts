import { describe, expect, it } from 'vitest';
import { hashPassword, verifyPassword } from '../../../src/auth/passwords.ts';

describe('passwords', () => {
  it('are hashed with their own parameters and salt', async () => {
    const [a, b] = await Promise.all([hashPassword('secret'), hashPassword('secret')]);
    expect(a).toMatch(/^\$scrypt\$ln=14,r=8,p=5\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/);
    expect(a).not.toBe(b);
    expect(await verifyPassword('secret', a)).toBe(true);
    expect(await verifyPassword('Secret', a)).toBe(false);
    expect(await verifyPassword('', a)).toBe(false);
  });

  it('match in either Unicode form', async () => {
    expect(await verifyPassword('Gro\u0308\u00dfe', await hashPassword('Gr\u00f6\u00dfe'))).toBe(true);
  });

  it('never match if no hash, or something else, is stored', async () => {
    for (const stored of [null, '', 'secret', '$scrypt$ln=14$x$y']) expect(await verifyPassword('secret', stored)).toBe(false);
  });
});

describe('many passwords at once', () => {
  it('are hashed one per turn of the event loop, so that other requests are handled', async () => {
    let turns = 0;
    const count = setInterval(() => turns++, 0);
    await Promise.all(Array.from({ length: 6 }, () => verifyPassword('x', '$scrypt$ln=1,r=1,p=1$AAAA$AAAA')));
    clearInterval(count);
    expect(turns).toBeGreaterThanOrEqual(5);
  });
});
