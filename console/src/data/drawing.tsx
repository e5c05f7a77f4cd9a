/** The drawing of entities as SVG: every entity can be reached by keyboard and has a name for screen readers. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { texts } from '../texts.ts';
import { type DataGraph, type Entity, nameOf } from './graph.ts';
import type { Look } from './style.ts';

interface Props {
  readonly graph: DataGraph;
  readonly chosen: string | null;
  choose(id: string): void;
  move(id: string, x: number, y: number): void;
  look(type: string): Pick<Look, 'fill' | 'radius' | 'label'>;
}

interface View {
  readonly x: number;
  readonly y: number;
  readonly scale: number;
}

export function Drawing({ graph, chosen, choose, move, look }: Props) {
  const frame = useRef<SVGSVGElement>(null);
  const [view, setView] = useState<View>({ x: 0, y: 0, scale: 1 });
  const [size, setSize] = useState({ width: 800, height: 500 });
  const [held, setHeld] = useState<{ readonly id: string; readonly x: number; readonly y: number } | null>(null);
  /** An entity that is pressed: where the pointer was, and the distance to the middle of the entity. */
  const pressed = useRef<{ readonly id: string; readonly client: readonly [number, number]; readonly offset: readonly [number, number] } | null>(null);
  const panning = useRef<{ readonly x: number; readonly y: number; readonly view: View } | null>(null);
  const count = graph.entities.size;

  useEffect(() => {
    const element = frame.current;
    if (element === null) return;
    const observer = new ResizeObserver(() => setSize({ width: element.clientWidth, height: element.clientHeight }));
    observer.observe(element);
    const onWheel = (event: WheelEvent): void => {
      event.preventDefault();
      const factor = event.deltaY > 0 ? 1 / 1.15 : 1.15;
      setView((v) => ({ ...v, scale: Math.min(4, Math.max(0.1, v.scale * factor)) }));
    };
    element.addEventListener('wheel', onWheel, { passive: false });
    return () => {
      observer.disconnect();
      element.removeEventListener('wheel', onWheel);
    };
  }, []);
  // shows everything when entities were added or removed
  useEffect(() => setView(fitting(graph, size)), [count, size.width, size.height]);

  const at = (e: Entity): { x: number; y: number } => (held?.id === e.id ? held : e);
  const toGraph = (event: PointerEvent): { x: number; y: number } => {
    const box = frame.current?.getBoundingClientRect();
    return {
      x: (event.clientX - (box?.left ?? 0) - size.width / 2) / view.scale + view.x,
      y: (event.clientY - (box?.top ?? 0) - size.height / 2) / view.scale + view.y,
    };
  };
  // more names would cover each other: then only those of the chosen entity are shown
  const isSmall = graph.links.length <= 12;
  const numberOf = (id: string): number => graph.links.filter((l) => l.from === id || l.to === id).length;
  const linksOfChosen = chosen === null ? 0 : numberOf(chosen);
  return (
    <svg
      ref={frame}
      role="group"
      aria-label={texts.data.drawing}
      onPointerDown={(e) => {
        const id = (e.target as Element).closest('[data-entity]')?.getAttribute('data-entity');
        e.currentTarget.setPointerCapture(e.pointerId);
        const entity = id == null ? undefined : graph.entities.get(id);
        if (entity !== undefined) {
          choose(entity.id);
          const { x, y } = toGraph(e);
          pressed.current = { id: entity.id, client: [e.clientX, e.clientY], offset: [entity.x - x, entity.y - y] };
        } else panning.current = { x: e.clientX, y: e.clientY, view };
      }}
      onPointerMove={(e) => {
        const down = pressed.current;
        // a click moves the pointer by a few pixels, which is not a drag
        if (down !== null && (held !== null || Math.hypot(e.clientX - down.client[0], e.clientY - down.client[1]) > 5)) {
          const { x, y } = toGraph(e);
          setHeld({ id: down.id, x: x + down.offset[0], y: y + down.offset[1] });
        }
        const from = panning.current;
        if (from !== null) setView({ ...from.view, x: from.view.x - (e.clientX - from.x) / view.scale, y: from.view.y - (e.clientY - from.y) / view.scale });
      }}
      onPointerUp={() => {
        if (held !== null) move(held.id, held.x, held.y);
        pressed.current = null;
        setHeld(null);
        panning.current = null;
      }}
    >
      <g transform={`translate(${size.width / 2} ${size.height / 2}) scale(${view.scale}) translate(${-view.x} ${-view.y})`}>
        {graph.links.map((l) => {
          const [a, b] = [graph.entities.get(l.from), graph.entities.get(l.to)];
          if (a === undefined || b === undefined) return null;
          const [p, q] = [at(a), at(b)];
          const isNamed = isSmall || (graph.links.length <= 120 && (l.from === chosen || l.to === chosen) && linksOfChosen <= 12);
          // nearer to the end with fewer links, where there is more room, but less so if that end is above: its label is between
          const down = (q.y - p.y) / Math.max(1, Math.hypot(q.x - p.x, q.y - p.y));
          const part = isNamed ? 0.5 + Math.sign(numberOf(l.from) - numberOf(l.to)) * 0.06 + 0.04 * down : 0.5;
          return (
            <g key={`${l.from} ${l.relationship} ${l.to}`} class="tie">
              <line x1={p.x} y1={p.y} x2={q.x} y2={q.y} vector-effect="non-scaling-stroke" />
              {isNamed && (
                <text x={p.x + (q.x - p.x) * part} y={p.y + (q.y - p.y) * part - 4} text-anchor="middle">
                  {l.relationship}
                </text>
              )}
            </g>
          );
        })}
        {[...graph.entities.values()].map((e) => {
          const { x, y } = at(e);
          const drawn = look(e.type);
          const name = drawn.label(e.id) ?? nameOf(e);
          const shown = name.length > 28 ? `${name.slice(0, 27)}\u2026` : name;
          const radius = drawn.radius(e.id);
          return (
            <g
              key={e.id}
              data-entity={e.id}
              class={`entity${e.id === chosen ? ' chosen' : ''}`}
              role="button"
              tabindex={0}
              aria-label={`${shown}, ${e.type}`}
              aria-pressed={e.id === chosen}
              transform={`translate(${x} ${y})`}
              onKeyDown={(event) => {
                if (event.key !== 'Enter' && event.key !== ' ') return;
                event.preventDefault();
                choose(e.id);
              }}
            >
              <circle r={radius} fill={drawn.fill(e.id)} stroke-dasharray={e.pinned ? '3 2' : undefined} />
              <text y={radius + 14} text-anchor="middle">
                {shown}
              </text>
            </g>
          );
        })}
      </g>
    </svg>
  );
}

function fitting({ entities }: DataGraph, { width, height }: { readonly width: number; readonly height: number }): View {
  const all = [...entities.values()];
  if (all.length === 0) return { x: 0, y: 0, scale: 1 };
  const [left, right] = [Math.min(...all.map((e) => e.x)), Math.max(...all.map((e) => e.x))];
  const [top, bottom] = [Math.min(...all.map((e) => e.y)), Math.max(...all.map((e) => e.y))];
  const scale = Math.min(1.4, (width - 120) / Math.max(1, right - left), (height - 100) / Math.max(1, bottom - top));
  return { x: (left + right) / 2, y: (top + bottom) / 2, scale: Math.max(0.1, scale) };
}
