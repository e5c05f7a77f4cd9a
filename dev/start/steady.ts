/**
 * Loaded into wrangler's processes before they begin. If wrangler's own proxy cannot pass on a request (because the Worker's process closed an
 * idle connection at that moment), only that request fails. Otherwise wrangler takes it for a fault of its own, and ends.
 */
import { EventEmitter } from 'node:events';

const emit = EventEmitter.prototype.emit;

EventEmitter.prototype.emit = function (name: string | symbol, ...values: unknown[]): boolean {
  const [event] = values as [{ source?: unknown; reason?: unknown } | undefined];
  if (name === 'error' && event?.source === 'ProxyController' && event.reason === 'Error inside ProxyWorker') return true;
  return emit.call(this, name, ...values);
};
