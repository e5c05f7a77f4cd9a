/** Names that clients give themselves, on the consent page. */
import { describe, expect, it } from 'vitest';
import { consentPage } from '../../../src/http/oauth-pages.ts';

const pageFor = (clientName: string): string =>
  consentPage({
    product: 'svc',
    user: 'ann',
    action: '/svc/oauth/authorize',
    token: 't',
    authorization: {
      clientId: 'c',
      clientName,
      clientDomain: null,
      redirectUri: 'https://a.example/',
      redirectHost: 'a.example',
      isLocal: false,
      scopes: ['read'],
      request: {},
    },
  });

describe('the name of a client', () => {
  it.each([
    ['turns the direction of the text', '\u202eeduac'],
    ['has several lines', 'one\n\ntwo'],
    ['has invisible characters', 'Cl\u200baude'],
  ])('that %s is shown without that in the title and the text', (_what, name) => {
    expect(pageFor(name)).not.toMatch(/[\u202e\u200b]|one\s*\n/);
  });

  it.each(['\u115f\u3164', '\u2800', '\ufe0f\u034f', '\u17b4\uffa0'])('that is invisible counts as missing: %j', (name) => {
    expect(pageFor(name)).toContain('<h1>Allow c to use svc?</h1>');
  });

  it('is text, and is truncated between characters', () => {
    const html = pageFor(`<script>${'x'.repeat(91)}\u{1f600}</script>`);
    expect(html).not.toContain('<script>');
    expect(html.isWellFormed()).toBe(true);
  });
});
