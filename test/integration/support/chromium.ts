/** A real browser, where this machine has one: CHROMIUM names it, else it is where distributions put it. */
import { existsSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Browser, chromium } from 'playwright-core';

const PLACES = [process.env.CHROMIUM, '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
const FLAGS = ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'];

/** The program; undefined: there is none. */
export const chromiumPath = (): string | undefined => PLACES.find((place) => place !== undefined && place !== '' && existsSync(place));

export const openBrowser = (): Promise<Browser> => chromium.launch({ executablePath: chromiumPath() as string, headless: true, args: FLAGS });

/** A web server on a port of its own. */
export interface Site {
  readonly port: number;
  close(): Promise<void>;
}

/** Serves what `answer` gives on the loopback interface, under every name that it has. */
export async function serve(answer: (path: string, init: RequestInit) => Promise<Response>): Promise<Site> {
  const server: Server = createServer(async (request, response) => {
    const parts: Uint8Array[] = [];
    for await (const part of request) parts.push(part as Uint8Array);
    const headers = new Headers();
    for (const [name, value] of Object.entries(request.headers)) if (typeof value === 'string') headers.set(name, value);
    const body = parts.length === 0 ? {} : { body: Buffer.concat(parts) };
    const answered = await answer(request.url as string, { method: request.method as string, headers, ...body });
    response.statusCode = answered.status;
    for (const [name, value] of answered.headers) if (name !== 'set-cookie') response.setHeader(name, value);
    response.setHeader('set-cookie', answered.headers.getSetCookie());
    response.end(Buffer.from(await answered.arrayBuffer()));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
