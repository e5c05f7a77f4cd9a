/** The keywords of the service's language, for the editor's colours and its completion. Pure. */
import { clauses, objects, shown, sql, statements, types } from '../../../editors/keywords.json';
import { statementAt } from './complete.ts';

/** `query`: statements that read rows; `model`: all others. */
export type Language = 'query' | 'model';

const QUERIES: ReadonlySet<string> = new Set(['SELECT', 'WITH', 'VALUES', 'TABLE', 'EXPLAIN']);
const MODELLING: readonly string[] = [...new Set([...objects, ...clauses, ...sql])];

/** The words that are coloured, as lists with spaces. A word that may name a property, such as `label`, is a keyword only in modelling statements. */
export const WORDS: Readonly<Record<Language, string>> & { readonly types: string } = {
  query: [...new Set([...sql, ...statements])].join(' ').toLowerCase(),
  model: [...new Set([...statements, ...MODELLING])].join(' ').toLowerCase(),
  types: types.join(' '),
};

/** Comments and spaces, and the words after them. */
const START = /^(?:\s|--[^\n]*(?:\n|$)|\/\*[\s\S]*?\*\/)*([\s\S]*)$/;
const wordsOf = (statement: string): readonly string[] =>
  START.exec(statement)?.[1]
    ?.trim()
    .toUpperCase()
    .match(/[^\s(]+|\(/g) ?? [];

/** The language of a text: that of its first statement. An empty text is one of a query. */
export function languageOf(text: string): Language {
  const [first = '('] = wordsOf(text);
  return first === '(' || QUERIES.has(first) || [...QUERIES].some((word) => word.startsWith(first)) ? 'query' : 'model';
}

/** The keywords that may follow a place in a text, where a word begins. */
export function keywordsAfter(text: string, position: number): readonly string[] {
  const before = wordsOf(text.slice(statementAt(text, position).from, position));
  const [first, ...rest] = before;
  if (first === undefined) return statements;
  if (first === 'SHOW' && rest.length === 0) return shown;
  return first === '(' || QUERIES.has(first) ? sql : MODELLING;
}
