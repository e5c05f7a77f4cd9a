/** The sections of `npm run bench`. */

/** The sections by name, in the order in which they run. `named`: runs only if it is named on the command line. `minutes`: another limit than `MINUTES`. */
export const SECTIONS: Readonly<Record<string, { what: string; load: () => Promise<{ run: () => Promise<void> }>; named?: boolean; minutes?: number }>> = {
  start: { what: 'npm start: its time, and a request to it', load: () => import('./sections/start.ts') },
  a: { what: 'service against the bare driver', load: () => import('./sections/a-driver.ts') },
  b: { what: 'planning against parsing', load: () => import('./sections/b-plan.ts') },
  budget: { what: 'what a text that grows costs before it is refused', load: () => import('./sections/budget.ts') },
  c: { what: 'generated against hand-written SQL', load: () => import('./sections/c-sql.ts') },
  d: { what: 'size and start of the script', load: () => import('./sections/d-script.ts') },
  nested: { what: 'nested results and formats against flat rows', load: () => import('./sections/nested.ts') },
  cache: { what: 'cached answers against uncached', load: () => import('./sections/cache.ts') },
  peer: { what: 'the service against PostGraphile', load: () => import('./sections/peer.ts') },
  auth: { what: 'what a warm credential costs', load: () => import('./sections/auth.ts') },
  policies: { what: 'row policies and masks against none and against SQL by hand', load: () => import('./sections/policies.ts') },
  mcp: { what: 'the call of a tool against the same REST query', load: () => import('./sections/mcp.ts') },
  tpch: { what: 'the queries of TPC-H against SQL by hand', load: () => import('./sections/tpch.ts') },
  fanout: { what: 'aggregates of several levels against pre-aggregation by hand', load: () => import('./sections/fanout.ts') },
  walks: { what: 'transitive paths against a breadth-first search by hand', load: () => import('./sections/walks.ts') },
  scale: { what: 'a model of 2,000 concepts against one of 20', load: () => import('./sections/scale.ts') },
  cubes: {
    what: 'queries on cached cubes against live ones, and other queries with caches against without',
    load: () => import('./sections/cubes.ts'),
    minutes: 30,
  },
  console: { what: 'the console in a browser', load: () => import('./sections/console.ts') },
  simulate: { what: '10,000 tenants at 300 locations, simulated over measured costs', load: () => import('./sections/simulate.ts'), named: true, minutes: 30 },
  objects: { what: 'what Durable Objects cost', load: () => import('./sections/objects.ts'), named: true },
  'mcp-load': { what: 'the MCP server under 16 clients for ten minutes', load: () => import('./sections/mcp-load.ts'), named: true, minutes: 30 },
  citus: { what: 'the queries of TPC-H against SQL by hand, on the cluster of CITUS_URL', load: () => import('./sections/citus.ts'), named: true, minutes: 60 },
  'tpch-1': { what: 'TPC-H at scale 1', load: () => import('./sections/tpch-1.ts'), named: true, minutes: 60 },
};
