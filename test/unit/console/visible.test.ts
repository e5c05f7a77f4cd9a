import { describe, expect, it } from 'vitest';
import { visible } from '../../../console/src/parts/visible.ts';

describe('the text of changes', () => {
  it('is shown as it is', () => {
    const text = "CREATE ROLE a;\n\n\tGRANT QUERY ON ALL ontology.shop\n  TO ROLE a; -- naïve 'ü' 日本 \u{1f600}";
    expect(visible(text)).toBe(text);
  });
  it.each([
    ['\u202e', '\\u202e'],
    ['\u200b', '\\u200b'],
    ['\u3164', '\\u3164'],
    ['\u00ad', '\\uad'],
    ['\u{e0041}', '\\ue0041'],
    ['\u2028', '\\u2028'],
    ['\u001b', '\\u1b'],
    ['\r', '\\ud'],
  ])('has codes for hidden characters', (hidden, code) => {
    expect(visible(`GRANT ${hidden}x`)).toBe(`GRANT ${code}x`);
  });
  it.each(['\n', ' \n', '\t\u3000\n', ' '.repeat(100)])('has no long gaps', (blank) => {
    expect(visible(`CREATE ROLE a;${blank.repeat(300)}GRANT ROLE admin TO USER b`)).toMatch(/^CREATE ROLE a;\s{1,3}…\s{1,42}GRANT ROLE admin TO USER b$/);
  });
  it('is made in linear time', () => {
    expect(visible('\n'.repeat(500_000) + ' \n \n x'.repeat(100_000)).length).toBeLessThan(1_000_000);
  });
});
