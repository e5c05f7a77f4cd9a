/** The starting script for tables. Pure: the console makes it in the browser, too. */
import { printConcept, printMapping, printProperty } from '../language/print.ts';
import { quoteBack } from '../language/quote.ts';
import { EMPTY_MODEL, type PropertyDef } from '../ontology/model.ts';
import { type StartingModel, startingModel } from './introspect-model.ts';
import type { DbTable } from './introspect-read.ts';

/** The script for a list of tables: notes as comments, then properties with descriptions, concepts and mappings. */
export function startingScript(tables: readonly DbTable[], datasource: string): string {
  const starting = startingModel(tables, datasource);
  const comments = [
    `A starting script for the datasource ${datasource}: review it, rename things as needed, then run`,
    'npm run kg -- apply FILE --ontology NAME',
    ...(datasource.toLowerCase() === 'main' ? [] : [`The ontology needs the datasource: ALTER ONTOLOGY NAME ADD DATASOURCE ${quoteBack(datasource)}`]),
    ...starting.notes,
  ];
  return [comments.map(comment).join('\n'), ...statementsOf(starting, [])].join('\n\n');
}

/** A line as a comment. */
export const comment = (line: string): string => `-- ${line.replace(/\p{Cc}/gu, ' ')}`;

/** The statements of a starting model, in groups. @param known properties that concepts list and that exist */
export function statementsOf({ properties, concepts, mappings }: StartingModel, known: readonly PropertyDef[]): string[] {
  const model = { ...EMPTY_MODEL, properties: [...properties, ...known], concepts };
  const groups = [
    properties.filter((p) => p.description !== null).map((p) => `${printProperty(p)};`),
    concepts.map((c) => `${printConcept(c, model, 'svc')};`),
    mappings.map((m) => `${printMapping(m)};`),
  ];
  return groups.flatMap((lines) => (lines.length === 0 ? [] : [lines.join('\n')]));
}
