/** The service's Worker with another offer over MCP: what the conformance runner looks for. All else is the service's own. */
import { McpPrincipal as Served } from '../../../../src/index.ts';
import type { Offer } from '../../../../src/mcp/offer.ts';

export { AsyncStatement, default, LoginThrottle, OAuthStore } from '../../../../src/index.ts';

export class McpPrincipal extends Served {
  protected override async offer(): Promise<Offer> {
    return (await import('./fixtures.ts')).FIXTURES;
  }
}
