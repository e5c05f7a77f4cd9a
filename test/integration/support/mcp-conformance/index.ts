/** The service's Worker with other tools, resources and prompts: those of the conformance runner. Everything else is the service's own. */
import { McpPrincipal as Served } from '../../../../src/index.ts';
import type { Offer } from '../../../../src/mcp/offer.ts';

export { AsyncStatement, default, LoginThrottle, OAuthStore } from '../../../../src/index.ts';

export class McpPrincipal extends Served {
  protected override async offer(): Promise<Offer> {
    return (await import('./fixtures.ts')).FIXTURES;
  }
}
