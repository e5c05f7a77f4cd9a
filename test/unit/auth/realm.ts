/** A service that accepts one realm's JWTs, for tests of the checks of tokens. */
import type { JwksOptions } from '../../../src/auth/jwks.ts';
import { verifyJwt } from '../../../src/auth/jwt.ts';
import type { VerifiedJwt } from '../../../src/auth/jwt-identity.ts';
import { readConfig } from '../../../src/config.ts';
import { SvcError } from '../../../src/errors.ts';
import { inVariable, jws, type KeyPair, type Signer, spki } from './by-hand.ts';

export const NOW = Date.UTC(2031, 0, 2, 3, 4, 5);
export const SECONDS = NOW / 1000;

export interface Realm {
  readonly pair: KeyPair;
  /** Lines that were logged. */
  readonly lines: Record<string, unknown>[];
  /** The user of the token, or the code of the refusal. */
  verifiedBy(token: string, sent?: string | null): Promise<VerifiedJwt | string>;
  /** A valid token, except for the changes of its claims (undefined: omitted) and header. */
  token(claims?: Record<string, unknown>, header?: Record<string, unknown>, signer?: Signer | null): string;
}

export function realm(pair: KeyPair, env: Record<string, string> = {}): Realm {
  const { jwt } = readConfig({
    ENABLE_TOKEN: 'true',
    JWT_DEFAULT_KEY: inVariable(spki(pair)),
    JWT_DEFAULT_AUDIENCE: 'app',
    JWT_DEFAULT_ISSUER: 'https://id.example',
    ...env,
  });
  const lines: Record<string, unknown>[] = [];
  const options: JwksOptions = { now: () => NOW, waitUntil: () => undefined, log: (line) => lines.push(line) };
  return {
    pair,
    lines,
    verifiedBy: (token, sent = null) =>
      verifyJwt(token, sent, jwt, options).catch((error: unknown) => {
        if (error instanceof SvcError && error.status === 401) return error.code;
        throw error;
      }),
    token: (claims = {}, header = {}, signer = pair) =>
      jws({ alg: 'RS256', typ: 'JWT', ...header }, { email: 'ann@corp.example', aud: 'app', iss: 'https://id.example', exp: SECONDS + 300, ...claims }, signer),
  };
}
