/** The tokens of one statement, walked from left to right, and the errors that say what was expected where. */
import { badRequest, didYouMean, nearest, SvcError } from '../../errors.ts';
import { significant, type Token, tokenize } from '../lexer.ts';
import type { Name, Source, SqlText } from '../statements.ts';

/** How much of an unexpected token an error repeats. */
const SHOWN = 40;

export class Cursor {
  readonly source: Source;
  readonly #tokens: readonly Token[];
  #at = 0;
  /** What would have been taken at the current token: keywords and punctuation as they are, others in words. */
  readonly #keywords = new Set<string>();
  readonly #things = new Set<string>();

  /** Throws 400 `syntax_error` where a string, name or comment does not end. */
  constructor(source: Source) {
    this.source = source;
    try {
      this.#tokens = significant(tokenize(source.text));
    } catch (e) {
      throw e instanceof SvcError ? e.shifted(source.offset) : e;
    }
  }

  /** The token `ahead` places on, or undefined behind the last one. */
  peek(ahead = 0): Token | undefined {
    return this.#tokens[this.#at + ahead];
  }

  /** Offset into the whole text of the request of the token `ahead` places on (the end of the statement behind the last). */
  offset(ahead = 0): number {
    return this.source.offset + (this.peek(ahead)?.start ?? this.source.text.length);
  }

  /** Whether an unquoted `keyword` (upper case) stands `ahead` places on. */
  sees(keyword: string, ahead = 0): boolean {
    const token = this.peek(ahead);
    return token?.kind === 'word' && token.value.toUpperCase() === keyword;
  }

  /** Whether punctuation or an operator stands `ahead` places on. */
  seesMark(mark: string, ahead = 0): boolean {
    const token = this.peek(ahead);
    return (token?.kind === 'punct' || token?.kind === 'operator') && token.value === mark;
  }

  /** Whether a name, quoted or plain, stands `ahead` places on. */
  seesName(ahead = 0): boolean {
    const kind = this.peek(ahead)?.kind;
    return kind === 'word' || kind === 'name';
  }

  /** Takes `keyword` where it stands here. */
  accept(keyword: string): boolean {
    if (!this.sees(keyword)) {
      this.#keywords.add(keyword);
      return false;
    }
    this.advance();
    return true;
  }

  /** Takes each of `keywords`, or throws at the one that is missing. */
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

  /** Takes a name; `what` says in an error what it would name. */
  identifier(what: string): Name {
    const token = this.peek();
    if (token?.kind !== 'word' && token?.kind !== 'name') throw this.unexpected(what);
    const name = { text: token.value, offset: this.offset() };
    this.advance();
    return name;
  }

  /** Takes a text in quotes; texts are told apart from names by their quotes: '...', not "...". */
  string(what: string): { text: string; offset: number } {
    const token = this.peek();
    if (token?.kind !== 'string') throw this.unexpected(what);
    const string = { text: token.value, offset: this.offset() };
    this.advance();
    return string;
  }

  /** Takes a number as it is written. */
  number(what: string): { text: string; offset: number } {
    const token = this.peek();
    if (token?.kind !== 'number') throw this.unexpected(what);
    const number = { text: token.value, offset: this.offset() };
    this.advance();
    return number;
  }

  /** `( item, item, ... )`, at least one; a comma may stand before the closing bracket. */
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

  /** Takes all that is left, verbatim; `what` says in an error what is missing where nothing is left. */
  rest(what: string): SqlText {
    return this.until(what, () => false);
  }

  /** Takes the text up to the first token outside of brackets that `stop` holds for; at least one token. */
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

  /** Throws where something is left. */
  end(): void {
    if (this.peek() !== undefined) throw this.unexpected('the end of the statement');
  }

  /** The error that says what was expected here (`what`, and all that was asked for) and what stands here instead. */
  unexpected(what?: string): SvcError {
    if (what !== undefined) this.#things.add(what);
    const token = this.peek();
    const written = token === undefined ? '' : this.source.text.slice(token.start, token.end);
    const found = token === undefined ? 'the end of the statement' : `\`${written.length > SHOWN ? `${written.slice(0, SHOWN)}...` : written}\``;
    const expected = [...[...this.#keywords].map((keyword) => `\`${keyword}\``), ...this.#things];
    const near = token?.kind === 'word' && !this.#keywords.has(token.value.toUpperCase()) ? nearest(token.value, this.#keywords) : undefined;
    return badRequest('syntax_error', `${expected.length === 0 ? 'unexpected ' : `expected ${oneOf(expected)}, found `}${found}${didYouMean(near)}`, {
      offset: this.offset(),
    });
  }
}

/** `a, b or c`. */
export function oneOf(words: readonly string[]): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`;
}
