/**
 * Loaded into wrangler's processes before they begin: a request that its own proxy could not pass on (the Worker's process closed a connection that
 * was idle at that moment) fails alone. wrangler takes it for a fault of its own, and ends.
 */
import { EventEmitter } from 'node:events';

const emit = EventEmitter.prototype.emit;

EventEmitter.prototype.emit = function (name: string | symbol, ...values: unknown[]): boolean {
  const [event] = values as [{ source?: unknown; reason?: unknown } | undefined];
  if (name === 'error' && event?.source === 'ProxyController' && event.reason === 'Error inside ProxyWorker') return true;
  return emit.call(this, name, ...values);
};
