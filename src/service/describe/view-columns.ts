/** The columns of a view as a JSON text and as a list, which some clients read from SYS_VIEWS. */
import { SvcError } from '../../errors.ts';
import type { SqlParser } from '../../language/parser.ts';
import { parsePrepared, prepareSelect } from '../../language/prepare.ts';
import { quoteBack } from '../../language/quote.ts';
import type { ViewDef } from '../../ontology/model.ts';
import { fold } from '../../ontology/names.ts';
import { cubeColumns } from '../../planner/bind/cubes.ts';
import { columnType } from './detail.ts';

/** The names of a cube's measures, in the form in which names are compared; empty for a view. */
function measuresOf(parser: SqlParser, view: ViewDef): ReadonlySet<string> {
  if (!view.cube) return new Set();
  try {
    const prepared = prepareSelect({ text: view.sql, offset: 0 });
    const stmt = parsePrepared(parser, prepared).stmts[0]?.stmt;
    if (!stmt || !('SelectStmt' in stmt)) return new Set();
    const columns = cubeColumns(view, stmt.SelectStmt, (name) => prepared.standIns.get(name) ?? name);
    return new Set(columns.filter((c) => c.isMeasure).map((c) => fold(c.name)));
  } catch (error) {
    if (error instanceof SvcError) return new Set();
    throw error;
  }
}

/** `{"columns": [{"alias", "type"}], "measures": [...]}`: the dimensions and the measures of a cube; all columns of a view are in `columns`. */
export function viewJson(parser: SqlParser, view: ViewDef): string {
  const measures = measuresOf(parser, view);
  const entries = view.columns.map((c) => ({ isMeasure: measures.has(fold(c.name)), alias: quoteBack(c.name), type: columnType(c) ?? 'string' }));
  const of = (wanted: boolean) => entries.filter((e) => e.isMeasure === wanted).map(({ alias, type }) => ({ alias, type }));
  return JSON.stringify({ columns: of(false), measures: of(true) });
}

/** `name type,name type`: the columns in order. */
export const viewColumnsText = (view: ViewDef): string => view.columns.map((c) => `${c.name} ${columnType(c) ?? 'string'}`).join(',');
