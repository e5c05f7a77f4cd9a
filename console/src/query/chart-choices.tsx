/** What a chart shows of its rows: guessed from the values, and changed by its controls. */
import type { ComponentChild } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import type { Rows } from '../api/rows.ts';
import { texts } from '../texts.ts';
import { chosenIn, KINDS, type Kind, type Shape, shapeOf } from './shape.ts';

/** The choices of a chart, and the controls that change them. */
export interface ChartChoices {
  readonly shape: Shape;
  /** The columns of both axes. */
  readonly x: string;
  readonly y: string;
  readonly kind: Kind;
  readonly controls: ComponentChild;
}

export function useChartChoices(rows: Rows, count: number): ChartChoices {
  const shape = useMemo(() => shapeOf(rows, count), [rows, count]);
  const [kind, setKind] = useState<Kind | null>(null);
  const [along, setAlong] = useState<string | null>(null);
  const [value, setValue] = useState<string | null>(null);
  const chosen = chosenIn(shape, along, value, kind);
  const select = (label: string, current: string, options: readonly (readonly [value: string, text: string])[], set: (to: string) => void) => (
    <label>
      {label}{' '}
      <select value={current} onChange={(e) => set(e.currentTarget.value)}>
        {options.map(([option, text]) => (
          <option key={option} value={option}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
  const named = (columns: readonly string[]) => columns.map((c) => [c, c] as const);
  const controls = (
    <div class="bar">
      {select(
        texts.query.chartKind,
        chosen.kind,
        KINDS.map((k) => [k, texts.query.kinds[k]] as const),
        (to) => setKind(to as Kind),
      )}
      {select(texts.query.chartX, chosen.x, named(rows.columns), setAlong)}
      {select(texts.query.chartY, chosen.y, named(shape.numbers), setValue)}
    </div>
  );
  return { shape, ...chosen, controls };
}
