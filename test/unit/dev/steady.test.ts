import { EventEmitter } from 'node:events';
import { describe, expect, it } from 'vitest';

describe('the module that is loaded into wrangler', () => {
  it('keeps wrangler running if its proxy cannot pass on a request, but not after other errors', async () => {
    const emit = EventEmitter.prototype.emit;
    await import('../../../dev/start/steady.ts');
    try {
      const lost = { type: 'error', source: 'ProxyController', reason: 'Error inside ProxyWorker', cause: new Error('Network connection lost.') };
      expect(new EventEmitter().emit('error', lost)).toBe(true);
      expect(() => new EventEmitter().emit('error', { ...lost, reason: 'another' })).toThrow();
      expect(() => new EventEmitter().emit('error', new Error('mine'))).toThrow('mine');
      const seen: number[] = [];
      new EventEmitter().on('x', (n: number) => seen.push(n)).emit('x', 3);
      expect(seen).toEqual([3]);
    } finally {
      EventEmitter.prototype.emit = emit;
    }
  });
});
