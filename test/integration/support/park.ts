/** A small ontology for clients of MCP, and what each client must get from it. */
import { expect } from 'vitest';

export const PARK_TABLES: readonly string[] = [
  'CREATE TABLE t_animal (no int PRIMARY KEY, called text)',
  "INSERT INTO t_animal VALUES (1, 'Ada'), (2, 'B\u00e4r')",
];
export const PARK = `CREATE ONTOLOGY park; CREATE CONCEPT animal (no integer, name string, PRIMARY KEY (no));
  CREATE MAPPING m INTO animal AS SELECT no, called AS name FROM public.t_animal`;

export const TOOLS = 10;
export const QUERY = { name: 'execute_sql', arguments: { query: 'SELECT name FROM svc.animal ORDER BY name', ontology: 'park' } };
export const ROWS = { rows: [{ name: 'Ada' }, { name: 'B\u00e4r' }], row_count: 2, truncated: false };

/** The parts of the clients of both SDKs that are used. */
export interface ParkClient {
  getServerVersion(): { readonly name: string } | undefined;
  listTools(): Promise<{ readonly tools: readonly unknown[] }>;
  callTool(call: typeof QUERY): Promise<unknown>;
  close(): Promise<void>;
}

/** Initialized, the client lists the tools and calls one. */
export async function works(client: ParkClient): Promise<void> {
  expect(client.getServerVersion()).toMatchObject({ name: 'svc' });
  expect((await client.listTools()).tools).toHaveLength(TOOLS);
  expect(await client.callTool(QUERY)).toMatchObject({ structuredContent: ROWS });
}
