/** Dates and times as PostgreSQL's to_json writes them, and the calendar arithmetic that format patterns need. */

export interface Moment {
  /** Astronomical year: 0 is 1 BC. */
  readonly year: number;
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
  readonly microsecond: number;
  /** Minutes east of Greenwich; null for a timestamp without time zone. A date counts as UTC, as in to_char. */
  readonly offset: number | null;
}

const MOMENT = /^(\d{4,7})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d):(\d\d)(?:\.(\d{1,6}))?([+-]\d\d(?::?\d\d)?|Z)?)?( BC)?$/;

/** Parses a date, a timestamp, or a timestamp with time zone. Returns undefined for any other text. */
export function readMoment(text: string): Moment | undefined {
  const m = MOMENT.exec(text);
  if (!m) return undefined;
  const years = Number(m[1]);
  const moment = {
    year: m[9] === undefined ? years : 1 - years,
    month: Number(m[2]),
    day: Number(m[3]),
    hour: Number(m[4] ?? 0),
    minute: Number(m[5] ?? 0),
    second: Number(m[6] ?? 0),
    microsecond: Number((m[7] ?? '').padEnd(6, '0')),
    offset: m[4] === undefined ? 0 : offsetOf(m[8]),
  };
  const fits =
    years > 0 &&
    moment.month >= 1 &&
    moment.month <= 12 &&
    moment.day >= 1 &&
    moment.day <= daysIn(moment.year, moment.month) &&
    moment.hour < 24 &&
    moment.minute < 60 &&
    moment.second < 60;
  return fits ? moment : undefined;
}

function offsetOf(zone: string | undefined): number | null {
  if (zone === undefined) return null;
  if (zone === 'Z') return 0;
  const minutes = Number(zone.slice(1, 3)) * 60 + Number(zone.slice(3).replace(':', '') || 0);
  return zone.startsWith('-') ? -minutes : minutes;
}

const isLeap = (year: number): boolean => year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);

const daysIn = (year: number, month: number): number =>
  month === 2 ? (isLeap(year) ? 29 : 28) : month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;

/** The Julian day of a date in the Gregorian calendar. */
export function julianDay(year: number, month: number, day: number): number {
  const a = Math.floor((14 - month) / 12);
  const y = year + 4800 - a;
  const m = month + 12 * a - 3;
  return day + Math.floor((153 * m + 2) / 5) + 365 * y + Math.floor(y / 4) - Math.floor(y / 100) + Math.floor(y / 400) - 32045;
}

/** The day of the week: 0 is Sunday, 6 is Saturday. */
export const weekday = (julian: number): number => (((julian + 1) % 7) + 7) % 7;

export const dayOfYear = (d: Moment): number => julianDay(d.year, d.month, d.day) - julianDay(d.year, 1, 1) + 1;

/** Year, week and day of the week in ISO 8601's week calendar. */
export function isoWeek(d: Moment): { readonly year: number; readonly week: number; readonly day: number } {
  const julian = julianDay(d.year, d.month, d.day);
  let { year } = d;
  if (julian >= firstMonday(year + 1)) year++;
  else if (julian < firstMonday(year)) year--;
  const days = julian - firstMonday(year);
  return { year, week: Math.floor(days / 7) + 1, day: days + 1 };
}

/** The Julian day on which the first ISO week of a year starts. */
function firstMonday(year: number): number {
  const fourth = julianDay(year, 1, 4);
  return fourth - ((weekday(fourth) + 6) % 7);
}
