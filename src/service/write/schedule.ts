/** Schedules of jobs: the five fields of cron, in a time zone. */
import type { Cron } from 'croner';
import { badRequest } from '../../errors.ts';
import type { JobText } from '../../language/statements-of-jobs.ts';

/** A schedule that was checked. */
export interface Schedule {
  readonly schedule: string;
  readonly timezone: string;
}

/** How often a kind of job may run, in minutes. */
interface Pace {
  /** Between two moments of its schedule. */
  readonly schedule: number;
  /** Between the beginning of its last run and that of one by RUN JOB. */
  readonly wanted: number;
  readonly statement: string;
}

const VALIDATION: Pace = { schedule: 60, wanted: 5, statement: 'VALIDATE DATA' };
const REFRESH: Pace = { schedule: 5, wanted: 1, statement: 'CACHE MAPPING, CACHE CUBE and CACHE VIEW' };
const paceOf = (kind: string): Pace => (kind === 'validate_data' ? VALIDATION : REFRESH);

const [MINUTE, HOUR, DAY] = [60_000, 3_600_000, 86_400_000];

/** The first moment that leaves the pace of the kind after another moment. */
export const afterPace = (kind: string, moment: number): number => moment + paceOf(kind).schedule * MINUTE - 1;

/** The moment at which RUN JOB lets a job run. @param started when its last run began; null: it has not run */
export const wantedRun = (kind: string, started: number | null, now: number): number =>
  started === null ? now : Math.max(now, started + paceOf(kind).wanted * MINUTE);

/** Five fields of letters, digits and the signs of cron; no moments and no nicknames. */
const FIELDS = /^[0-9A-Za-z*,/?#-]+(?: [0-9A-Za-z*,/?#-]+){4}$/;
const MOST_CHARACTERS = 100;
/** Names of places; not offsets such as +01:00, which have no changes of the clock. */
const ZONE = /^[A-Za-z][A-Za-z0-9_+/-]{0,63}$/;

/** Checks a schedule, also that a job of this kind may run so often. @throws SvcError 400 `bad_schedule`, `bad_timezone` */
export async function checkedSchedule(kind: string, written: JobText, zone: JobText | null): Promise<Schedule> {
  const timezone = zone?.text.trim() ?? 'UTC';
  if (!ZONE.test(timezone) || !isZone(timezone)) {
    throw badRequest('bad_timezone', `unknown time zone \`${timezone.slice(0, 64)}\``, { offset: zone?.offset, hint: 'Write it as Europe/Lisbon or UTC' });
  }
  const schedule = written.text.trim().replace(/\s+/g, ' ');
  const hint = "A schedule has five fields: minute, hour, day of the month, month and day of the week, as in '17 * * * *' or '30 2 * * MON-FRI'";
  if (schedule.length > MOST_CHARACTERS || !FIELDS.test(schedule)) throw badRequest('bad_schedule', 'this is not a schedule', { offset: written.offset, hint });
  let next: number | undefined;
  try {
    next = await nextRun({ schedule, timezone }, Date.now());
  } catch (error) {
    const reason = error instanceof Error ? error.message.replace(/^Cron\w+: /, '') : '';
    throw badRequest('bad_schedule', `this is not a schedule: ${reason.slice(0, 200)}`, { offset: written.offset, hint });
  }
  if (next === undefined) throw badRequest('bad_schedule', 'this schedule has no moment', { offset: written.offset, hint });
  const { schedule: least, statement } = paceOf(kind);
  const gap = await smallestGap(schedule, least);
  if (gap < least) {
    const minutes = (n: number): string => `${n} minute${n === 1 ? '' : 's'}`;
    throw badRequest('bad_schedule', `a job of ${statement} may run every ${minutes(least)} at most, and this schedule has moments ${minutes(gap)} apart`, {
      offset: written.offset,
      hint: `For example '${least < 60 ? `*/${least} * * * *` : '17 * * * *'}'`,
    });
  }
  return { schedule, timezone };
}

/**
 * The smallest number of minutes between two moments of a schedule, up to `enough`: that of the times of a day, as if the job ran on each day. Changes of the
 * clock do not count.
 */
async function smallestGap(schedule: string, enough: number): Promise<number> {
  const [minute, hour] = schedule.split(' ', 2);
  const minutes = await momentsOf(`${minute} * * * *`, HOUR);
  const hours = await momentsOf(`0 ${hour} * * *`, DAY);
  const [first, last] = [minutes[0] ?? 0, minutes.at(-1) ?? 0];
  const withinHour = minutes.slice(1).map((moment, i) => moment - (minutes[i] ?? 0));
  const betweenHours = hours.map((moment, i) => (hours[i + 1] ?? (hours[0] ?? 0) + DAY) - moment + first - last);
  return Math.min(enough * MINUTE, ...withinHour, ...betweenHours) / MINUTE;
}

/** The moments of a schedule in UTC before `end`, from the first one of 1970. */
async function momentsOf(schedule: string, end: number): Promise<number[]> {
  const cron = await cronOf({ schedule, timezone: 'UTC' });
  const moments: number[] = [];
  for (let at = -MINUTE; ; moments.push(at)) {
    at = cron.nextRun(new Date(at))?.getTime() ?? end;
    if (at >= end) return moments;
  }
}

function isZone(timezone: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: timezone }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}

