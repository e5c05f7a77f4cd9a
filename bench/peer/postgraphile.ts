/**
 * PostGraphile over the schema `world`, in a separate process: `bench/sections/peer.ts` starts it with the connection
 * string in DATABASE_URL. It prints its port and serves GraphQL until it is stopped.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { postgraphile } from 'postgraphile';
import { makePgService } from 'postgraphile/adaptors/pg';
import { grafserv } from 'postgraphile/grafserv/node';
import { PostGraphileAmberPreset } from 'postgraphile/presets/amber';

const connectionString = process.env.DATABASE_URL;
if (!connectionString) throw new Error('DATABASE_URL is not set');

const preset: GraphileConfig.Preset = {
  extends: [PostGraphileAmberPreset],
  pgServices: [makePgService({ connectionString, schemas: ['world'], poolConfig: { max: 16 } })],
  grafserv: { graphiql: false, graphqlPath: '/graphql' },
  grafast: { explain: false },
};
const server = createServer();
const served = postgraphile(preset).createServ(grafserv);
await served.addTo(server);
server.listen(0, '127.0.0.1', () => console.log((server.address() as AddressInfo).port));
