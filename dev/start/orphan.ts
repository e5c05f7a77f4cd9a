/**
 * Loaded into wrangler's processes before they begin: they end with the process that started them, even if that is killed
 * and cannot send a signal.
 */
import { isMainThread } from 'node:worker_threads';

const LOOK_MS = 1000;
const PATIENCE_MS = 3000;

if (isMainThread) {
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    // wrangler ends its child processes, and then itself; if it does not, the exit ends the Worker's process too
    process.kill(process.pid, 'SIGTERM');
    setTimeout(() => process.exit(1), PATIENCE_MS).unref();
  }, LOOK_MS);
  timer.unref();
}
