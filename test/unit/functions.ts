/** The functions of TypeScript files with their lengths, for the tests of the repository. */
import { parseAst } from 'vitest/node';

export interface FunctionLength {
  /** The name of the function, method or variable; that of the enclosing function for a callback; '' at the top of a file. */
  readonly name: string;
  /** The number of lines from the first to the last, with both. */
  readonly lines: number;
}

interface AstNode {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly body?: unknown;
  readonly id?: { readonly name?: string } | null;
  readonly key?: { readonly name?: string };
}

const FUNCTIONS = new Set(['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression']);

/** All functions in a text of TypeScript, outer ones first. A function counts the lines of those inside it. */
export function functionsOf(text: string): FunctionLength[] {
  const starts = [0];
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  const lineOf = (offset: number): number => starts.findLastIndex((start) => start <= offset);
  const found: FunctionLength[] = [];
  const visit = (value: unknown, outer: string): void => {
    if (value === null || typeof value !== 'object') return;
    if (Array.isArray(value)) {
      for (const item of value) visit(item, outer);
      return;
    }
    const node = value as AstNode;
    const name = node.id?.name ?? node.key?.name ?? outer;
    if (FUNCTIONS.has(node.type) && node.body) found.push({ name, lines: lineOf(node.end - 1) - lineOf(node.start) + 1 });
    for (const member of Object.values(value)) visit(member, name);
  };
  visit(parseAst(text, { lang: 'ts' }), '');
  return found;
}
