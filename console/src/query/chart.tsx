/** A chart of a result: its kind and columns are guessed from the values and can be changed. */
import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import { cellText, numberOf } from '../api/exact.ts';
import type { Rows } from '../api/rows.ts';
import { texts } from '../texts.ts';
import { useChartChoices } from './chart-choices.tsx';

/** The most points that are drawn. */
const MOST = 20_000;
const COLOURS = ['#3b7dd8', '#d8743b', '#3ba55d', '#a453c9', '#c94f5d', '#3ba5a5'];

/** The height that is left in the result below the controls, within limits. */
function heightAt(element: Element): number {
  const body = element.closest('.body');
  return body === null ? 320 : Math.min(480, Math.max(180, body.clientHeight - 116));
}

export default function Chart({ rows, count }: { readonly rows: Rows; readonly count: number }) {
  const host = useRef<HTMLDivElement>(null);
  const { shape, x, y, kind: chosen, controls } = useChartChoices(rows, count);
  const isNumber = shape.numbers.includes(x);

  useEffect(() => {
    const element = host.current;
    if (element === null || y === '') return;
    const most = Math.min(count, chosen === 'bar' ? 60 : MOST);
    const labels: string[] = [];
    const xs: number[] = [];
    const ys: (number | null)[] = [];
    const order = Array.from({ length: most }, (_, i) => i);
    const at = (i: number): number => {
      const v = rows.row(i)[x];
      if (shape.times.includes(x)) return Date.parse(String(v)) / 1000;
      return isNumber ? (numberOf(v) ?? Number.NaN) : i;
    };
    const placed = order.map((i) => ({ i, at: at(i) })).filter((p) => !Number.isNaN(p.at));
    placed.sort((a, b) => a.at - b.at);
    for (const p of placed) {
      labels.push(cellText(rows.row(p.i)[x]) ?? texts.query.null);
      xs.push(p.at);
      ys.push(numberOf(rows.row(p.i)[y]));
    }
    const style = getComputedStyle(document.documentElement);
    const stroke = style.getPropertyValue('--muted');
    const grid = { stroke: style.getPropertyValue('--line'), width: 1 };
    const isTime = shape.times.includes(x);
    const chart = new uPlot(
      {
        width: element.clientWidth || 640,
        height: heightAt(element),
        // bars have room on both sides
        scales: {
          x: { time: isTime, ...(isTime || isNumber ? {} : { range: [-0.6, labels.length - 0.4] as [number, number] }) },
          // bars begin at zero
          y: chosen === 'bar' ? { range: (_u: uPlot, least: number, most: number) => [1.05 * Math.min(0, least), 1.05 * Math.max(0, most) || 1] } : {},
        },
        axes: [
          {
            stroke,
            grid,
            ...(isTime || isNumber
              ? {}
              : {
                  incrs: [1, 2, 5, 10, 20, 50],
                  // as far apart as the longest is wide
                  space: () => 4 + 6 * Math.min(16, Math.max(...labels.map((l) => l.length))),
                  values: (_u: uPlot, splits: number[]) => splits.map((s) => (Number.isInteger(s) ? (labels[s] ?? '').slice(0, 16) : '')),
                }),
          },
          // as wide as its longest number
          { stroke, grid, size: (_u: uPlot, numbers: readonly string[] | null) => 24 + 8 * Math.max(4, ...(numbers ?? []).map((n) => n.length)) },
        ],
        series: [
          { label: x, ...(isTime || isNumber ? {} : { value: (_u: uPlot, v: number | null) => (v === null ? '' : (labels[v] ?? '')) }) },
          {
            label: y,
            stroke: COLOURS[0] as string,
            ...(chosen === 'bar' ? { fill: `${COLOURS[0]}99`, paths: uPlot.paths.bars?.({ size: [0.7, 60] }) ?? (() => null), points: { show: false } } : {}),
            ...(chosen === 'scatter' ? { paths: () => null, points: { show: true, size: 5 } } : {}),
          },
        ],
      },
      [xs, ys],
      element,
    );
    const observer = new ResizeObserver(() => chart.setSize({ width: element.clientWidth, height: heightAt(element) }));
    observer.observe(element);
    return () => {
      observer.disconnect();
      chart.destroy();
    };
  }, [rows, count, x, y, chosen]);

  if (shape.numbers.length === 0) return <p class="empty">{texts.query.noChart}</p>;
  return (
    <div class="chart">
      {controls}
      <div ref={host} role="img" aria-label={`${y} / ${x}`} />
    </div>
  );
}
