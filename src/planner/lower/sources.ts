/**
 * The rows of a concept (docs/design/paths-and-cardinality.md#rows-of-a-concept) as a SELECT: a UNION ALL over the mappings with only the wanted columns, each
 * cast to its declared type so that PostgreSQL flattens the union (docs/design/sql-shapes.md#a-concept-is-a-union-of-its-mappings).
 */
import type { Concept } from '../../ontology/graph.ts';
import { boolean, cast, nullValue, type SelectStmt, select, target } from '../plan/tree.ts';
import { typeOf, type WantedColumns } from '../plan/wanted.ts';
import type { PlanState } from '../plan-state.ts';
import { isReadableAs } from '../secure/shown.ts';
import { admitted, rulesMayFail } from './admitted.ts';
import { Branch } from './branch.ts';
import { callsOwnFunctions } from './calculated/reads.ts';
import { logicSource } from './logic.ts';
import { branchCondition, type RowFilter } from './narrow.ts';
import { type MappingSelect, mergeTables } from './one-table.ts';
import { isExcluded } from './prune.ts';
import { unionOf } from './union.ts';

/**
 * A SELECT of `wanted` (names and columns) over the rows of `concept`. `reader` is the concept through which the rows are read, if that is another one (a logic
 * concept over its source); its own calculated properties then apply too. `filter` restricts the rows to those that WHERE can select.
 */
export function conceptSource(state: PlanState, concept: Concept, wanted: WantedColumns, reader: Concept = concept, filter?: RowFilter): SelectStmt {
  const rows = concept.rows;
  if (rows.kind === 'logic') return logicSource(state, concept, rows, wanted, reader, filter);
  const branches: MappingSelect[] = [];
  for (const { mapping, target: mapped } of rows.sources) {
    if (filter?.mapping && filter.mapping !== mapping) continue;
    if (filter?.as && !isReadableAs(filter.as, mapping)) continue;
    const branchOf = (of: PlanState): Branch => new Branch(of, mapping, mapped, reader, filter);
    const branch = branchOf(state);
    if (filter && !state.context.keepsMappings && isExcluded(branch, filter)) continue;
    const mayFail = rulesMayFail(branch, branchOf);
    state.facts.mayRaise ||= mayFail;
    const isComputedEarly = filter?.isComputedEarly === true || mayFail || (branch.isBelowBarrier && callsOwnFunctions(branch, wanted));
    const narrowed = filter ? branchCondition(branch, { ...filter, isComputedEarly }) : [];
    if (narrowed === false) continue;
    const { rules } = branch;
    const select = (columns: WantedColumns): SelectStmt => branch.select(columns, narrowed);
    // the number of rows must not decide for which of them a condition fails
    const query =
      filter?.first && !(branch.mayBeBarred && !branch.rows.isNarrowable)
        ? branch.first(wanted, narrowed, filter.first)
        : rules.length === 0
          ? select(wanted)
          : admitted(state, mapped, rules, wanted, select);
    branches.push({ branch, query });
  }
  const queries = state.context.keepsMappings ? branches.map((b) => b.query) : mergeTables(branches, filter?.typesAreFiltered !== false);
  return queries.length === 0 ? emptySource(state, wanted) : unionOf(queries);
}

/** A SELECT without rows. */
const emptySource = (state: PlanState, wanted: WantedColumns): SelectStmt =>
  select({ targetList: [...wanted].map(([name, w]) => target(cast(nullValue(), typeOf(state.graph, w)), name)), whereClause: boolean(false) });
