/** A real OpenID Connect provider on loopback, with users that log in by its own pages (authorization code with PKCE). */
import { createHash, generateKeyPairSync, randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Provider } from 'oidc-provider';
import { vi } from 'vitest';
import { Visitor } from './visitor.ts';

export const CLIENT = 'store-app';
export const SECRET = 'a secret of the client at the provider';
const REDIRECT = 'https://app.example/callback';
/** The audience of the access tokens. */
export const RESOURCE = 'https://svc.example';

export interface Tokens {
  /** A JWT for RESOURCE (RFC 9068), with the user's claims. */
  readonly access_token: string;
  readonly id_token: string;
  readonly refresh_token: string;
}

export interface IdentityProvider {
  readonly issuer: string;
  readonly jwksUrl: string;
  /** The number of requests for its keys. */
  keysAsked(): number;
  /** Logs a user in at the provider's pages. */
  login(account: string): Promise<Tokens>;
  /** Opens an authorization URL like a browser, and logs in there. @returns the URL below `callback` to which the browser is redirected */
  visit(address: string, account: string, callback: string): Promise<URL>;
  /** Allows the client to redirect to a further URI. */
  allow(redirect: string): void;
  close(): Promise<void>;
}

/** `claims`: of each account, for its access tokens and ID tokens; `redirects`: further redirect URIs of the client. */
export async function startIdentityProvider(
  claims: Readonly<Record<string, Readonly<Record<string, unknown>>>>,
  redirects: readonly string[] = [],
): Promise<IdentityProvider> {
  let handle: ReturnType<Provider['callback']> | undefined;
  let asked = 0;
  const server = createServer((request, response) => {
    if (request.url === '/jwks') asked++;
    handle?.(request, response);
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  // it prints that it is for development only
  const silenced = vi.spyOn(console, 'warn').mockImplementation(() => undefined);
  const info = vi.spyOn(console, 'info').mockImplementation(() => undefined);
  const provider = new Provider(issuer, {
    jwks: { keys: [{ ...privateKey.export({ format: 'jwk' }), kid: 'sig-1', use: 'sig', alg: 'RS256' }] },
    clients: [{ client_id: CLIENT, client_secret: SECRET, redirect_uris: [REDIRECT, ...redirects], grant_types: ['authorization_code', 'refresh_token'] }],
    scopes: ['openid', 'email', 'offline_access'],
    claims: { openid: ['sub', ...claimNames(claims)], email: ['email', 'email_verified'] },
    conformIdTokenClaims: false,
    cookies: { keys: [randomBytes(16).toString('hex')] },
    issueRefreshToken: () => true,
    findAccount: (_: unknown, id: string) => ({ accountId: id, claims: () => ({ sub: id, ...claims[id] }) }),
    extraTokenClaims: (_: unknown, token: { accountId?: string }) => claims[token.accountId ?? ''],
    ttl: { AccessToken: 600, IdToken: 600, Grant: 600, Interaction: 600, Session: 600, RefreshToken: 600 },
    features: {
      devInteractions: { enabled: true },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => RESOURCE,
        useGrantedResource: () => true,
        getResourceServerInfo: () => ({
          scope: 'openid email',
          audience: RESOURCE,
          accessTokenTTL: 600,
          accessTokenFormat: 'jwt',
          jwt: { sign: { alg: 'RS256' } },
        }),
      },
    },
  });
  const allowed = new Set<string>();
  const { redirectUriAllowed } = provider.Client.prototype;
  provider.Client.prototype.redirectUriAllowed = function (uri: string) {
    return allowed.has(uri) || redirectUriAllowed.call(this, uri);
  };
  handle = provider.callback();

  return {
    issuer,
    jwksUrl: `${issuer}/jwks`,
    keysAsked: () => asked,
    login: (account) => logIn(issuer, account),
    allow: (redirect) => void allowed.add(redirect),
    visit: (address, account, callback) => visit(issuer, address, account, callback),
    close: async () => {
      silenced.mockRestore();
      info.mockRestore();
      server.closeAllConnections();
      await new Promise<void>((done) => server.close(() => done()));
    },
  };
}

/** Names of the claims that belong to no scope. */
const claimNames = (claims: Parameters<typeof startIdentityProvider>[0]): string[] => [
  ...new Set(Object.values(claims).flatMap((of) => Object.keys(of).filter((name) => !/^(sub|email|email_verified)$/.test(name)))),
];

async function visit(issuer: string, address: string, account: string, callback: string): Promise<URL> {
  const person = new Visitor((path, init) => fetch(new URL(path, issuer), init));
  let next = address;
  for (let steps = 0; !next.startsWith(callback); steps++) {
    if (steps > 20) throw new Error('the provider redirects in circles');
    let page = await person.send(next);
    if (page.status === 200) {
      const prompt = /name="prompt" value="(\w+)"/.exec(page.text)?.[1] ?? '';
      page = await person.post(next, prompt === 'login' ? { prompt, login: account, password: 'any' } : { prompt });
    }
    if (page.location === null) throw new Error(`the provider answered ${page.status}: ${page.text}`);
    next = new URL(page.location, issuer).href;
  }
  return new URL(next);
}

async function logIn(issuer: string, account: string): Promise<Tokens> {
  const cookies = new Map<string, string>();
  const send = async (url: string, form?: Record<string, string>): Promise<Response> => {
    const response = await fetch(url, {
      method: form === undefined ? 'GET' : 'POST',
      headers: { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') },
      redirect: 'manual',
      ...(form === undefined ? {} : { body: new URLSearchParams(form) }),
    });
    for (const cookie of response.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
      if (name !== undefined && value !== undefined) cookies.set(name, value);
    }
    return response;
  };
  const verifier = randomBytes(32).toString('base64url');
  const parameters = new URLSearchParams({
    client_id: CLIENT,
    response_type: 'code',
    redirect_uri: REDIRECT,
    scope: 'openid email offline_access',
    prompt: 'consent',
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
  });
  let next = `${issuer}/auth?${parameters}`;
  for (let steps = 0; !next.startsWith(REDIRECT); steps++) {
    if (steps > 20) throw new Error('the provider redirects in circles');
    let response = await send(next);
    if (response.status === 200) {
      const prompt = /name="prompt" value="(\w+)"/.exec(await response.text())?.[1] ?? '';
      response = await send(next, prompt === 'login' ? { prompt, login: account, password: 'any' } : { prompt });
    }
    const location = response.headers.get('location');
    if (location === null) throw new Error(`the provider answered ${response.status}: ${await response.text()}`);
    next = new URL(location, issuer).href;
  }
  const code = new URL(next).searchParams.get('code') ?? '';
  const response = await fetch(`${issuer}/token`, {
    method: 'POST',
    headers: { authorization: `Basic ${btoa(`${CLIENT}:${encodeURIComponent(SECRET)}`)}` },
    body: new URLSearchParams({ grant_type: 'authorization_code', code, redirect_uri: REDIRECT, code_verifier: verifier }),
  });
  const tokens = (await response.json()) as Tokens;
  if (response.status !== 200) throw new Error(`the provider answered ${response.status}: ${JSON.stringify(tokens)}`);
  return tokens;
}
