/** Resources used by the workerd processes of this process, from Linux's /proc; not available elsewhere. */
import { readdirSync, readFileSync } from 'node:fs';

/** The processes named workerd that this process has started. */
function* workerds(): Generator<{ readonly pid: string; readonly fields: readonly string[] }> {
  if (process.platform !== 'linux') return;
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      const [, command, rest = ''] = /\((.*)\) (.*)$/s.exec(readFileSync(`/proc/${pid}/stat`, 'utf8')) ?? [];
      const fields = rest.split(' ');
      if (command === 'workerd' && Number(fields[1]) === process.pid) yield { pid, fields };
    } catch {
      // It has ended in the meantime.
    }
  }
}

/** The ids of these processes. */
export const workerdPids = (): string[] => [...workerds()].map(({ pid }) => pid);

/** The processor time of each of their threads so far, in milliseconds, by process, thread and name. */
export function threadTimes(): Map<string, number> {
  const times = new Map<string, number>();
  for (const { pid } of workerds()) {
    for (const thread of readdirSync(`/proc/${pid}/task`)) {
      const [, name, rest = ''] = /\((.*)\) (.*)$/s.exec(readFileSync(`/proc/${pid}/task/${thread}/stat`, 'utf8')) ?? [];
      const fields = rest.split(' ');
      times.set(`${pid} ${thread} ${name}`, 10 * (Number(fields[11]) + Number(fields[12])));
    }
  }
  return times;
}

/** Processor time so far, in milliseconds, with a resolution of ten. NaN if it is not available. */
export function workerdCpu(): number {
  if (process.platform !== 'linux') return Number.NaN;
  let ticks = 0;
  for (const { fields } of workerds()) ticks += Number(fields[11]) + Number(fields[12]);
  return ticks * 10;
}

/** Resident memory in MiB. NaN if it is not available. */
export function workerdMemory(): number {
  let kB = 0;
  for (const { pid } of workerds()) kB += Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
  return kB === 0 ? Number.NaN : kB / 1024;
}
