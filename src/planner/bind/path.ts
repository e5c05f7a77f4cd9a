/**
 * Relationship paths (docs/design/paths-and-cardinality.md#paths). A path is one identifier such as `rel[c].prop`, `r1[c1].r2[c2*3].prop`, `rel[c]_column`, `rel[c].*`, and
 * begins at a concept.
 */
import { badRequest, didYouMean, nearest } from '../../errors.ts';
import type { Concept, Relationship } from '../../ontology/graph.ts';
import { onwardOf } from '../../ontology/parts.ts';
import { neverComparable } from '../../ontology/types.ts';
import type { Hop } from '../plan/hop.ts';
import { requireReadable } from './readable.ts';
import { hintForRelationship } from './suggest.ts';

/** The greatest depth of a walk. */
export const MAX_DEPTH = 32;
const DEFAULT_DEPTH = 3;

/** A parsed path. */
export interface PathEnd {
  readonly hops: readonly Hop[];
  /** `column`: a column of the concept at the end; `link`: a column of the last hop's link; `level`: the length of the walk; `star`: all columns. */
  readonly kind: 'column' | 'link' | 'level' | 'star';
  readonly name: string;
}

/** True if an identifier has the form of a path. */
export const isPath = (name: string): boolean => name.includes('[') || name.includes(']');

/**
 * Parses a path that begins at a concept. Names are looked up in the graph of that concept.
 * @throws SvcError 403 for rows that may not be read; 400 `bad_path`, `unknown_relationship`, `unknown_concept`, `bad_depth`, with the nearest known name if there is one
 */
export function parsePath(from: Concept, path: string): PathEnd {
  const hops: Hop[] = [];
  let at = from;
  let rest = path;
  for (;;) {
    const open = rest.indexOf('[');
    const close = rest.indexOf(']', open);
    if (open <= 0 || close < 0 || rest.slice(open + 1, close).includes('[')) {
      throw badRequest('bad_path', `malformed path \`${path}\``, { hint: 'a path is written "relationship[concept].property"' });
    }
    const hop = readHop(at, rest.slice(0, open), rest.slice(open + 1, close), path, rest);
    hops.push(hop);
    at = hop.columns;
    const mark = rest[close + 1];
    const tail = rest.slice(close + 2);
    if (mark === '_' && tail && !tail.includes('[')) {
      if (tail.toLowerCase() === 'transitivity_level' && hop.depth !== null) return { hops, kind: 'level', name: tail };
      if (hop.depth !== null) {
        throw badRequest('bad_path', `the transitive path \`${path}\` has no link columns`, {
          hint: 'a walk has "..._transitivity_level"; link columns belong to a single hop',
        });
      }
      return { hops, kind: 'link', name: tail };
    }
    if (mark !== '.' || !tail) {
      throw badRequest('bad_path', `the path \`${path}\` does not name a property`, {
        hint: `add a property: "${path.slice(0, path.length - tail.length)}.entity_id"`,
      });
    }
    if (!tail.includes('[')) {
      if (tail.includes(']')) throw badRequest('bad_path', `malformed path \`${path}\``, { hint: 'a path is written "relationship[concept].property"' });
      return { hops, kind: tail === '*' ? 'star' : 'column', name: tail };
    }
    rest = tail;
  }
}

