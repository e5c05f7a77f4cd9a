/** Explains how a path is written, with examples from the graph itself. Pure. */
import type { Subject, SubjectColumn } from '../../service.ts';
import type { Edge, ModelMap } from './map.ts';
import { pathName } from './text.ts';

interface Hop {
  readonly from: number;
  readonly to: number;
  readonly text: string;
  readonly edge: Edge;
}

/** The lines: one for each way to write a path for which `part` has an example. Empty if the part has no relationship. `score`: prefers examples with these subjects. */
export function pathLines(map: ModelMap, part: readonly number[], score: (n: number) => number): readonly string[] {
  const hops = hopsOf(map, part).sort((a, b) => score(b.from) + score(b.to) - score(a.from) - score(a.to));
  const [first] = hops;
  if (first === undefined) return [];
  const made = new Examples(map, part, hops);
  return ['How to write a path, with examples from this graph (a path is one name in back-quotes, and a column of the concept in FROM):', ...made.lines(first)];
}

/** Each relationship in the direction in which it is declared. */
function hopsOf(map: ModelMap, part: readonly number[]): Hop[] {
  const isIn = new Set(part);
  const edges = new Set(part.flatMap((n) => map.edgesAt[n] ?? []));
  return [...edges].flatMap((i) => {
    const edge = map.edges[i] as Edge;
    const to = map.subjects[edge.to];
    if (!isIn.has(edge.from) || !isIn.has(edge.to) || to === undefined) return [];
    return [{ from: edge.from, to: edge.to, text: pathName(edge.there.name, to.name), edge }];
  });
}

class Examples {
  readonly #map: ModelMap;
  readonly #hops: readonly Hop[];
  /** A child of each concept that has one in the part. */
  readonly #children = new Map<number, Subject>();

  constructor(map: ModelMap, part: readonly number[], hops: readonly Hop[]) {
    this.#map = map;
    this.#hops = hops;
    for (const n of part) for (const p of map.parents[n] ?? []) if (!this.#children.has(p)) this.#children.set(p, map.subjects[n] as Subject);
  }

  lines(first: Hop): readonly string[] {
    return [
      this.#line('one hop', first, `${first.text}.${this.#column(first.to)}`),
      this.#twoHops(),
      this.#link(),
      this.#narrowed(),
      this.#walk(),
      this.#measure(),
      this.#kind(),
    ].filter((l) => l !== '');
  }

  #line(what: string, { from }: Hop, path: string, more = ''): string {
    return `- ${what}, from ${this.#name(from)}: \`${path}\`${more}`;
  }

  #name(n: number): string {
    return this.#map.subjects[n]?.name ?? '';
  }

  /** A column that names a row, otherwise any. */
  #column(n: number): string {
    const columns = this.#map.subjects[n]?.columns.filter((c) => !c.isMeasure) ?? [];
    const best = (is: (c: SubjectColumn) => boolean): SubjectColumn | undefined => columns.find(is);
    return (best((c) => c.isLabel) ?? best((c) => !c.isKey) ?? columns[0])?.name ?? 'entity_label';
  }

  #twoHops(): string {
    for (const one of this.#hops) {
      const two = this.#hops.find((h) => h.from === one.to && h.to !== one.from && h.to !== one.to);
      if (two !== undefined) return this.#line('two hops', one, `${one.text}.${two.text}.${this.#column(two.to)}`, '; longer paths go on like this');
    }
    return '';
  }

  #link(): string {
    const hop = this.#hops.find((h) => h.edge.there.linkColumns.length > 0);
    return hop === undefined ? '' : this.#line('a link column', hop, `${hop.text}_${hop.edge.there.linkColumns[0]?.name}`, ' (no dot)');
  }

  #narrowed(): string {
    for (const hop of this.#hops) {
      const kind = this.#children.get(hop.to);
      if (kind === undefined) continue;
      return this.#line(`only ${kind.name} of ${this.#name(hop.to)}`, hop, `${pathName(hop.edge.there.name, kind.name)}.${this.#column(hop.to)}`);
    }
    return '';
  }

  #walk(): string {
    const hop = this.#hops.find((h) => h.edge.there.transitivity !== null);
    if (hop === undefined) return '';
    const text = hop.text.replace(/\]$/, `*${hop.edge.there.transitivity}]`);
    return this.#line('a walk of one or more steps', hop, `${text}.${this.#column(hop.to)}`, `; the number of steps: \`${text}_transitivity_level\``);
  }

  #measure(): string {
    for (const { edge, from, to } of this.#hops) {
      // a measure is mostly at the end that is counted, so the way back leads to it
      const { back } = edge;
      const far = this.#map.subjects[from]?.columns.find((c) => c.isMeasure);
      if (back !== null && far !== undefined)
        return `- a measure at its end, from ${this.#name(to)}: SUM(\`measure.${pathName(back.name, this.#name(from))}.${far.name}\`)`;
    }
    return '';
  }

  #kind(): string {
    const [first] = this.#children;
    if (first === undefined) return '';
    const [parent, child] = first;
    return `- the kind of a row, from ${this.#name(parent)}: \`_type_of_${child.name}\` is a boolean; \`entity_type\` is the name of the concept`;
  }
}
