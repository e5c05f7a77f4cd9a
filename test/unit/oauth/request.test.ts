import { describe, expect, it } from 'vitest';
import { SvcError, unauthorized } from '../../../src/errors.ts';
import { challengeOf, placeOf, requirePlace, withChallenge } from '../../../src/oauth/place.ts';
import { formTarget, isRedirectOf, partsOf, repeatsParameter, scopesOf, withoutSlash } from '../../../src/oauth/request.ts';

describe('redirect URIs', () => {
  const REGISTERED = ['http://127.0.0.1:33418/callback', 'http://localhost/cb?a=1', 'http://[::1]:8080/callback', 'https://app.example/callback'];
  it.each([
    ['http://127.0.0.1:33418/callback', true],
    ['http://127.0.0.1:1/callback', true],
    ['http://127.0.0.1/callback', true],
    ['http://localhost:5000/cb?a=1', true],
    ['http://[::1]:1/callback', true],
    ['https://app.example/callback', true],
    ['https://app.example:444/callback', false],
    ['https://app.example/callback/', false],
    ['https://APP.example/callback', false],
    ['https://app.example/x/../callback', false],
    ['https://app.example/callback?x', false],
    ['http://127.0.0.1:33418/callback/', false],
    ['http://127.0.0.1:33418/x/../callback', false],
    ['http://127.0.0.1:33418/%63allback', false],
    ['http://127.0.0.2:33418/callback', false],
    ['http://localhost:33418/callback', false],
    ['https://127.0.0.1:33418/callback', false],
    ['http://127.0.0.1:33418@evil.example/callback', false],
    ['http://127.0.0.1.evil.example/callback', false],
    ['http://localhost:5000.evil.example/cb?a=1', false],
    ['http://[::1]:1/other', false],
  ])('%s: %s', (asked, expected) => expect(isRedirectOf(asked, REGISTERED)).toBe(expected));

  it('are named in the policy of the consent page', () => {
    expect(formTarget('https://app.example:8443/callback?x=1')).toBe("'self' https://app.example:8443");
    expect(formTarget('http://127.0.0.1:33418/callback')).toBe("'self' http://127.0.0.1:33418");
    expect(formTarget('http://[::1]:33418/callback')).toBe("'self' http:");
    // they would end a directive or a policy, or name other hosts
    for (const host of ['a;frame-ancestors.example', 'a,b.example', '*.example', "'none'.example"])
      expect(formTarget(`https://${host}/cb`)).toBe("'self' https:");
    expect(formTarget('com.example.app:/callback')).toBe("'self' com.example.app:");
  });
});

describe('requests', () => {
  it('get the existing scopes, and at least read', () => {
    expect([scopesOf([]), scopesOf(['read']), scopesOf(['model']), scopesOf(['openid', 'model', 'read']), scopesOf(['admin'])]).toEqual([
      ['read'],
      ['read'],
      ['read', 'model'],
      ['read', 'model'],
      ['read'],
    ]);
  });

  it('may name the resource with a trailing slash; another one is unchanged', () => {
    const clean = (text: string): string => withoutSlash(new URLSearchParams(text), 'https://s.example/svc/api/mcp').toString();
    const of = (...resources: string[]): string => new URLSearchParams(resources.map((r) => ['resource', r])).toString();
    expect(clean(of('https://s.example/svc/api/mcp/'))).toBe(of('https://s.example/svc/api/mcp'));
    expect(clean(of('https://s.example/svc/api/mcp//'))).toBe(of('https://s.example/svc/api/mcp//'));
    expect(clean(of('https://s.example/svc/api/mcp/', 'https://o.example/'))).toBe(of('https://s.example/svc/api/mcp', 'https://o.example/'));
    expect(clean('state=https%3A%2F%2Fs.example%2Fsvc%2Fapi%2Fmcp%2F')).toBe('state=https%3A%2F%2Fs.example%2Fsvc%2Fapi%2Fmcp%2F');
  });

  it('repeat no parameter except the resource, which is checked in linear time', () => {
    const repeats = (text: string): boolean => repeatsParameter(new URLSearchParams(text));
    expect([repeats(''), repeats('a=1&b=2'), repeats('resource=a&resource=b'), repeats('a=1&b=2&a=1'), repeats('a&%61')]).toEqual([
      false,
      false,
      false,
      true,
      true,
    ]);
    const distinct = new URLSearchParams(Array.from({ length: 100_000 }, (_, i) => [`p${i}`, '']));
    const begun = performance.now();
    expect(repeatsParameter(distinct)).toBe(false);
    expect(performance.now() - begun).toBeLessThan(2000);
  });

  it('accept tokens of one form', () => {
    const token = `0b1c2d3e-4f50-4a61-8b72-9c83ad94be05:${'g'.repeat(16)}:${'s'.repeat(32)}`;
    expect(partsOf(token)).toEqual({ userId: '0b1c2d3e-4f50-4a61-8b72-9c83ad94be05', grantId: 'g'.repeat(16) });
    for (const other of ['', 'tk_x', `${token}x`, token.slice(1), `${token}:x`, token.replace('0b1c', 'olive'), ` ${token}`]) expect(partsOf(other)).toBeNull();
  });
});

