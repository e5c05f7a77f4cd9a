/** Inserts elements into the statements of a model file. The text of the file stays as it is. */
import { parseStatement } from '../language/classify.ts';
import { type Token, tokenize } from '../language/lexer.ts';
import { splitScript } from '../language/split.ts';
import type { CreateConcept, Source, Statement } from '../language/statements.ts';
import { fold, sameName } from '../ontology/names.ts';

/** An insertion at an offset of the file. */
interface Edit {
  readonly at: number;
  readonly text: string;
}

/** The tables `schema.table` and columns `schema.table.column` in comments `introspect: ignore a, b`, folded. */
export function ignoredIn(text: string): ReadonlySet<string> {
  const comments = tokenize(text).filter((t) => t.kind === 'comment');
  const lists = comments.map((t) => /introspect:\s*ignore\s+([^\r\n*]+)/i.exec(text.slice(t.start, t.end))?.[1] ?? '');
  return new Set(lists.flatMap((list) => list.split(/[\s,]+/)).flatMap((name) => (name === '' ? [] : [fold(name)])));
}

/** The text of a script after its insertions. @param appended statements for its end, or '' */
export function edited(script: Script, appended: string): string {
  let text = script.text;
  // from the end, so that offsets stay valid; insertions at one place stay in their order
  for (const { at, text: inserted } of script.edits.toSorted((a, b) => a.at - b.at).reverse()) text = text.slice(0, at) + inserted + text.slice(at);
  if (appended === '') return text;
  const body = text.trimEnd();
  const rest = text.slice(body.length);
  const closed = closes(text) ? '' : '\n;';
  return `${body}${closed}${rest.includes('\n') ? rest : '\n'}\n${appended}\n`;
}

/** True if a text is empty, or its last statement ends with a semicolon. */
function closes(text: string): boolean {
  const last = tokenize(text).findLast((t) => t.kind !== 'space' && t.kind !== 'comment');
  return last === undefined || (last.kind === 'punct' && last.value === ';');
}

/** A model file, and what is inserted into it. */
export class Script {
  readonly text: string;
  readonly edits: Edit[] = [];
  readonly #statements: readonly { readonly source: Source; readonly statement: Statement }[];
  /** The elements for the end of each list, which are inserted once. */
  readonly #ended = new Set<string>();

  constructor(text: string) {
    this.text = text;
    this.#statements = splitScript(text).map((source) => ({ source, statement: parseStatement(source) }));
  }

  /** Inserts properties after those of a concept's list. */
  addProperties(concept: string, elements: readonly string[]): void {
    const list = this.#listOf(concept);
    const last = list.statement.elements.findLast((e) => e.kind === 'property' || e.kind === 'measure');
    const after = last === undefined ? undefined : list.elements.find((e) => e.tokens[0]?.start === (last as { name: { offset: number } }).name.offset);
    if (after === undefined && list.elements.length > 0) this.edits.push({ at: list.open, text: elements.map((e) => `${list.gap}${e},`).join('') });
    else this.#insert(list, after, elements);
  }

  /** Inserts elements at the end of a concept's list. */
  addElements(concept: string, elements: readonly string[]): void {
    const list = this.#listOf(concept);
    this.#insert(list, list.elements.at(-1), elements);
  }

  /** Inserts items at the end of the select list of a mapping. */
  addItems(mapping: string, items: readonly string[]): void {
    const found = this.#statements.findLast(({ statement }) => statement.kind === 'create_mapping' && sameName(statement.name.text, mapping));
    if (found?.statement.kind !== 'create_mapping') throw new Error(`no mapping ${mapping}`);
    const tokens = significantIn(this.text, found.source.offset, found.source.offset + found.source.text.length);
    let depth = 0;
    for (const [i, t] of tokens.entries()) {
      if (t.kind === 'punct' && t.value === '(') depth++;
      if (t.kind === 'punct' && t.value === ')') depth--;
      if (depth > 0 || !isWord(t, 'FROM') || isWord(tokens[i - 1], 'DISTINCT')) continue;
      this.edits.push({ at: tokens[i - 1]?.end ?? t.start, text: items.map((item) => `, ${item}`).join('') });
      return;
    }
  }

