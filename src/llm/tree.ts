/** Candidates as a compact tree within a budget of tokens: what a language model is told when it is to choose one of them. Pure. */
import type { Subject, SubjectColumn } from '../service.ts';
import { line } from './fence.ts';
import { synonymsOf } from './rank-index.ts';

/** A candidate under the name by which it is chosen. */
export interface Candidate {
  readonly name: string;
  readonly subject: Subject;
  /** What of the question speaks for it. */
  readonly why: readonly string[];
}

/** How much is told of a candidate, the least first; names are always told. */
const DETAILS = ['name', 'links', 'columns', 'description', 'all'] as const;
type Detail = (typeof DETAILS)[number];
const has = (detail: Detail, least: Detail): boolean => DETAILS.indexOf(detail) >= DETAILS.indexOf(least);

const DESCRIPTION = 160;
const NAME = 128;
const MOST_COLUMNS = 40;
const MOST_LINKS = 30;

/** Tokens that a text may cost: four characters of ASCII are one, another character is one by itself. */
export const tokensOf = (text: string): number => Math.ceil([...text].reduce((sum, c) => sum + (c < '\u0080' ? 0.25 : 1), 0));

/**
 * The candidates, the best first but children below their parent. What does not fit is left out from the bottom: descriptions of
 * columns, descriptions, columns, relationships; of the last candidates before the first.
 */
export function candidateTree(candidates: readonly Candidate[], maxTokens = 3_000): string {
  const order = inTree(candidates);
  const made = new Map(order.map((node) => [node, DETAILS.map((detail) => text(node, detail))] as const));
  const textOf = (node: Node, level: number): string => made.get(node)?.[level] ?? '';
  const cost = new Map(order.map((node) => [node, DETAILS.map((_, level) => tokensOf(textOf(node, level)) + 1)] as const));
  const costOf = (node: Node, level: number): number => cost.get(node)?.[level] ?? 0;
  let left = maxTokens - order.reduce((sum, node) => sum + costOf(node, 0), 0);
  const levels = new Map(order.map((node) => [node, 0]));
  const byRank = [...order].sort((a, b) => a.rank - b.rank);
  // each level for all of them before the next one for any
  for (let level = 1; level < DETAILS.length; level++) {
    for (const node of byRank) {
      const more = costOf(node, level) - costOf(node, level - 1);
      if (levels.get(node) !== level - 1 || more > left) continue;
      left -= more;
      levels.set(node, level);
    }
  }
  return order.map((node) => textOf(node, levels.get(node) ?? 0)).join('\n');
}

interface Node {
  readonly candidate: Candidate;
  readonly rank: number;
  readonly depth: number;
  /** The parent that is told above it. */
  readonly below: Subject | null;
}

/** Depth first, siblings by their rank. A candidate of several parents stands below the best of them. */
function inTree(candidates: readonly Candidate[]): readonly Node[] {
  const ranks = new Map(candidates.filter((c) => c.subject.kind === 'concept').map((c) => [c.subject.name.toLowerCase(), candidates.indexOf(c)]));
  const children = new Map<number, number[]>();
  const roots: number[] = [];
  for (const [i, { subject }] of candidates.entries()) {
    const above = subject.parents.flatMap((p) => ranks.get(p.toLowerCase()) ?? []).filter((r) => r !== i);
    const parent = above.length === 0 ? undefined : Math.min(...above);
    if (parent === undefined) roots.push(i);
    else children.set(parent, [...(children.get(parent) ?? []), i]);
  }
  // a family stands where the best of it ranks
  const best = (i: number): number => Math.min(i, ...(children.get(i) ?? []).map(best));
  const nodes: Node[] = [];
  const add = (i: number, depth: number, below: Subject | null): void => {
    const candidate = candidates[i] as Candidate;
    nodes.push({ candidate, rank: i, depth, below });
    for (const child of children.get(i) ?? []) add(child, depth + 1, candidate.subject);
  };
  for (const root of roots.sort((a, b) => best(a) - best(b))) add(root, 0, null);
  return nodes;
}

function text({ candidate, depth, below }: Node, detail: Detail): string {
  const { subject } = candidate;
  const parents = subject.parents.length === 0 ? '' : `, a kind of ${subject.parents.map((p) => line(p, NAME)).join(', ')}`;
  const kind = subject.kind === 'concept' ? parents : ` (${subject.kind})`;
  const said = has(detail, 'description') && subject.description ? `: ${line(subject.description, DESCRIPTION)}` : '';
  const lines = [`- ${line(candidate.name, NAME)}${kind}${said}`];
  if (has(detail, 'links')) {
    const others = synonymsOf(subject.tags).slice(0, 8);
    if (others.length > 0) lines.push(`also called: ${others.map((o) => line(o, 60)).join(', ')}`);
    if (subject.condition !== null) lines.push(`only where ${line(subject.condition, DESCRIPTION)}`);
    if (candidate.why.length > 0) lines.push(`in the question: ${candidate.why.map((w) => line(w, 80)).join('; ')}`);
    const above = new Set(below?.relationships.map((r) => r.name));
    const links = subject.relationships
      .filter((r) => !above.has(r.name))
      .map((r) => `${line(r.name, NAME)} -> ${line(r.target, NAME)}${r.toMany ? ' (many)' : ''}`);
    if (links.length > 0) lines.push(`leads to: ${listed([...new Set(links)], MOST_LINKS)}`);
  }
  if (has(detail, 'columns')) {
    // what the parent above has need not be said again
    const inherited = subject.columns.filter((c) => c.inheritedFrom !== null);
    const own = [...subject.columns.filter((c) => c.inheritedFrom === null), ...(below === null ? inherited : [])];
    const told = (c: SubjectColumn): string => {
      const meant = has(detail, 'all') && c.description ? ` (${line(c.description, 60)})` : '';
      return `${line(c.name, NAME)}${meant}`;
    };
    const columns = own.filter((c) => !c.isMeasure).map(told);
    const measures = own.filter((c) => c.isMeasure).map(told);
    if (columns.length > 0) lines.push(`${below === null ? 'columns' : 'more columns'}: ${listed(columns, MOST_COLUMNS)}`);
    if (measures.length > 0) lines.push(`measures: ${listed(measures, MOST_COLUMNS)}`);
  }
  const indent = '  '.repeat(Math.min(depth, 8));
  return lines.map((l, i) => `${indent}${i === 0 ? '' : '  '}${l}`).join('\n');
}

const listed = (all: readonly string[], most: number): string =>
  [...all.slice(0, most), ...(all.length > most ? [`... (${all.length - most} more)`] : [])].join(', ');
