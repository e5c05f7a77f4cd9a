/** Types of tables' columns, as the service reads them from the datasource when a mapping is created. */
import type { ColumnDef, Model } from '../../src/ontology/model.ts';
import { sameName } from '../../src/ontology/names.ts';

const TYPES: Readonly<Record<string, string>> = {
  bigint: 'int8',
  integer: 'int4',
  smallint: 'int2',
  string: 'text',
  boolean: 'bool',
  date: 'date',
  uuid: 'uuid',
  float: 'float8',
  double: 'float8',
};

/** A column of the declared type of a property. */
function columnOf(name: string, declared: string): ColumnDef {
  const [, precision, scale = '0'] = /^decimal\((\d+)(?:,(\d+))?\)$/.exec(declared) ?? [];
  if (precision !== undefined) return { name, type: 'numeric', modifier: (Number(precision) << 16) + Number(scale) + 4 };
  return { name, type: TYPES[declared] ?? 'int8' };
}

/** The model with mappings whose columns have the types of their properties, so that no cast of them can fail. A column without a property has the type bigint. */
export const withTypes = (model: Model): Model => ({
  ...model,
  mappings: model.mappings.map((m) => ({
    ...m,
    columns: m.columns.map(({ name }) => columnOf(name, model.properties.find((p) => sameName(p.name, name))?.type ?? '')),
  })),
});
