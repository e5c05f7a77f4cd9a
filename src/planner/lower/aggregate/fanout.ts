/** The error for a call whose arguments belong to no level, with a rewrite of the query that has an answer. */
import type { FuncCall } from '@pgsql/types';
import type { PropertyDef } from '../../../ontology/model.ts';
import { parseType } from '../../../ontology/types.ts';
import { isKeyHop } from '../../plan/hop.ts';
import { LocatedError } from '../../plan/located-error.ts';
import { type PathNode, pathOf } from '../../plan/path-node.ts';
import { lastName, locationIn, type Node, walk } from '../../plan/tree.ts';
import { type BlockFacts, isPrefix, levelOf } from './spine.ts';

/**
 * 400 `fanout`: the call would be computed over the cross product of two paths. The paths are named if the caller wrote them.
 * @param nodes the nodes of its arguments, or for a call without columns those of the block
 * @param hasColumns false for COUNT(*) and other calls without columns
 */
export function fanout(node: Node, call: FuncCall, nodes: Iterable<PathNode>, hasColumns: boolean, facts: BlockFacts): LocatedError {
  const [one, other] = parting(nodes, facts);
  const name = lastName(call.funcname).toUpperCase();
  const called = `${name}(${hasColumns ? '...' : call.agg_star ? '*' : '...'})`;
  const isOwnText = facts.cube !== true && locationIn(node) !== undefined;
  const paths = isOwnText ? `, ${quoted(one, facts)} and ${quoted(other, facts)}` : '';
  if (!hasColumns) {
    return new LocatedError(
      'fanout',
      `${called} is ambiguous: the query follows two independent to-many paths${paths}, and would count their cross product`,
      node,
      {
        hint: countHint(isOwnText ? [one, other] : [], facts),
      },
    );
  }
  return new LocatedError('fanout', `${called} is ambiguous: its arguments have columns of two independent to-many paths${paths}`, node, {
    hint: isOwnText ? callHint(name, call, one, other, facts) : 'Aggregate each path in a call or a sub-query of its own.',
  });
}

/** Two levels of the nodes of which neither is on the way to the other. */
function parting(nodes: Iterable<PathNode>, facts: BlockFacts): [PathNode, PathNode] {
  const levels = [...new Set([...nodes].map((n) => levelOf(n, facts)))].filter((l) => l !== null);
  const ends = levels.filter((l) => !levels.some((m) => m !== l && isPrefix(l, m)));
  return [ends[0] as PathNode, ends[1] as PathNode];
}

/** What to count instead: the rows, if they have a key that COUNT(DISTINCT ...) can tell apart, or one path. */
function countHint(paths: readonly PathNode[], facts: BlockFacts): string {
  const [relation, ...others] = facts.relations;
  const column = paths.flatMap((p) => keyOf(p).map((key) => quoted(p, facts, key))).at(0);
  const ofPath = `a column of one path${column === undefined ? '' : `, such as COUNT(${column})`}`;
  if (!relation?.named.key) return `Count ${ofPath}.`;
  const id = others.length > 0 && relation.called ? `${relation.called}.entity_id` : 'entity_id';
  return `Write COUNT(DISTINCT ${id}) for the rows themselves, or count ${ofPath}.`;
}

function callHint(name: string, call: FuncCall, one: PathNode, other: PathNode, facts: BlockFacts): string {
  const equation = equate(other, one, facts) ?? equate(one, other, facts);
  const columns = [one, other].map((p) => columnOn(name, call, p, facts));
  const calls = columns.every((c) => c !== undefined) ? `, as in ${columns.map((c) => `${name}(${c})`).join(' and ')}` : '';
  const apart = `aggregate each path in a call of its own${calls}.`;
  if (equation === undefined) return `${apart.charAt(0).toUpperCase()}${apart.slice(1)}`;
  return `If each row of one path belongs to one row of the other, say so in WHERE: ${equation}. Otherwise ${apart}`;
}

/** The condition by which a path would lead to one row for each row of the other; undefined if no condition can say that. */
function equate(path: PathNode, to: PathNode, facts: BlockFacts): string | undefined {
  const { step } = path;
  if (step?.kind !== 'hop' || !isKeyHop(step.hop)) return undefined;
  const key = keyOf(path);
  const joined = new Set(step.hop.relationship.references.map((p) => p.name.toLowerCase()));
  const free = key.filter((name) => !joined.has(name.toLowerCase()) || path.parent !== commonParent(path, to));
  const target = to.step?.kind === 'hop' ? to.step.hop.columns : undefined;
  const names = new Set(target?.properties.map((p) => p.def.name.toLowerCase()));
  if (free.length === 0 || free.some((n) => !names.has(n.toLowerCase()) || isMasked(path, n) || isMasked(to, n))) return undefined;
  return free.map((n) => `${quoted(path, facts, n)} = ${quoted(to, facts, n)}`).join(' AND ');
}

/** The deepest node on the ways to both. */
function commonParent(a: PathNode, b: PathNode): PathNode | null {
  for (let at: PathNode | null = a.parent; at; at = at.parent) for (let up: PathNode | null = b.parent; up; up = up.parent) if (at === up) return at;
  return null;
}

/** The names of the key of a path's rows, if the caller sees it. */
const keyOf = ({ step }: PathNode): string[] => (step?.kind === 'hop' ? (step.hop.columns.key?.properties ?? []).map((p) => p.name) : []);

function isMasked(node: PathNode, name: string): boolean {
  const def = node.concept.key?.properties.find((p) => p.name === name) ?? node.concept.properties.find((p) => p.def.name === name)?.def;
  return def !== undefined && node.state.policies?.maskedBelow(node.state, node.concept, def) !== undefined;
}

/** The first column of a path that a call reads, as the query writes it; undefined if a call of only that column may be invalid. */
function columnOn(name: string, call: FuncCall, path: PathNode, facts: BlockFacts): string | undefined {
  let found: string | undefined;
  walk([call.args, call.agg_order], (n) => {
    const ref = 'ColumnRef' in n ? facts.references.of(n.ColumnRef) : undefined;
    if (found !== undefined || !ref || levelOf(ref.node, facts) !== path || ref.alias !== ref.node.alias) return undefined;
    const { step } = ref.node;
    const wanted = ref.node.wantedOf(ref.column);
    const def = step?.kind === 'multi' ? step.def : wanted?.kind === 'property' ? wanted.def : undefined;
    if (def !== undefined && accepts(name, def)) found = quoted(ref.node, facts, def.name);
    return undefined;
  });
  return found;
}

/** True if an aggregate can be called with a property as its only argument. */
function accepts(name: string, def: PropertyDef): boolean {
  if (name === 'COUNT') return true;
  const type = parseType(def.type).sql.replace(/\(.*/, '');
  return (name === 'SUM' || name === 'AVG') && ['smallint', 'integer', 'bigint', 'numeric', 'double precision'].includes(type);
}

/** A path, or a column of it, as a quoted name. */
function quoted(node: PathNode, facts: BlockFacts, column?: string): string {
  let root = node;
  while (root.parent) root = root.parent;
  const relation = facts.relations.find((r) => r.root === root);
  const alias = facts.relations.length > 1 && relation?.called ? `${relation.called}.` : '';
  // the value of a multi-value property is the path itself
  const end = column === undefined || node.step?.kind === 'multi' ? '' : `.${column}`;
  return `${alias}"${pathOf(node)}${end}"`;
}
