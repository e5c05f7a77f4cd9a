/** Commands and programs that use an ontology, to copy. Pure: names of ontologies may have any character, so each text quotes them for its language. */

/** A text as one word of a POSIX shell. */
export const shellWord = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/** The command that sends a JSON body to a path of the API. @param url its full address @param more further headers, as words of the shell */
export const curl = (url: string, body: string, more = ''): string =>
  `curl -s ${url} -H "x-api-key: $TOKEN" -H 'content-type: application/json'${more} \\\n  -d ${shellWord(body)}`;

/** The command that runs a statement as a tool of the MCP server. @param api the full address of the API */
export const mcpCurl = (api: string, ontology: string, sql: string): string =>
  curl(
    `${api}/mcp`,
    JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'execute_sql', arguments: { query: sql, ontology } } }),
    " -H 'accept: application/json, text/event-stream'",
  );

const json = (value: unknown): string => JSON.stringify(value, null, 2);

const SQL = 'SELECT 1 AS one';

/** The texts of the Connect view with their titles. @param api the full address of the API, `https://host/svc/api` */
export function snippetsOf(
  product: string,
  api: string,
  ontology: string,
  titles: Readonly<Record<'signIn' | 'connector' | 'copilot' | 'rest' | 'python' | 'typescript', string>>,
): readonly (readonly [title: string, text: string])[] {
  const mcp = `${api}/mcp?ontology=${encodeURIComponent(ontology)}`;
  const servers = (settings: unknown): string => json({ mcpServers: { [product]: settings } });
  const [name, sql] = [JSON.stringify(ontology), JSON.stringify(SQL)];
  return [
    ['Claude Code', `claude mcp add --transport http ${product} ${shellWord(mcp)} --header "x-api-key: $TOKEN"`],
    [titles.signIn, `claude mcp add --transport http ${product} ${shellWord(mcp)}`],
    [titles.connector, mcp],
    [
      'VS Code', // the shell replaces $TOKEN only outside of single quotes
      `code --add-mcp ${shellWord(JSON.stringify({ name: product, type: 'http', url: mcp, headers: { 'x-api-key': '$TOKEN' } })).replace('$TOKEN', `'"$TOKEN"'`)}`,
    ],
    [
      'Claude Desktop (claude_desktop_config.json)',
      servers({ command: 'npx', args: ['-y', 'mcp-remote', mcp, '--header', `x-api-key:\${KG_TOKEN}`], env: { KG_TOKEN: 'tk_...' } }),
    ],
    ['Cursor (.cursor/mcp.json)', servers({ url: mcp, headers: { 'x-api-key': `\${env:KG_TOKEN}` } })],
    ['Windsurf (~/.codeium/windsurf/mcp_config.json)', servers({ serverUrl: mcp, headers: { 'x-api-key': `\${env:KG_TOKEN}` } })],
    ['Gemini CLI (~/.gemini/settings.json)', servers({ httpUrl: mcp, headers: { 'x-api-key': '$KG_TOKEN' } })],
    [titles.copilot, mcp],
    [titles.rest, curl(`${api}/query/`, JSON.stringify({ ontology_name: ontology, query: SQL }))],
    [
      titles.python,
      `import os, requests\n\nanswer = requests.post(\n    "${api}/query/",\n    headers={"x-api-key": os.environ["TOKEN"]},\n    json={"ontology_name": ${name}, "query": ${sql}},\n)\nanswer.raise_for_status()\nprint(answer.json()["data"])`,
    ],
    [
      titles.typescript,
      `const answer = await fetch('${api}/query/', {\n  method: 'POST',\n  headers: { 'x-api-key': process.env.TOKEN!, 'content-type': 'application/json' },\n  body: JSON.stringify({ ontology_name: ${name}, query: ${sql} }),\n});\nif (!answer.ok) throw new Error(await answer.text());\nconst { data } = await answer.json();`,
    ],
  ];
}
