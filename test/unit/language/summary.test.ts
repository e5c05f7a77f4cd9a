/** The summaries of statements that the list of changes shows. */
import { describe, expect, it } from 'vitest';
import { parseStatement } from '../../../src/language/classify.ts';
import { splitScript } from '../../../src/language/split.ts';
import { summariesOf } from '../../../src/language/summary.ts';

const summary = (script: string): string => summariesOf(splitScript(script).map((s) => parseStatement(s)));

describe('the summary of a statement', () => {
  it.each([
    ['grant query on all ontology.shop to role sales with grant option', 'GRANT QUERY ON ALL ontology.shop TO ROLE sales WITH GRANT OPTION'],
    ['REVOKE EDIT ON ontology.shop.concept.`a b` FROM USER ann', 'REVOKE EDIT ON ontology.shop.concept.`a b` FROM USER ann'],
    ['GRANT ROLE sales TO USER ann; REVOKE ROLE sales FROM USER ann', 'GRANT ROLE sales TO USER ann; REVOKE ROLE sales FROM USER ann'],
    ["CREATE USER ann PASSWORD 'Hidden-word-9'; ALTER USER ann SET PASSWORD 'Hidden-word-8'", 'CREATE USER ann; ALTER USER ann SET PASSWORD'],
    ["CREATE TOKEN FOR ann EXPIRES '2030-01-01'", 'CREATE TOKEN FOR ann'],
    ['CREATE CONCEPT c (n integer); DROP MAPPING m', 'CREATE CONCEPT c; DROP MAPPING m'],
    ["CREATE POLICY p ON CONCEPT c TO PUBLIC USING (n <> 'hidden')", 'CREATE POLICY p ON CONCEPT c TO PUBLIC'],
    [
      "CREATE POLICY p ON PROPERTY n OF CONCEPT c MASK WITH ('hidden') EXCEPT ROLE hr, USER ann",
      'CREATE POLICY p ON PROPERTY n OF CONCEPT c MASK WITH EXCEPT ROLE hr, USER ann',
    ],
    ["REVOKE TOKEN 'hidden'", 'REVOKE TOKEN'],
  ])('%s', (script, expected) => {
    expect(summary(script)).toBe(expected);
    expect(summary(script)).not.toMatch(/hidden/i);
  });

  it('ends after 2,000 characters', () => {
    const text = summary(Array.from({ length: 500 }, (_, i) => `DROP CONCEPT c${i}`).join(';'));
    expect(text.length).toBe(2000);
    expect(text.endsWith('\u2026')).toBe(true);
  });

  it('does not end in half of a character', () => {
    // the cut falls into a pair of surrogates in one of two lengths
    for (const first of ['c', 'cc']) {
      const text = summary([first, ...Array.from({ length: 100 }, () => '\u{20000}'.repeat(40))].map((name) => `DROP CONCEPT ${name}`).join(';'));
      expect([text.isWellFormed(), text.length]).toEqual([true, 2000]);
    }
  });
});
