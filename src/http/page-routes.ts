/** The routes of login, OAuth and the console: pages for browsers, and documents and endpoints for clients. Their code is loaded with the first request. */
import type { Handler, Hono } from 'hono';
import { changesSomething, isReadOnly } from '../service.ts';
import type { AppEnv } from './context.ts';

/**
 * What a route changes. `reads`: nothing, except records about the request itself. `checked`: what `ServiceRequest.permitted` allows; the service checks it.
 * `changes`: something else, so a request with `x-read-only` is refused.
 */
export type Effect = 'reads' | 'checked' | 'changes';

/** Adds a route below the product name. Other methods of its path are answered with 405. */
export type AddRoute = (methods: readonly string[], path: string, effect: Effect, ...handlers: Handler<AppEnv>[]) => void;

/** Refuses requests with `x-read-only`. @throws SvcError 403 `read_only` */
export const refuseReadOnly: Handler<AppEnv> = async (c, next) => {
  if (isReadOnly(c.req.raw.headers)) throw changesSomething();
  await next();
};

const login = () => import('./login.ts');
const oauth = () => import('./oauth.ts');
const console = () => import('./console.ts');
const docsFiles = () => import('./docs-files.ts');

/** Adds the routes `/login`, `/login/callback`, `/logout` and `/get_<product>_user_token`. */
export function loginRoutes(route: AddRoute, product: string): void {
  route(['GET'], '/login/style.css', 'reads', async (c) => (await import('./pages.ts')).pageStyle(c));
  route(['GET'], '/login', 'reads', async (c) => (await login()).login(c));
  route(['POST'], '/login', 'changes', async (c) => (await login()).login(c));
  route(['GET'], '/login/callback', 'changes', async (c) => (await login()).callback(c));
  route(['POST'], '/logout', 'changes', async (c) => (await login()).logout(c));
  route(['GET'], `/get_${product}_user_token`, 'changes', async (c) => (await login()).userToken(c));
}

/** Adds the routes of OAuth. The documents of RFC 8414 and RFC 9728 are at the root, with and without the path of the MCP server appended. */
export function oauthRoutes(app: Hono<AppEnv>, route: AddRoute, product: string): void {
  const mcp = `/${product}/api/mcp`;
  for (const path of ['', mcp]) {
    app.all(`/.well-known/oauth-authorization-server${path}`, async (c) => (await oauth()).protocol(c, 'metadata'));
    app.all(`/.well-known/oauth-protected-resource${path}`, async (c) => (await oauth()).describeResource(c));
  }
  app.all(`/${product}/oauth/token`, refuseReadOnly, async (c) => (await oauth()).protocol(c, 'token'));
  app.all(`/${product}/oauth/register`, refuseReadOnly, async (c) => (await oauth()).protocol(c, 'register'));
  route(['GET'], '/oauth/authorize', 'reads', async (c) => (await oauth()).authorize(c));
  route(['POST'], '/oauth/authorize', 'changes', async (c) => (await oauth()).authorize(c));
  route(['GET'], '/oauth/grants', 'reads', async (c) => (await oauth()).grants(c));
  route(['POST'], '/oauth/grants', 'changes', async (c) => (await oauth()).grants(c));
}

/** Adds the pages for language models. */
export function docsRoutes(app: Hono<AppEnv>, route: AddRoute): void {
  for (const name of ['llms.txt', 'llms-full.txt'] as const) app.get(`/${name}`, async (c) => (await docsFiles()).llmsFile(c, name));
  route(['GET'], '/docs/:file', 'reads', async (c) => (await docsFiles()).docsFile(c));
}

/** Adds the routes below `/<product>/console`, and the redirect from `/` to it. */
export function consoleRoutes(app: Hono<AppEnv>, route: AddRoute): void {
  app.get('/', async (c) => (await console()).toConsole(c));
  route(['GET'], '/console', 'reads', async (c) => (await console()).index(c));
  route(
    ['GET'],
    '/console/assets/:file',
    'reads',
    async (c, next) => (await console()).checkFile(c, next),
    async (c) => (await console()).asset(c),
  );
  route(['GET'], '/console/session', 'reads', async (c) => (await console()).session(c));
  route(['POST'], '/console/token', 'changes', async (c) => (await console()).token(c));
  route(['POST'], '/console/link', 'changes', async (c) => (await console()).link(c));
  route(
    ['GET'],
    '/console/enter',
    'changes',
    async (c, next) => (await console()).checkCode(c, next),
    async (c) => (await console()).enter(c),
  );
}
