/** The last check before a statement goes to a datasource: the verifier's (planner/verify). */
import { badRequest, SvcError } from '../errors.ts';
import type { SqlParser } from '../language/parser.ts';
import { type Declared, RefusedByVerifier, type Verified, verify } from '../planner/verify/index.ts';
import { statementDigest } from './audit.ts';
import type { Runtime } from './runtime.ts';

/** What verifying needs. */
export interface Verifying extends Pick<Runtime, 'log' | 'waitUntil'> {
  readonly parser: SqlParser;
}

/**
 * Finished SQL as a text that the engine sends. A refusal is a fault of the service: the log gets its reason and a digest of the SQL, the caller
 * only the code.
 * @throws SvcError 500 `refused_by_verifier`; 400 `too_complex` where the SQL is nested too deeply to be verified
 */
export function verified(runtime: Verifying, sql: string, declared: Declared): Verified {
  try {
    return verify(runtime.parser, sql, declared);
  } catch (error) {
    if (!(error instanceof RefusedByVerifier)) throw error;
    if (error.kind === 'too_complex')
      throw badRequest('too_complex', 'the SQL of the statement is nested too deeply', { hint: 'Name less at once, or split it' });
    const { reason } = error;
    const log = (digest: string | null): void => runtime.log({ level: 'error', event: 'refused_by_verifier', reason, digest });
    runtime.waitUntil(statementDigest(sql, Number.POSITIVE_INFINITY).then(log));
    throw new SvcError(500, 'refused_by_verifier', 'The SQL of this statement did not pass the last check, so it was not sent to the datasource', {
      hint: 'This is a fault of the service: its log has the reason under the id of this request',
      cause: error,
    });
  }
}
