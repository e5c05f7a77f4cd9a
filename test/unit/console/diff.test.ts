/** Differences of texts in the edit view. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { diff, excerpt } from '../../../console/src/edit/diff.ts';
import { generated } from '../../support/generated.ts';

const text = fc.array(fc.constantFrom('a', 'b', 'c', ''), { maxLength: 12 }).map((lines) => lines.join('\n'));

describe('a difference', () => {
  it('contains both texts', () => {
    fc.assert(
      fc.property(text, text, (before, after) => {
        const lines = diff(before, after);
        const without = (kind: string): string =>
          lines
            .filter((l) => l.kind !== kind)
            .map((l) => l.text)
            .join('\n');
        expect(without('added')).toBe(before);
        expect(without('removed')).toBe(after);
      }),
      generated(300),
    );
  });

  it('has as few lines as possible', () => {
    expect(diff('a\nb\nc\nd', 'a\nc\nx\nd').map((l) => `${l.kind} ${l.text}`)).toEqual(['same a', 'removed b', 'same c', 'added x', 'same d']);
    expect(diff(null, 'a').map((l) => l.kind)).toEqual(['added']);
    expect(diff('a', null).map((l) => l.kind)).toEqual(['removed']);
  });

  it('leaves out lines far from changes', () => {
    const before = Array.from({ length: 20 }, (_, i) => `line ${i}`).join('\n');
    const shown = excerpt(diff(before, before.replace('line 10', 'new')), 1);
    expect(shown.map((l) => (l === null ? '...' : `${l.kind[0]} ${l.text}`))).toEqual(['...', 's line 9', 'r line 10', 'a new', 's line 11', '...']);
  });
});