/** The first moment of a schedule after another moment, both in milliseconds since 1970; undefined: it has no moment. `croner` is loaded with the first call. */
export async function nextRun({ schedule, timezone }: Schedule, after: number): Promise<number | undefined> {
  return (await cronOf({ schedule, timezone })).nextRun(new Date(after))?.getTime();
}

async function cronOf({ schedule, timezone }: Schedule): Promise<Cron> {
  const { Cron } = await import('croner');
  return new Cron(schedule, { timezone, mode: '5-part', paused: true });
}

/**
 * How long a run of another job with the same statement keeps a job from its next run, in milliseconds, and the first moment for it after another moment. This
 * is the next moment of its schedule. It is as soon as possible for a run by RUN JOB, for the repetition of a run that failed, and if the schedule has no moment
 * soon.
 */
export async function paceOfNext(job: Schedule & { readonly kind: string; readonly nextRun: number | null }) {
  const { schedule, wanted } = paceOf(job.kind);
  const planned = job.nextRun ?? 0;
  const isScheduled = (await nextRun(job, planned - 1000)) === planned;
  const pause = (isScheduled ? schedule : wanted) * MINUTE;
  return {
    pause,
    next: async (free: number): Promise<number> => {
      const moment = isScheduled ? await nextRun(job, free - 1) : undefined;
      // a job that runs once a day would lose a day
      return moment !== undefined && moment - free <= pause ? moment : free;
    },
  };
}

/** Runs that fail are repeated after these pauses, in minutes. */
const PAUSES = [1, 2, 4, 8, 16, 32];
const LAST_PAUSE = 60;
/** A pause is longer by a random part of it, up to this one: what failed at once is not repeated at once. */
const SPREAD = 0.25;

/** A pause with a random part. @param random as `Math.random` */
export const spread = (pause: number, random: () => number): number => Math.round(pause * (1 + SPREAD * random()));

/**
 * When a job runs next.
 * @param after the later one of now and the moment for which the run was planned @param failures how many runs have failed in a row
 * @param random as `Math.random`
 */
export async function afterRun(schedule: Schedule, after: number, failures: number, random: () => number = Math.random): Promise<number | null> {
  if (failures === 0) return (await nextRun(schedule, after)) ?? null;
  const pause = PAUSES[failures - 1];
  if (pause !== undefined) return after + spread(pause * 60_000, random);
  return (await nextRun(schedule, after + LAST_PAUSE * 60_000)) ?? null;
}
