/**
 * Formats scripts of statements. Only spaces, and the case of keywords at their places, change: comments, names and SQL stay as they are. Formatting a formatted
 * script changes nothing.
 */
import { SvcError } from '../errors.ts';
import { significant, type Token, tokenize } from './lexer.ts';

/** Clauses of CREATE statements that start on a line of their own. */
const CLAUSES = new Set(['INHERITS', 'DESCRIPTION', 'WITH', 'INTO', 'USING', 'FROM', 'AS']);
/** Other keywords of CREATE statements. After those in NAMED follows a name, which keeps its case. */
const WORDS = new Set([
  'TAGS',
  'WHERE',
  'SELECT',
  'PRIMARY',
  'KEY',
  'FOREIGN',
  'REFERENCES',
  'MULTIREFERENCE',
  'MULTIVALUE',
  'INVERSEOF',
  'TRANSITIVE',
  'SYMMETRIC',
  'INCLUDES',
  'MEASURE',
  'LABEL',
  'CONSTRAINT',
]);
const NAMED = new Set(['REFERENCES', 'MULTIREFERENCE', 'INVERSEOF', 'CONSTRAINT', 'USING', 'MULTIVALUE', 'INTO']);
/** The beginnings of the statements that are formatted; spaces in others stay. */
const FORMATTED = /^CREATE (OR REPLACE )?(ONTOLOGY|PROPERTY|MEASURE|CONCEPT|MAPPING|VIEW|CUBE|EXAMPLE)\b/;
/** Kinds of objects whose brackets contain a list that is printed with one element a line. */
const LISTS = new Set(['CONCEPT', 'MAPPING']);

/**
 * Formats a script.
 * @throws SvcError 400 `syntax_error` if the text cannot be split into tokens
 */
export function formatScript(text: string): string {
  const tokens = tokenize(text);
  const parts: string[] = [];
  let at = 0;
  while (at < tokens.length) {
    const end = statementEnd(tokens, at);
    const part = formatPart(text, tokens.slice(at, end));
    if (part !== '') parts.push(parts.length > 0 && !/^[\s]/.test(part) ? `\n${part}` : part);
    at = end;
  }
  const formatted = `${parts.join('').trim()}\n`;
  if (shape(formatted) !== shape(text)) throw new SvcError(500, 'internal_error', 'The formatter would change the meaning of the script');
  return formatted.trim() === '' ? '' : formatted;
}

/** The tokens of a text without spaces and case, for the check that formatting keeps them. */
const shape = (text: string): string =>
  tokenize(text)
    .filter((t) => t.kind !== 'space')
    .map((t) => {
      const written = text.slice(t.start, t.end);
      return t.kind === 'word' ? written.toUpperCase() : t.kind === 'comment' ? written.replace(/\s+/g, ' ').trim() : written;
    })
    .join('\u0001');

/** The index after the semicolon of a statement, and after a comment that follows it on the same line. */
function statementEnd(tokens: readonly Token[], from: number): number {
  for (let i = from; i < tokens.length; i++) if (tokens[i]?.kind === 'punct' && tokens[i]?.value === ';') return i + 1;
  return tokens.length;
}

/** A statement with the comments before it. */
function formatPart(text: string, tokens: readonly Token[]): string {
  const written = (t: Token): string => text.slice(t.start, t.end);
  const first = tokens.findIndex((t) => t.kind !== 'space' && t.kind !== 'comment');
  const before = tokens.slice(0, first < 0 ? tokens.length : first);
  const lead = before
    .map((t, i) => (t.kind === 'comment' ? written(t).trimEnd() : gap(written(t), i === 0, before[i - 1])))
    .join('')
    .replace(/^ +/, ' ');
  if (first < 0) return lead.trimEnd() === '' ? '' : `${lead.trimEnd()}\n`;
  const rest = tokens.slice(first);
  const heading = lead === '' || lead.endsWith('\n') ? lead : lead.trim() === '' ? '\n' : `${lead.trimEnd()}\n`;
  return heading + statement(text, rest);
}

/** What replaces the spaces between comments and statements: at most one empty line. A comment may follow a semicolon on the same line. */
function gap(spaces: string, isFirst: boolean, previous: Token | undefined): string {
  const lines = spaces.split(/\r\n|\r|\n/).length - 1 + (isFirst || previous?.kind === 'comment' ? 0 : 1);
  if (lines === 0) return ' ';
  return lines > 1 ? '\n\n' : '\n';
}

function statement(text: string, tokens: readonly Token[]): string {
  const words = significant(tokens).map((t) => text.slice(t.start, t.end).toUpperCase());
  const closed = tokens.at(-1)?.kind === 'punct' && tokens.at(-1)?.value === ';';
  const body = closed ? tokens.slice(0, -1) : tokens;
  if (body.length === 0) return ';';
  const written = FORMATTED.test(words.slice(0, 4).join(' ')) ? new Writer(text, words).write(body) : trimmed(text.slice(tokens[0]?.start, body.at(-1)?.end));
  return `${written}${closed ? ';' : ''}`;
}

/** A text without spaces at the ends of its lines. Strings with several lines are not touched, since they are part of the text. */
const trimmed = (text: string): string => {
  const hasLongStrings = tokenize(text).some((t) => (t.kind === 'string' || t.kind === 'name') && /[ \t][\r\n]/.test(text.slice(t.start, t.end)));
  if (hasLongStrings) return text.trim();
  const lines = text.trim().split('\n');
  return lines.map((line) => line.trimEnd()).join('\n');
};

