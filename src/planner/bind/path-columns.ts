/** The columns of a concept in FROM that paths and measures name. */
import { badRequest, didYouMean, nearest } from '../../errors.ts';
import type { Concept } from '../../ontology/graph.ts';
import type { ColumnDef } from '../../ontology/model.ts';
import { columnsOfLinks } from '../../ontology/parts.ts';
import { columnNames, ENTITY, multiOf, propertyOf, wantedKey } from '../plan/concept-columns.ts';
import type { Hop } from '../plan/hop.ts';
import { linkAlias, type PathNode } from '../plan/path-node.ts';
import type { Wanted } from '../plan/wanted.ts';
import { propertiesOfLink } from '../secure/link-columns.ts';
import { propertyFor } from '../secure/shown.ts';
import { isPath, parsePath } from './path.ts';
import type { ConceptRelation } from './relation.ts';
import { asAddress, type Found } from './relations.ts';
import { requireUnmasked, valueFor } from './unmasked.ts';

/** The prefix of the names of measures. */
export const MEASURE = 'measure.';

/**
 * `measure.m` or `measure.rel[c].m`: a measure of the concept, or of the far end of a path. Lowering replaces the reference by the measure's aggregates.
 * @throws SvcError 400 `bad_path`, `unknown_measure`
 */
export function measureColumn(relation: ConceptRelation, written: string): Found {
  const rest = written.slice(MEASURE.length);
  let node = relation.root;
  let concept = relation.named;
  let name = rest;
  let label = '';
  if (isPath(rest)) {
    const end = parsePath(concept, rest);
    if (end.kind !== 'column') throw badRequest('bad_path', `\`${written}\` does not name a measure`);
    const far = follow(relation, end.hops);
    node = far.node;
    concept = end.hops.at(-1)?.columns ?? concept;
    name = end.name;
    label = `${far.label}.`;
  }
  const found = concept.measures.find((m) => m.def.name.toLowerCase() === name.toLowerCase());
  if (!found) {
    const near = nearest(
      name,
      concept.measures.map((m) => m.def.name),
    );
    throw badRequest('unknown_measure', `unknown measure \`${name}\` of concept \`${concept.name}\`${didYouMean(near)}`);
  }
  const ref = relation.state.references.toMeasure({ relation: relation.base, node, concept: concept.whole, def: found.def }, `${MEASURE}${rest}`);
  const key = `${MEASURE}${label}${found.def.name}`;
  return { node: ref, column: { name: key, key } };
}

/**
 * The column that a path names.
 * @throws SvcError 403 if rows on the path may not be read, 403 `masked`, 400 `bad_path`, `unknown_property` and the errors of `parsePath`
 */
export function pathColumn(relation: ConceptRelation, path: string): Found | undefined {
  const end = parsePath(relation.named, path);
  const { node, label } = follow(relation, end.hops);
  const last = end.hops.at(-1);
  if (!last) return undefined;
  if (end.kind === 'star') throw badRequest('bad_path', `the wildcard \`${path}\` can only be used in a select list`);
  if (end.kind === 'level') return relation.reference(node, 'level', `${label}_transitivity_level`);
  if (end.kind === 'link') return linkColumn(relation, node, end.name, label, path);
  return farColumn(relation, node, last.columns, last.derived, end.name, label, path);
}

/** The node that a path leads to, and the path as names of result columns show it. */
function follow(relation: ConceptRelation, hops: readonly Hop[]): { readonly node: PathNode; readonly label: string } {
  let node = relation.root;
  for (const hop of hops) node = node.child({ kind: 'hop', hop });
  return { node, label: hops.map((h) => h.label).join('.') };
}