describe('the URL of OAuth', () => {
  const request = (url: string, host?: string) => new Request(url, host === undefined ? {} : { headers: { host } });
  const at = (publicUrl: string | null, url: string, host?: string) => placeOf({ publicUrl, product: 'svc' }, request(url, host))?.resource ?? null;
  it('is that of PUBLIC_URL, else a loopback one', () => {
    expect(at(null, 'http://127.0.0.1:8787/svc/api/mcp')).toBe('http://127.0.0.1:8787/svc/api/mcp');
    expect(at(null, 'http://localhost:1/')).toBe('http://localhost:1/svc/api/mcp');
    expect(at(null, 'https://svc.example/')).toBeNull();
    expect(at(null, 'http://127.0.0.1.evil.example/')).toBeNull();
    expect(at('https://svc.example', 'http://127.0.0.1:8787/')).toBe('https://svc.example/svc/api/mcp');
  });

  it('answers only on its own host', () => {
    const code = (publicUrl: string | null, url: string): unknown => {
      try {
        return requirePlace({ publicUrl, product: 'svc' }, request(url)).issuer;
      } catch (error) {
        return error instanceof SvcError ? [error.status, error.code] : error;
      }
    };
    expect(code('https://svc.example', 'https://svc.example/x')).toBe('https://svc.example');
    expect(code('https://svc.example:443', 'https://svc.example/x')).toBe('https://svc.example');
    // TLS may end before the service
    expect(code('https://svc.example', 'http://svc.example/x')).toBe('https://svc.example');
    expect(code('https://svc.example', 'https://other.example/x')).toEqual([421, 'misdirected_request']);
    expect(code(null, 'https://svc.example/x')).toEqual([503, 'not_configured']);
  });

  it('is named in a 401', () => {
    const place = placeOf({ publicUrl: 'https://svc.example', product: 'svc' }, request('https://svc.example/'));
    const metadata = 'resource_metadata="https://svc.example/.well-known/oauth-protected-resource/svc/api/mcp"';
    expect(challengeOf(place, 'svc')).toBe(`Bearer realm="svc", ${metadata}, scope="read"`);
    expect(challengeOf(null, 'svc', 'invalid_token')).toBe('Bearer realm="svc", error="invalid_token"');
    const config = { publicUrl: 'https://svc.example', product: 'svc' };
    const challenge = (error: unknown): unknown => (withChallenge(error, request('https://svc.example/'), config) as SvcError).headers?.['www-authenticate'];
    expect(challenge(unauthorized('credential_missing', 'x'))).toBe(`Bearer realm="svc", ${metadata}, scope="read"`);
    expect(challenge(unauthorized('invalid_token', 'x', { headers: { 'www-authenticate': 'Bearer' } }))).toBe(
      `Bearer realm="svc", ${metadata}, scope="read", error="invalid_token"`,
    );
    const other = new SvcError(503, 'catalog_unavailable', 'x');
    expect(withChallenge(other, request('https://svc.example/'), config)).toBe(other);
  });
});