/** Writes a CREATE statement. */
class Writer {
  readonly #text: string;
  /** The significant tokens, in capital letters. */
  readonly #words: readonly string[];
  readonly #hasList: boolean;
  /** The number of significant tokens up to the name of the object. */
  readonly #head: number;
  #out = '';
  #depth = 0;
  /** Significant tokens so far. */
  #count = 0;
  #previous = '';
  /** The token's place in its element of a list, for keywords that are only such at its start. */
  #inElement = 0;
  #inList = false;
  #afterComment = false;

  constructor(text: string, words: readonly string[]) {
    this.#text = text;
    this.#words = words;
    let at = words[1] === 'OR' ? 3 : 1;
    const object = words[at] ?? '';
    if (object === 'ONTOLOGY' && (words[at + 1] === 'VIEW' || words[at + 1] === 'CUBE')) at++;
    this.#hasList = LISTS.has(object);
    this.#head = at + 1 + (words[at + 1] === 'IF' && words[at + 2] === 'NOT' ? 3 : 0);
  }

  write(tokens: readonly Token[]): string {
    for (const [i, t] of tokens.entries()) {
      if (t.kind === 'space') continue;
      if (t.kind === 'comment') {
        this.#comment(this.#text.slice(t.start, t.end).trimEnd());
        continue;
      }
      if (this.#startsSql(t)) {
        this.#separate('\n  ');
        this.#out += `${t.value.toUpperCase()} ${trimmed(this.#text.slice(tokens[i + 1]?.start ?? t.end, tokens.at(-1)?.end))}`;
        break;
      }
      this.#token(t);
    }
    return this.#out.trimEnd();
  }

  /** True for AS, and for FROM of a logic concept: SQL follows. */
  #startsSql(t: Token): boolean {
    return this.#depth === 0 && this.#count > this.#head && t.kind === 'word' && /^(as|from)$/i.test(t.value) && !NAMED.has(this.#previous);
  }

  #comment(comment: string): void {
    this.#out += this.#out === '' || /\s$/.test(this.#out) ? comment : ` ${comment}`;
    this.#afterComment = comment.startsWith('--');
  }

  /** Writes what separates the next token; after a line comment always a line break. */
  #separate(by: string): void {
    if (this.#afterComment && !by.includes('\n')) this.#out += this.#inList ? '\n  ' : '\n';
    else if (this.#out !== '') this.#out = by.includes('\n') ? this.#out.trimEnd() + by : this.#out + by;
    this.#afterComment = false;
  }

  #token(t: Token): void {
    const written = this.#text.slice(t.start, t.end);
    const mark = t.kind === 'punct' ? written : '';
    const isKeyword = t.kind === 'word' && this.#isKeyword(written.toUpperCase());
    if (mark === ')' && this.#depth === 1 && this.#inList) this.#separate('\n');
    else this.#separate(this.#gapBefore(written, mark, isKeyword));
    this.#out += isKeyword ? written.toUpperCase() : written;
    if (mark === '(') this.#open();
    if (mark === ')') this.#close();
    this.#inElement = mark === ',' && this.#depth === 1 ? 0 : mark === '(' && this.#inList && this.#depth === 1 ? 0 : this.#inElement + 1;
    this.#previous = isKeyword ? written.toUpperCase() : mark;
    this.#count++;
  }

  #open(): void {
    if (this.#depth === 0 && this.#hasList && this.#count === this.#head + 1) this.#inList = true;
    this.#depth++;
  }

  #close(): void {
    this.#depth--;
    if (this.#depth === 0) this.#inList = false;
  }

  #gapBefore(written: string, mark: string, isKeyword: boolean): string {
    if (this.#out === '') return '';
    if (this.#inList && this.#depth === 1 && (this.#previous === '(' || this.#previous === ',') && this.#inElement === 0) return '\n  ';
    if (mark === ',' || mark === ')' || mark === '.' || this.#previous === '(' || this.#previous === '.') return '';
    if (mark === '(' && /^(TRANSITIVE|DECIMAL|NUMERIC|VARCHAR|CHAR)$/i.test(this.#out.split(/\s/).at(-1) ?? '')) return '';
    if (this.#depth === 0 && isKeyword && this.#count > this.#head && CLAUSES.has(written.toUpperCase()) && this.#previous !== 'WITH') return '\n  ';
    return ' ';
  }

  /** True if a word is a keyword at its place. A name that is spelled like a keyword is not a keyword. */
  #isKeyword(word: string): boolean {
    if (this.#count < this.#head) return true;
    if (this.#count === this.#head || NAMED.has(this.#previous)) return false;
    if (this.#depth === 0) return CLAUSES.has(word) || WORDS.has(word);
    if (!this.#inList || this.#depth > 1 || !WORDS.has(word)) return this.#inList && this.#depth === 1 && word === 'DESCRIPTION' && this.#inElement > 2;
    if (this.#inElement === 0) return this.#startsElement(word);
    return true;
  }

  /** True if an element starts with a keyword: a constraint, a key or a label. A property may have the same name. */
  #startsElement(word: string): boolean {
    const [next = '', second = ''] = this.#words.slice(this.#count + 1, this.#count + 3);
    if (word === 'LABEL') return next === '(';
    return word === 'PRIMARY' ? next === 'KEY' : word === 'CONSTRAINT' && /^(FOREIGN|MULTIREFERENCE|MULTIVALUE)$/.test(second) && next !== '';
  }
}
