/** A drawing in a link: its entities, the relationships of its links, and its styles. */
import type { Model } from '../model/model.ts';
import { type DataGraph, MOST } from './graph.ts';
import { byIds, type Expansion, expandAll } from './requests.ts';
import { readStyles, type Styles } from './style.ts';

export function parametersOf({ entities, links, styles }: DataGraph): Readonly<Record<string, string>> {
  const kinds = new Set(links.map((l) => `${entities.get(l.from)?.type}.${l.relationship}`));
  return {
    entities: [...entities.keys()].join('\n'),
    ...(kinds.size === 0 ? {} : { links: [...kinds].join('\n') }),
    ...(styles.size === 0 ? {} : { styles: JSON.stringify(Object.fromEntries(styles)) }),
  };
}

/** Loads what a link names: one request for the entities of each concept, and one for each kind of links. @throws Failure */
export async function fromParameters(
  model: Model,
  { entity, entities, links = '', styles = '' }: Readonly<Record<string, string>>,
): Promise<Expansion & { readonly styles: Styles }> {
  const ids = entities?.split('\n') ?? (entity === undefined ? [] : [entity]);
  const found = await byIds(model, ids.slice(0, MOST));
  const kinds = new Set(links.split('\n'));
  const between = [...Map.groupBy(found, (f) => f.type)].flatMap(([type, sources]) =>
    (model.concepts.get(type)?.relationships ?? [])
      .filter((r) => kinds.has(`${type}.${r.name}`) && model.concepts.has(r.target))
      .map((r) => expandAll(model.name, type, sources, r, found)),
  );
  return { found, links: (await Promise.all(between)).flatMap((b) => b.links), styles: parsed(styles) };
}

function parsed(text: string): Styles {
  try {
    return readStyles(JSON.parse(text));
  } catch {
    return new Map();
  }
}
