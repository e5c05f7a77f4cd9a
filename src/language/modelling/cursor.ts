/** A cursor over the tokens of one statement. Its errors name what was expected. */
import { badRequest, didYouMean, nearest, SvcError } from '../../errors.ts';
import { significant, type Token, tokenize } from '../lexer.ts';
import type { Name, Source, SqlText } from '../statements.ts';

/** The maximum length of a token that an error quotes. */
const SHOWN = 40;

export class Cursor {
  readonly source: Source;
  readonly #tokens: readonly Token[];
  #at = 0;
  /** What the readers tried at the current token: keywords and punctuation literally, other things in words. */
  readonly #keywords = new Set<string>();
  readonly #things = new Set<string>();

  /** @throws SvcError 400 `syntax_error` for an unterminated string, name or comment */
  constructor(source: Source) {
    this.source = source;
    try {
      this.#tokens = significant(tokenize(source.text));
    } catch (e) {
      throw e instanceof SvcError ? e.shifted(source.offset) : e;
    }
  }

  /** The token `ahead` places after the current one; undefined after the last one. */
  peek(ahead = 0): Token | undefined {
    return this.#tokens[this.#at + ahead];
  }

  /** The offset of the token `ahead` places after the current one, in the whole text of the request. After the last token, the end of the statement. */
  offset(ahead = 0): number {
    return this.source.offset + (this.peek(ahead)?.start ?? this.source.text.length);
  }

  /** Whether the token `ahead` places after the current one is an unquoted `keyword` (upper case). */
  sees(keyword: string, ahead = 0): boolean {
    const token = this.peek(ahead);
    return token?.kind === 'word' && token.value.toUpperCase() === keyword;
  }

  /** Whether the token `ahead` places after the current one is the punctuation or operator `mark`. */
  seesMark(mark: string, ahead = 0): boolean {
    const token = this.peek(ahead);
    return (token?.kind === 'punct' || token?.kind === 'operator') && token.value === mark;
  }

  /** Whether the token `ahead` places after the current one is a name, quoted or not. */
  seesName(ahead = 0): boolean {
    const kind = this.peek(ahead)?.kind;
    return kind === 'word' || kind === 'name';
  }

  /** Consumes `keyword` if it is the current token. Returns whether it was. */
  accept(keyword: string): boolean {
    if (!this.sees(keyword)) {
      this.#keywords.add(keyword);
      return false;
    }
    this.advance();
    return true;
  }

  /** Consumes each of `keywords`. Throws at the first one that is missing. */
  expect(...keywords: string[]): void {
    for (const keyword of keywords) if (!this.accept(keyword)) throw this.unexpected();
  }

  acceptMark(mark: string): boolean {
    if (!this.seesMark(mark)) {
      this.#keywords.add(mark);
      return false;
    }
    this.advance();
    return true;
  }

  expectMark(mark: string): void {
    if (!this.acceptMark(mark)) throw this.unexpected();
  }

  /** Consumes a name. `what` describes it in errors. */
  identifier(what: string): Name {
    const token = this.peek();
    if (token?.kind !== 'word' && token?.kind !== 'name') throw this.unexpected(what);
    const name = { text: token.value, offset: this.offset() };
    this.advance();
    return name;
  }

  /** Consumes a string. Quotes distinguish strings ('...') from names ("..."). */
  string(what: string): { text: string; offset: number } {
    const token = this.peek();
    if (token?.kind !== 'string') throw this.unexpected(what);
    const string = { text: token.value, offset: this.offset() };
    this.advance();
    return string;
  }

  /** Consumes a number, as written. */
  number(what: string): { text: string; offset: number } {
    const token = this.peek();
    if (token?.kind !== 'number') throw this.unexpected(what);
    const number = { text: token.value, offset: this.offset() };
    this.advance();
    return number;
  }

  /** Reads `( item, item, ... )` with at least one item. A trailing comma is allowed. */
  list<T>(item: () => T): T[] {
    this.expectMark('(');
    const items = [item()];
    for (;;) {
      if (this.acceptMark(')')) return items;
      this.expectMark(',');
      if (this.acceptMark(')')) return items;
      items.push(item());
    }
  }

  /** Consumes the rest of the statement, verbatim. `what` describes it in the error if nothing is left. */
  rest(what: string): SqlText {
    return this.until(what, () => false);
  }

  /** Consumes the text before the first token outside brackets for which `stop` is true; at least one token. */
  until(what: string, stop: (token: Token) => boolean): SqlText {
    const start = this.#at;
    let depth = 0;
    for (let token = this.peek(); token !== undefined; token = this.peek()) {
      if (depth === 0 && stop(token)) break;
      if (token.kind === 'punct' && /^[([]$/.test(token.value)) depth++;
      if (token.kind === 'punct' && /^[)\]]$/.test(token.value)) depth--;
      this.advance();
    }
    const [first, last] = [this.#tokens[start], this.#tokens[this.#at - 1]];
    if (first === undefined || last === undefined || this.#at === start) throw this.unexpected(what);
    return { text: this.source.text.slice(first.start, last.end), offset: this.source.offset + first.start };
  }

  advance(count = 1): void {
    this.#at += count;
    this.#keywords.clear();
    this.#things.clear();
  }

  /** Throws unless all tokens are consumed. */
  end(): void {
    if (this.peek() !== undefined) throw this.unexpected('the end of the statement');
  }

  /** The error that names what was expected at the current token (`what`, and everything tried before) and what was found. */
  unexpected(what?: string): SvcError {
    if (what !== undefined) this.#things.add(what);
    const token = this.peek();
    const written = token === undefined ? '' : this.source.text.slice(token.start, token.end);
    const found = token === undefined ? 'the end of the statement' : `\`${written.length > SHOWN ? `${written.slice(0, SHOWN)}...` : written}\``;
    const expected = [...[...this.#keywords].map((keyword) => `\`${keyword}\``), ...this.#things];
    const near = token?.kind === 'word' && !this.#keywords.has(token.value.toUpperCase()) ? nearest(token.value, this.#keywords) : undefined;
    return badRequest('syntax_error', `${expected.length === 0 ? 'unexpected ' : `expected ${oneOf(expected)}, found `}${found}${didYouMean(near)}`, {
      offset: this.offset(),
      ...(token === undefined ? { hint: CUT_OFF } : {}),
    });
  }
}

const CUT_OFF = 'The statement ends too early. If the script was cut off, its rest is missing.';

/** `a, b or c`. */
export function oneOf(words: readonly string[]): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`;
}
