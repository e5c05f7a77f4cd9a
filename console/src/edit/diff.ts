/** The lines that differ between two texts: the longest common subsequence, as `diff` finds it. Pure. */

export interface Line {
  readonly kind: 'same' | 'added' | 'removed';
  readonly text: string;
}

/** The most lines of each text that are compared line by line; longer texts are shown as removed and added. */
const MOST = 2000;

/** Lines of `before` and `after` in order. null: the text does not exist. */
export function diff(before: string | null, after: string | null): readonly Line[] {
  const a = before === null ? [] : before.split('\n');
  const b = after === null ? [] : after.split('\n');
  const start = commonStart(a, b);
  const end = commonStart(a.slice(start).reverse(), b.slice(start).reverse());
  const [innerA, innerB] = [a.slice(start, a.length - end), b.slice(start, b.length - end)];
  const same = (text: string): Line => ({ kind: 'same', text });
  return [...a.slice(0, start).map(same), ...inner(innerA, innerB), ...a.slice(a.length - end).map(same)];
}

function commonStart(a: readonly string[], b: readonly string[]): number {
  let n = 0;
  while (n < a.length && n < b.length && a[n] === b[n]) n++;
  return n;
}

function inner(a: readonly string[], b: readonly string[]): readonly Line[] {
  const removed = (text: string): Line => ({ kind: 'removed', text });
  const added = (text: string): Line => ({ kind: 'added', text });
  if (a.length === 0 || b.length === 0 || a.length > MOST || b.length > MOST) return [...a.map(removed), ...b.map(added)];
  const width = b.length + 1;
  // lengths of common subsequences of the rests from i and j
  const rest = new Uint16Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--)
      rest[i * width + j] = a[i] === b[j] ? rest[(i + 1) * width + j + 1]! + 1 : Math.max(rest[(i + 1) * width + j]!, rest[i * width + j + 1]!);
  const lines: Line[] = [];
  let [i, j] = [0, 0];
  while (i < a.length && j < b.length) {
    if (a[i] === b[j]) {
      lines.push({ kind: 'same', text: a[i]! });
      i++;
      j++;
    } else if (rest[(i + 1) * width + j]! >= rest[i * width + j + 1]!) lines.push(removed(a[i++]!));
    else lines.push(added(b[j++]!));
  }
  return [...lines, ...a.slice(i).map(removed), ...b.slice(j).map(added)];
}

/** The lines around differences; null takes the place of omitted lines. */
export function excerpt(lines: readonly Line[], around = 3): readonly (Line | null)[] {
  const near = (i: number): boolean => lines.slice(Math.max(0, i - around), i + around + 1).some((l) => l.kind !== 'same');
  const found: (Line | null)[] = [];
  for (const [i, line] of lines.entries()) {
    if (near(i)) found.push(line);
    else if (found.at(-1) !== null) found.push(null);
  }
  return found;
}
