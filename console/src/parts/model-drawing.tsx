/** The drawing of a model as SVG: zoom, pan, keyboard, and export. */
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { type Edge, layout, type Placed } from '../model/graph.ts';
import type { Model } from '../model/model.ts';
import { texts } from '../texts.ts';
import { download } from './basics.tsx';
import { asPng, asSvg } from './picture.ts';

interface Props {
  readonly model: Model;
  readonly drawn: { readonly nodes: readonly string[]; readonly edges: readonly Edge[] };
  readonly chosen: string | null;
  readonly collapsed: ReadonlySet<string>;
  choose(name: string): void;
  focus(name: string): void;
  toggle(name: string): void;
}

interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

const whole = ({ width, height }: Placed): Box => ({ x: 0, y: 0, width: Math.max(width, 200), height: Math.max(height, 120) });

export function Drawing({ model, drawn, chosen, collapsed, choose, focus, toggle }: Props) {
  const placed = useMemo(() => layout(drawn), [drawn]);
  const [box, setBox] = useState<Box>(whole(placed));
  const svg = useRef<SVGSVGElement>(null);
  const drag = useRef<{ readonly x: number; readonly y: number; readonly box: Box } | null>(null);
  useEffect(() => setBox(fitting(placed, svg.current)), [placed]);

  const zoom = (factor: number, at?: { readonly x: number; readonly y: number }): void =>
    setBox((b) => {
      const width = Math.min(Math.max(b.width * factor, 120), placed.width * 4 + 400);
      const height = (b.height * width) / b.width;
      const [cx, cy] = at === undefined ? [0.5, 0.5] : [(at.x - b.x) / b.width, (at.y - b.y) / b.height];
      return { x: b.x + (b.width - width) * cx, y: b.y + (b.height - height) * cy, width, height };
    });
  const pan = (dx: number, dy: number): void => setBox((b) => ({ ...b, x: b.x + dx * b.width, y: b.y + dy * b.height }));
  const pointOf = (event: MouseEvent): { x: number; y: number } => {
    const matrix = svg.current?.getScreenCTM()?.inverse();
    const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(matrix ?? undefined);
    return { x: point.x, y: point.y };
  };

  // a wheel listener of Preact is passive, and could not prevent that the page scrolls
  useEffect(() => {
    const element = svg.current;
    const onWheel = (event: WheelEvent): void => {
      event.preventDefault();
      zoom(event.deltaY > 0 ? 1.15 : 1 / 1.15, pointOf(event));
    };
    element?.addEventListener('wheel', onWheel, { passive: false });
    return () => element?.removeEventListener('wheel', onWheel);
  }, [placed]);

  const onKey = (event: KeyboardEvent): void => {
    const steps: Readonly<Record<string, () => void>> = {
      ArrowLeft: () => pan(-0.1, 0),
      ArrowRight: () => pan(0.1, 0),
      ArrowUp: () => pan(0, -0.1),
      ArrowDown: () => pan(0, 0.1),
      '+': () => zoom(1 / 1.25),
      '-': () => zoom(1.25),
      '0': () => setBox(fitting(placed, svg.current)),
    };
    const step = steps[event.key];
    if (step === undefined || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    step();
  };

  return (
    <div class="canvas">
      <svg
        ref={svg}
        role="group"
        aria-label={texts.model.drawing}
        tabindex={0}
        viewBox={`${box.x} ${box.y} ${box.width} ${box.height}`}
        onKeyDown={onKey}
        onPointerDown={(e) => {
          if ((e.target as Element).closest('.node, .toggle') !== null) return;
          drag.current = { x: e.clientX, y: e.clientY, box };
          e.currentTarget.setPointerCapture(e.pointerId);
        }}
        onPointerMove={(e) => {
          const from = drag.current;
          if (from === null) return;
          const scale = from.box.width / e.currentTarget.clientWidth;
          setBox({ ...from.box, x: from.box.x - (e.clientX - from.x) * scale, y: from.box.y - (e.clientY - from.y) * scale });
        }}
        onPointerUp={() => (drag.current = null)}
      >
        <defs>
          <marker id="inherits" viewBox="0 0 12 12" refX="11" refY="6" markerWidth="12" markerHeight="12" orient="auto-start-reverse">
            <path d="M1 1 L11 6 L1 11 Z" class="arrow hollow" />
          </marker>
          <marker id="relates" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="9" markerHeight="9" orient="auto-start-reverse">
            <path d="M0 1 L9 5 L0 9" class="arrow open" />
          </marker>
        </defs>
        {placed.edges.map((edge, i) => (
          <Line key={i} edge={edge} dim={chosen !== null && edge.from !== chosen && edge.to !== chosen} />
        ))}
        {placed.nodes.map((node) => {
          const concept = model.concepts.get(node.name);
          const hasChildren = (model.children.get(node.name)?.length ?? 0) > 0;
          const isCollapsed = collapsed.has(node.name);
          return (
            <g key={node.name} transform={`translate(${node.x - node.width / 2} ${node.y - node.height / 2})`}>
              <g
                class={`node${node.name === chosen ? ' chosen' : ''}${concept?.query == null ? '' : ' logic'}`}
                role="button"
                tabindex={0}
                aria-pressed={node.name === chosen}
                aria-label={node.name}
                onClick={() => choose(node.name)}
                onDblClick={() => focus(node.name)}
                onKeyDown={(e) => {
                  if (e.key !== 'Enter' && e.key !== ' ') return;
                  e.preventDefault();
                  e.stopPropagation();
                  choose(node.name);
                }}
              >
                {concept?.description != null && <title>{concept.description}</title>}
                <rect width={node.width} height={node.height} rx="6" />
                <text x={node.width / 2} y={node.height / 2 + 5} text-anchor="middle">
                  {node.name}
                </text>
              </g>
              {hasChildren && (
                <g
                  class="toggle"
                  role="button"
                  tabindex={0}
                  aria-label={isCollapsed ? texts.model.expand(node.name) : texts.model.collapse(node.name)}
                  transform={`translate(${node.width / 2} ${node.height})`}
                  onClick={(e) => {
                    e.stopPropagation();
                    toggle(node.name);
                  }}
                  onKeyDown={(e) => {
                    if (e.key !== 'Enter' && e.key !== ' ') return;
                    e.preventDefault();
                    e.stopPropagation();
                    toggle(node.name);
                  }}
                >
                  <circle r="7" />
                  <path d={isCollapsed ? 'M-3.5 0 H3.5 M0 -3.5 V3.5' : 'M-3.5 0 H3.5'} />
                </g>
              )}
            </g>
          );
        })}
      </svg>
      <div class="tools">
        <button type="button" onClick={() => zoom(1 / 1.25)} aria-label={texts.model.zoomIn}>
          +
        </button>
        <button type="button" onClick={() => zoom(1.25)} aria-label={texts.model.zoomOut}>
          &minus;
        </button>
        <button type="button" onClick={() => setBox(fitting(placed, svg.current))}>
          {texts.model.fit}
        </button>
        <button type="button" onClick={() => svg.current !== null && download(`${model.name}.svg`, asSvg(svg.current, whole(placed)))}>
          {texts.model.svg}
        </button>
        <button
          type="button"
          onClick={() => svg.current !== null && void asPng(svg.current, whole(placed)).then((picture) => download(`${model.name}.png`, picture))}
        >
          {texts.model.png}
        </button>
      </div>
    </div>
  );
}

/** The height of the buttons, in pixels. */
const TOOLS = 56;

/** The part of the drawing that is first shown: all of it, but no name smaller than about 7 pixels. */
function fitting(placed: Placed, svg: SVGSVGElement | null): Box {
  const all = whole(placed);
  // the buttons cover the lower edge
  const [w, h] = [svg?.clientWidth || 800, (svg?.clientHeight || 600) - TOOLS];
  const scale = Math.min(1.25, Math.max(0.5, Math.min(w / all.width, h / all.height)));
  const width = w / scale;
  const height = h / scale;
  const y = height > all.height ? (all.height - height) / 2 : 0;
  return { x: (all.width - width) / 2, y, width, height: height + TOOLS / scale };
}

/** A relationship of a concept with itself: from its right side and back. */
const loopOf = ({ x, y }: { readonly x: number; readonly y: number }): string => `M${x} ${y - 8} C${x + 34} ${y - 22} ${x + 34} ${y + 22} ${x} ${y + 8}`;

function Line({ edge, dim }: { readonly edge: Placed['edges'][number]; readonly dim: boolean }) {
  const [first, ...others] = edge.points;
  if (first === undefined) return null;
  const path = edge.loop === null ? `M${first.x} ${first.y}${others.map((p) => ` L${p.x} ${p.y}`).join('')}` : loopOf(edge.loop);
  return (
    <g class={`edge ${edge.kind}${dim ? ' dim' : ''}`}>
      <path d={path} marker-end={`url(#${edge.kind})`} />
      {edge.label !== null &&
        edge.labels.map((text, i) => (
          <text key={text} x={edge.label!.x} y={edge.label!.y + 4 + (i - (edge.labels.length - 1) / 2) * 14} text-anchor="middle">
            {text}
          </text>
        ))}
    </g>
  );
}
