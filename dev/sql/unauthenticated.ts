import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { networkOf } from './login-queue.ts';

/** The maximum number of connections without a login. It is below the usual limit of open files of a process. */
export const MAX_UNAUTHENTICATED = 800;
/** How long such a connection may be idle after an answer. */
const IDLE_MS = 5000;

interface Connection {
  readonly socket: Socket;
  readonly network: string;
}

/**
 * The connections whose callers have not logged in yet. If there are too many, the oldest connection of the address with the most of them is closed. So one
 * address cannot use up the connections of others.
 */
export class Unauthenticated {
  /** By address and port of the caller, oldest first. */
  readonly #open = new Map<string, Connection>();
  readonly #counts = new Map<string, number>();
  readonly #idleMs: number;

  constructor(idleMs = IDLE_MS) {
    this.#idleMs = idleMs;
  }

  /** Counts a new connection, and closes another one if there are too many. */
  arrived(socket: Socket): void {
    const key = keyOf(socket);
    const network = networkOf(socket.remoteAddress ?? '');
    this.#forget(key);
    this.#open.set(key, { socket, network });
    this.#counts.set(network, (this.#counts.get(network) ?? 0) + 1);
    socket.once('close', () => {
      if (this.#open.get(key)?.socket === socket) this.#forget(key);
    });
    if (this.#open.size > MAX_UNAUTHENTICATED) this.#closeOne();
  }

  /** The caller of a connection has logged in. @param socket the socket of a request: with TLS not the one that arrived */
  loggedIn(socket: Socket): void {
    this.#forget(keyOf(socket));
  }

  /** Whether the caller of a connection has not logged in yet. */
  includes(socket: Socket): boolean {
    return this.#open.has(keyOf(socket));
  }

  /** Limits the idle time of a connection after an answer if its caller has not logged in by then. */
  answering(socket: Socket, response: ServerResponse): void {
    // after node, which sets the time for callers that have logged in
    response.once('finish', () => {
      if (this.includes(socket)) socket.setTimeout(this.#idleMs);
    });
  }

  #forget(key: string): void {
    const found = this.#open.get(key);
    if (found === undefined) return;
    this.#open.delete(key);
    const left = (this.#counts.get(found.network) ?? 1) - 1;
    if (left > 0) this.#counts.set(found.network, left);
    else this.#counts.delete(found.network);
  }

  #closeOne(): void {
    let [worst, most] = ['', 0];
    for (const [network, count] of this.#counts) if (count > most) [worst, most] = [network, count];
    for (const [key, { socket, network }] of this.#open) {
      if (network !== worst) continue;
      this.#forget(key);
      socket.destroy();
      return;
    }
  }
}

const keyOf = ({ remoteAddress, remotePort }: Socket): string => `${remoteAddress} ${remotePort}`;
