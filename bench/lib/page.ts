/** docs/performance.md: the parts that a run of the benchmarks writes. Pure. */

/** A figure of a section with its aim. */
export interface Figure {
  /** The name of the section. */
  readonly section: string;
  readonly name: string;
  readonly value: number;
  /** The unit, which is written before a ratio (`x`) and after other values. */
  readonly unit: string;
  readonly aim: number;
  /** Whether the value should be at most or at least the aim. */
  readonly bound: 'most' | 'least';
}

export const isMet = ({ value, aim, bound }: Figure): boolean => (bound === 'most' ? value <= aim : value >= aim);

const written = (value: number, unit: string): string => {
  if (Number.isNaN(value)) return '-';
  return unit === 'x' ? `x${value.toFixed(2)}` : `${value >= 100 ? Math.round(value) : Number(value.toPrecision(3))} ${unit}`;
};

/** The cells of a figure in the table of aims. */
export const figureCells = (figure: Figure): string[] => [
  `(${figure.section}) ${figure.name}`,
  `${figure.bound === 'most' ? 'at most' : 'at least'} ${written(figure.aim, figure.unit)}`,
  written(figure.value, figure.unit),
  isMet(figure) ? 'yes' : 'no',
];

/**
 * The page with another text between `<!-- bench NAME -->` and `<!-- end NAME -->`.
 * @throws Error if the page does not have the two marks
 */
export function withPart(page: string, name: string, text: string): string {
  const [begin, end] = [`<!-- bench ${name} -->`, `<!-- end ${name} -->`];
  const [from, to] = [page.indexOf(begin), page.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`docs/performance.md has no ${begin} ... ${end}`);
  return `${page.slice(0, from + begin.length)}\n\n${text.trim()}\n\n${page.slice(to)}`;
}

/** The rows of the table of aims: those of the page, with the new ones of the sections that were run. `order`: the sections in the order of the page. */
export function mergedRows(page: string, rows: readonly (readonly string[])[], ran: ReadonlySet<string>, order: readonly string[]): (readonly string[])[] {
  const part = page.slice(page.indexOf('<!-- bench aims -->'), page.indexOf('<!-- end aims -->'));
  const sectionOf = (row: readonly string[]): string => /^\(([\w-]+)\)/.exec(row[0] ?? '')?.[1] ?? '';
  const old = part
    .split('\n')
    .filter((line) => /^\| \(/.test(line))
    .map((line) =>
      line
        .slice(1, -1)
        .split('|')
        .map((cell) => cell.trim()),
    )
    .filter((row) => !ran.has(sectionOf(row)));
  return [...old, ...rows].sort((a, b) => order.indexOf(sectionOf(a)) - order.indexOf(sectionOf(b)));
}
