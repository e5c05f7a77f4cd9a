/**
 * The errors of the service. All folders throw them; only `http/` and `mcp/` convert them to answers. A message contains
 * nothing internal: no physical names of tables or columns, no addresses, no stack traces.
 */

/** Optional parts of an error. */
export interface ErrorDetails {
  /** How the caller can resolve the error. */
  readonly hint?: string | undefined;
  /**
   * 0-based offset of the error in the text of the request, in UTF-16 code units. The answer contains it as a 1-based position in Unicode code points
   * (docs/design/rows-and-json.md#positions).
   */
  readonly offset?: number | undefined;
  /** Additional headers of the HTTP answer (`allow`, `retry-after`, `www-authenticate`). */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** The underlying fault, for the log. It is never sent to the caller. */
  readonly cause?: unknown;
}

/** An error that the caller may see. `status` is the HTTP status (docs/design/rows-and-json.md#status-codes), `code` an identifier in snake_case. */
export class SvcError extends Error {
  readonly status: number;
  readonly code: string;
  readonly hint: string | undefined;
  readonly offset: number | undefined;
  readonly headers: Readonly<Record<string, string>> | undefined;

  constructor(status: number, code: string, message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.name = 'SvcError';
    this.status = status;
    this.code = code;
    this.hint = details.hint;
    this.offset = details.offset;
    this.headers = details.headers;
  }

  /** Returns the error with its offset increased by `by`: for an error in a part of a longer text. */
  shifted(by: number): SvcError {
    if (this.offset === undefined) return this;
    return this.at(this.offset + by);
  }

  /** Returns the error with another offset; undefined: without an offset. */
  at(offset: number | undefined): SvcError {
    return new SvcError(this.status, this.code, this.message, {
      hint: this.hint,
      offset,
      headers: this.headers,
      cause: this.cause,
    });
  }
}

/** 400: malformed input or invalid SQL. */
export const badRequest = (code: string, message: string, details?: ErrorDetails): SvcError => new SvcError(400, code, message, details);
/** 401: no credential, or an invalid one. */
export const unauthorized = (code: string, message: string, details?: ErrorDetails): SvcError => new SvcError(401, code, message, details);
/** 403: the caller may see the object but lacks the required right. */
export const forbidden = (code: string, message: string, details?: ErrorDetails): SvcError => new SvcError(403, code, message, details);
/** 404: the object does not exist or the caller may not see it. Both cases give the same bytes. */
export const notFound = (code: string, message: string, details?: ErrorDetails): SvcError => new SvcError(404, code, message, details);
/** 409: another request changed it concurrently. */
export const conflict = (code: string, message: string, details?: ErrorDetails): SvcError => new SvcError(409, code, message, details);

/** Converts a 0-based UTF-16 offset in `text` to a 1-based position in Unicode code points (docs/design/rows-and-json.md#positions). */
export function positionOf(text: string, offset: number): number {
  let position = 1;
  const end = Math.min(offset, text.length);
  for (let i = 0; i < end; i++) {
    const c = text.charCodeAt(i);
    if (c >= 0xd800 && c < 0xdc00 && i + 1 < text.length) i++;
    position++;
  }
  return position;
}

/** How many UTF-16 units are between two known positions. */
const STEP = 1024;

/** True if a character outside of the basic plane begins at `i`. */
function isPair(text: string, i: number): boolean {
  const c = text.charCodeAt(i);
  return c >= 0xd800 && c < 0xdc00 && i + 1 < text.length;
}

/**
 * As `positionOf`, for many offsets in one text: the text is read once, and not once for each offset.
 * @returns the position in characters, from 1, of an offset in UTF-16 units
 */
export function positionsIn(text: string): (offset: number) => number {
  /** For each multiple of STEP: where the first character from there begins, and its position. */
  const starts: (readonly [offset: number, position: number])[] = [];
  const from = (offset: number, position: number, end: number): readonly [number, number] => {
    let [i, n] = [offset, position];
    while (i < end) {
      i += isPair(text, i) ? 2 : 1;
      n++;
    }
    return [i, n];
  };
  const startAt = (k: number): readonly [number, number] => {
    while (starts.length <= k) {
      const [offset, position] = starts.at(-1) ?? [0, 1];
      starts.push(from(offset, position, starts.length * STEP));
    }
    return starts[k] ?? [0, 1];
  };
  return (offset) => {
    const end = Math.min(offset, text.length);
    const k = Math.floor(end / STEP);
    const [at, position] = startAt(k);
    // a character may go beyond the multiple of STEP
    return at > end ? position : from(at, position, end)[1];
  };
}

/** A name that differs in more characters is not similar, however long it is. */
const MOST_EDITS = 8;
/** Names after this number of compared characters are not considered: about 0.1 s. */
const MOST_COMPARED = 20_000_000;

