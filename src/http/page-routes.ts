/** The routes of login, OAuth and the console: pages for browsers, and documents and endpoints for clients. Their code is loaded with the first request. */
import type { Handler, Hono } from 'hono';
import type { AppEnv } from './context.ts';

/** Adds a route below the product name. Other methods of its path are answered with 405. */
export type AddRoute = (methods: readonly string[], path: string, ...handlers: Handler<AppEnv>[]) => void;

const login = () => import('./login.ts');
const oauth = () => import('./oauth.ts');
const console = () => import('./console.ts');

/** Adds the routes `/login`, `/login/callback`, `/logout` and `/get_<product>_user_token`. */
export function loginRoutes(route: AddRoute, product: string): void {
  route(['GET'], '/login/style.css', async (c) => (await import('./pages.ts')).pageStyle(c));
  route(['GET', 'POST'], '/login', async (c) => (await login()).login(c));
  route(['GET'], '/login/callback', async (c) => (await login()).callback(c));
  route(['POST'], '/logout', async (c) => (await login()).logout(c));
  route(['GET'], `/get_${product}_user_token`, async (c) => (await login()).userToken(c));
}

/** Adds the routes of OAuth. The documents of RFC 8414 and RFC 9728 are at the root, with and without the path of the MCP server appended. */
export function oauthRoutes(app: Hono<AppEnv>, route: AddRoute, product: string): void {
  const mcp = `/${product}/api/mcp`;
  for (const path of ['', mcp]) {
    app.all(`/.well-known/oauth-authorization-server${path}`, async (c) => (await oauth()).protocol(c, 'metadata'));
    app.all(`/.well-known/oauth-protected-resource${path}`, async (c) => (await oauth()).describeResource(c));
  }
  app.all(`/${product}/oauth/token`, async (c) => (await oauth()).protocol(c, 'token'));
  app.all(`/${product}/oauth/register`, async (c) => (await oauth()).protocol(c, 'register'));
  route(['GET', 'POST'], '/oauth/authorize', async (c) => (await oauth()).authorize(c));
  route(['GET', 'POST'], '/oauth/grants', async (c) => (await oauth()).grants(c));
}

/** Adds the routes below `/<product>/console`, and the redirect from `/` to it. */
export function consoleRoutes(app: Hono<AppEnv>, route: AddRoute): void {
  app.get('/', async (c) => (await console()).toConsole(c));
  route(['GET'], '/console', async (c) => (await console()).index(c));
  route(
    ['GET'],
    '/console/assets/:file',
    async (c, next) => (await console()).checkFile(c, next),
    async (c) => (await console()).asset(c),
  );
  route(['GET'], '/console/session', async (c) => (await console()).session(c));
  route(['POST'], '/console/token', async (c) => (await console()).token(c));
  route(['POST'], '/console/link', async (c) => (await console()).link(c));
  route(
    ['GET'],
    '/console/enter',
    async (c, next) => (await console()).checkCode(c, next),
    async (c) => (await console()).enter(c),
  );
}
