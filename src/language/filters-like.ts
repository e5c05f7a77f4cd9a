/** Patterns of `like` in URL filters (docs/design/filters.md#patterns): `%`, `_` and bracket sets. All other characters are literal. */
import { badRequest, type SvcError } from '../errors.ts';

/** The operator and pattern for PostgreSQL: LIKE if it supports the whole pattern, else a regular expression. */
export type LikePattern = { readonly operator: 'LIKE' | '~'; readonly pattern: string };

type Piece =
  | { readonly kind: 'any' }
  | { readonly kind: 'one' }
  | { readonly kind: 'char'; readonly char: string }
  | { readonly kind: 'set'; readonly regex: string };

/** Translates a pattern. @throws SvcError 400 `bad_pattern` for an unterminated bracket set, or a range in reverse order */
export function likePattern(text: string): LikePattern {
  const pieces = piecesOf([...text]);
  if (pieces.some((p) => p.kind === 'set')) return { operator: '~', pattern: `^${pieces.map(asRegex).join('')}$` };
  return { operator: 'LIKE', pattern: pieces.map(asLike).join('') };
}

function piecesOf(chars: readonly string[]): Piece[] {
  const pieces: Piece[] = [];
  for (let i = 0; i < chars.length; i++) {
    const char = chars[i] as string;
    if (char === '%') {
      if (pieces.at(-1)?.kind !== 'any') pieces.push({ kind: 'any' });
    } else if (char === '_') pieces.push({ kind: 'one' });
    else if (char === '[') {
      const { piece, end } = setOf(chars, i);
      pieces.push(piece);
      i = end;
    } else pieces.push({ kind: 'char', char });
  }
  return pieces;
}

/** Reads a set that starts at a `[`. A `]` in first position is a member. */
function setOf(chars: readonly string[], start: number): { readonly piece: Piece; readonly end: number } {
  const negated = chars[start + 1] === '^';
  const first = start + (negated ? 2 : 1);
  const end = chars.indexOf(']', first + 1);
  if (end < 0) throw fault('a set that starts with `[` has no closing `]`');
  const members: string[] = [];
  for (let i = first; i < end; i++) {
    const from = chars[i] as string;
    const to = chars[i + 1] === '-' && i + 2 < end ? (chars[i + 2] as string) : undefined;
    if (to === undefined) members.push(escaped(from));
    else {
      if ((from.codePointAt(0) as number) > (to.codePointAt(0) as number)) throw fault(`the range \`${from}-${to}\` of a set is in reverse order`);
      members.push(`${escaped(from)}-${escaped(to)}`);
      i += 2;
    }
  }
  const only = members.length === 1 && !negated && end === first + 1 ? chars[first] : undefined;
  return { piece: only === undefined ? { kind: 'set', regex: `[${negated ? '^' : ''}${members.join('')}]` } : { kind: 'char', char: only }, end };
}

const fault = (what: string): SvcError => badRequest('bad_pattern', `The pattern of like is not valid: ${what}`, { hint: '[[] matches a bracket itself' });

/** A literal character, for PostgreSQL's regular expressions and bracket expressions. */
const escaped = (char: string): string => (/^[!-/:-@[-`{-~]$/.test(char) ? `\\${char}` : char);

function asRegex(piece: Piece): string {
  switch (piece.kind) {
    case 'any':
      return '.*';
    case 'one':
      return '.';
    case 'char':
      return escaped(piece.char);
    case 'set':
      return piece.regex;
  }
}

const asLike = (piece: Piece): string => (piece.kind === 'any' ? '%' : piece.kind === 'char' ? piece.char.replace(/[\\%_]/, '\\$&') : '_');
