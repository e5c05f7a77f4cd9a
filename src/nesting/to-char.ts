/** PostgreSQL's to_char for dates and times (documentation, "Data Type Formatting Functions"; months and days in English). */
import { dayOfYear, isoWeek, julianDay, type Moment, weekday } from './moment.ts';

const MONTHS = ['January', 'February', 'March', 'April', 'May', 'June', 'July', 'August', 'September', 'October', 'November', 'December'];
const DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];
const ROMAN = ['I', 'II', 'III', 'IV', 'V', 'VI', 'VII', 'VIII', 'IX', 'X', 'XI', 'XII'];

/** The prefixes of a field: FM disables padding; TM uses localized names, which are not padded either. */
interface Prefix {
  readonly fill: boolean;
  readonly translated: boolean;
}
/** A field of a pattern. `ordinal`: the suffixes TH and th may follow it. */
interface Field {
  readonly write: (d: Moment, prefix: Prefix) => string;
  readonly ordinal: boolean;
}

const number = (of: (d: Moment) => number, width = 0): Field => ({
  ordinal: true,
  write: (d, { fill }) => {
    const n = of(d);
    const digits = String(Math.abs(n)).padStart(fill ? width : 0, '0');
    return n < 0 ? `-${digits}` : digits;
  },
});
const plain = (write: Field['write']): Field => ({ write, ordinal: false });
const padded = (of: (d: Moment) => string, width: number): Field => plain((d, p) => (p.fill && !p.translated ? of(d).padEnd(width) : of(d)));

const month = (d: Moment): string => MONTHS[d.month - 1] as string;
const dayIndex = (d: Moment): number => weekday(julianDay(d.year, d.month, d.day));
const day = (d: Moment): string => DAYS[dayIndex(d)] as string;
/** Years before 1 AD count backwards. */
const shown = (year: number): number => (year <= 0 ? 1 - year : year);
const half = (am: string, pm: string): Field => plain((d) => (d.hour >= 12 ? pm : am));
const era = (bc: string, ad: string): Field => plain((d) => (d.year <= 0 ? bc : ad));
const fraction = (digits: number): Field => ({ ordinal: true, write: (d) => String(d.microsecond).padStart(6, '0').slice(0, digits) });
const century = (d: Moment): number => (d.year > 0 ? Math.floor((d.year - 1) / 100) + 1 : Math.ceil(d.year / 100) - 1);
const zone = (of: (minutes: number, sign: string, fill: boolean) => string): Field =>
  plain((d, { fill }) => of(Math.abs(d.offset ?? 0), (d.offset ?? 0) < 0 ? '-' : '+', fill));
const two = (n: number): string => String(n).padStart(2, '0');
const thousands: Field = {
  ordinal: true,
  write: (d) => `${Math.floor(shown(d.year) / 1000)},${String(shown(d.year) % 1000).padStart(3, '0')}`,
};
const hour12: Field = number((d) => d.hour % 12 || 12, 2);
const daySeconds: Field = number((d) => (d.hour * 60 + d.minute) * 60 + d.second);

/** Fields for which upper and lower case mean the same. */
const NUMERIC: Readonly<Record<string, Field>> = {
  CC: number(century, 2),
  DDD: number(dayOfYear, 3),
  DD: number((d) => d.day, 2),
  D: number((d) => dayIndex(d) + 1),
  FF1: fraction(1),
  FF2: fraction(2),
  FF3: fraction(3),
  FF4: fraction(4),
  FF5: fraction(5),
  FF6: fraction(6),
  FX: plain(() => ''),
  HH24: number((d) => d.hour, 2),
  HH12: hour12,
  HH: hour12,
  IDDD: number((d) => isoWeek(d).day, 3),
  ID: number((d) => dayIndex(d) || 7),
  IW: number((d) => isoWeek(d).week, 2),
  IYYY: number((d) => shown(isoWeek(d).year), 4),
  IYY: number((d) => shown(isoWeek(d).year) % 1000, 3),
  IY: number((d) => shown(isoWeek(d).year) % 100, 2),
  I: number((d) => shown(isoWeek(d).year) % 10, 1),
  J: number((d) => julianDay(d.year, d.month, d.day)),
  MI: number((d) => d.minute, 2),
  MM: number((d) => d.month, 2),
  MS: fraction(3),
  OF: zone((m, sign, fill) => `${sign}${fill ? two(Math.floor(m / 60)) : Math.floor(m / 60)}${m % 60 === 0 ? '' : `:${two(m % 60)}`}`),
  Q: number((d) => Math.ceil(d.month / 3)),
  SSSSS: daySeconds,
  SSSS: daySeconds,
  SS: number((d) => d.second, 2),
  TZH: zone((m, sign) => `${sign}${two(Math.floor(m / 60))}`),
  TZM: zone((m) => two(m % 60)),
  US: fraction(6),
  WW: number((d) => Math.floor((dayOfYear(d) - 1) / 7) + 1, 2),
  W: number((d) => Math.floor((d.day - 1) / 7) + 1),
  'Y,YYY': thousands,
  YYYY: number((d) => shown(d.year), 4),
  YYY: number((d) => shown(d.year) % 1000, 3),
  YY: number((d) => shown(d.year) % 100, 2),
  Y: number((d) => shown(d.year) % 10, 1),
};

