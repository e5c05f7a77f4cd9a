/**
 * The meaning of result columns in terms of the model (docs/design/nested-results.md#what-a-column-means), for nested results and for the format tags of properties.
 */
import type { PropertyDef } from '../../ontology/model.ts';
import type { ColumnShape, Shape } from '../../ontology/shape.ts';
import { linkAlias, type PathNode } from '../plan/path-node.ts';
import type { References } from '../plan/references.ts';
import type { Found, OutColumn } from './relations.ts';

/** The meaning of a column. */
export interface Meaning {
  /** The relation in FROM whose rows have the column. */
  readonly root: object;
  readonly hops: readonly string[];
  readonly member: string;
  readonly kind: ColumnShape['kind'];
  readonly property: PropertyDef | undefined;
}

/** The meaning of a column that a name refers to; undefined for a computed column. */
export function meaningOf({ node, column }: Found, references: References): Meaning | undefined {
  if (column.meaning) return column.meaning;
  if (!('ColumnRef' in node)) return undefined;
  const reference = references.of(node.ColumnRef);
  if (!reference) return undefined;
  const { node: at, alias, column: name } = reference;
  const isMulti = at.step?.kind === 'multi';
  const thing = isMulti ? (at.parent as PathNode) : at;
  const labels = labelsOf(thing);
  const wanted = at.wantedOf(name);
  const property = at.step?.kind === 'multi' ? at.step.def : wanted?.kind === 'property' ? wanted.def : undefined;
  const kind = isMulti ? 'multi' : wanted?.kind === 'entity_id' && alias === at.alias ? 'id' : 'value';
  const path = labels.join('.');
  // a column with another name (of an alias's column list, of a cube) is a column of the root
  if (labels.length > 0 && !column.key.startsWith(path)) return { root: reference.relation, hops: [], member: column.key, kind: 'value', property };
  const isLink = labels.length > 0 && column.key[path.length] === '_' && (alias !== at.alias || wanted === undefined);
  return {
    root: reference.relation,
    hops: labels,
    member: labels.length > 0 ? column.key.slice(path.length + 1) : column.key,
    kind: isLink ? 'link' : kind,
    property: alias === at.alias || alias !== linkAlias(at) ? property : undefined,
  };
}

/** The labels of the hops that lead to a node. */
function labelsOf(node: PathNode): string[] {
  const labels: string[] = [];
  for (let at: PathNode | null = node; at; at = at.parent) if (at.step?.kind === 'hop') labels.unshift(at.step.hop.label);
  return labels;
}

/** The meaning of a column of a view, a derived table or a common table expression: its name decides the nesting, its origin the format. */
export function meaningByName(column: OutColumn, root: object): Meaning {
  const { hops, member, isLink } = splitPath(column.key);
  const inner = column.meaning;
  const kind = inner?.kind === 'multi' ? 'multi' : isLink ? 'link' : member.toLowerCase() === 'entity_id' ? 'id' : 'value';
  return { root, hops, member, kind, property: inner?.property };
}

/** Splits a name that has the form of a path. Any other name has no hops. */
function splitPath(name: string): { hops: readonly string[]; member: string; isLink: boolean } {
  const hops: string[] = [];
  let at = 0;
  for (;;) {
    const open = name.indexOf('[', at);
    if (open < 0) break;
    const close = name.indexOf(']', open);
    const mark = name[close + 1];
    if (open === at || close < 0 || close + 2 >= name.length) return { hops: [], member: name, isLink: false };
    hops.push(name.slice(at, close + 1));
    at = close + 2;
    if (mark === '_' && !name.includes('[', at)) return { hops, member: name.slice(at), isLink: true };
    if (mark !== '.') return { hops: [], member: name, isLink: false };
  }
  return { hops, member: name.slice(at), isLink: false };
}

/** What is known of a column's values, regardless of its name. */
export const kept = ({ composite, isFlag, isAddress }: OutColumn): Pick<OutColumn, 'composite' | 'isFlag' | 'isAddress'> => ({
  ...(composite ? { composite } : {}),
  ...(isFlag ? { isFlag } : {}),
  ...(isAddress ? { isAddress } : {}),
});

/** A column without the star that it comes from. */
export const plainColumn = ({ star: _, ...column }: OutColumn): OutColumn => column;

/** A column with its meaning. */
export function withMeaning(found: Found, references: References): OutColumn {
  const meaning = meaningOf(found, references);
  return meaning === undefined ? found.column : { ...found.column, meaning };
}

/** A column with an alias. A column of a path becomes a column of the root; a value of a multi-value property remains one. */
export function aliased(name: string, key: string, found: Found | undefined, references: References): OutColumn {
  const meaning = found && meaningOf(found, references);
  const values = found ? kept(found.column) : {};
  if (!meaning) return { name, key, ...values };
  const kind = meaning.hops.length > 0 ? 'value' : meaning.kind;
  return { name, key, meaning: { ...meaning, hops: [], member: key, kind }, ...values };
}

/** The columns of a set operation. A column has a meaning if it is the same in both arms. */
export const inBoth = (left: readonly OutColumn[], right: readonly OutColumn[]): readonly OutColumn[] =>
  left.map(({ composite: _, isFlag, isAddress, ...rest }, i) => {
    const same = right[i];
    const column: OutColumn = { ...rest, ...(isFlag && same?.isFlag ? { isFlag } : {}), ...(isAddress && same?.isAddress ? { isAddress } : {}) };
    const a = column.meaning;
    const b = same?.meaning;
    const isSame = a && b && a.kind === b.kind && a.member === b.member && a.property === b.property && a.hops.join('.') === b.hops.join('.');
    if (!a || isSame) return column;
    const { meaning: __, ...plain } = column;
    return plain;
  });

/** The shape of a result. The root is the relation whose entity_id is selected first. @param keys the keys of the rows */
export function shapeOf(columns: readonly OutColumn[], keys: readonly string[]): Shape {
  const root = columns.find((c) => c.meaning?.kind === 'id' && c.meaning.hops.length === 0)?.meaning?.root;
  const shapes = columns.map(({ meaning }, i): ColumnShape => {
    const key = keys[i] as string;
    if (!meaning) return { key, hops: [], member: key, kind: 'value', ofRoot: false, format: null, json: false };
    const { hops, member, kind, property } = meaning;
    return {
      key,
      hops,
      member: hops.length > 0 ? member : key,
      kind,
      ofRoot: root !== undefined && meaning.root === root,
      format: property ? formatTag(property) : null,
      json: property?.type === 'json',
    };
  });
  return { columns: shapes, nests: shapes.some((c) => c.ofRoot && (c.hops.length > 0 || c.kind === 'multi')) };
}

function formatTag({ tags }: PropertyDef): string | null {
  for (const name in tags) if (name.toLowerCase() === 'format') return tags[name] ?? null;
  return null;
}
