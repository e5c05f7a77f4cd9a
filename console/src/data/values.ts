/** The values that the styles of a drawing read, loaded as entities appear. */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Model } from '../model/model.ts';
import type { DataGraph } from './graph.ts';
import { propertiesOf } from './requests.ts';
import { propertiesIn, type Style, type Values } from './style.ts';

/** A style without properties that the concept does not have: a link or file may name any. */
export function usable(model: Model, type: string, style: Style): Style {
  const has = (name: string | null): string | null =>
    model.concepts.get(type)?.properties.some((p) => p.name === name && !p.is_measure && !p.is_multi) ? name : null;
  return { ...style, colourBy: has(style.colourBy), sizeBy: has(style.sizeBy), labelBy: has(style.labelBy) };
}

/** The values of entities, by id. One request for each concept whose entities lack some. */
export function useValues(model: Model, graph: DataGraph, fail: (error: unknown) => void): Values {
  const [values, setValues] = useState<Values>(new Map());
  // what was asked for, so that a failure or a missing row is not asked for again
  const asked = useRef(new Set<string>());
  useEffect(() => {
    for (const [type, style] of graph.styles) {
      const names = propertiesIn(usable(model, type, style));
      const entities = [...graph.entities.values()].filter((e) => e.type === type && names.some((n) => !asked.current.has(`${n} ${e.id}`)));
      if (entities.length === 0) continue;
      for (const { id } of entities) for (const n of names) asked.current.add(`${n} ${id}`);
      const ids = entities.map((e) => e.id);
      propertiesOf(model.name, type, ids, names).then(
        (found) => setValues((before) => new Map([...before, ...[...found].map(([id, row]): [string, typeof row] => [id, { ...before.get(id), ...row }])])),
        fail,
      );
    }
  }, [graph]);
  return values;
}
