/** Rows beside those of concepts, of links and multi-value properties, without those of rows that the caller may not read. */
import type { Concept } from '../ontology/graph.ts';
import type { PropertyDef } from '../ontology/model.ts';
import { parseType } from '../ontology/types.ts';
import { sourcesOf } from './policies.ts';
import { actualProperty, conceptSource } from './sources.ts';
import { and, cast, column, equals, exists, FENCE, type Node, type SelectStmt, select, string, subselect } from './tree.ts';
import type { Work } from './work.ts';

/** One end of rows beside those of a concept. `keys`: column -> property of the concept. */
export interface Owner {
  readonly concept: Concept;
  readonly keys: readonly (readonly [string, PropertyDef])[];
}

/** Whether grants may keep rows of the other side of such rows from the caller: it does not read the whole model, or mappings leave rows out. */
function leavesOwners(work: Work, { concept }: Owner): boolean {
  const hides = [...sourcesOf(concept).mappings].filter((m) => work.mapping(m).leavesOut && work.hides(m.datasource));
  return work.bars() || hides.length > 0;
}

/**
 * Rows beside those of concepts (of a link, of a multi-value property) that belong to rows which the caller may read, by its policies and by its grants: where
 * something of the statement may fail on a value, it must see no other (admitted.ts says why OFFSET 0).
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
