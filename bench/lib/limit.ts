/** Stops a section that takes too long, and writes down what workerd was doing, since such a state does not come back when it is looked for. */
import { execFile } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Miniflare } from 'miniflare';
import { threadTimes, workerdPids } from './workerd.ts';

/** How long a section may take unless it says otherwise. */
export const MINUTES = 10;
const PROFILE_MS = 5000;
/** An isolate in an endless loop does not answer its inspector. */
const ANSWER_MS = PROFILE_MS + 5000;

const running = new Set<Miniflare>();

/** Registers scripts, so that a section that is stopped is examined and its scripts end. */
export const watched = (miniflare: Miniflare): void => void running.add(miniflare);
/** Ends scripts and forgets them. */
export async function ended(miniflare: Miniflare): Promise<void> {
  running.delete(miniflare);
  await miniflare.dispose();
}

/**
 * Runs a section.
 * @param folder where to write what is found if it takes too long
 * @throws Error after `minutes`, and what the section throws
 */
export async function limited(section: () => Promise<void>, minutes: number, folder: string): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<'late'>((resolve) => {
    timer = setTimeout(resolve, minutes * 60_000, 'late');
  });
  const work = section();
  // after the limit nobody waits for it
  work.catch(() => undefined);
  try {
    if ((await Promise.race([work, late])) !== 'late') return;
    await examine(folder);
    await Promise.all([...running].map((miniflare) => ended(miniflare).catch(() => undefined)));
    throw new Error(`stopped after ${minutes} minutes; ${folder} has what workerd was doing. Profiles are missing where an isolate did not answer: it is in a loop
  or collects garbage, which native.txt shows. For names of its JavaScript functions run again with MINIFLARE_WORKERD_V8_FLAGS=--perf-basic-prof and use
  perf record -g -p PID while it lasts.`);
  } finally {
    clearTimeout(timer);
  }
}

async function examine(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  const before = threadTimes();
  const profiles = [...running].map((miniflare) => profile(miniflare, folder));
  const found = await Promise.all(profiles);
  const after = threadTimes();
  const threads = [...after].map(([thread, ms]) => `${thread}: ${ms - (before.get(thread) ?? 0)} ms`);
  await writeFile(join(folder, 'threads.txt'), [`processor time of threads while profiles were taken:`, ...threads, ...found.flat()].join('\n'));
  for (const pid of workerdPids()) {
    const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
    // without gdb, the other files have to do
    const stacks = await promisify(execFile)('gdb', ['-p', pid, '-batch', '-ex', 'thread apply all backtrace 60'], { maxBuffer: 2 ** 26 }).then(
      ({ stdout }) => stdout,
      (error: unknown) => String(error),
    );
    await writeFile(join(folder, `native-${pid}.txt`), `${status}\n${stacks}`);
  }
}

/** Writes the profile of each isolate. @returns a line for each isolate: its heap, or that it did not answer */
async function profile(miniflare: Miniflare, folder: string): Promise<string[]> {
  const url = await miniflare.getInspectorURL();
  const list = new URL('/json', url.href.replace(/^ws/, 'http'));
  const targets = (await (await fetch(list)).json()) as { id: string; webSocketDebuggerUrl: string }[];
  const own = targets.filter(({ id }) => id.startsWith('core:user:'));
  return Promise.all(
    own.map(async ({ id, webSocketDebuggerUrl }) => {
      const name = id.replace('core:user:', '');
      const answer = await profiled(webSocketDebuggerUrl).catch(() => undefined);
      if (answer === undefined) return `isolate ${name}: no answer from its inspector`;
      await writeFile(join(folder, `${name}.cpuprofile`), JSON.stringify(answer.profile));
      return `isolate ${name}: ${JSON.stringify(answer.heap)}`;
    }),
  );
}

/** Takes a profile by the inspector's protocol; undefined if there is no answer in time. */
async function profiled(url: string): Promise<{ heap: unknown; profile: unknown } | undefined> {
  const socket = new WebSocket(url);
  const answers = new Map<number, (result: unknown) => void>();
  socket.addEventListener('message', ({ data }) => {
    const { id, result } = JSON.parse(String(data)) as { id?: number; result?: unknown };
    if (id !== undefined) answers.get(id)?.(result);
  });
  const call = (method: string): Promise<unknown> =>
    new Promise((resolve) => {
      const id = answers.size + 1;
      answers.set(id, resolve);
      socket.send(JSON.stringify({ id, method }));
    });
  const take = async () => {
    await new Promise((resolve, reject) => {
      socket.addEventListener('open', resolve);
      socket.addEventListener('error', reject);
    });
    await call('Profiler.enable');
    await call('Profiler.start');
    await new Promise((resolve) => setTimeout(resolve, PROFILE_MS));
    const stopped = (await call('Profiler.stop')) as { profile: unknown };
    return { heap: await call('Runtime.getHeapUsage'), profile: stopped.profile };
  };
  const late = new Promise<undefined>((resolve) => setTimeout(resolve, ANSWER_MS, undefined).unref());
  try {
    return await Promise.race([take(), late]);
  } finally {
    socket.close();
  }
}
