import { describe, expect, it } from 'vitest';
import { PARTS, spansOf, Timing } from '../../src/timing.ts';

function clocked(): { timing: Timing; pass: (ms: number) => void; spans: string[] } {
  let at = 1000;
  const pass = (ms: number): void => {
    at += ms;
  };
  const spans: string[] = [];
  const span = (name: string) => {
    spans.push(`+${name}`);
    return () => void spans.push(`-${name}`);
  };
  return { timing: new Timing(() => at, span), pass, spans };
}

describe('the parts of a request', () => {
  it('add up to the whole, also if several works run at once', async () => {
    const { timing, pass, spans } = clocked();
    pass(1);
    await timing.during('auth', () => timing.during('wait', async () => pass(2)));
    pass(4);
    const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>(), Promise.withResolvers<void>()] as const;
    const works = [
      timing.during('wait', () => gates[0].promise),
      timing.during('wait', () => gates[1].promise),
      timing.during('database', () => gates[2].promise),
    ];
    pass(8);
    gates[2].resolve();
    await works[2];
    pass(16);
    gates[0].resolve();
    await works[0];
    pass(32);
    gates[1].resolve();
    await works[1];
    pass(64);
    timing.answered();
    pass(128);
    timing.end();
    expect(Object.fromEntries(timing.parts())).toEqual({ plan: 1 + 4 + 64, auth: 2, wait: 16 + 32, database: 8, stream: 128 });
    expect([...timing.parts().keys()].every((part) => PARTS.includes(part))).toBe(true);
    // each span ends before the next one begins
    expect(spans).toEqual(spans.flatMap((s) => (s.startsWith('+') ? [s, s.replace('+', '-')] : [])));
    expect(spans.filter((s) => s.startsWith('+'))).toEqual(['+plan', '+auth', '+plan', '+wait', '+database', '+wait', '+plan', '+stream']);
  });

  it('end with work that fails, and background work after the answer counts as nothing of its own', async () => {
    const { timing, pass } = clocked();
    await timing
      .during('database', async () => {
        pass(3);
        throw new Error('gone');
      })
      .catch(() => undefined);
    pass(5);
    timing.answered();
    await timing.during('wait', async () => pass(7));
    expect(Object.fromEntries(timing.parts())).toEqual({ plan: 5, database: 3, stream: 7 });
  });
});

describe('spans', () => {
  const begun = (isTraced: boolean | undefined): string[] => {
    const names: string[] = [];
    const begin = spansOf((name) => {
      names.push(name);
      return { ...(isTraced === undefined ? {} : { isTraced }), end: () => void names.push(`-${name}`) };
    });
    for (const name of ['plan', 'auth', 'database']) begin(name)();
    return names;
  };

  it('are made of every part if the trace is recorded', () => {
    const all = ['plan', '-plan', 'auth', '-auth', 'database', '-database'];
    expect([begun(true), begun(undefined)]).toEqual([all, all]);
  });

  it('end with the first one if it is not', () => expect(begun(false)).toEqual(['plan', '-plan']));
});
