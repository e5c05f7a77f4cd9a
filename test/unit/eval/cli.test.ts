/** The command line of the evaluation. */
import { expect, it } from 'vitest';
import { main } from '../../../dev/eval.ts';

const SET = new URL('../../../examples/world/questions.json', import.meta.url).pathname;

async function called(...args: readonly string[]): Promise<{ readonly code: number; readonly out: string; readonly err: string }> {
  const lines = { out: [] as string[], err: [] as string[] };
  const code = await main(args, { SESSION_FILE: 'no/such/session.json' }, { out: (l) => lines.out.push(l), err: (l) => lines.err.push(l) });
  return { code, out: lines.out.join('\n'), err: lines.err.join('\n') };
}

it('prints its options', async () => {
  const { code, out } = await called('--help');
  expect([code, out]).toEqual([0, expect.stringMatching(/^Usage: npm run eval -- --set FILE --ontology NAME/)]);
});

it.each([
  [[], /^--set FILE is missing/],
  [['--set', SET], /needs its own --ontology/],
  [['--set', SET, '--ontology', 'world', '--limit', 'few'], /--limit must be a number/],
  [['--set', SET, '--ontology', 'world', '--oracle', '--mutate'], /cannot be combined/],
  [['--set', SET, '--ontology', 'world', '--oracle', '--replay', '1'], /needs no model/],
  [['--set', SET, '--ontology', 'world', '--as', 'x'], /NAME=TOKEN/],
  [['--set', SET, '--ontology', 'world', '--twice'], /twice/],
])('wrong usage %j: exit code 2', async (args, message) => {
  const { code, err } = await called(...args);
  expect([code, err]).toEqual([2, expect.stringMatching(message)]);
});

it.each([
  [['--set', 'no.json', '--ontology', 'world'], /^no\.json cannot be read/],
  [['--set', SET, '--ontology', 'world'], /^no service found/],
  [['--set', SET, '--ontology', 'world', '--url', 'http://127.0.0.1:1'], /^no token for http:\/\/127\.0\.0\.1:1/],
])('missing requirements (%j): exit code 1', async (args, message) => {
  const { code, err } = await called(...args);
  expect([code, err]).toEqual([1, expect.stringMatching(message)]);
});

it('fails if no service answers', async () => {
  const { code, out } = await called('--set', SET, '--ontology', 'world', '--url', 'http://127.0.0.1:1', '--token', 'tk_x', '--limit', '1');
  expect([code, out]).toEqual([1, expect.stringMatching(/^failed [\s\S]*1 questions: 0 right, 0 declined, 0 refused, 0 wrong, 1 failed/)]);
});
