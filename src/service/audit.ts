/** Writes the audit of requests in the background: an isolate collects lines and writes them together shortly after the answers. */

import { sha256 } from '../auth/tokens.ts';
import { type AuditLine, writeAudit } from '../catalog/audit.ts';
import { loggedFault } from '../errors.ts';
import { lex } from '../language/lexer.ts';
import type { Runtime } from './runtime.ts';

/** How long lines are collected before they are written. */
const COLLECT_MS = 300;
/** The most lines that are collected. If there are more, the oldest are dropped, which is logged. */
const MAX_LINES = 2000;
/** Longer texts have no digest. */
const MAX_CHARACTERS = 64 * 1024;

// plain data, because one request also writes the lines of other requests
let lines: AuditLine[] = [];
let failures = new Map<string, number>();
let lost = 0;
/** When a request began to collect lines. If the request was ended in the meantime, another one takes over after ENDED_MS. */
let waiting = Number.NEGATIVE_INFINITY;
const ENDED_MS = 5000;

/** An audit line with the statement instead of its digest, which is computed in the background. */
export type Noted = Omit<AuditLine, 'digest'> & { readonly sql: string | null };

/** Adds a line to the audit, in the background. */
export function auditRequest(runtime: Runtime, { sql, ...line }: Noted): void {
  runtime.waitUntil(
    statementDigest(sql).then((digest) => {
      lines.push({ ...line, digest });
      if (lines.length > MAX_LINES) lost += lines.splice(0, lines.length - MAX_LINES).length;
      return writeLater(runtime);
    }),
  );
}

/** Counts a refused credential. @param code the error code */
export function auditFailure(runtime: Runtime, code: string): void {
  failures.set(code, (failures.get(code) ?? 0) + 1);
  runtime.waitUntil(writeLater(runtime));
}

/** Collects lines for a moment and writes them. One request writes for all requests in that time. */
async function writeLater(runtime: Runtime): Promise<void> {
  if (runtime.now() - waiting < ENDED_MS) return;
  waiting = runtime.now();
  await new Promise((resolve) => setTimeout(resolve, COLLECT_MS));
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
 * SHA-256 of a statement without its values: strings and numbers are replaced by `?`, whitespace and comments by one space. The digest is equal for the same
 * statement with other values, and a password in the statement cannot be guessed from it.
 * @param max the maximum length of the text
 * @returns null for a text that is missing, too long, or cannot be tokenized
 */
export async function statementDigest(text: string | null, max = MAX_CHARACTERS): Promise<string | null> {
  if (text === null || text.length > max) return null;
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
