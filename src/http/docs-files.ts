/** The pages of the documentation for language models: `/llms.txt`, `/llms-full.txt` and `/<product>/docs/<page>.md`. They need no credential. */
import { notFound } from '../errors.ts';
import type { AppContext } from './context.ts';

/** 404. */
export const unknownPath = () => notFound('unknown_path', 'This path does not exist');

/** Sends a page. @throws SvcError 404 `unknown_path` */
export function docsFile(c: AppContext): Promise<Response> {
  const name = c.req.param('file') ?? '';
  if (!/^[a-z][a-z0-9-]{0,40}\.md$/.test(name)) throw unknownPath();
  return send(c, `docs/${name}`, 'text/markdown; charset=utf-8');
}

/** Sends `llms.txt` with the product's path, or `llms-full.txt`. @throws SvcError 404 `unknown_path` */
export const llmsFile = (c: AppContext, name: 'llms.txt' | 'llms-full.txt'): Promise<Response> => send(c, name, 'text/plain; charset=utf-8');

async function send(c: AppContext, name: string, type: string): Promise<Response> {
  const found = await c.env.assets?.fetch(new Request(`https://assets.invalid/${name}`));
  if (found?.status !== 200) throw unknownPath();
  const headers = new Headers({
    'content-type': type,
    'cache-control': 'public, max-age=300',
    'x-content-type-options': 'nosniff',
    'x-request-id': c.get('requestId'),
  });
  const etag = found.headers.get('etag');
  if (etag !== null) headers.set('etag', etag);
  if (etag !== null && c.req.header('if-none-match') === etag) return new Response(null, { status: 304, headers });
  if (name !== 'llms.txt') return new Response(found.body, { headers });
  return new Response((await found.text()).replaceAll('{{docs}}', `/${c.env.runtime.config.product}/docs`), { headers });
}
