/** A small chart as SVG, for pages that must not load a library. It shows what the chart of the console would show of the same rows. */
import { cellText, numberOf } from '../api/exact.ts';
import type { Rows } from '../api/rows.ts';
import { useChartChoices } from '../query/chart-choices.tsx';
import { texts } from '../texts.ts';
import { own } from './texts.ts';

/** The most bars and points. */
const MOST_BARS = 30;
const MOST_POINTS = 3_000;
const [WIDTH, HEIGHT, LEFT, BOTTOM] = [640, 280, 72, 28];

interface Point {
  readonly label: string;
  readonly x: number;
  readonly y: number;
}

export function Chart({ rows, count }: { readonly rows: Rows; readonly count: number }) {
  const { shape, x, y, kind: chosen, controls } = useChartChoices(rows, count);
  if (shape.numbers.length === 0) return <p class="empty">{texts.query.noChart}</p>;
  const isTime = shape.times.includes(x);
  const points: Point[] = [];
  for (let i = 0; i < Math.min(count, chosen === 'bar' ? MOST_BARS : MOST_POINTS); i++) {
    const row = rows.row(i);
    const at = isTime ? Date.parse(String(row[x])) : shape.numbers.includes(x) ? (numberOf(row[x]) ?? Number.NaN) : i;
    const height = numberOf(row[y]);
    if (height !== null && (chosen === 'bar' || !Number.isNaN(at))) points.push({ label: cellText(row[x]) ?? texts.query.null, x: at, y: height });
  }
  if (chosen === 'line') points.sort((a, b) => a.x - b.x);
  return (
    <div class="chart">
      {controls}
      {chosen === 'bar' ? (
        <Bars points={points} name={`${y} / ${x}`} />
      ) : (
        <Plot points={points} name={`${y} / ${x}`} isLine={chosen === 'line'} isTime={isTime} />
      )}
      {chosen === 'bar' && count > MOST_BARS && <p class="muted">{own.firstBars(MOST_BARS, count)}</p>}
    </div>
  );
}

const printed = (n: number): string => n.toLocaleString('en', { maximumFractionDigits: 2 });

interface Drawn {
  readonly points: readonly Point[];
  /** For screen readers. The table has the values. */
  readonly name: string;
}

function Bars({ points, name }: Drawn) {
  const [low, high] = [Math.min(0, ...points.map((p) => p.y)), Math.max(0, ...points.map((p) => p.y))];
  const percent = (n: number): number => (high === low ? 0 : (100 * n) / (high - low));
  return (
    <div class="bars" role="img" aria-label={name}>
      {points.map(({ label, y }, i) => (
        <div key={i} class="one">
          <span class="name" title={label}>
            {label.slice(0, 200)}
          </span>
          <span class="track">
            <span class="block" style={{ marginLeft: `${percent(Math.min(y, 0) - low)}%`, width: `${percent(Math.abs(y))}%` }} />
          </span>
          <span class="size">{printed(y)}</span>
        </div>
      ))}
    </div>
  );
}

/** Round values between two numbers, at most about `most`. */
export function ticksOf(low: number, high: number, most: number): readonly number[] {
  if (!(high > low)) return [low];
  const rough = (high - low) / most;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5, 10].find((f) => f * power >= rough) ?? 10);
  const first = Math.ceil(low / step);
  return Array.from({ length: Math.floor(high / step) - first + 1 }, (_, i) => (first + i) * step);
}

function Plot({ points, name, isLine, isTime }: Drawn & { readonly isLine: boolean; readonly isTime: boolean }) {
  const rangeOf = (values: readonly number[]): readonly [number, number] => [Math.min(...values), Math.max(...values)];
  const [[x0, x1], [y0, y1]] = [rangeOf(points.map((p) => p.x)), rangeOf(points.map((p) => p.y))];
  const left = (x: number): number => LEFT + ((WIDTH - LEFT - 12) * (x - x0)) / (x1 - x0 || 1);
  const top = (y: number): number => HEIGHT - BOTTOM - ((HEIGHT - BOTTOM - 12) * (y - y0)) / (y1 - y0 || 1);
  const date = (ms: number): string => new Date(ms).toISOString().slice(0, 10);
  const alongX = isTime ? [x0, (x0 + x1) / 2, x1] : ticksOf(x0, x1, 6);
  if (points.length === 0) return <p class="empty">{texts.query.empty}</p>;
  return (
    <svg class="plot" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={name}>
      {ticksOf(y0, y1, 5).map((t) => (
        <g key={t}>
          <line x1={LEFT} x2={WIDTH - 12} y1={top(t)} y2={top(t)} />
          <text x={LEFT - 8} y={top(t) + 4} text-anchor="end">
            {printed(t)}
          </text>
        </g>
      ))}
      {alongX.map((t, i) => (
        <text key={t} x={left(t)} y={HEIGHT - 8} text-anchor={isTime && i === 0 ? 'start' : isTime && i === 2 ? 'end' : 'middle'}>
          {isTime ? date(t) : printed(t)}
        </text>
      ))}
      {isLine && <path d={points.map((p, i) => `${i === 0 ? 'M' : 'L'}${left(p.x).toFixed(1)} ${top(p.y).toFixed(1)}`).join('')} />}
      {(!isLine || points.length <= 60) &&
        points.map((p, i) => (
          <circle key={i} cx={left(p.x)} cy={top(p.y)} r="3">
            <title>{`${p.label}: ${printed(p.y)}`}</title>
          </circle>
        ))}
    </svg>
  );
}
