/** The SQL editor: CodeMirror in a shadow root, where its styles need no exception from the page's CSP. */
import {
  autocompletion,
  type CompletionContext,
  type CompletionResult,
  closeBrackets,
  closeBracketsKeymap,
  closeCompletion,
  completionKeymap,
  ifNotIn,
} from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands';
import { SQLDialect, sql } from '@codemirror/lang-sql';
import { bracketMatching, HighlightStyle, syntaxHighlighting } from '@codemirror/language';
import { type Diagnostic, linter, lintKeymap } from '@codemirror/lint';
import { Compartment, EditorState, Prec } from '@codemirror/state';
import { drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers, placeholder } from '@codemirror/view';
import { tags } from '@lezer/highlight';
import type { Failure } from '../api/http.ts';
import type { Model } from '../model/model.ts';
import { complete } from './complete.ts';
import { keywordsAfter, type Language, languageOf, WORDS } from './keywords.ts';

export interface EditorOptions {
  readonly text: string;
  readonly label: string;
  readonly empty: string;
  readonly product: string;
  /** `model`: modelling statements, whose names are not completed. `query` by default. */
  readonly language?: 'query' | 'model';
  readonly model: () => Model | null;
  onChange(text: string): void;
  /** Ctrl+Enter. */
  onRun(): void;
  /** Reports the error in a text, or null for a valid text. Called when typing pauses. */
  check(text: string): Promise<Failure | null>;
}

export interface Editor {
  text(): string;
  /** The selected text; the whole text without a selection, and where it begins. */
  selected(): { readonly text: string; readonly from: number };
  replace(text: string): void;
  /** Selects the character at a position of an error. */
  reveal(offset: number): void;
  focus(): void;
  destroy(): void;
}

/** PostgreSQL's syntax with the service's keywords, and with backticks around names as well. */
const dialectOf = (language: Language): SQLDialect =>
  SQLDialect.define({
    charSetCasts: true,
    doubleDollarQuotedStrings: true,
    operatorChars: '+-*/<>=~!@#%^&|?',
    specialVar: '',
    identifierQuotes: '"`',
    keywords: WORDS[language],
    types: WORDS.types,
  });
const DIALECTS: Readonly<Record<Language, SQLDialect>> = { query: dialectOf('query'), model: dialectOf('model') };

/** Proposes keywords, but not after a dot, in names, texts or comments. */
const keywords = ifNotIn(['QuotedIdentifier', 'String', 'LineComment', 'BlockComment', '.'], (context: CompletionContext): CompletionResult | null => {
  const from = context.matchBefore(/\w+$/)?.from ?? context.pos;
  if ((from === context.pos && !context.explicit) || context.matchBefore(/\.\s*\w*$/) !== null) return null;
  const words = keywordsAfter(context.state.doc.toString(), from);
  return { from, options: words.map((label) => ({ label, type: 'keyword', boost: -1 })), validFor: /^\w*$/ };
});

const look = EditorView.theme({
  '&': { height: '100%', fontSize: '14px', backgroundColor: 'var(--bg)', color: 'var(--text)' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '1.5' },
  '.cm-content': { caretColor: 'var(--text)', padding: '8px 0' },
  '.cm-gutters': { backgroundColor: 'var(--surface)', color: 'var(--muted)', border: 'none' },
  '.cm-activeLine, .cm-activeLineGutter': { backgroundColor: 'color-mix(in srgb, var(--accent) 7%, transparent)' },
  '&.cm-focused': { outline: 'none' },
  '&.cm-focused .cm-selectionBackground, .cm-selectionBackground': { backgroundColor: 'color-mix(in srgb, var(--accent) 30%, transparent) !important' },
  '.cm-cursor': { borderLeftColor: 'var(--text)' },
  '.cm-tooltip': { backgroundColor: 'var(--raised)', color: 'var(--text)', border: '1px solid var(--line)' },
  '.cm-tooltip-autocomplete > ul > li[aria-selected]': { backgroundColor: 'var(--accent)', color: 'var(--on-accent)' },
  '.cm-tooltip-autocomplete > ul': { fontFamily: 'var(--mono)' },
  '.cm-completionInfo': { maxWidth: '24rem', padding: '6px 10px', fontFamily: 'var(--font)' },
  '.cm-diagnostic': { fontFamily: 'var(--font)', whiteSpace: 'pre-wrap' },
  '.cm-placeholder': { color: 'var(--muted)' },
});

const colours = HighlightStyle.define([
  { tag: tags.keyword, color: 'var(--accent)', fontWeight: '600' },
  { tag: [tags.string, tags.special(tags.string)], color: 'var(--good)' },
  { tag: [tags.number, tags.bool, tags.null], color: 'var(--logic)' },
  { tag: [tags.lineComment, tags.blockComment], color: 'var(--muted)', fontStyle: 'italic' },
]);

