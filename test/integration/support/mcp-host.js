/**
 * The page of a small host of MCP Apps, for mcp-apps.test.ts: the host side of the protocol is that of `@modelcontextprotocol/ext-apps`. `show` calls a tool and shows the
 * page of its result in a sandboxed frame, under the Content-Security-Policy that hosts apply.
 */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { AppBridge, PostMessageTransport } from '@modelcontextprotocol/ext-apps/app-bridge';

const POLICY =
  "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; connect-src 'none'; frame-src 'none'; base-uri 'none'";
const UI = { 'io.modelcontextprotocol/ui': { mimeTypes: ['text/html;profile=mcp-app'] } };

let bridge;

globalThis.show = async ({ address, headers, pin, tool, args, theme, passes = true }) => {
  const options = { capabilities: { extensions: UI }, ...(pin === undefined ? {} : { versionNegotiation: { mode: { pin } } }) };
  const client = new Client({ name: 'host', version: '1' }, options);
  await client.connect(new StreamableHTTPClientTransport(new URL(address), { requestInit: { headers } }));
  const { tools } = await client.listTools();
  const uri = tools.find(({ name }) => name === tool)._meta.ui.resourceUri;
  const page = (await client.readResource({ uri })).contents[0];
  const frame = document.createElement('iframe');
  frame.setAttribute('sandbox', 'allow-scripts');
  frame.title = 'app';
  frame.style.width = '100%';
  frame.srcdoc = page.text.replace('<head>', `<head><meta http-equiv="Content-Security-Policy" content="${POLICY}">`);
  const said = [];
  bridge = new AppBridge(
    passes ? client : null,
    { name: 'host', version: '1' },
    { ...(passes ? { serverTools: {} } : {}), message: { text: {} } },
    { hostContext: { theme } },
  );
  bridge.onsizechange = ({ height }) => {
    frame.style.height = `${height}px`;
  };
  bridge.onmessage = async ({ content }) => {
    said.push(...content.map(({ text }) => text));
    return {};
  };
  const ready = new Promise((resolve) => {
    bridge.oninitialized = resolve;
  });
  document.body.replaceChildren(frame);
  await bridge.connect(new PostMessageTransport(frame.contentWindow, frame.contentWindow));
  await ready;
  globalThis.said = said;
  await bridge.sendToolInput({ arguments: args });
  await bridge.sendToolResult(await client.callTool({ name: tool, arguments: args }));
  return { uri, mimeType: page.mimeType, meta: page._meta };
};

/** Sends a later result to the same page. */
globalThis.send = async (args, result) => {
  await bridge.sendToolInput({ arguments: args });
  await bridge.sendToolResult(result);
};
globalThis.dress = (theme) => bridge.setHostContext({ theme });
globalThis.leave = () => bridge.teardownResource({});