const upper = (s: string): string => s.toUpperCase();
const lower = (s: string): string => s.toLowerCase();
const names = (of: (d: Moment) => string, width: number, change: (s: string) => string): Field => padded((d) => change(of(d)), width);
const same = (s: string): string => s;
const cut = (of: (d: Moment) => string) => (d: Moment) => of(d).slice(0, 3);
const roman = (change: (s: string) => string): Field => plain((d, { fill }) => change(ROMAN[d.month - 1] as string).padEnd(fill ? 4 : 0));
const utc = (name: string): Field => plain((d) => (d.offset === null ? '' : name));

/** Fields whose case determines the case of the text. */
const WORDS: Readonly<Record<string, Field>> = {
  'A.M.': half('A.M.', 'P.M.'),
  'P.M.': half('A.M.', 'P.M.'),
  AM: half('AM', 'PM'),
  PM: half('AM', 'PM'),
  'a.m.': half('a.m.', 'p.m.'),
  'p.m.': half('a.m.', 'p.m.'),
  am: half('am', 'pm'),
  pm: half('am', 'pm'),
  'A.D.': era('B.C.', 'A.D.'),
  'B.C.': era('B.C.', 'A.D.'),
  AD: era('BC', 'AD'),
  BC: era('BC', 'AD'),
  'a.d.': era('b.c.', 'a.d.'),
  'b.c.': era('b.c.', 'a.d.'),
  ad: era('bc', 'ad'),
  bc: era('bc', 'ad'),
  MONTH: names(month, 9, upper),
  Month: names(month, 9, same),
  month: names(month, 9, lower),
  MON: names(cut(month), 3, upper),
  Mon: names(cut(month), 3, same),
  mon: names(cut(month), 3, lower),
  DAY: names(day, 9, upper),
  Day: names(day, 9, same),
  day: names(day, 9, lower),
  DY: names(cut(day), 3, upper),
  Dy: names(cut(day), 3, same),
  dy: names(cut(day), 3, lower),
  RM: roman(same),
  rm: roman(lower),
  TZ: utc('UTC'),
  tz: utc('utc'),
};

/** Each field by its text, longer ones first. */
const FIELDS: ReadonlyMap<string, Field> = new Map(
  Object.entries({ ...NUMERIC, ...Object.fromEntries(Object.entries(NUMERIC).map(([k, f]) => [k.toLowerCase(), f])), ...WORDS }).sort(
    ([a], [b]) => b.length - a.length,
  ),
);
const FIELD = new RegExp([...FIELDS.keys()].map((k) => k.replaceAll('.', '\\.')).join('|'), 'y');

type Part = string | { readonly field: Field; readonly prefix: Prefix; readonly ordinal: 'TH' | 'th' | null };

/** Compiles a pattern. Returns undefined for an empty pattern, for which to_char returns NULL. */
export function toChar(pattern: string): ((moment: Moment) => string) | undefined {
  if (pattern === '') return undefined;
  const parts = readPattern(pattern);
  return (moment) => parts.map((p) => (typeof p === 'string' ? p : field(p, moment))).join('');
}

function field({ field: f, prefix, ordinal }: Exclude<Part, string>, moment: Moment): string {
  const text = f.write(moment, prefix);
  if (ordinal === null || !f.ordinal) return text;
  const suffix = ordinalOf(text);
  return text + (ordinal === 'TH' ? suffix : suffix.toLowerCase());
}

function ordinalOf(digits: string): string {
  if (digits.at(-2) === '1') return 'TH';
  return { 1: 'ST', 2: 'ND', 3: 'RD' }[digits.at(-1) ?? ''] ?? 'TH';
}

function readPattern(pattern: string): readonly Part[] {
  const parts: Part[] = [];
  let i = 0;
  while (i < pattern.length) {
    const before = /^(?:FM|fm|TM|tm)/.exec(pattern.slice(i, i + 2))?.[0].toUpperCase();
    if (before !== undefined) i += 2;
    FIELD.lastIndex = i;
    const found = FIELD.exec(pattern)?.[0];
    if (found !== undefined) {
      i += found.length;
      const after = /^(?:TH|th|SP)/.exec(pattern.slice(i, i + 2))?.[0];
      if (after !== undefined) i += 2;
      parts.push({
        field: FIELDS.get(found) as Field,
        prefix: { fill: before !== 'FM', translated: before === 'TM' },
        ordinal: after === 'TH' || after === 'th' ? after : null,
      });
    } else if (pattern[i] === '"') {
      // a quoted literal, in which a backslash escapes the next character
      for (i++; i < pattern.length && pattern[i] !== '"'; i++) {
        if (pattern[i] === '\\' && i + 1 < pattern.length) i++;
        parts.push(pattern[i] as string);
      }
      i++;
    } else if (i < pattern.length) {
      if (pattern[i] === '\\' && pattern[i + 1] === '"') i++;
      parts.push(pattern[i++] as string);
    }
  }
  return parts;
}