/** Creates an editor in an element. */
export function createEditor(parent: HTMLElement, options: EditorOptions): Editor {
  const root = parent.shadowRoot ?? parent.attachShadow({ mode: 'open' });
  const isModel = options.language === 'model';
  let language: Language = isModel ? 'model' : languageOf(options.text);
  const source = (context: CompletionContext) => {
    const model = options.model();
    const found = model === null || isModel ? null : complete(context.state.doc.toString(), context.pos, model, options.product, context.explicit);
    if (found === null || found.proposals.length === 0) return null;
    return {
      from: found.from,
      options: found.proposals.map((p) => ({
        ...p,
        ...(p.label.endsWith('.') ? { apply: (view: EditorView, _c: unknown, from: number, to: number) => writePath(view, p.apply ?? p.label, from, to) } : {}),
      })),
      validFor: /^[\p{L}\p{N}_$]*$/u,
    };
  };
  const words = new Compartment();
  function changed(text: string): void {
    options.onChange(text);
    const now = isModel ? 'model' : languageOf(text);
    if (now !== language) view.dispatch({ effects: words.reconfigure(sql({ dialect: DIALECTS[now] })) });
    language = now;
  }
  const view = new EditorView({
    root,
    parent: root,
    state: EditorState.create({
      doc: options.text,
      extensions: [
        Prec.highest(keymap.of([{ key: 'Mod-Enter', run: runs(options) }])),
        lineNumbers(),
        history(),
        drawSelection(),
        bracketMatching(),
        closeBrackets(),
        highlightActiveLine(),
        EditorView.lineWrapping,
        placeholder(options.empty),
        EditorView.contentAttributes.of({ 'aria-label': options.label }),
        keymap.of([...closeBracketsKeymap, ...completionKeymap, ...lintKeymap, ...defaultKeymap, ...historyKeymap, indentWithTab]),
        words.of(sql({ dialect: DIALECTS[language] })),
        autocompletion({ override: [source, keywords], icons: false, activateOnCompletion: (c) => c.label.endsWith('.') }),
        syntaxHighlighting(colours),
        look,
        linter((v) => diagnose(v, options), { delay: 600 }),
        EditorView.domEventHandlers({ beforeinput: typeOver }),
        EditorView.updateListener.of((update) => update.docChanged && changed(update.state.doc.toString())),
      ],
    }),
  });
  return {
    text: () => view.state.doc.toString(),
    selected: () => {
      const { from, to } = view.state.selection.main;
      return from === to ? { text: view.state.doc.toString(), from: 0 } : { text: view.state.sliceDoc(from, to), from };
    },
    replace: (text) => view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text } }),
    reveal: (offset) => {
      const at = Math.min(offset, view.state.doc.length);
      view.dispatch({ selection: { anchor: at, head: Math.min(at + 1, view.state.doc.length) }, scrollIntoView: true });
      view.focus();
    },
    focus: () => view.focus(),
    destroy: () => view.destroy(),
  };
}

const runs =
  (options: EditorOptions) =>
  (view: EditorView): boolean => {
    // a list of names would cover the result
    closeCompletion(view);
    options.onRun();
    return true;
  };

/** Types over a selection without the browser, which would give what it leaves an inline style that the page's CSP refuses. */
function typeOver(event: InputEvent, view: EditorView): boolean {
  const { state } = view;
  const { from, to, empty } = state.selection.main;
  const { data } = event;
  if (event.inputType !== 'insertText' || data === null || empty || view.composing) return false;
  const insert = () => state.update(state.replaceSelection(data), { userEvent: 'input.type', scrollIntoView: true });
  if (!state.facet(EditorView.inputHandler).some((handle) => handle(view, from, to, data, insert))) view.dispatch(insert());
  return true;
}

/** Writes a hop of a path, and the closing quote after the cursor if the path is still open. */
function writePath(view: EditorView, text: string, from: number, to: number): void {
  const opens = text.startsWith('"');
  const needsEnd = opens && view.state.sliceDoc(to, to + 1) !== '"';
  view.dispatch({ changes: { from, to, insert: needsEnd ? `${text}"` : text }, selection: { anchor: from + text.length }, userEvent: 'input.complete' });
}

async function diagnose(view: EditorView, options: EditorOptions): Promise<readonly Diagnostic[]> {
  const text = view.state.doc.toString();
  if (text.trim() === '') return [];
  const failure = await options.check(text);
  if (failure === null || text !== view.state.doc.toString()) return [];
  const from = failure.position === null ? 0 : offsetOf(text, failure.position);
  const word = /^(?:"[^"]*"?|`[^`]*`?|[\p{L}\p{N}_$]+|\S)/u.exec(text.slice(from))?.[0].length ?? 1;
  return [
    {
      from: Math.min(from, text.length),
      to: Math.min(failure.position === null ? text.length : from + word, text.length),
      severity: 'error',
      message: failure.hint === null ? failure.message : `${failure.message}\n${failure.hint}`,
    },
  ];
}

/** The offset in UTF-16 units of a position in characters, counted from 1. */
export function offsetOf(text: string, position: number): number {
  let offset = 0;
  let left = position - 1;
  for (const character of text) {
    if (left-- <= 0) break;
    offset += character.length;
  }
  return offset;
}
