/** The clauses of a SELECT and the conditions in them, by its tokens. */
import type { Token } from '../../../src/language/lexer.ts';
import { type Analysis, replaced, type Span } from './analysis.ts';

const ENDS = /^(group|having|order|limit|offset|window|union|intersect|except|fetch)$/i;
const is = (token: Token | undefined, word: RegExp): boolean => token?.kind === 'word' && word.test(token.value);

/** The index after the last token of the clause that begins at `from`: the next clause of its level, or the bracket that closes it. */
function endOf(tokens: readonly Token[], from: number): number {
  let depth = 0;
  for (let i = from; i < tokens.length; i++) {
    const token = tokens[i] as Token;
    if (token.kind === 'punct' && token.value === '(') depth++;
    if (token.kind === 'punct' && token.value === ')' && --depth < 0) return i;
    if (depth === 0 && (is(token, ENDS) || token.value === ';')) return i;
  }
  return tokens.length;
}

const span = (tokens: readonly Token[], from: number, to: number): Span => ({ start: tokens[from]?.start ?? 0, end: tokens[to - 1]?.end ?? 0 });

/** GROUP BY and LIMIT clauses, each as a whole. */
export const clauses = ({ tokens }: Analysis, which: 'group' | 'limit'): readonly Span[] =>
  tokens.flatMap((t, i) => {
    if (which === 'group' ? !(is(t, /^group$/i) && is(tokens[i + 1], /^by$/i)) : !is(t, /^limit$/i)) return [];
    return [span(tokens, i, endOf(tokens, i + 1))];
  });

/** The statement without one of the conditions of a WHERE or HAVING; without the clause if it is the only condition. */
export function conditions({ text, tokens }: Analysis): readonly string[] {
  return tokens.flatMap((t, i) => {
    if (!is(t, /^(where|having)$/i)) return [];
    const end = endOf(tokens, i + 1);
    const parts = conjuncts(tokens, i + 1, end);
    if (parts.length === 1) {
      // with the whole FILTER (WHERE ...), since FILTER () is not valid SQL
      const filters = tokens[i - 1]?.value === '(' && is(tokens[i - 2], /^filter$/i);
      return [replaced(text, filters ? span(tokens, i - 2, end + 1) : span(tokens, i, end), '')];
    }
    return parts.map((_, n) => {
      const left = parts.filter((__, m) => m !== n).map(([from, to]) => text.slice(tokens[from]?.start, tokens[to - 1]?.end));
      return replaced(text, span(tokens, i + 1, end), left.join(' AND '));
    });
  });
}

/** The operands of AND on this level, except the AND of BETWEEN; an expression with OR is one operand. */
function conjuncts(tokens: readonly Token[], from: number, to: number): readonly (readonly [number, number])[] {
  const parts: [number, number][] = [];
  let depth = 0;
  let between = false;
  let begun = from;
  for (let i = from; i < to; i++) {
    const token = tokens[i] as Token;
    if (token.kind === 'punct' && token.value === '(') depth++;
    if (token.kind === 'punct' && token.value === ')') depth--;
    if (depth > 0) continue;
    if (is(token, /^or$/i)) return [[from, to]];
    if (is(token, /^between$/i)) between = true;
    else if (is(token, /^and$/i)) {
      if (!between) {
        parts.push([begun, i]);
        begun = i + 1;
      }
      between = false;
    }
  }
  return [...parts, [begun, to]];
}