/** Returns the known name that is most similar to `name`, ignoring case; undefined if no name is similar enough. */
export function nearest(name: string, known: Iterable<string>): string | undefined {
  const wanted = name.toLowerCase();
  let best: string | undefined;
  let least = Math.min(MOST_EDITS, Math.max(1, Math.floor(wanted.length / 3))) + 1;
  let compared = 0;
  for (const candidate of known) {
    if (Math.abs(candidate.length - wanted.length) >= least) continue;
    compared += wanted.length * (2 * least + 1);
    if (compared > MOST_COMPARED) break;
    const d = distance(wanted, candidate.toLowerCase(), least);
    if (d < least) {
      least = d;
      best = candidate;
    }
  }
  return best;
}

/** A name as messages show it. */
export const quoted = (name: string): string => `\`${name}\``;

/**
 * Returns the end of a message about an unknown name: "; did you mean `x`?", or an empty text if no name is similar.
 *
 * @param near result of `nearest`
 * @param shown how the message shows the name: in backquotes by default
 */
export const didYouMean = (near: string | undefined, shown: (name: string) => string = quoted): string => (near ? `; did you mean ${shown(near)}?` : '');

/** The optimal string alignment distance (a transposition counts one), or `limit` if it is larger. Compares only characters whose places differ by at most `limit`. */
function distance(a: string, b: string, limit: number): number {
  let before: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, j) => j);
  let row: number[] = [...last];
  for (let i = 1; i <= a.length; i++) {
    const from = Math.max(1, i - limit);
    const to = Math.min(b.length, i + limit);
    row[from - 1] = from === 1 ? i : limit;
    let least = row[from - 1] as number;
    for (let j = from; j <= to; j++) {
      const cost = a[i - 1] === b[j - 1] ? 0 : 1;
      let v = Math.min((row[j - 1] as number) + 1, (last[j] as number) + 1, (last[j - 1] as number) + cost);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) v = Math.min(v, (before[j - 2] as number) + 1);
      row[j] = v;
      if (v < least) least = v;
    }
    if (to < b.length) row[to + 1] = limit;
    if (least >= limit) return limit;
    [before, last, row] = [last, row, before.length === 0 ? [...last] : before];
  }
  return Math.min(limit, last[b.length] as number);
}

/** The message of a 503 `busy` for a request whose body was not read: nothing of it has an effect, so that a client may repeat it. */
export const NOT_READ = 'Too many large requests are in progress';

/**
 * Classes of SQLSTATE whose messages name only objects, settings and connections. Messages of other classes may quote a value, and so may 42601: the input
 * functions of tsquery, tsvector and jsonpath raise it (`syntax error in tsquery: "Ann & &"`).
 */
const QUOTES_NO_VALUE = /^(08|0A|25|28|3D|3F|40|42(?!601)|53|54|55|57|58|XX)/;

/** A fault as it is logged. */
export interface LoggedFault {
  readonly name: string;
  readonly message: string;
  readonly stack: string;
  readonly cause?: LoggedFault;
}

/**
 * Prepares a fault for the log, without values. PostgreSQL quotes values of rows (`invalid input syntax for type integer: "Ann"`), and a JSON parser quotes its
 * input, which may be a statement with a password. Of such faults, only the SQLSTATE or the kind is logged.
 */
export function loggedFault(fault: unknown): LoggedFault {
  if (!(fault instanceof Error)) return { name: typeof fault, message: '', stack: '' };
  const { name, cause } = fault;
  const message = messageFor(fault);
  // the first lines of a stack repeat the message
  const frames = (fault.stack ?? '').split('\n').filter((line) => /^\s+at /.test(line) && !fault.message.includes(line));
  return { name, message, stack: [`${name}: ${message}`, ...frames].join('\n'), ...(cause === undefined ? {} : { cause: loggedFault(cause) }) };
}

/** As `loggedFault`, in one line. */
export function loggedLine(fault: unknown): string {
  const { name, message } = loggedFault(fault);
  return message === '' ? name : `${name}: ${message}`;
}

type WithState = Error & { readonly sqlstate?: unknown };

const mayQuote = ({ sqlstate }: WithState): boolean => typeof sqlstate === 'string' && !QUOTES_NO_VALUE.test(sqlstate);

/** True if a cause of the fault may quote a value. */
const hasQuotingCause = ({ cause }: Error): boolean => cause instanceof Error && (mayQuote(cause) || hasQuotingCause(cause));

function messageFor(fault: WithState): string {
  if (fault instanceof SyntaxError) return 'the text cannot be parsed';
  if (mayQuote(fault)) return `SQLSTATE ${String(fault.sqlstate)}`;
  // the message for the caller repeats PostgreSQL's message
  return fault instanceof SvcError && fault.status < 500 && hasQuotingCause(fault) ? fault.code : fault.message;
}
