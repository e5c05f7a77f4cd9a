/** Prints candidates as a compact tree within a budget of tokens, for a language model that chooses one of them. Pure. */
import type { Subject, SubjectColumn } from '../service.ts';
import { line } from './fence.ts';
import { synonymsOf } from './rank-index.ts';

/** A candidate, with the name that the model uses to choose it. */
export interface Candidate {
  readonly name: string;
  readonly subject: Subject;
  /** Reasons from the question in favour of it. */
  readonly why: readonly string[];
}

/** Levels of detail for a candidate, from least to most. Names are always printed. */
const DETAILS = ['name', 'links', 'columns', 'description', 'all'] as const;
type Detail = (typeof DETAILS)[number];
const has = (detail: Detail, least: Detail): boolean => DETAILS.indexOf(detail) >= DETAILS.indexOf(least);

const DESCRIPTION = 160;
const NAME = 128;
const MAX_COLUMNS = 40;
const MAX_LINKS = 30;

/** The estimated number of tokens of a text: one for four ASCII characters, one for each other character. */
export const tokensOf = (text: string): number => Math.ceil([...text].reduce((sum, c) => sum + (c < '\u0080' ? 0.25 : 1), 0));

/**
 * Prints the candidates, best first, with children below their parents. What does not fit is omitted: first descriptions of
 * columns, then descriptions, columns and relationships; first of the last candidates.
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
  // add each level for all candidates before the next level
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
  /** The parent above it in the tree. */
  readonly below: Subject | null;
}

/** Depth first, siblings in order of rank. A candidate with several parents is below the best one. */
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
  // a family has the rank of its best member
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
  const description = has(detail, 'description') && subject.description ? `: ${line(subject.description, DESCRIPTION)}` : '';
  const lines = [`- ${line(candidate.name, NAME)}${kind}${description}`];
  if (has(detail, 'links')) {
    const others = synonymsOf(subject.tags).slice(0, 8);
    if (others.length > 0) lines.push(`also called: ${others.map((o) => line(o, 60)).join(', ')}`);
    if (subject.condition !== null) lines.push(`only where ${line(subject.condition, DESCRIPTION)}`);
    if (candidate.why.length > 0) lines.push(`in the question: ${candidate.why.map((w) => line(w, 80)).join('; ')}`);
    const above = new Set(below?.relationships.map((r) => r.name));
    const links = subject.relationships
      .filter((r) => !above.has(r.name))
      .map((r) => `${line(r.name, NAME)} -> ${line(r.target, NAME)}${r.toMany ? ' (many)' : ''}`);
    if (links.length > 0) lines.push(`leads to: ${listed([...new Set(links)], MAX_LINKS)}`);
  }
  if (has(detail, 'columns')) {
    // columns of the parent above are not repeated
    const inherited = subject.columns.filter((c) => c.inheritedFrom !== null);
    const own = [...subject.columns.filter((c) => c.inheritedFrom === null), ...(below === null ? inherited : [])];
    const columnText = (c: SubjectColumn): string => {
      const meant = has(detail, 'all') && c.description ? ` (${line(c.description, 60)})` : '';
      return `${line(c.name, NAME)}${meant}`;
    };
    const columns = own.filter((c) => !c.isMeasure).map(columnText);
    const measures = own.filter((c) => c.isMeasure).map(columnText);
    if (columns.length > 0) lines.push(`${below === null ? 'columns' : 'more columns'}: ${listed(columns, MAX_COLUMNS)}`);
    if (measures.length > 0) lines.push(`measures: ${listed(measures, MAX_COLUMNS)}`);
  }
  const indent = '  '.repeat(Math.min(depth, 8));
  return lines.map((l, i) => `${indent}${i === 0 ? '' : '  '}${l}`).join('\n');
}

const listed = (all: readonly string[], most: number): string =>
  [...all.slice(0, most), ...(all.length > most ? [`... (${all.length - most} more)`] : [])].join(', ');
