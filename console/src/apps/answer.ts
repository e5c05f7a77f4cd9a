/** The results of the tools, as pages show them. Pure: no DOM. */
import { Rows } from '../api/row-list.ts';

/** The result of a tool, as far as a page reads it. */
export interface ToolResult {
  readonly content?: readonly { readonly type: string; readonly text?: string }[];
  readonly structuredContent?: Readonly<Record<string, unknown>>;
  readonly isError?: boolean;
}

/** The members of a result. A host that passes on only the text loses nothing: it has the same members as JSON. */
export function membersOf({ structuredContent, content = [] }: ToolResult): Readonly<Record<string, unknown>> {
  if (structuredContent !== undefined) return structuredContent;
  const text = textOf({ content });
  try {
    const parsed: unknown = JSON.parse(text.slice(text.indexOf('{')));
    return typeof parsed === 'object' && parsed !== null ? (parsed as Readonly<Record<string, unknown>>) : {};
  } catch {
    return {};
  }
}

/** The text of a result. */
export const textOf = ({ content = [] }: ToolResult): string =>
  content
    .filter(({ type }) => type === 'text')
    .map(({ text = '' }) => text)
    .join('\n');

/** A member that is a list of objects. */
export const listOf = (value: unknown): readonly Readonly<Record<string, unknown>>[] =>
  Array.isArray(value) ? value.filter((row) => typeof row === 'object' && row !== null) : [];

/** A list of rows for the table. */
export function rowsOf(value: unknown): Rows {
  const rows = new Rows();
  rows.add(listOf(value).map((row) => JSON.stringify(row)));
  return rows;
}

/** A member that is a text; empty if it is not. */
export const text = (value: unknown): string => (typeof value === 'string' ? value : '');
