import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { openBearer } from '../../../src/auth/bearer.ts';
import { main } from '../../../src/cli/generate-bearer.ts';

const SALT = ' a salt: its spaces count ';

async function run(args: string[], env: Record<string, string>, typed = ''): Promise<{ code: number; out: string; err: string }> {
  const out: string[] = [];
  const err: string[] = [];
  const code = await main(args, env, { out: (line) => out.push(line), err: (line) => err.push(line) }, async () => typed);
  return { code, out: out.join('\n'), err: err.join('\n') };
}

describe('generate-bearer', () => {
  it('prints a bearer of user and password, and nothing else', async () => {
    const { code, out, err } = await run(['ann@corp.example'], { API_AUTH_SALT: SALT, BEARER_PASSWORD: 'p:\u00e4ss' }, 'not this one');
    expect([code, err, await openBearer(out, SALT, Date.now())]).toEqual([0, '', { user: 'ann@corp.example', password: 'p:\u00e4ss' }]);
  });

  it('reads the password from the standard input if it is not in the environment', async () => {
    const { out } = await run(['ann'], { API_AUTH_SALT: SALT, BEARER_PASSWORD: '' }, 'typed ');
    expect(await openBearer(out, SALT, Date.now())).toEqual({ user: 'ann', password: 'typed ' });
  });

  it('reports what is missing', async () => {
    const good = { API_AUTH_SALT: SALT, BEARER_PASSWORD: 'secret' };
    for (const [args, env, code, expected] of [
      [[], good, 2, /one USER[\s\S]*Usage/],
      [['a', 'b'], good, 2, /one USER/],
      [['a:b'], good, 1, /colon/],
      [['a'], { BEARER_PASSWORD: 'secret' }, 1, /API_AUTH_SALT is not set/],
      [['a'], { API_AUTH_SALT: SALT }, 1, /no password: set BEARER_PASSWORD/],
    ] as const) {
      const answer = await run([...args], { ...env });
      expect([answer.code, answer.out, answer.err]).toEqual([code, '', expect.stringMatching(expected)]);
      expect(answer.err).not.toContain('secret');
    }
    expect((await run(['--help'], {})).out).toMatch(/^Usage/);
  });

  it('reads the first line that is piped to it', async () => {
    const command = fileURLToPath(new URL('../../../src/cli/generate-bearer.ts', import.meta.url));
    const { BEARER_PASSWORD: _, ...inherited } = process.env;
    for (const input of ['p\u00e4ss word\r\nnext\n', 'p\u00e4ss word']) {
      const { stdout, stderr, status } = spawnSync(process.execPath, [command, 'ann'], { input, encoding: 'utf8', env: { ...inherited, API_AUTH_SALT: SALT } });
      expect([status, stderr, await openBearer(stdout.trim(), SALT, Date.now())]).toEqual([0, '', { user: 'ann', password: 'p\u00e4ss word' }]);
    }
  });
});
