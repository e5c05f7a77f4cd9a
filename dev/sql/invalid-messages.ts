/**
 * Makes `pg` close a connection whose server sends invalid messages. Without this, an exception of its parser would end the process, and an error message without
 * an end would keep the parser busy for ever.
 */
import pg from 'pg';
import { BufferReader } from 'pg-protocol/dist/buffer-reader.js';

type Listener = (...args: never[]) => void;

/** What `pg`'s connections use of a stream to read messages. */
interface Readable {
  on(event: string, listener: Listener): unknown;
  destroy(error?: Error): void;
}

/** A part of `pg`'s connections that its types do not declare. */
interface Inner {
  attachListeners(stream: Readable): void;
}

const connection = pg.Connection.prototype as unknown as Inner;
const { attachListeners } = connection;

connection.attachListeners = function (this: Inner, stream) {
  const guarded = (listener: Listener): Listener => {
    return (...args) => {
      try {
        listener(...args);
      } catch (error) {
        stream.destroy(error as Error);
      }
    };
  };
  const on = (event: string, listener: Listener) => stream.on(event, event === 'data' ? guarded(listener) : listener);
  attachListeners.call(this, { on, destroy: (error) => stream.destroy(error) });
};

const { string } = BufferReader.prototype;

BufferReader.prototype.string = function (length) {
  const { buffer, offset } = this as unknown as { readonly buffer: Buffer; readonly offset: number };
  if (offset + length > buffer.length) throw new RangeError('a message of PostgreSQL ends too early');
  return string.call(this, length);
};
