/**
 * Stands in for `@ai-sdk/gateway` in the Worker (wrangler.toml). The SDK asks it for models that are named by a text
 * alone, which this service never does, and for the classes of its errors, which then never occur.
 */
class NoGatewayError extends Error {
  static isInstance(_error: unknown): boolean {
    return false;
  }
}

export { NoGatewayError as GatewayAuthenticationError, NoGatewayError as GatewayError };

export const createGateway = (): never => {
  throw new Error('there is no gateway');
};
export const gateway = createGateway;
