/** The routes of login and OAuth: pages for browsers, and documents and endpoints for clients. Their code is loaded with the first request. */
import type { Hono } from 'hono';
import type { AppContext, AppEnv } from './context.ts';

/** Adds a route below the product name. Other methods of its path are answered with 405. */
export type AddRoute = (methods: readonly string[], path: string, handler: (c: AppContext) => Promise<Response> | Response) => void;

const login = () => import('./login.ts');
const oauth = () => import('./oauth.ts');

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
