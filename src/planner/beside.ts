/** Rows of links and of multi-value properties, without those that belong to rows which the caller may not read. */
import type { Concept } from '../ontology/graph.ts';
import type { PropertyDef } from '../ontology/model.ts';
import { parseType } from '../ontology/types.ts';
import { sourcesOf } from './policies.ts';
import { actualProperty, conceptSource } from './sources.ts';
import { and, cast, column, equals, exists, FENCE, type Node, type SelectStmt, select, string, subselect } from './tree.ts';
import type { Work } from './work.ts';

/** The concept whose rows a link or a value belongs to. `keys`: column of the link -> property of the concept. */
export interface Owner {
  readonly concept: Concept;
  readonly keys: readonly (readonly [string, PropertyDef])[];
}

/** Whether rows of the owner may be hidden from the caller: it does not read the whole model, or mappings leave rows out. */
function leavesOwners(work: Work, { concept }: Owner): boolean {
  const hides = [...sourcesOf(concept).mappings].filter((m) => work.mapping(m).leavesOut && work.hides(m.datasource));
  return work.bars() || hides.length > 0;
}

/**
 * Rows of a link or of a multi-value property. If something of the statement may raise an error on a value, only those that belong to rows which the caller may
 * read, by its policies and its grants (admitted.ts explains OFFSET 0).
 */
export function ofVisible(work: Work, rows: SelectStmt, owners: readonly Owner[]): SelectStmt {
  if (work.trusted) return rows;
  const guarded = owners.filter((o) => work.policies?.isGuarded(o.concept));
  if (guarded.length > 0) work.guarded = true;
  const barred = owners.filter((o) => leavesOwners(work, o));
  const narrowed = owners.filter((o) => guarded.includes(o) || barred.includes(o));
  if (!work.fenced || narrowed.length === 0) return rows;
  const conditions = narrowed.map((owner) => {
    let { keys, concept } = owner;
    // a policy is asked of the rows of a logic concept's source: those that do not meet the condition count there
    while (!barred.includes(owner) && concept.rows.kind === 'logic') concept = concept.rows.source;
    const wanted = new Map(keys.map(([name, def]) => [name, actualProperty(work, def)] as const));
    const same = keys.map(([name, def]) => equals(column('o', name), cast(column('r', name), parseType(def.type).sql)));
    return exists(select({ targetList: [], fromClause: [subselect(conceptSource(work, concept, wanted), 'o')], whereClause: and(same) as Node }));
  });
  return select({
    targetList: [{ ResTarget: { val: { ColumnRef: { fields: [string('r'), { A_Star: {} }] } } } }],
    fromClause: [subselect(rows, 'r')],
    whereClause: and(conditions) as Node,
    ...FENCE,
  });
}
