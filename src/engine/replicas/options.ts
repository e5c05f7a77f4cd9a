/** The options of a datasource about its replicas: `replicas`, the names of their variables, and `max_lag`. */

/** How old the rows of a replica may be if `max_lag` is not given. */
export const DEFAULT_MAX_LAG_MS = 10_000;
/** The range of `max_lag`. An isolate looks at the primary about three times in that time. */
export const LEAST_LAG_MS = 1000;
export const MOST_LAG_MS = 3_600_000;
/** The most replicas of a datasource. */
export const MOST_REPLICAS = 8;

/** Splits the option `replicas`: names of variables, separated by commas. They are not checked. */
export const replicaNames = (option: string | null | undefined): string[] =>
  option == null || option.trim() === '' ? [] : option.split(',').map((name) => name.trim());

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, min: 60_000, h: 3_600_000 };

/** Parses the option `max_lag`, such as `10 s`; undefined if it is not a time in the range. */
export function maxLag(option: string | null | undefined): number | undefined {
  if (option == null) return DEFAULT_MAX_LAG_MS;
  const [, number, unit] = /^\s*(\d{1,7})\s*(ms|s|min|h)\s*$/.exec(option) ?? [];
  const ms = Number(number) * (UNITS[unit ?? ''] ?? Number.NaN);
  return ms >= LEAST_LAG_MS && ms <= MOST_LAG_MS ? ms : undefined;
}
