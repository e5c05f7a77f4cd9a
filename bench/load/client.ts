/** Sends the requests: as many at once as asked for the ramp, and at a fixed rate for the measurement. Compares each answer. */
import { Agent, request as httpRequest } from 'node:http';
import { quantile } from '../lib/measure.ts';
import { type Kind, MIX, modelChange, rowsIn, type Wanted } from './requests.ts';

/** What happened to one request. */
interface Outcome {
  readonly kind: Kind;
  readonly ms: number;
  readonly result: 'right' | 'wrong' | 'failed' | 'refused';
  readonly retried: boolean;
  /** From the header x-datasource. */
  readonly replica: boolean;
}

export interface Phase {
  readonly outcomes: Outcome[];
  begun: number;
  ended: number;
}

interface Answer {
  readonly status: number;
  readonly text: string;
  readonly replica: boolean;
  readonly retryAfter: number | null;
}

/** The longest time that a client waits for an answer. */
const PATIENCE_MS = 60_000;
const MOST_FAULTS = 20;

export class LoadClient {
  readonly #base: string;
  readonly #token: string;
  readonly #requests: Readonly<Record<keyof typeof MIX, readonly Wanted[]>>;
  // workerd closes a connection that is idle for five seconds
  readonly #agent = new Agent({ keepAlive: true, timeout: 2000 });
  readonly #order: readonly (keyof typeof MIX)[];
  #sent = 0;
  /** The most requests that waited for their answers at the same time: if they grow, the rate is more than the machine can answer. */
  mostWaiting = 0;
  /** The first answers that were wrong or failed. */
  readonly faults: string[] = [];

  constructor(base: string, token: string, requests: Readonly<Record<keyof typeof MIX, readonly Wanted[]>>) {
    this.#base = base;
    this.#token = token;
    this.#requests = requests;
    // the kinds spread evenly: 37 and 100 have no common divisor
    const hundred = Object.entries(MIX).flatMap(([kind, n]) => Array.from({ length: n }, () => kind as keyof typeof MIX));
    this.#order = hundred.map((_, i) => hundred[(i * 37) % 100] as keyof typeof MIX);
  }

  #next(): Wanted {
    const i = this.#sent++;
    const of = this.#requests[this.#order[i % 100] as keyof typeof MIX];
    return of[i % of.length] as Wanted;
  }

  #send(wanted: Wanted): Promise<Answer> {
    const { path, headers, body } = wanted;
    return new Promise((resolve, reject) => {
      let begun = false;
      const all = { ...headers, 'x-api-key': this.#token, 'content-length': Buffer.byteLength(body) };
      const sent = httpRequest(`${this.#base}/svc${path}`, { method: 'POST', agent: this.#agent, headers: all }, (answer) => {
        begun = true;
        const chunks: Buffer[] = [];
        answer.on('data', (chunk: Buffer) => chunks.push(chunk));
        answer.on('error', reject);
        answer.on('end', () => {
          const retryAfter = answer.headers['retry-after'];
          resolve({
            status: answer.statusCode ?? 0,
            text: Buffer.concat(chunks).toString(),
            replica: String(answer.headers['x-datasource'] ?? '').startsWith('replica'),
            retryAfter: retryAfter === undefined ? null : Number(retryAfter),
          });
        });
      });
      const timer = setTimeout(() => {
        begun = true;
        sent.destroy(new Error('no answer'));
      }, PATIENCE_MS);
      sent.on('close', () => clearTimeout(timer));
      // the server may close a kept-alive connection at the moment at which it is used again
      sent.on('error', (error) => (sent.reusedSocket && !begun ? resolve(this.#send(wanted)) : reject(error)));
      sent.end(body);
    });
  }

  /** Sends a request, once more if the answer says when to repeat it. @param since when it should have been sent */
  async #one(wanted: Wanted, since: number): Promise<Outcome> {
    let retried = false;
    const outcome = (result: Outcome['result'], replica = false): Outcome => ({ kind: wanted.kind, ms: performance.now() - since, result, retried, replica });
    try {
      let answer = await this.#send(wanted);
      if (answer.retryAfter !== null) {
        retried = true;
        this.#fault('repeated', wanted, answer.text);
        await new Promise((resolve) => setTimeout(resolve, (answer.retryAfter ?? 0) * 1000));
        answer = await this.#send(wanted);
      }
      if (answer.status !== 200) {
        this.#fault(`HTTP ${answer.status}`, wanted, answer.text);
        // 4xx: to repeat it would not help
        return outcome(answer.status < 500 ? 'refused' : 'failed');
      }
      if (wanted.expected === null || rowsIn(wanted, answer.text) === wanted.expected) return outcome('right', answer.replica);
      this.#fault('wrong', wanted, answer.text);
      return outcome('wrong', answer.replica);
    } catch (error) {
      this.#fault('failed', wanted, String(error));
      return outcome('failed');
    }
  }

  #fault(what: string, { kind, body }: Wanted, text: string): void {
    if (this.faults.length < MOST_FAULTS) this.faults.push(`${what}, ${kind}: ${body.slice(0, 200)} -> ${text.slice(0, 300)}`);
  }

  /** Sends requests, `width` at once. @returns answers a second */
  async atOnce(width: number, milliseconds: number): Promise<number> {
    const begun = performance.now();
    let answers = 0;
    const caller = async (): Promise<void> => {
      while (performance.now() - begun < milliseconds) {
        const { result } = await this.#one(this.#next(), performance.now());
        if (result !== 'right') throw new Error(`the ramp has an answer that is ${result}: ${this.faults[0]}`);
        answers++;
      }
    };
    await Promise.all(Array.from({ length: width }, caller));
    return (answers * 1000) / (performance.now() - begun);
  }

  /** Sends requests at a rate until `isOver`, whether or not earlier ones have been answered. The time of a request counts from the moment when it was due. */
  async atRate(perSecond: number, phase: () => Phase, isOver: () => boolean): Promise<void> {
    const begun = performance.now();
    const running = new Set<Promise<void>>();
    for (let i = 0; !isOver(); i++) {
      const due = begun + (i * 1000) / perSecond;
      const early = due - performance.now();
      if (early > 0) await new Promise((resolve) => setTimeout(resolve, early));
      const { outcomes } = phase();
      const one = this.#one(this.#next(), due).then((outcome) => void outcomes.push(outcome));
      running.add(one);
      this.mostWaiting = Math.max(this.mostWaiting, running.size);
      void one.finally(() => running.delete(one));
    }
    await Promise.all(running);
  }

  /** Changes the model once in a pause. */
  async changes(pauseMs: number, phase: () => Phase, isOver: () => boolean): Promise<void> {
    for (let i = 0; !isOver(); i++) {
      const { outcomes } = phase();
      outcomes.push(await this.#one(modelChange(i), performance.now()));
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  }

  close(): void {
    this.#agent.destroy();
  }
}

/** A line of a table: how many, how they ended, how long they took. */
export function lineOf(name: string, outcomes: readonly Outcome[], seconds: number): string[] {
  const of = (result: Outcome['result']): string => String(outcomes.filter((o) => o.result === result).length);
  const took = outcomes.map((o) => o.ms);
  const at = (q: number): string => (took.length === 0 ? '' : `${quantile(took, q).toFixed(0)} ms`);
  return [
    name,
    String(outcomes.length),
    (outcomes.length / seconds).toFixed(1),
    of('wrong'),
    of('failed'),
    of('refused'),
    String(outcomes.filter((o) => o.retried).length),
    String(outcomes.filter((o) => o.replica).length),
    at(0.5),
    at(0.95),
    at(0.99),
  ];
}
