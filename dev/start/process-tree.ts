import type { ChildProcess } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

const LOOK_MS = 3000;
const PATIENCE_MS = 3000;

/**
 * A child process and all its descendants. The tree is read again and again, because the children of a killed process
 * lose their parent. If the system has no /proc (other than Linux), it is only the child,
 * which ends its own children.
 */
export class ProcessTree {
  #child: ChildProcess;
  /** The start time of each process, by its number: another program may get the number. */
  #known = new Map<number, string>();
  #timer: NodeJS.Timeout;

  constructor(child: ChildProcess) {
    this.#child = child;
    this.#timer = setInterval(() => this.#look(), LOOK_MS);
    this.#timer.unref();
  }

  /** Asks the child to end, and after a while kills all processes that are still alive. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    this.#look();
    const child = this.#child;
    if (child.pid !== undefined && child.exitCode === null && child.signalCode === null) {
      const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
      child.kill('SIGTERM');
      const timer = setTimeout(() => child.kill('SIGKILL'), PATIENCE_MS);
      await exited;
      clearTimeout(timer);
    }
    this.#look();
    const processes = readProcesses();
    for (const [pid, began] of this.#known) {
      if (processes.get(pid)?.began !== began) continue;
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        // It has ended by itself.
      }
    }
  }

  #look(): void {
    const processes = readProcesses();
    const child = this.#child.pid;
    const isRunning = this.#child.exitCode === null && this.#child.signalCode === null;
    const roots = new Set(isRunning && child !== undefined ? [child] : []);
    for (const [pid, began] of this.#known) if (processes.get(pid)?.began === began) roots.add(pid);
    for (let layer = roots; layer.size; ) {
      const next = new Set<number>();
      for (const [pid, { parent, began }] of processes) {
        if (!layer.has(parent)) continue;
        next.add(pid);
        this.#known.set(pid, began);
      }
      layer = next;
    }
  }
}

/** Parent and start time of each process (proc(5): fields 4 and 22 of stat). */
function readProcesses(): Map<number, { parent: number; began: string }> {
  const found = new Map<number, { parent: number; began: string }>();
  let names: string[];
  try {
    names = readdirSync('/proc');
  } catch {
    return found;
  }
  for (const name of names) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      found.set(Number(name), { parent: Number(fields[1]), began: fields[19]! });
    } catch {
      // It has ended in the meantime.
    }
  }
  return found;
}
