/** Whether policies enforce on one version of a model what they enforce on another one. */
import { compile } from '../../ontology/compile.ts';
import type { Concept, Graph } from '../../ontology/graph.ts';
import type { MappingDef, Model } from '../../ontology/model.ts';
import { type AskedRoles, rolesAskedIn } from '../caller.ts';
import { sourcesOf } from '../policies.ts';
import { difference, enforcedOn, type PolicyRules, type Subject } from './enforced.ts';
import { Joins } from './joined.ts';
import { leavesOut, type ModelContext } from './work.ts';

export type { AskedRoles } from '../caller.ts';
export type { PolicyRules, Subject } from './enforced.ts';
export type { ModelContext } from './work.ts';

/** What is weaker in a version of a model than in the one before. */
export interface Weakened extends Subject {
  /** `enforced`: rows or values that a policy covers; `joined`: what a join shows of them. */
  readonly by: 'enforced' | 'joined';
}

/**
 * What policies cover in `before` and enforce otherwise, or no longer, in `after`; undefined: nothing. New rows, new coverage, and whatever
 * the policies do not read make no difference.
 */
export function weakened(context: ModelContext, before: Graph, after: Graph, rules: PolicyRules): Weakened | undefined {
  if (rules.rows.length + rules.masks.length === 0 || isSame(before, after)) return undefined;
  const [old, now] = [untyped(before), untyped(after)];
  const enforced = difference(enforcedOn(context, old, rules), enforcedOn(context, now, rules));
  if (enforced !== undefined) return { by: 'enforced', ...enforced };
  const joined = new Joins(context, now, rules).reveals(new Joins(context, old, rules));
  return joined && { by: 'joined', ...joined };
}

/** What a writer may read of the rows to which links, and values of multi-value properties, belong. */
export interface Readable {
  /** Whether it may query a datasource's tables. */
  tables(datasource: string): boolean;
  concept(name: string): boolean;
}

/**
 * Finds a mapping of links or multi-value properties that `after` joins to other rows than `before`, although the writer may not read all rows that it belongs to:
 * a mapping leaves some of them out, or the writer may not query their concept.
 * @returns undefined if no mapping is joined otherwise
 */
export function joinedOtherwise(context: ModelContext, before: Graph, after: Graph, readable: Readable): MappingDef | undefined {
  if (isSame(before, after)) return undefined;
  const [old, now] = [untyped(before), untyped(after)];
  const hides = (owner: Concept): boolean =>
    !readable.concept(owner.name) || [...sourcesOf(owner).mappings].some((m) => !readable.tables(m.datasource) && leavesOut(context, old, m));
  const closed = new Map<string, readonly Concept[]>();
  for (const m of old.model.mappings) {
    if (m.kind === 'concept' || readable.tables(m.datasource)) continue;
    const owners = [m.concept, m.link?.forward.concept, m.link?.back.concept].flatMap((name) => old.concept(name ?? '') ?? []);
    if (owners.some(hides)) closed.set(m.name, owners);
  }
  if (closed.size === 0) return undefined;
  const concepts = new Set([...closed.values()].flat().map((c) => c.name));
  const rules = { rows: [...concepts].map((concept) => ({ concept, conditions: [] })), masks: [] };
  return new Joins(context, now, rules).added(new Joins(context, old, rules), (m) => closed.has(m.name));
}

/** The roles for which policies call `svc_has_role`, also in what their conditions and masks read: calculated properties, logic concepts, views. */
export function rolesAskedBy(context: ModelContext, graph: Graph, rules: PolicyRules): AskedRoles {
  const names = new Set<string>();
  let any = false;
  const asks = (tree: unknown): void => {
    const found = rolesAskedIn(tree, context.product);
    for (const name of found.names) names.add(name);
    any ||= found.any;
  };
  enforcedOn({ ...context, asks }, graph, rules);
  return { names, any };
}

/** The parts of a model, and whether SQL depends on them. The type requires an entry for each part. */
const MATTERS: Readonly<Record<keyof Model, boolean>> = {
  format: false,
  description: false,
  config: true,
  properties: true,
  measures: true,
  concepts: true,
  mappings: true,
  views: true,
};

/** Whether nothing of the model differs that SQL depends on. */
const isSame = (a: Graph, b: Graph): boolean => (Object.keys(MATTERS) as (keyof Model)[]).every((part) => !MATTERS[part] || a.model[part] === b.model[part]);

const UNTYPED = new WeakMap<MappingDef, MappingDef>();

/** The same model without the types of its tables' columns: they shorten SQL, and mean nothing else. */
function untyped({ model, ontology }: Graph): Graph {
  const mappings = model.mappings.map((m) => {
    const known = UNTYPED.get(m) ?? { ...m, columns: m.columns.map(({ name }) => ({ name })) };
    UNTYPED.set(m, known);
    return known;
  });
  return compile({ ...model, mappings }, ontology);
}
