/** Only the newest request counts, in all views. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const SOURCE = fileURLToPath(new URL('../../../console/src/', import.meta.url));

interface Latest {
  ask<T>(request: (signal: AbortSignal) => Promise<T>, use: (answer: T) => void, fail: (failure: unknown) => void): Promise<void>;
  cancel(): void;
  forget(): void;
}

async function started(): Promise<{
  readonly latest: Latest;
  readonly outcomes: unknown[];
  ask(): { readonly signal: AbortSignal; answer(value: unknown): Promise<void>; fail(error: Error): Promise<void> };
}> {
  const module = await import(new URL('../../../console/src/api/latest.ts', import.meta.url).href);
  const latest = new module.Latest() as Latest;
  const outcomes: unknown[] = [];
  return {
    latest,
    outcomes,
    ask() {
      const { promise, resolve, reject } = Promise.withResolvers<unknown>();
      let signal: AbortSignal | undefined;
      const done = latest.ask(
        (given) => {
          signal = given;
          given.addEventListener('abort', () => reject(new DOMException('', 'AbortError')));
          return promise;
        },
        (answer) => outcomes.push(answer),
        (failure) => outcomes.push(failure instanceof Error ? failure.message : failure),
      );
      const end = async (settle: () => void): Promise<void> => {
        settle();
        await done;
      };
      return { signal: signal as AbortSignal, answer: (value) => end(() => resolve(value)), fail: (error) => end(() => reject(error)) };
    },
  };
}

it('uses the answer of the newest request only, and cancels the others', async () => {
  const { outcomes, ask } = await started();
  const [first, second] = [ask(), ask()];
  expect([first.signal.aborted, second.signal.aborted]).toEqual([true, false]);
  await second.answer('second');
  await first.answer('first');
  expect(outcomes).toEqual(['second']);
});

it('shows no failure of an earlier request', async () => {
  const { outcomes, ask } = await started();
  const [first, second] = [ask(), ask()];
  await first.fail(new Error('too late'));
  await second.fail(new Error('now'));
  expect(outcomes).toEqual(['now']);
});

it('uses nothing that arrives after it was forgotten, and reports what was cancelled', async () => {
  const { latest, outcomes, ask } = await started();
  const forgotten = ask();
  latest.forget();
  await forgotten.answer('late');
  expect(outcomes).toEqual([]);
  const cancelled = ask();
  latest.cancel();
  await cancelled.answer('late');
  expect(outcomes).toEqual([null]);
});

/** The body of each function that waits, up to the brace that ends it. */
function waitingFunctions(text: string): readonly string[] {
  return [...text.matchAll(/\basync\b[^{]*\{/g)].map(({ index, 0: head }) => {
    let depth = 1;
    let end = index + head.length;
    for (; depth > 0 && end < text.length; end++) depth += text[end] === '{' ? 1 : text[end] === '}' ? -1 : 0;
    return text.slice(index, end);
  });
}

/** What waits for something that is the same for every user and place: scripts of the console, the clipboard, and a picture to download. */
const OTHER_WAITS = ['app.tsx', 'parts/basics.tsx', 'parts/later.tsx', 'parts/model-drawing.tsx'];

it('is how every component waits for an answer', () => {
  const files = readdirSync(SOURCE, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.tsx'));
  expect(files.length).toBeGreaterThan(30);
  const bypassing = files.filter((file) => {
    const text = readFileSync(join(SOURCE, file), 'utf8');
    return /\.then\(/.test(text) || waitingFunctions(text).some((body) => /\bset[A-Z]\w*\(|\.value = /.test(body));
  });
  expect(bypassing.sort()).toEqual(OTHER_WAITS);
});