/** @param rest the path from this hop on */
function readHop(from: Concept, name: string, bracket: string, path: string, rest: string): Hop {
  const candidates = from.relationship(name);
  if (candidates.length === 0) {
    const near = nearest(
      name,
      from.relationships.flatMap((r) => (r.isInverse && r.inverseName !== null ? [r.name, `~${r.def.name}`] : [r.name])),
    );
    throw badRequest('unknown_relationship', `unknown relationship \`${name}\` of concept \`${from.name}\`${didYouMean(near)}`, {
      hint:
        hintForRelationship(from, name, path.slice(0, path.length - rest.length), rest) ??
        (near ? undefined : 'SHOW and DESCRIBE list the relationships of a concept'),
    });
  }
  const { concept, star } = readBracket(from, bracket, path, candidates);
  const fitting = candidates.filter((r) => concept.isA(r.target) || r.target.isA(concept));
  const exact = fitting.filter((r) => r.target === concept);
  const relationship = exact[0] ?? fitting[0];
  if (!relationship) {
    throw badRequest(
      'bad_path',
      `relationship \`${name}\` of concept \`${from.name}\` leads to \`${candidates.map((r) => r.target.name).join('` or `')}\`, not to \`${concept.name}\``,
      {
        hint: `write "${name}[${candidates[0]?.target.name}]…", or use a descendant or an ancestor of it in the bracket`,
      },
    );
  }
  const depth = star === null ? null : depthOf(from, relationship, star, path);
  for (const part of relationship.parts) requireComparable(part);
  const next = depth === null ? undefined : onwardOf(relationship);
  for (const part of next?.parts ?? []) requireComparable(part);
  const ancestor = concept !== relationship.target && relationship.target.isA(concept);
  const rows = ancestor ? relationship.target : concept;
  requireReadable(rows);
  const written = name.startsWith('~') && !relationship.name.startsWith('~') ? `~${(relationship.inverseName ?? name).replace(/^~/, '')}` : relationship.name;
  return {
    relationship: relationship.whole,
    parts: relationship.parts,
    rows: rows.whole,
    columns: concept,
    derived: !ancestor,
    depth,
    ...(next === undefined ? {} : { onward: { relationship: next.whole, parts: next.parts } }),
    label: `${written}[${concept.name}${star === null ? '' : `*${star}`}]`,
  };
}

/** Throws 400 `incomparable_types` for a foreign key over types that PostgreSQL does not compare. Its own error would name neither the relationship nor the properties. */
function requireComparable({ name, kind, from, target, source, references }: Relationship): void {
  if (kind !== 'fk') return;
  source.forEach((near, i) => {
    const far = references[i];
    if (!far || !neverComparable(near.type, far.type)) return;
    throw badRequest(
      'incomparable_types',
      `the relationship \`${name}\` of \`${from.name}\` compares \`${near.name}\` (${near.type}) with \`${far.name}\` (${far.type}) of \`${target.name}\`, but PostgreSQL does not compare these types`,
      { hint: 'Give both properties the same type in the model, and cast the column in a mapping if the tables differ.' },
    );
  });
}

function readBracket({ graph }: Concept, bracket: string, path: string, candidates: readonly Relationship[]): { concept: Concept; star: string | null } {
  const whole = graph.concept(bracket);
  if (whole) return { concept: whole, star: null };
  const star = /^(.*?)\*(\d*)$/s.exec(bracket);
  const name = star?.[1] ?? bracket;
  const concept = graph.concept(name);
  if (!concept) {
    if (/\*/.test(name))
      throw badRequest('bad_depth', `\`${bracket}\` in the path \`${path}\` is not a depth`, {
        hint: `a walk is written "relationship[concept*n]" with n from 1 to ${MAX_DEPTH}`,
      });
    const near = nearest(name, [...new Set(candidates.map((r) => r.target.name)), ...graph.concepts.map((c) => c.name)]);
    throw badRequest('unknown_concept', `unknown concept \`${name}\` in the path \`${path}\`${didYouMean(near)}`);
  }
  return { concept, star: star?.[2] ?? null };
}

function depthOf({ graph }: Concept, relationship: Relationship, star: string, path: string): number {
  if (relationship.transitive === null) {
    throw badRequest('bad_path', `relationship \`${relationship.name}\` in the path \`${path}\` is not TRANSITIVE`, {
      hint: 'remove the star: the relationship is a single hop',
    });
  }
  const configured = Number(graph.model.config.default_transitivity ?? DEFAULT_DEPTH);
  const depth = star === '' ? (relationship.transitive === 'default' ? configured : relationship.transitive) : Number(star);
  if (!(depth >= 1 && depth <= MAX_DEPTH)) throw badRequest('bad_depth', `the depth in the path \`${path}\` is not between 1 and ${MAX_DEPTH}`);
  return depth;
}
