/** POST get_token: exchanges a Fernet bearer (`npm run generate-bearer`) for an API token (docs/design/credentials.md#the-bearer-of-get_token). */
import { openBearer } from '../auth/bearer.ts';
import { issueToken, signIn } from '../auth/sign-in.ts';
import { SvcError, unauthorized } from '../errors.ts';
import { addressOf, admit } from './admit.ts';
import { success } from './answers.ts';
import type { AppContext } from './context.ts';

/**
 * Answers with `data` = [the token]. The answer for an invalid bearer does not depend on the reason. If the signature of the bearer is valid, neither does the
 * time that it takes.
 * @throws SvcError 401 `invalid_bearer`; 503 `not_configured`, `catalog_unavailable`; 429
 */
export async function getToken(c: AppContext): Promise<Response> {
  const { runtime } = c.env;
  const { apiAuthSalt, apiTokenTtlDays } = runtime.config;
  if (apiAuthSalt === null) {
    throw new SvcError(503, 'not_configured', 'get_token is not configured', { hint: 'Ask the operator to set API_AUTH_SALT' });
  }
  const address = addressOf(c.req.raw.headers);
  await admit(c, `login:${address}`);
  const bearer = /^bearer +(\S+) *$/i.exec(c.req.header('authorization') ?? '')?.[1] ?? '';
  const login = await signIn(runtime, await openBearer(bearer, apiAuthSalt, runtime.now()), address);
  const token = login === null ? null : await issueToken(runtime, login, login.passwordBy, 'get_token', apiTokenTtlDays, c.get('requestId'));
  if (token === null) {
    throw unauthorized('invalid_bearer', 'The bearer is not valid', {
      hint: 'Send Authorization: Bearer <output of npm run generate-bearer>; it is valid for 24 hours',
      headers: { 'www-authenticate': 'Bearer realm="svc"' },
    });
  }
  return success(c, [token]);
}
