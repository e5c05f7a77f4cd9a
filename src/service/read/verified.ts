/** Verifies finished SQL before it is sent to a datasource (planner/verify). */
import { badRequest, SvcError } from '../../errors.ts';
import type { SqlParser } from '../../language/parser.ts';
import { type Declared, RefusedByVerifier, type Verified, verify } from '../../planner/verify/index.ts';
import { statementDigest } from '../audit.ts';
import type { Runtime } from '../runtime.ts';

/** The dependencies of verification. */
export interface Verifying extends Pick<Runtime, 'log' | 'waitUntil'> {
  readonly parser: SqlParser;
}

/** Kinds of refusals that a text over tables can cause. The planner does not know the columns of tables, so it does not resolve all names. */
const NAMES: ReadonlySet<string> = new Set(['qualifier', 'column', 'field']);

/**
 * As `verified`, for a new text over tables: a name that cannot be resolved is an error in the text.
 * @param what the mapping or view, for the message
 * @throws SvcError 400 `mapping_failed` or `view_failed` if a name in the text cannot be resolved; otherwise as `verified`
 */
export function verifiedText(
  runtime: Verifying,
  sql: string,
  declared: Declared,
  what: { readonly kind: 'mapping' | 'view'; readonly name: string },
): Verified {
  try {
    return verify(runtime.parser, sql, declared);
  } catch (error) {
    if (!(error instanceof RefusedByVerifier && NAMES.has(error.kind))) return refused(runtime, sql, error);
    throw badRequest(
      `${what.kind}_failed`,
      `the SELECT of the ${what.kind} \`${what.name}\` has no ${error.kind === 'qualifier' ? 'table' : 'column'} \`${error.subject}\` at this place`,
      {
        hint: 'Check the names and aliases in FROM. The columns of a function with several columns need a list: f() AS r(a, b)',
      },
    );
  }
}

/**
 * Verifies finished SQL and returns it as a text for the engine. A refusal is a bug of the service: its reason and a digest of the SQL are logged, and the
 * caller gets only the code.
 * @throws SvcError 500 `refused_by_verifier`; 400 `too_complex` if the SQL is nested too deeply to be verified
 */
export function verified(runtime: Verifying, sql: string, declared: Declared): Verified {
  try {
    return verify(runtime.parser, sql, declared);
  } catch (error) {
    return refused(runtime, sql, error);
  }
}

function refused(runtime: Verifying, sql: string, error: unknown): never {
  if (!(error instanceof RefusedByVerifier)) throw error;
  if (error.kind === 'too_complex')
    throw badRequest('too_complex', 'the SQL of the statement is nested too deeply', { hint: 'Reference fewer objects, or split it' });
  const { reason } = error;
  const log = (digest: string | null): void => runtime.log({ level: 'error', event: 'refused_by_verifier', reason, digest });
  runtime.waitUntil(statementDigest(sql, Number.POSITIVE_INFINITY).then(log));
  throw new SvcError(500, 'refused_by_verifier', 'The SQL of this statement was refused by the final check and was not sent to the datasource', {
    hint: 'This is a bug of the service; its log has the reason under the id of this request',
    cause: error,
  });
}
