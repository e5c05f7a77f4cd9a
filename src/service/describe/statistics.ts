/**
 * SYS_PROPERTIES_STATISTICS: statistics that `kg validate --data` has stored for the columns of mappings and views. A caller sees those of a column if it may read all
 * of its values. It must have the right to query the concepts of the mapping, or the view and all that it reads. No row policy may apply to it, and no mask to a
 * property of that name. Links and multi-valued properties also need QUERY on the datasource.
 */
import type { MeasuredKind, StoredStatistics } from '../../catalog/statistics.ts';
import type { MappingDef } from '../../ontology/model.ts';
import { fold, sameName } from '../../ontology/names.ts';
import { findType } from '../../ontology/types.ts';
import { linkColumnsOf } from './detail.ts';
import type { Source } from './system-source.ts';

const COLUMNS =
  'property_name, target_name, target_type, distinct_count:bigint, non_null_count:bigint, stats, updated_at:timestamptz, null_count:bigint, min_value, max_value';

/** Numbers and dates with at most this many values are listed by value instead of by range. */
const FEW_VALUES = 20;

/** The column `stats`, in one of two forms: `{"top_k": [{"value", "count"}]}` or `{"min_value", "max_value"}`. Clients of the field read one of them. */
function statsText({ frequent, distinct, min, max }: StoredStatistics, type: string | undefined): string | null {
  const family = type === undefined ? 'text' : findType(type)?.family;
  const isRange = (family === 'number' || family === 'date' || family === 'time') && distinct > FEW_VALUES;
  if (frequent.length > 0 && !isRange) return JSON.stringify({ top_k: frequent });
  return min === null && max === null ? null : JSON.stringify({ min_value: min, max_value: max });
}

/** The columns of a mapping whose values the caller may read, with their types. */
function columnsOf(source: Source, mapping: MappingDef): readonly { readonly name: string; readonly type: string | undefined }[] {
  if (!source.readsRowsOf(mapping)) return [];
  if (mapping.link !== null) {
    const { forward, back } = mapping.link;
    const keys = new Set([...forward.columns, ...back.columns].map(fold));
    const relationship = source.relationshipOf(mapping);
    return (
      (relationship ? linkColumnsOf(relationship) : [])
        // a column of another mapping of the relationship may be a key here
        .filter((c) => !keys.has(fold(c.name)) && mapping.columns.some((m) => sameName(m.name, c.name)))
        .map(({ name, type }) => ({ name, type }))
    );
  }
  const concept = source.graph.concept(mapping.concept ?? '');
  if (concept === undefined) return [];
  return (
    [...concept.properties, ...concept.multi]
      // a query has the calculated value, not the mapping's
      .filter(({ def }) => def.expression === null)
      .filter(({ def }) => (mapping.property === null ? mapping.columns.some((m) => sameName(m.name, def.name)) : sameName(mapping.property, def.name)))
      .map(({ def }) => ({ name: def.name, type: def.type }))
  );
}

type Row = readonly (string | number | null)[];

function rows(source: Source): readonly Row[] {
  const rowsOf = (kind: MeasuredKind, name: string, columns: readonly { readonly name: string; readonly type?: string | undefined }[]): Row[] =>
    columns.flatMap((column) => {
      const found = source.statisticsOf(kind, name, column.name);
      if (found === undefined) return [];
      const { distinct, notNull, nulls, counted, min, max } = found;
      return [[column.name, name, kind, distinct, notNull, statsText(found, column.type), counted, nulls, min, max]];
    });
  const { mappings, views } = source.graph.model;
  return [
    ...mappings.flatMap((m) => rowsOf('mapping', m.name, columnsOf(source, m))),
    ...views.flatMap((v) => {
      const shown = rowsOf('view', v.name, v.columns);
      return shown.length > 0 && source.readsThrough(v) ? shown : [];
    }),
  ];
}

export const STATISTICS = { columns: COLUMNS, rows };
