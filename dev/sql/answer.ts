import type { ServerResponse } from 'node:http';
import { faultBody, SqlFault } from './fault.ts';
import { RequestFault } from './protocol.ts';

const CHUNK = 64 * 1024;

/** Limits of an answer, in bytes. */
export interface AnswerLimits {
  /** Larger answers are HTTP 507, as on Neon. */
  maxBytes: number;
  /** The number of bytes to buffer, so that a late error still gets its status; further bytes are streamed. */
  holdBytes: number;
}

/**
 * The body of one answer. Text is gathered into chunks. Nothing is sent before the end, or before `holdBytes` have been
 * gathered, so that an error in a late row is a plain HTTP 400. After bytes were sent, an error aborts the connection:
 * a partial body never looks complete.
 */
export class Answer {
  #response: ServerResponse;
  #limits: AnswerLimits;
  #headers: Record<string, string>;
  #pending = '';
  #held: Buffer[] = [];
  #bytes = 0;
  #started = false;

  constructor(response: ServerResponse, limits: AnswerLimits, headers: Record<string, string> = {}) {
    this.#response = response;
    this.#limits = limits;
    this.#headers = { 'content-type': 'application/json', 'cache-control': 'no-store', 'x-content-type-options': 'nosniff', ...headers };
  }

  /** Adds text. False: the caller should wait for `drained`. Throws RequestFault 507 above the limit. */
  write(text: string): boolean {
    this.#pending += text;
    return this.#pending.length < CHUNK || this.#flush();
  }

  /** The bytes that were gathered for the caller until now. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Closes the connection to the caller. */
  abort(): void {
    this.#response.destroy();
  }

  /** Resolves when the socket accepts more, or is closed. */
  drained(): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        this.#response.off('drain', done).off('close', done);
        resolve();
      };
      this.#response.once('drain', done).once('close', done);
      // There is no second close event if the caller has already disconnected.
      if (this.#response.destroyed) done();
    });
  }

  /** Sends the remaining bytes and ends the answer. */
  end(): void {
    this.#flush();
    if (!this.#started) this.#head(200, this.#bytes);
    const last = this.#held.pop();
    for (const chunk of this.#held.splice(0)) this.#response.write(chunk);
    // with the head in one packet, if it is the only chunk
    this.#response.end(last);
  }

  /** Answers with an error, or aborts the connection if the answer has already begun. */
  fail(error: unknown): void {
    this.#held = [];
    if (this.#started) {
      this.#response.destroy();
      return;
    }
    let [status, body] = [500, faultBody('internal error of the SQL endpoint')];
    if (error instanceof SqlFault) [status, body] = [400, faultBody(error.message, error.fields)];
    if (error instanceof RequestFault) [status, body] = [error.status, faultBody(error.message, { code: error.code })];
    this.#head(status, Buffer.byteLength(body));
    this.#response.end(body);
  }

  #flush(): boolean {
    const chunk = Buffer.from(this.#pending);
    this.#pending = '';
    this.#bytes += chunk.length;
    if (this.#bytes > this.#limits.maxBytes) throw new RequestFault(507, `response is too large (max is ${this.#limits.maxBytes} bytes)`);
    if (this.#started) return this.#response.write(chunk);
    this.#held.push(chunk);
    if (this.#bytes <= this.#limits.holdBytes) return true;
    this.#head(200);
    let room = true;
    for (const held of this.#held.splice(0)) room = this.#response.write(held);
    return room;
  }

  #head(status: number, length?: number): void {
    this.#started = true;
    this.#response.writeHead(status, { ...this.#headers, ...(length === undefined ? {} : { 'content-length': String(length) }) });
  }
}
