/**
 * Loaded into wrangler's processes before they begin: they end with the process that started them. When that is killed
 * hard, it can pass nothing on.
 */
import { isMainThread } from 'node:worker_threads';

const LOOK_MS = 1000;
const PATIENCE_MS = 3000;

if (isMainThread) {
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    // wrangler ends what it has started, and ends; where it does not, the exit takes the Worker's process along
    process.kill(process.pid, 'SIGTERM');
    setTimeout(() => process.exit(1), PATIENCE_MS).unref();
  }, LOOK_MS);
  timer.unref();
}
