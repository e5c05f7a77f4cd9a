import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { BEARER_SECONDS, makeBearer, openBearer } from '../../../src/auth/bearer.ts';
import { decrypt, encrypt, keyFromText, LEEWAY_SECONDS } from '../../../src/auth/fernet.ts';
import python from './fernet/bearers.json' with { type: 'json' };

// generate.json, verify.json and invalid.json of github.com/fernet/spec
const SECRET = 'cw_0x689RpI-jtRR7oE8h_eQsKImvJapLeSbXpwF4e4=';
const HELLO = 'gAAAAAAdwJ6wAAECAwQFBgcICQoLDA0ODy021cpGVWKZ_eEwCGM4BLLF_5CV9dOPmrhuVUPgJobwOz7JcbmrR64jVmpU4IwqDA==';
const INVALID: readonly (readonly [what: string, token: string, now: string])[] = [
  ['incorrect mac', 'gAAAAAAdwJ6xAAECAwQFBgcICQoLDA0OD3HkMATM5lFqGaerZ-fWPAl1-szkFVzXTuGb4hR8AKtwcaX1YdykQUFBQUFBQUFBQQ==', '1985-10-26T01:20:01-07:00'],
  ['too short', 'gAAAAAAdwJ6xAAECAwQFBgcICQoLDA0OD3HkMATM5lFqGaerZ-fWPA==', '1985-10-26T01:20:01-07:00'],
  ['invalid base64', '%%%%%%%%%%%%%AECAwQFBgcICQoLDA0OD3HkMATM5lFqGaerZ-fWPAl1-szkFVzXTuGb4hR8AKtwcaX1YdykRtfsH-p1YsUD2Q==', '1985-10-26T01:20:01-07:00'],
  [
    'payload size not multiple of block size',
    'gAAAAAAdwJ6xAAECAwQFBgcICQoLDA0OD3HkMATM5lFqGaerZ-fWPOm73QeoCk9uGib28Xe5vz6oxq5nmxbx_v7mrfyudzUm',
    '1985-10-26T01:20:01-07:00',
  ],
  [
    'payload padding error',
    'gAAAAAAdwJ6xAAECAwQFBgcICQoLDA0ODz4LEpdELGQAad7aNEHbf-JkLPIpuiYRLQ3RtXatOYREu2FWke6CnJNYIbkuKNqOhw==',
    '1985-10-26T01:20:01-07:00',
  ],
  [
    'far-future TS (unacceptable clock skew)',
    'gAAAAAAdwStRAAECAwQFBgcICQoLDA0OD3HkMATM5lFqGaerZ-fWPAnja1xKYyhd-Y6mSkTOyTGJmw2Xc2a6kBd-iX9b_qXQcw==',
    '1985-10-26T01:20:01-07:00',
  ],
  ['expired TTL', 'gAAAAAAdwJ6xAAECAwQFBgcICQoLDA0OD3HkMATM5lFqGaerZ-fWPAl1-szkFVzXTuGb4hR8AKtwcaX1YdykRtfsH-p1YsUD2Q==', '1985-10-26T01:21:31-07:00'],
  [
    'incorrect IV (causes padding error)',
    'gAAAAAAdwJ6xBQECAwQFBgcICQoLDA0OD3HkMATM5lFqGaerZ-fWPAkLhFLHpGtDBRLRTZeUfWgHSv49TF2AUEZ1TIvcZjK1zQ==',
    '1985-10-26T01:20:01-07:00',
  ],
];

const key = keyFromText(SECRET) as Uint8Array<ArrayBuffer>;
const text = (bytes: Uint8Array | null): string | null => (bytes === null ? null : new TextDecoder().decode(bytes));
const bytes = (of: string) => new TextEncoder().encode(of);

describe('the vectors of the Fernet specification', () => {
  it('generate', async () => {
    const iv = Uint8Array.from({ length: 16 }, (_, i) => i);
    expect(await encrypt(bytes('hello'), key, Date.parse('1985-10-26T01:20:00-07:00'), iv)).toBe(HELLO);
  });

  it('verify', async () => expect(text(await decrypt(HELLO, key, Date.parse('1985-10-26T01:20:01-07:00'), 60))).toBe('hello'));

  it.each(INVALID)('invalid: %s', async (_what, token, now) => expect(await decrypt(token, key, Date.parse(now), 60)).toBe(null));

  it('invalid for the stated reason: the expired token was valid before, the future token will be', async () => {
    const of = (what: string) => INVALID.find(([w]) => w.startsWith(what))?.[1] as string;
    expect(await decrypt(of('expired'), key, Date.parse('1985-10-26T01:20:31-07:00'), 60)).not.toBe(null);
    expect(await decrypt(of('far-future'), key, Date.parse('1985-10-26T11:20:01-07:00'), 60)).not.toBe(null);
  });
});

