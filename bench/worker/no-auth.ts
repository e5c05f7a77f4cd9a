/** Stands in for src/auth/authenticate.ts in a build that is measured: the first credential is judged, and its caller stands for everybody. */
import { type AuthOptions, type AuthSettings, type Caller, authenticate as judge } from '../../src/auth/authenticate.ts';

export * from '../../src/auth/authenticate.ts';

let first: Caller | undefined;

export async function authenticate(headers: Headers, settings: AuthSettings, options: AuthOptions): Promise<Caller> {
  first ??= await judge(headers, settings, options);
  return first;
}
