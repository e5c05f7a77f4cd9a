/** What the names of a URL filter mean on a view or cube: its columns. */
import { badRequest, didYouMean, nearest } from '../../errors.ts';
import type { ViewDef } from '../../ontology/model.ts';
import { fold } from '../../ontology/names.ts';
import { cubeColumns } from '../cubes.ts';
import { parsedView, viewItem } from '../views.ts';
import { type PlanContext, Work } from '../work.ts';
import { postgresType, type Subject } from './subject.ts';

export interface ViewSubjects {
  /** In the order of the view's columns. */
  readonly all: readonly Subject[];
  /** @throws SvcError 400 `unknown_column` */
  find(asked: string): Subject;
}

/** The columns of a view; those of a cube by the text that it was made with. */
export function viewSubjects(context: PlanContext, view: ViewDef): ViewSubjects {
  const types = new Map(view.columns.map((c) => [fold(c.name), c.type]));
  const columns = namesOf(context, view);
  const all = columns.map(({ name, isMeasure }): Subject => {
    return { asked: name, column: name, type: postgresType(types.get(fold(name))), inDsvc: false, beside: [], isMeasure };
  });
  return {
    all,
    find: (asked) => {
      const found = all.find((s) => s.column === asked) ?? all.find((s) => fold(s.column) === fold(asked));
      if (found !== undefined) return found;
      const near = nearest(
        asked,
        all.map((s) => s.column),
      );
      const said = asked.length > 100 ? `${asked.slice(0, 100)}…` : asked;
      throw badRequest('unknown_column', `unknown column \`${said}\` of the ${view.cube ? 'cube' : 'view'} \`${view.name}\`${didYouMean(near)}`);
    },
  };
}

function namesOf(context: PlanContext, view: ViewDef): readonly { readonly name: string; readonly isMeasure: boolean }[] {
  if (view.cube) {
    const { stmt, standIns } = parsedView(new Work(context), view);
    return cubeColumns(view, stmt, (name) => standIns.get(name) ?? name);
  }
  const columns = view.columns.length > 0 ? view.columns.map((c) => c.name) : viewItem(new Work(context), view).columns.map((c) => c.key);
  return columns.map((name) => ({ name, isMeasure: false }));
}
