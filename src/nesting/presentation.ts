/** How a caller wants rows presented (headers `nested` and `api-nested-*`), as changes of keys and values for each column. */
import { type ColumnShape, levelOf, type Shape } from '../ontology/shape.ts';
import { type Change, formatOf } from './format.ts';

/** The presentation headers (docs/design/nested-results.md#presentation-headers). If all are false, rows stay as the database returns them. */
export interface Presentation {
  readonly nested: boolean;
  readonly formatProperties: boolean;
  readonly caseSensitivity: boolean;
  readonly formatBooleans: boolean;
  readonly ignoreEntityId: boolean;
  readonly minimizeRelationships: boolean;
}

/** How the values of a column are presented. */
export interface ShownValue {
  readonly format: Change | undefined;
  /** The texts for true and false. */
  readonly booleans: readonly [string, string] | undefined;
}

/** How a column is presented. */
export interface ShownColumn extends ShownValue {
  /** Its JSON key, with quotes and colon. */
  readonly key: string;
}

/** Whether keys, booleans and ids may change: the four headers require both `nested` and `api-nested-format-properties`. */
const isMode = (p: Presentation): boolean => p.nested && p.formatProperties;

/** `"key":` */
export const keyText = (key: string): string => `${JSON.stringify(key)}:`;

/** A hop without its targets: `works_for` for `works_for[company]`. */
const minimized = (hop: string): string => hop.replace(/\[[^[\]]*\]/g, '');

/**
 * The presented keys of an object's members, in order. A change that would give two members the same key is not applied
 * to them.
 */
function shownKeys(keys: readonly { readonly key: string; readonly isPath: boolean }[], presentation: Presentation): string[] {
  const written = keys.map((k) => k.key);
  if (!isMode(presentation)) return written;
  const minimal = presentation.minimizeRelationships
    ? unlessAlike(
        written,
        keys.map((k) => (k.isPath ? minimized(k.key) : k.key)),
      )
    : written;
  return presentation.caseSensitivity
    ? minimal
    : unlessAlike(
        minimal,
        minimal.map((k) => k.toLowerCase()),
      );
}

function unlessAlike(before: readonly string[], after: readonly string[]): string[] {
  const count = new Map<string, number>();
  for (const k of after) count.set(k, (count.get(k) ?? 0) + 1);
  const kept = after.map((k, i) => ((count.get(k) ?? 0) > 1 ? (before[i] as string) : k));
  // an unchanged key may be equal to a changed one
  return new Set(kept).size === kept.length ? kept : [...before];
}

/** Whether a column is omitted from its object. */
export const isHidden = (column: ColumnShape, presentation: Presentation): boolean =>
  isMode(presentation) && presentation.ignoreEntityId && (column.kind === 'id' || column.member.toLowerCase() === 'entity_id');

/** How the values of a column are presented. */
function shownValue(column: ColumnShape, presentation: Presentation): ShownValue {
  const format = presentation.formatProperties && column.format !== null ? formatOf(column.format) : undefined;
  if (!isMode(presentation) || column.json) return { format, booleans: undefined };
  return { format, booleans: presentation.formatBooleans ? ['"true"', '"false"'] : ['1', '0'] };
}

/** The source text to present for a value's source text. */
export function shownText({ format, booleans }: ShownValue, source: string): string {
  if (booleans !== undefined && source === 'true') return booleans[0];
  if (booleans !== undefined && source === 'false') return booleans[1];
  return format === undefined ? source : format(source);
}

/** The presented columns of flat rows; null for an omitted column. Undefined if rows stay unchanged. */
export function flatColumns({ columns }: Shape, presentation: Presentation): readonly (ShownColumn | null)[] | undefined {
  const keys = shownKeys(
    columns.map((c) => ({ key: c.key, isPath: c.hops.length > 0 })),
    presentation,
  );
  const shown = columns.map((c, i) => (isHidden(c, presentation) ? null : { key: keyText(keys[i] as string), ...shownValue(c, presentation) }));
  const same = shown.every((s, i) => s !== null && s.format === undefined && s.booleans === undefined && keys[i] === columns[i]?.key);
  return same ? undefined : shown;
}

