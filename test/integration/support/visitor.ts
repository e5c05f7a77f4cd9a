/** The parts of a browser that forms need: a cookie jar, no script, redirects one by one. */
export class Visitor {
  readonly cookies: Map<string, string>;
  readonly #send: (path: string, init: RequestInit) => Promise<Response>;
  /** Set-Cookie lines, as they came. */
  readonly set: string[] = [];

  /** `cookies`: those of a browser whose session this one shares. */
  constructor(send: (path: string, init: RequestInit) => Promise<Response>, cookies: ReadonlyMap<string, string> = new Map()) {
    this.#send = send;
    this.cookies = new Map(cookies);
  }

  async send(path: string, init: RequestInit = {}): Promise<Visited> {
    const headers = new Headers({ accept: 'text/html', ...(init.headers as Record<string, string> | undefined) });
    if (this.cookies.size > 0) headers.set('cookie', [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; '));
    const response = await this.#send(path, { ...init, headers, redirect: 'manual' });
    for (const line of response.headers.getSetCookie()) {
      this.set.push(line);
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (/;\s*max-age=0\b/i.test(line)) this.cookies.delete(name);
      else this.cookies.set(name, value);
    }
    return { status: response.status, headers: response.headers, location: response.headers.get('location'), text: await response.text() };
  }

  /** Sends the form of a page, with these fields; `origin` like a browser. */
  post(path: string, fields: Readonly<Record<string, string>>, headers: Readonly<Record<string, string>> = {}): Promise<Visited> {
    return this.send(path, {
      method: 'POST',
      body: new URLSearchParams(fields).toString(),
      headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
    });
  }

  /** Opens the login page and sends its form. */
  async logIn(user: string, password: string, returnTo?: string): Promise<Visited> {
    const shown = await this.send(`/svc/login${returnTo === undefined ? '' : `?${new URLSearchParams({ return_to: returnTo })}`}`);
    return this.post('/svc/login', { ...hidden(shown.text), user, password });
  }
}

export interface Visited {
  readonly status: number;
  readonly headers: Headers;
  readonly location: string | null;
  readonly text: string;
}

const ENTITIES: Readonly<Record<string, string>> = { '&amp;': '&', '&lt;': '<', '&gt;': '>', '&quot;': '"', '&#39;': "'" };
const plain = (text: string): string => text.replace(/&(amp|lt|gt|quot|#39);/g, (entity) => ENTITIES[entity] as string);

/** The hidden fields of a page's forms. */
export const hidden = (html: string): Record<string, string> =>
  Object.fromEntries([...html.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)">/g)].map(([, name = '', value = '']) => [name, plain(value)]));