describe('a Fernet token', () => {
  const at = Date.parse('2026-01-01T00:00:00Z');

  it('with one bit flipped anywhere is refused', async () => {
    const token = await encrypt(bytes('ann:secret'), key, at);
    const raw = Buffer.from(token, 'base64url');
    expect(text(await decrypt(token, key, at, 60))).toBe('ann:secret');
    const taken: number[] = [];
    for (let bit = 0; bit < raw.length * 8; bit++) {
      const flipped = Buffer.from(raw);
      flipped[bit >> 3] = (flipped[bit >> 3] as number) ^ (1 << (bit & 7));
      if ((await decrypt(flipped.toString('base64').replaceAll('+', '-').replaceAll('/', '_'), key, at, 60)) !== null) taken.push(bit);
    }
    expect(taken).toEqual([]);
  });

  it('has one spelling: no character can be replaced', async () => {
    const token = await encrypt(bytes('x'), key, at);
    expect(token).toMatch(/[^=]=$|==$/);
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_=+/ ';
    const taken: string[] = [];
    for (let i = 0; i < token.length; i++)
      for (const sign of alphabet) {
        const other = token.slice(0, i) + sign + token.slice(i + 1);
        if (other !== token && (await decrypt(other, key, at, 60)) !== null) taken.push(other);
      }
    for (const other of [token.replace(/=+$/, ''), `${token}=`, `${token}\n`, ` ${token}`, token.replaceAll('-', '+'), ''])
      if (other !== token && (await decrypt(other, key, at, 60)) !== null) taken.push(other);
    expect(taken).toEqual([]);
  });

  it('truncated anywhere, and with another key, is refused', async () => {
    const token = await encrypt(bytes('x'), key, at);
    for (let i = 0; i < token.length; i++) expect(await decrypt(token.slice(0, i), key, at, 60)).toBe(null);
    const other = new Uint8Array(key);
    other[0] = (other[0] as number) ^ 1;
    expect(await decrypt(token, other, at, 60)).toBe(null);
  });

  it('is valid up to its age limit, and as early as clocks differ', async () => {
    const token = await encrypt(bytes('x'), key, at);
    const good = async (seconds: number) => (await decrypt(token, key, at + seconds * 1000, 60)) !== null;
    expect([await good(60), await good(61), await good(-LEEWAY_SECONDS), await good(-LEEWAY_SECONDS - 1)]).toEqual([true, false, true, false]);
    expect(LEEWAY_SECONDS).toBe(60);
  });
});

describe('keys', () => {
  it('are base64url of 32 bytes, in one spelling', () => {
    expect(keyFromText(SECRET)?.length).toBe(32);
    for (const none of ['', SECRET.slice(0, -1), `${SECRET}=`, SECRET.replace('_', '/'), SECRET.replace('4=', '5='), 'AAAA', ` ${SECRET}`])
      expect(keyFromText(none), none).toBeUndefined();
  });
});

describe('bearers', () => {
  const at = Date.parse('2026-01-01T00:00:00Z');
  const SALT = 'a salt';

  it.each(python.bearers)('of Python\u2019s cryptography are read: $user with $salt', async ({ salt, user, password, at: made, bearer }) => {
    expect(await openBearer(bearer, salt, made * 1000)).toEqual({ user, password });
    expect(await openBearer(bearer, `${salt} `, made * 1000)).toBe(null);
  });

  it('are valid for 24 hours', async () => {
    const bearer = await makeBearer({ user: 'ann', password: 'a:b' }, SALT, at);
    expect(await openBearer(bearer, SALT, at + 24 * 3600_000)).toEqual({ user: 'ann', password: 'a:b' });
    expect(await openBearer(bearer, SALT, at + 24 * 3600_000 + 1000)).toBe(null);
    expect(BEARER_SECONDS).toBe(86_400);
  });

  it('that contain something else than base64 of user:password are invalid', async () => {
    const salt = SECRET;
    for (const plain of ['', 'ann:secret', Buffer.from('ann').toString('base64'), '/zo=', 'YW5uOng', 'YW5uOng=\n', '%%%%']) {
      expect(await openBearer(await encrypt(bytes(plain), key, at), salt, at), plain).toBe(null);
    }
    expect(await openBearer(await encrypt(bytes('YW5uOng='), key, at), salt, at)).toEqual({ user: 'ann', password: 'x' });
  });

  it.runIf(hasPython())('of ours are read by Python\u2019s cryptography', async () => {
    const bearer = await makeBearer({ user: 'ann', password: 'p\u00e4ss:word' }, SALT, Date.now());
    const program = `import base64, hashlib, sys
from cryptography.fernet import Fernet
key = base64.urlsafe_b64encode(hashlib.sha256(sys.argv[1].encode()).digest())
print(base64.b64decode(Fernet(key).decrypt(sys.argv[2].encode(), ttl=3600)).decode().encode('unicode_escape').decode())`;
    expect(execFileSync('python3', ['-c', program, SALT, bearer], { encoding: 'utf8' })).toBe('ann:p\\xe4ss:word\n');
  });
});

function hasPython(): boolean {
  try {
    execFileSync('python3', ['-c', 'import cryptography'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
