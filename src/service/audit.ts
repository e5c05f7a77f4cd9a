/** The audit of requests, off their way: lines are gathered in the isolate and written together, a moment after the answer. */

import { sha256 } from '../auth/tokens.ts';
import { type AuditLine, writeAudit } from '../catalog/audit.ts';
import { loggedFault } from '../errors.ts';
import { lex } from '../language/lexer.ts';
import type { Runtime } from './runtime.ts';

/** How long lines wait for others. */
const GATHER_MS = 300;
/** So many lines are written at once; of more that wait, the oldest are lost, and the log says so. */
const MOST_LINES = 2000;
/** Longer texts have no digest. */
const MOST_CHARACTERS = 64 * 1024;

// plain data: whoever writes them writes those of other requests too
let lines: AuditLine[] = [];
let failures = new Map<string, number>();
let lost = 0;
/** When a request began to wait for others; one that was ended in the meantime must not hold up all. */
let waiting = Number.NEGATIVE_INFINITY;
const ENDED_MS = 5000;

/** A line, its statement's digest aside, which is made when it is written. */
export type Noted = Omit<AuditLine, 'digest'> & { readonly sql: string | null };

/** Takes a line down, in the background. */
export function auditRequest(runtime: Runtime, { sql, ...line }: Noted): void {
  runtime.waitUntil(
    statementDigest(sql).then((digest) => {
      lines.push({ ...line, digest });
      if (lines.length > MOST_LINES) lost += lines.splice(0, lines.length - MOST_LINES).length;
      return writeLater(runtime);
    }),
  );
}

/** Counts a credential that was refused; `code` of the refusal. */
export function auditFailure(runtime: Runtime, code: string): void {
  failures.set(code, (failures.get(code) ?? 0) + 1);
  runtime.waitUntil(writeLater(runtime));
}

/** One request writes for all that come in the meantime. */
async function writeLater(runtime: Runtime): Promise<void> {
  if (runtime.now() - waiting < ENDED_MS) return;
  waiting = runtime.now();
  await new Promise((resolve) => setTimeout(resolve, GATHER_MS));
  waiting = Number.NEGATIVE_INFINITY;
  const [due, counts, gone] = [lines, failures, lost];
  lines = [];
  failures = new Map();
  lost = 0;
  await writeAudit(runtime.db, due, counts).catch((error: unknown) => {
    runtime.log({ level: 'error', event: 'audit_failed', lines: due.length, cause: loggedFault(error).message });
  });
  if (gone > 0) runtime.log({ level: 'error', event: 'audit_lost', lines: gone });
}

/**
 * SHA-256 of a statement's text without its values: texts and numbers as `?`, blanks and comments as one space. Equal for the
 * same statement with other values, and of no use for guessing a password in it. Null where there is no text that can be read, or one of more than `most` characters.
 */
export async function statementDigest(text: string | null, most = MOST_CHARACTERS): Promise<string | null> {
  if (text === null || text.length > most) return null;
  let plain = '';
  try {
    const next = lex(text);
    for (let token = next(); token !== null; token = next()) {
      if (token.kind === 'space' || token.kind === 'comment') plain += plain.endsWith(' ') ? '' : ' ';
      else if (token.kind === 'string' || token.kind === 'number') plain += '?';
      else plain += text.slice(token.start, token.end);
    }
  } catch {
    return null;
  }
  return sha256(plain.trim());
}