function linkColumn(relation: ConceptRelation, node: PathNode, name: string, label: string, path: string): Found {
  const columns = columnsOfLink(node).map((c) => c.name);
  const given = columns.find((c) => c.toLowerCase() === name.toLowerCase());
  if (!given) {
    const near = nearest(name, columns);
    throw badRequest('unknown_property', `the link of \`${path}\` has no column \`${name}\`${didYouMean(near)}`, {
      hint: columns.length ? undefined : noLinkColumns(node),
    });
  }
  const lower = given.toLowerCase();
  const around = { near: node.parent?.concept, far: node.concept };
  const linked = node.step?.kind === 'hop' ? propertiesOfLink(relation.state.graph, node.step.hop.relationship, lower, around) : [];
  for (const { concept, def } of linked) requireUnmasked(relation.state, concept, def);
  const internal = node.linkColumns.get(lower) ?? `x${node.linkColumns.size}`;
  node.linkColumns.set(lower, internal);
  return relation.reference(node, internal, `${label}_${given}`, linkAlias(node));
}

/** The columns of the link that leads to a node. */
const columnsOfLink = ({ step }: PathNode): readonly ColumnDef[] =>
  step?.kind === 'hop' ? columnsOfLinks({ links: step.hop.relationship.links, parts: step.hop.parts }) : [];

const noLinkColumns = ({ step }: PathNode): string =>
  step?.kind === 'hop' && step.hop.parts.length > 1
    ? `\`${step.hop.relationship.name}\` is symmetric or includes others: a pair may come from several links, so it has no link columns`
    : 'only many-to-many relationships have link columns';

function farColumn(relation: ConceptRelation, node: PathNode, columns: Concept, derived: boolean, name: string, label: string, path: string): Found {
  const lower = name.toLowerCase();
  const want = (wanted: Wanted): string => node.want(wantedKey(relation.state, wanted), wanted);
  if (ENTITY.has(lower)) return relation.reference(node, want(valueFor(relation.state, columns, { kind: lower as 'entity_id' })), `${label}.${lower}`);
  const property = propertyOf(columns, lower, derived);
  if (property) {
    const wanted = want(valueFor(relation.state, columns, propertyFor(columns, property)));
    return asAddress(columns, property, relation.reference(node, wanted, `${label}.${property.name}`));
  }
  const multi = multiOf(columns, lower);
  if (multi) requireUnmasked(relation.state, columns, multi);
  if (multi) return relation.reference(node.child({ kind: 'multi', def: multi }), 'value', `${label}.${multi.name}`);
  const near = nearest(name, [...columnNames(columns, derived), ...columns.multi.map((m) => m.def.name)]);
  throw badRequest('unknown_property', `unknown property \`${name}\` of concept \`${columns.name}\` in the path \`${path}\`${didYouMean(near)}`, {
    hint: measureHint(columns, lower, path) ?? linkHint(node, lower, path),
  });
}

/** A hint for a measure that is written like a property. */
function measureHint(columns: Concept, lower: string, path: string): string | undefined {
  const measure = columns.measures.find((m) => m.def.name.toLowerCase() === lower);
  return (
    measure && `It is a measure. Write SUM("${MEASURE}${path.slice(0, path.lastIndexOf(']') + 1)}.${measure.def.name}"). The aggregate only marks the measure.`
  );
}

/** A hint for a column of the link that is written like a property. */
function linkHint(node: PathNode, lower: string, path: string): string | undefined {
  const given = columnsOfLink(node).find((c) => c.name.toLowerCase() === lower);
  return given && `It is a column of the link. Write "${path.slice(0, path.lastIndexOf(']') + 1)}_${given.name}".`;
}

/** The columns of a wildcard path `rel[c].*`, in the order of SELECT *. */
export function wildcardColumns(relation: ConceptRelation, path: string): readonly Found[] {
  const end = parsePath(relation.named, path);
  const last = end.hops.at(-1);
  if (end.kind !== 'star' || !last) return [];
  const { node, label } = follow(relation, end.hops);
  return columnNames(last.columns, last.derived).map((name) => farColumn(relation, node, last.columns, last.derived, name, label, path));
}