  /** The list of a concept's statement. */
  #listOf(concept: string): List {
    const found = this.#statements.findLast(({ statement }) => statement.kind === 'create_concept' && sameName(statement.name.text, concept));
    if (found?.statement.kind !== 'create_concept') throw new Error(`no concept ${concept}`);
    return listIn(this.text, found.source, found.statement);
  }

  #insert(list: List, after: Element | undefined, elements: readonly string[]): void {
    const { gap } = list;
    if (after === undefined) {
      // a statement without a list, or with an empty one
      const text = elements.join(`,${gap}`);
      this.edits.push({ at: list.open, text: list.hasList ? `${gap}${text}` : ` (${gap}${text}${gap.includes('\n') ? '\n' : ''})` });
      return;
    }
    const last = after.tokens.at(-1) as Token;
    const anchor = after.comma?.end ?? last.end;
    const at = afterComment(this.text, anchor);
    if (after.comma !== undefined) {
      this.edits.push({ at, text: elements.map((e) => `${gap}${e},`).join('') });
      return;
    }
    // the comma after the last element is inserted once, also if properties and relationships follow it
    const isFirst = !this.#ended.has(fold(list.statement.name.text));
    this.#ended.add(fold(list.statement.name.text));
    if (isFirst) this.edits.push({ at: last.end, text: ',' });
    this.edits.push({ at, text: isFirst ? `${gap}${elements.join(`,${gap}`)}` : `,${gap}${elements.join(`,${gap}`)}` });
  }
}

const isWord = (t: Token | undefined, word: string): boolean => t?.kind === 'word' && t.value.toUpperCase() === word;

/** An element of a list: its tokens, and the comma after it. */
interface Element {
  readonly tokens: readonly Token[];
  readonly comma: Token | undefined;
}

interface List {
  readonly statement: CreateConcept;
  /** The offset after its bracket; without a list, the offset after the name of the concept. */
  readonly open: number;
  readonly hasList: boolean;
  readonly elements: readonly Element[];
  /** What separates elements. */
  readonly gap: string;
}

/** The tokens of a part of a text, without blanks and comments, with offsets in the whole text. */
const significantIn = (text: string, start: number, end: number): Token[] =>
  tokenize(text.slice(start, end))
    .filter((t) => t.kind !== 'space' && t.kind !== 'comment')
    .map((t) => ({ ...t, start: t.start + start, end: t.end + start }));

function listIn(text: string, source: Source, statement: CreateConcept): List {
  const tokens = significantIn(text, source.offset, source.offset + source.text.length);
  const name = tokens.findIndex((t) => t.start === statement.name.offset);
  const open = tokens[name + 1];
  if (open?.kind !== 'punct' || open.value !== '(') return { statement, open: tokens[name]?.end ?? source.offset, hasList: false, elements: [], gap: '\n  ' };
  const elements: Element[] = [];
  let depth = 1;
  let current: Token[] = [];
  let close = open.end;
  for (const t of tokens.slice(name + 2)) {
    const mark = t.kind === 'punct' ? t.value : '';
    if (mark === '(') depth++;
    if (mark === ')') depth--;
    if (depth === 0 || (mark === ',' && depth === 1)) {
      if (current.length > 0) elements.push({ tokens: current, comma: depth === 0 ? undefined : t });
      current = [];
      close = t.start;
      if (depth === 0) break;
    } else current.push(t);
  }
  const last = elements.at(-1)?.tokens[0]?.start ?? close;
  const line = /(^|\n)([ \t]*)$/.exec(text.slice(source.offset, last));
  const gap = !text.slice(open.end, close).includes('\n') ? (elements.length === 0 ? '' : ' ') : `\n${line?.[2] ?? '  '}`;
  return { statement, open: open.end, hasList: true, elements, gap };
}

/** The offset after a comment that follows on the same line. */
function afterComment(text: string, from: number): number {
  let at = from;
  for (const t of tokenize(text.slice(from))) {
    if (t.kind === 'space' && !/[\r\n]/.test(text.slice(from + t.start, from + t.end))) continue;
    if (t.kind !== 'comment') break;
    at = from + t.end;
  }
  return at;
}
