import { createHash, randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { createToken } from '../../../src/auth/tokens.ts';
import { shows, steady } from '../../support/shows.ts';

describe('what an answer shows', () => {
  it('contains no id, hash, token, time or port', () => {
    const digits = Array.from({ length: 1000 }, (_, i) => String(i).padStart(3, '0'));
    for (let n = 0; n < 200; n++) {
      const hash = createHash('sha256').update(String(n)).digest();
      const made = {
        id: randomUUID(),
        hash: `~${hash.toString('hex')}`,
        base64: hash.toString('base64url'),
        token: createToken(),
        at: new Date(n * 1e9).toISOString(),
      };
      const text = JSON.stringify({
        ...made,
        url: `http://127.0.0.1:${40_000 + n}/svc`,
        expires: 1_700_000_000_000 + n,
        note: `in ${n}.5 ms, 2026-11-26 01:40:00.${900 + n}+00`,
      });
      expect(shows(text, digits)).toEqual([]);
    }
  });

  it.each([
    ['a number', '{"data":[{"pay":9000}]}'],
    ['a number with decimals', '{"data":[{"pay":9000.00}]}'],
    ['a text', '{"data":[{"pay":"9000"}]}'],
    ['a part of a text', '{"data":"invalid input: \\"x9000y\\""}'],
    ['a number next to an id', `{"id":"${randomUUID()}","pay":9000}`],
    ['a line of CSV', 'id,pay\n1,9000\n'],
    ['a part of a long word', '{"data":"a value of a row: prefix9000suffix"}'],
  ])('contains %s', (_, text) => {
    expect(shows(text, ['9000', '8000'])).toEqual(['9000']);
  });

  it('leaves out what the question contains', () => expect(shows('{"hint":"9000, 8000"}', ['9000', '8000'], 'WHERE pay > 8000')).toEqual(['9000']));
  it('keeps names and statements', () =>
    expect(steady('SELECT first_name FROM svc.a_concept_with_a_long_name')).toBe('SELECT first_name FROM svc.a_concept_with_a_long_name'));
});
