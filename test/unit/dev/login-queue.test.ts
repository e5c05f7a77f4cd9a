/** The order in which the gateway checks logins. */
import { describe, expect, it } from 'vitest';
import { LoginQueue, networkOf } from '../../../dev/sql/login-queue.ts';

const MOST = 200;

/** Checks that end when they are let go, one after the other. */
function gate() {
  const begun: string[] = [];
  const ends: ((accepted: boolean) => void)[] = [];
  const check = (name: string) => () =>
    new Promise<boolean>((resolve) => {
      begun.push(name);
      ends.push(resolve);
    });
  const end = async (accepted: boolean): Promise<void> => {
    ends.shift()?.(accepted);
    for (let i = 0; i < 10; i++) await Promise.resolve();
  };
  return { begun, check, end };
}

const from = (address: string, signal = new AbortController().signal) => ({ address, signal });

describe('the queue of logins', () => {
  it('checks a login of another address before all guesses, however many follow', async () => {
    const { begun, check, end } = gate();
    const queue = new LoginQueue(1);
    const guess = (i: number) => void queue.run(from('203.0.113.9'), check(`guess${i}`)).catch(() => undefined);
    for (let i = 0; i < 20; i++) guess(i);
    await end(false);
    const login = queue.run(from('198.51.100.1'), check('login'));
    for (let i = 20; i < 900; i++) guess(i);
    await end(false);
    expect(begun.at(-1)).toBe('login');
    await end(true);
    expect(await login).toBe(true);
    expect(queue.length).toBeLessThanOrEqual(MOST);
  });

  it('answers each login in a limited time, also if the guesses come from its own address', async () => {
    const { check } = gate();
    const queue = new LoginQueue(1);
    void queue.run(from('127.0.0.1'), check('first'));
    const login = queue.run(from('127.0.0.1'), check('login'));
    for (let i = 0; i < MOST; i++) void queue.run(from('127.0.0.1'), check(`guess${i}`)).catch(() => undefined);
    await expect(login).rejects.toMatchObject({ status: 503 });
    expect(queue.length).toBe(MOST);
  });

  it('keeps no more than a thousand, and refuses those of the worst address first', async () => {
    const { check, end } = gate();
    const queue = new LoginQueue(1);
    const refused: string[] = [];
    const ask = (address: string) => void queue.run(from(address), check(address)).catch(() => refused.push(address));
    ask('203.0.113.9');
    await end(false);
    ask('198.51.100.1');
    for (let i = 0; i < 100; i++) ask('203.0.113.9');
    for (let i = 0; i < 1000; i++) ask(`192.0.${i >> 8}.${i & 255}`);
    await new Promise(setImmediate);
    expect(queue.length).toBe(1000);
    expect(new Set(refused)).toEqual(new Set(['203.0.113.9']));
  });

  it('does not check the login of a caller who has left', async () => {
    const { begun, check, end } = gate();
    const queue = new LoginQueue(1);
    void queue.run(from('127.0.0.1'), check('first'));
    const control = new AbortController();
    const left = queue.run(from('127.0.0.1', control.signal), check('left'));
    control.abort();
    await expect(left).rejects.toThrow('disconnected');
    await end(true);
    expect([begun, queue.length]).toEqual([['first'], 0]);
    void queue.run(from('127.0.0.1'), check('next'));
    expect(begun.at(-1)).toBe('next');
  });

  it('takes the addresses of an IPv6 network as one', () => {
    const same = ['2001:db8:1:2::1', '2001:DB8:1:2:ffff::', '2001:db8:1:2:3:4:5:6%eth0'];
    expect(new Set(same.map(networkOf))).toEqual(new Set(['2001:db8:1:2']));
    expect(['2001:db8::1', '::1', '::ffff:192.0.2.1', '192.0.2.1'].map(networkOf)).toEqual(['2001:db8:0:0', '0:0:0:0', '192.0.2.1', '192.0.2.1']);
  });
});