/** A level of nested objects: its own columns, its inner levels, and its multi-value properties. */
export interface Level {
  /** Positions of its columns in a row. They are adjacent. */
  readonly positions: readonly number[];
  readonly shown: readonly (ShownColumn | null)[];
  /** At the root: positions of the entity_id columns of the root's relation. */
  readonly ids: readonly number[];
  /** The members after the own columns, in order of first appearance. */
  readonly inner: readonly Inner[];
}
export type Inner =
  | { readonly kind: 'level'; readonly key: string; readonly level: Level }
  | { readonly kind: 'multi'; readonly key: string; readonly position: number; readonly shown: ShownColumn };

interface Draft {
  readonly hops: readonly string[];
  readonly own: number[];
  readonly inner: ({ readonly kind: 'level'; readonly draft: Draft } | { readonly kind: 'multi'; readonly column: number })[];
}

/**
 * The tree of levels for nested rows. `positions` has the position in a row for each column of the shape.
 * Call it only for a shape that nests.
 */
export function levelsOf({ columns }: Shape, positions: readonly number[], presentation: Presentation): Level {
  const root: Draft = { hops: [], own: [], inner: [] };
  columns.forEach((column, i) => {
    let at = root;
    for (const hop of levelOf(column)) {
      let next = at.inner.find((n) => n.kind === 'level' && n.draft.hops.at(-1) === hop);
      if (next?.kind !== 'level') {
        next = { kind: 'level', draft: { hops: [...at.hops, hop], own: [], inner: [] } };
        at.inner.push(next);
      }
      at = next.draft;
    }
    if (column.ofRoot && column.kind === 'multi') at.inner.push({ kind: 'multi', column: i });
    else at.own.push(i);
  });
  return finish(root, columns, positions, presentation);
}

function finish(draft: Draft, columns: readonly ColumnShape[], positions: readonly number[], presentation: Presentation): Level {
  const own = draft.own.map((i) => columns[i] as ColumnShape);
  const taken = new Set<string>();
  const members = [
    ...own.map((c) => ({ key: freeKey(levelOf(c).length > 0 ? c.member : c.key, c, taken), isPath: c.hops.length > 0 && !c.ofRoot })),
    ...draft.inner.map((n) =>
      n.kind === 'level'
        ? { key: freeKey(n.draft.hops.at(-1) as string, undefined, taken), isPath: true }
        : { key: freeKey((columns[n.column] as ColumnShape).member, undefined, taken), isPath: false },
    ),
  ];
  const keys = shownKeys(members, presentation).map(keyText);
  return {
    positions: draft.own.map((i) => positions[i] as number),
    shown: own.map((c, i) => (isHidden(c, presentation) ? null : { key: keys[i] as string, ...shownValue(c, presentation) })),
    ids: draft.hops.length > 0 ? [] : draft.own.filter((i) => columns[i]?.kind === 'id' && columns[i]?.ofRoot).map((i) => positions[i] as number),
    inner: draft.inner.map((n, i) => {
      const key = keys[own.length + i] as string;
      if (n.kind === 'level') return { kind: 'level', key, level: finish(n.draft, columns, positions, presentation) };
      return { kind: 'multi', key, position: positions[n.column] as number, shown: { key: '', ...shownValue(columns[n.column] as ColumnShape, presentation) } };
    }),
  };
}

/** Returns a key that no other member has. A link column whose name a property already uses gets a leading underscore. */
function freeKey(wanted: string, column: ColumnShape | undefined, taken: Set<string>): string {
  let key = wanted;
  if (taken.has(key) && column?.kind === 'link') key = `_${key}`;
  for (let n = 2; taken.has(key); n++) key = `${wanted}_${n}`;
  taken.add(key);
  return key;
}
