/** The rows with coordinates as points on a map of outlines. */
import { useMemo, useState } from 'preact/hooks';
import type { Rows } from '../api/rows.ts';
import { texts } from '../texts.ts';
import { LAND } from './land.ts';
import { type PlaceColumns, pointsOf, viewOf } from './places.ts';

/** The most points that are drawn. */
const MOST = 5_000;

interface Props {
  readonly rows: Rows;
  readonly count: number;
  readonly columns: PlaceColumns;
}

export default function PointMap({ rows, count, columns }: Props) {
  const [isWorld, setWorld] = useState(false);
  const points = useMemo(() => pointsOf(rows, count, columns, MOST), [rows, count, columns]);
  const view = useMemo(() => viewOf(isWorld ? [] : points), [points, isWorld]);
  const size = view[3] / 180;
  return (
    <div class="map">
      <div class="bar">
        <span class="muted">{texts.query.points(points.length)}</span>
        <span class="grow" />
        <button type="button" aria-pressed={isWorld} onClick={() => setWorld(!isWorld)}>
          {texts.query.world}
        </button>
      </div>
      <svg viewBox={view.join(' ')} role="img" aria-label={texts.query.points(points.length)}>
        <path class="land" d={LAND} stroke-width={0.4 * size} />
        {points.map(({ row, latitude, longitude, label }) => (
          <circle key={row} cx={longitude} cy={-latitude} r={1.3 * size} stroke-width={0.3 * size}>
            <title>{label}</title>
          </circle>
        ))}
        {points.length <= 30 &&
          points.map(({ row, latitude, longitude, label }) => (
            <text key={row} x={longitude + 2 * size} y={-latitude + 1.2 * size} font-size={3.6 * size}>
              {label.slice(0, 30)}
            </text>
          ))}
      </svg>
    </div>
  );
}
