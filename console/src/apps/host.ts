/**
 * The connection of a page to the host that shows it: MCP Apps, revision 2026-01-26. The page is in a sandboxed frame, and talks to the host by messages only.
 * https://github.com/modelcontextprotocol/ext-apps/blob/main/specification/2026-01-26/apps.mdx
 */
import type { McpUiHostCapabilities, McpUiHostContext, McpUiInitializeResult } from '@modelcontextprotocol/ext-apps';
import type { ToolResult } from './answer.ts';

const REVISION = '2026-01-26';

/** What the host reports about the call that the page belongs to. */
export interface Listener {
  onInput(args: Readonly<Record<string, unknown>>): void;
  onResult(result: ToolResult): void;
  onCancelled(): void;
}

/** What the host does for the page. */
export interface Host {
  /** Calls a tool of the server; null if the host does not pass calls on. */
  readonly call: ((name: string, args: Readonly<Record<string, unknown>>) => Promise<ToolResult>) | null;
  /** Says something in the conversation as the user; null if the host does not allow it. */
  readonly say: ((text: string) => Promise<unknown>) | null;
}

interface Message {
  readonly jsonrpc?: unknown;
  readonly id?: string | number;
  readonly method?: string;
  readonly params?: Readonly<Record<string, unknown>>;
  readonly result?: unknown;
  readonly error?: { readonly message?: string };
}

const METHOD_NOT_FOUND = -32601;

const post = (message: object): void => parent.postMessage({ jsonrpc: '2.0', ...message }, '*');

/** Connects to the host: introduces the page, takes over the host's theme, and keeps the host's frame as high as the page. @throws Error if the host refuses */
export async function connect(name: string, listener: Listener): Promise<Host> {
  const waiting = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>();
  let next = 1;
  const request = (method: string, params: object): Promise<unknown> =>
    new Promise((resolve, reject) => {
      const id = next++;
      waiting.set(id, { resolve, reject });
      post({ id, method, params });
    });

  const handlers: Readonly<Record<string, (params: Readonly<Record<string, unknown>>) => void>> = {
    'ui/notifications/tool-input': (params) => listener.onInput((params.arguments ?? {}) as Readonly<Record<string, unknown>>),
    'ui/notifications/tool-result': (params) => listener.onResult(params as ToolResult),
    'ui/notifications/tool-cancelled': () => listener.onCancelled(),
    'ui/notifications/host-context-changed': (params) => applyContext(params as McpUiHostContext),
  };
  addEventListener('message', ({ source, data }: MessageEvent<Message | null>) => {
    if (source !== parent || data?.jsonrpc !== '2.0') return;
    const { id, method, params = {} } = data;
    if (method === undefined) {
      const asked = waiting.get(id as number);
      waiting.delete(id as number);
      if (data.error !== undefined) asked?.reject(new Error(data.error.message ?? ''));
      else asked?.resolve(data.result);
    } else if (id === undefined) {
      if (Object.hasOwn(handlers, method)) handlers[method]?.(params);
    } else if (method === 'ping' || method === 'ui/resource-teardown') post({ id, result: {} });
    else post({ id, error: { code: METHOD_NOT_FOUND, message: `Method not found: ${method.slice(0, 100)}` } });
  });

  const answer = (await request('ui/initialize', {
    appInfo: { name, version: '1' },
    appCapabilities: { availableDisplayModes: ['inline', 'fullscreen'] },
    protocolVersion: REVISION,
  })) as McpUiInitializeResult;
  applyContext(answer.hostContext ?? {});
  post({ method: 'ui/notifications/initialized', params: {} });
  reportSize();
  const { serverTools, message }: McpUiHostCapabilities = answer.hostCapabilities ?? {};
  return {
    call: serverTools === undefined ? null : async (tool, args) => (await request('tools/call', { name: tool, arguments: args })) as ToolResult,
    say: message === undefined ? null : (text) => request('ui/message', { role: 'user', content: [{ type: 'text', text }] }),
  };
}

/** Light or dark as the host is, and its font. Colours stay our own, so that their contrast is known. */
function applyContext({ theme, styles, safeAreaInsets: insets }: McpUiHostContext): void {
  const root = document.documentElement;
  if (theme === 'light' || theme === 'dark') root.dataset.theme = theme;
  const font = styles?.variables?.['--font-sans'];
  if (font !== undefined) root.style.setProperty('--font', font);
  if (insets !== undefined) document.body.style.padding = [insets.top, insets.right, insets.bottom, insets.left].map((n) => `${Number(n)}px`).join(' ');
}

function reportSize(): void {
  let last = 0;
  const report = (): void => {
    const height = Math.ceil(document.body.getBoundingClientRect().height);
    if (height === last) return;
    last = height;
    post({ method: 'ui/notifications/size-changed', params: { height } });
  };
  new ResizeObserver(report).observe(document.body);
}
