/** A real browser: the one that CHROMIUM names, one of the PATH, or the one that @sparticuz/chromium unpacks. */
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import packed from '@sparticuz/chromium';
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium } from 'playwright-core';

const FLAGS = ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'];

/** The program of an installed browser. */
function installed(): string | undefined {
  const folders = (process.env.PATH ?? '').split(delimiter);
  const programs = ['chromium', 'chromium-browser', 'google-chrome'].flatMap((name) => folders.map((folder) => join(folder, name)));
  return [process.env.CHROMIUM ?? '', ...programs].find((path) => path !== '' && existsSync(path));
}

const CACHE = fileURLToPath(new URL('../../../node_modules/.cache/chromium/', import.meta.url));

/** The program of the package, unpacked once. Several test files may request it at a time. */
async function unpacked(): Promise<string> {
  const program = join(CACHE, 'ready', 'chromium');
  if (existsSync(program)) return program;
  mkdirSync(CACHE, { recursive: true });
  const mine = mkdtempSync(join(CACHE, 'new-'));
  const { TMPDIR } = process.env;
  // the package unpacks into the folder for temporary files
  process.env.TMPDIR = mine;
  try {
    await packed.executablePath();
  } finally {
    if (TMPDIR === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = TMPDIR;
  }
  try {
    renameSync(mine, join(CACHE, 'ready'));
  } catch (error) {
    rmSync(mine, { recursive: true, force: true });
    // another test was first
    if (!existsSync(program)) throw error;
  }
  return program;
}

/** Starts a headless browser. */
export async function openBrowser(): Promise<Browser> {
  const program = installed();
  if (program !== undefined) return chromium.launch({ executablePath: program, headless: true, args: FLAGS });
  const executablePath = await unpacked();
  return chromium.launch({ executablePath, headless: true, args: FLAGS, env: { ...process.env, FONTCONFIG_FILE: fontsOf(executablePath) } });
}

/** Playwright's default of 30 seconds is too short on a busy machine. What a test waits for usually comes at once. */
const PATIENCE_MS = 120_000;

/** Creates a context whose waits suit a busy machine. */
export async function openContext(browser: Browser, options: BrowserContextOptions = {}): Promise<BrowserContext> {
  const context = await browser.newContext(options);
  context.setDefaultTimeout(PATIENCE_MS);
  return context;
}

/** A configuration with the package's fonts, because a machine without a browser may have none. It is written for each start because it has absolute paths. */
function fontsOf(program: string): string {
  const [fonts, file] = [join(dirname(program), 'fonts'), join(dirname(program), 'fonts.conf')];
  const mine = `${file}.${process.pid}`;
  writeFileSync(mine, `<?xml version="1.0"?><fontconfig><dir>${fonts}</dir><cachedir>${fonts}</cachedir></fontconfig>`);
  renameSync(mine, file);
  return file;
}

/** A web server on its own port. */
export interface Site {
  readonly port: number;
  close(): Promise<void>;
}

/** Serves the results of `answer` on the loopback interface, with all its names. */
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
