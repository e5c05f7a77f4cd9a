/** Rows with coordinates. Pure. */
import { cellText, numberOf } from '../api/exact.ts';
import type { Rows } from '../api/rows.ts';

/** The columns that have coordinates. */
export interface PlaceColumns {
  readonly latitude: string;
  readonly longitude: string;
}

export interface PlacePoint {
  readonly row: number;
  readonly latitude: number;
  readonly longitude: number;
  readonly label: string;
}

const LATITUDE = /(?:^|[^a-z])lat(?:itude)?$/i;
const LONGITUDE = /(?:^|[^a-z])(?:lon|lng|long|longitude)$/i;
const SAMPLE = 50;

/** The columns with latitude and longitude, by name and values; null if there are none. */
export function placeColumns(rows: Rows, count: number): PlaceColumns | null {
  const has = (name: string, most: number): boolean => {
    const numbers = Array.from({ length: Math.min(count, SAMPLE) }, (_, i) => rows.row(i)[name]).filter((v) => v !== null && v !== undefined);
    return numbers.length > 0 && numbers.every((v) => Math.abs(numberOf(v) ?? Number.NaN) <= most);
  };
  const latitude = rows.columns.find((name) => LATITUDE.test(name) && has(name, 90));
  const longitude = rows.columns.find((name) => LONGITUDE.test(name) && has(name, 180));
  return latitude === undefined || longitude === undefined ? null : { latitude, longitude };
}

/** The points of the first `most` rows with coordinates. */
export function pointsOf(rows: Rows, count: number, { latitude, longitude }: PlaceColumns, most: number): readonly PlacePoint[] {
  const label =
    rows.columns.find((c) => c === 'entity_label' || /(?:^|[^a-z])name$/i.test(c)) ??
    rows.columns.find((c) => c !== latitude && c !== longitude && c !== 'entity_id' && c !== 'entity_type');
  const points: PlacePoint[] = [];
  for (let row = 0; row < count && points.length < most; row++) {
    const values = rows.row(row);
    const [y, x] = [numberOf(values[latitude]), numberOf(values[longitude])];
    if (y === null || x === null || Math.abs(y) > 90 || Math.abs(x) > 180) continue;
    points.push({ row, latitude: y, longitude: x, label: (label === undefined ? null : cellText(values[label])) ?? `${y}, ${x}` });
  }
  return points;
}

/** The part of the world that shows all points, with a margin: `x y width height` in degrees, latitudes negated. */
export function viewOf(points: readonly PlacePoint[]): readonly [number, number, number, number] {
  let [west, east, north, south] = [180, -180, -90, 90];
  for (const { latitude, longitude } of points) {
    west = Math.min(west, longitude);
    east = Math.max(east, longitude);
    north = Math.max(north, latitude);
    south = Math.min(south, latitude);
  }
  if (points.length === 0) return [-180, -90, 360, 180];
  // twice as wide as high, as the whole world is
  const height = Math.min(180, Math.max(6, 1.25 * Math.max(north - south, (east - west) / 2)));
  const width = 2 * height;
  const within = (middle: number, size: number, most: number): number => Math.max(-most, Math.min(middle - size / 2, most - size));
  return [within((west + east) / 2, width, 180), within(-(north + south) / 2, height, 90), width, height];
}
