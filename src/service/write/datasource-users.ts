/** What reads a datasource, for messages. */
import { quoted } from '../../errors.ts';
import type { Model } from '../../ontology/model.ts';
import { sameName } from '../../ontology/names.ts';

/** The mappings and views that read a datasource. @param seen the visible part of the model: what is not in it is not named; undefined: all is visible */
export function usersOf(datasource: string, model: Model, seen: Model | undefined): readonly string[] {
  const sees = (list: 'mappings' | 'views', name: string): boolean => seen === undefined || seen[list].some((o: { readonly name: string }) => o.name === name);
  return [
    ...model.mappings.filter((m) => sameName(m.datasource, datasource)).map((m) => (sees('mappings', m.name) ? `mapping ${quoted(m.name)}` : 'a mapping')),
    ...model.views
      .filter((v) => v.datasource !== null && sameName(v.datasource, datasource))
      .map((v) => (sees('views', v.name) ? `view ${quoted(v.name)}` : 'a view')),
  ];
}
