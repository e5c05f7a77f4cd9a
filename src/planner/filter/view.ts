/** The subjects of a URL filter on a view or cube: its columns. */
import { badRequest, didYouMean, nearest } from '../../errors.ts';
import type { ViewDef } from '../../ontology/model.ts';
import { fold } from '../../ontology/names.ts';
import { cubeColumns } from '../bind/cubes.ts';
import { parsedView, viewItem } from '../bind/views.ts';
import type { PlanContext } from '../plan/context.ts';
import { PlanState } from '../plan-state.ts';
import { postgresType, type Subject } from './subject.ts';

/** The columns of a view or cube as subjects of filters. */
export interface ViewSubjects {
  /** All columns, in order. */
  readonly all: readonly Subject[];
  /** Looks up a column. @throws SvcError 400 `unknown_column` */
  find(name: string): Subject;
}

/** The columns of a view. Those of a cube come from its text. */
export function viewSubjects(context: PlanContext, view: ViewDef): ViewSubjects {
  const types = new Map(view.columns.map((c) => [fold(c.name), c.type]));
  const columns = namesOf(context, view);
  const all = columns.map(({ name, isMeasure }): Subject => {
    return { column: name, type: postgresType(types.get(fold(name))), inDsvc: false, addedColumns: [], isMeasure };
  });
  return {
    all,
    find: (name) => {
      const found = all.find((s) => s.column === name) ?? all.find((s) => fold(s.column) === fold(name));
      if (found !== undefined) return found;
      const near = nearest(
        name,
        all.map((s) => s.column),
      );
      const said = name.length > 100 ? `${name.slice(0, 100)}…` : name;
      throw badRequest('unknown_column', `unknown column \`${said}\` of the ${view.cube ? 'cube' : 'view'} \`${view.name}\`${didYouMean(near)}`);
    },
  };
}

function namesOf(context: PlanContext, view: ViewDef): readonly { readonly name: string; readonly isMeasure: boolean }[] {
  if (view.cube) {
    const { stmt, standIns } = parsedView(new PlanState(context), view);
    return cubeColumns(view, stmt, (name) => standIns.get(name) ?? name);
  }
  const columns = view.columns.length > 0 ? view.columns.map((c) => c.name) : viewItem(new PlanState(context), view).columns.map((c) => c.key);
  return columns.map((name) => ({ name, isMeasure: false }));
}
