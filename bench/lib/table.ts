import type { Figure } from './page.ts';

/** What was printed and recorded since the last call of `taken`. */
let printed: string[] = [];
let figures: Figure[] = [];

function print(text: string): void {
  console.log(text);
  printed.push(text);
}

/** Prints rows as a Markdown table, columns aligned. */
export function table(title: string, head: readonly string[], rows: readonly (readonly string[])[]): void {
  print(`\n### ${title}\n`);
  for (const line of tableLines(head, rows)) print(line);
}

/** The lines of a Markdown table, columns aligned. */
export function tableLines(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const widths = head.map((h, i) => Math.max(h.length, ...rows.map((r) => (r[i] ?? '').length)));
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((c, i) => (i === 0 ? c.padEnd(widths[i] as number) : c.padStart(widths[i] as number))).join(' | ')} |`;
  return [line(head), `|${widths.map((w, i) => (i === 0 ? '-'.repeat(w + 2) : `${'-'.repeat(w + 1)}:`)).join('|')}|`, ...rows.map(line)];
}

/** A remark under a table. */
export const note = (text: string): void => print(`\n${text}`);

/** Records a figure with its aim: the most or the least that it should be. `unit`: `x` for a ratio. */
export function aim(section: string, name: string, value: number, bound: { readonly most: number } | { readonly least: number }, unit = 'x'): void {
  const figure = 'most' in bound ? { aim: bound.most, bound: 'most' as const } : { aim: bound.least, bound: 'least' as const };
  figures.push({ section, name, value, unit, ...figure });
}

/** What was printed and recorded since the last call. */
export function taken(): { readonly text: string; readonly figures: readonly Figure[] } {
  const all = { text: printed.join('\n'), figures };
  printed = [];
  figures = [];
  return all;
}
