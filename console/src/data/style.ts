/** How the entities of a concept look: colour, size and label, each fixed or by a property. Pure: no DOM, no request. */
import { numberOf } from '../api/exact.ts';

export interface Style {
  /** `#rrggbb`; null: the concept's usual colour. */
  readonly colour: string | null;
  /** The property whose values choose the colour. */
  readonly colourBy: string | null;
  /** The property of numbers that the size shows. */
  readonly sizeBy: string | null;
  /** The property that is written below the entity instead of its label. */
  readonly labelBy: string | null;
}

export type Styles = ReadonlyMap<string, Style>;
export const PLAIN: Style = { colour: null, colourBy: null, sizeBy: null, labelBy: null };
export const RADIUS = 11;
const LARGEST = 26;

export const COLOURS = ['#3b7dd8', '#d8743b', '#3ba55d', '#a453c9', '#c94f5d', '#3ba5a5', '#b3902e', '#6f7bd8', '#d8589e', '#5f8f3f', '#8b6f5a', '#4f8fb5'];
/** Values beyond the colours that are there, and entities without a value. */
const OTHER = '#8a8f98';

/** Reads the styles of a file or link. Everything that is not a style is left out. */
export function readStyles(value: unknown): Styles {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return new Map();
  const text = (v: unknown): string | null => (typeof v === 'string' ? v : null);
  return new Map(
    Object.entries(value).flatMap(([type, s]: [string, Partial<Record<keyof Style, unknown>> | null]): [string, Style][] => {
      if (typeof s !== 'object' || s === null) return [];
      const colour = text(s.colour);
      return [
        [
          type,
          {
            colour: colour !== null && /^#[0-9a-f]{6}$/i.test(colour) ? colour : null,
            colourBy: text(s.colourBy),
            sizeBy: text(s.sizeBy),
            labelBy: text(s.labelBy),
          },
        ],
      ];
    }),
  );
}

/** Changes the style of a concept. */
export function restyled(styles: Styles, type: string, part: Partial<Style>): Styles {
  const next = new Map(styles);
  const style = { ...PLAIN, ...styles.get(type), ...part };
  if (Object.values(style).every((v) => v === null)) next.delete(type);
  else next.set(type, style);
  return next;
}

/** The properties that a style reads. */
export const propertiesIn = ({ colourBy, sizeBy, labelBy }: Style): readonly string[] => [...new Set([colourBy, sizeBy, labelBy])].filter((p) => p !== null);

/** The values of the properties that styles read, by entity. */
export type Values = ReadonlyMap<string, Readonly<Record<string, unknown>>>;

/** How a concept is drawn, and what its legend says. */
export interface Look {
  readonly colour: string;
  fill(id: string): string;
  radius(id: string): number;
  /** Null: the entity's own label. */
  label(id: string): string | null;
  /** The colours of the values of `colourBy`. */
  readonly colours: readonly { readonly text: string; readonly colour: string }[];
  /** The smallest and the largest number of `sizeBy`. */
  readonly sizes: readonly [string, string] | null;
}

/**
 * The look of a concept.
 * @param colour its usual colour
 * @param ids its entities that are drawn
 * @param other the legend of values without a colour of their own
 */
export function lookOf(style: Style, usual: string, ids: readonly string[], values: Values, other: string): Look {
  const colour = style.colour ?? usual;
  const read = (id: string, property: string): unknown => values.get(id)?.[property] ?? null;
  const colours = new Map<string, string>();
  const { colourBy, sizeBy, labelBy } = style;
  if (colourBy !== null) {
    const texts = ids.map((id) => read(id, colourBy)).filter((v) => v !== null);
    const often = Map.groupBy(texts, String);
    // the most frequent values get a colour, in an order that does not depend on what was drawn first
    const most = [...often].sort(([a, x], [b, y]) => y.length - x.length || (a < b ? -1 : 1)).slice(0, COLOURS.length);
    for (const [i, [text]] of most.sort(([a], [b]) => a.localeCompare(b, 'en', { numeric: true })).entries()) colours.set(text, COLOURS[i] as string);
  }
  const numbers = sizeBy === null ? [] : ids.map((id) => numberIn(read(id, sizeBy))).filter((n) => n !== null);
  const [least, most] = [Math.min(...numbers), Math.max(...numbers)];
  const colourOf = (id: string): string => (colourBy === null ? colour : (colours.get(String(read(id, colourBy))) ?? OTHER));
  const hasOther = colourBy !== null && ids.some((id) => !colours.has(String(read(id, colourBy))));
  return {
    colour,
    fill: colourOf,
    radius(id) {
      const n = sizeBy === null ? null : numberIn(read(id, sizeBy));
      if (n === null) return RADIUS;
      // the area grows with the number
      const share = most === least ? 0 : (n - least) / (most - least);
      return Math.sqrt(RADIUS ** 2 + share * (LARGEST ** 2 - RADIUS ** 2));
    },
    label(id) {
      const value = labelBy === null ? null : read(id, labelBy);
      return value === null ? null : String(value);
    },
    colours: [...[...colours].map(([text, c]) => ({ text, colour: c })), ...(hasOther ? [{ text: other, colour: OTHER }] : [])],
    sizes: numbers.length === 0 ? null : [least.toLocaleString('en'), most.toLocaleString('en')],
  };
}

/** A number that the answer has as a number or, such as a decimal, as its text. */
function numberIn(value: unknown): number | null {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : numberOf(value);
  return number === null || !Number.isFinite(number) ? null : number;
}
