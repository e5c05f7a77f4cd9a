/**
 * Replaces `@ai-sdk/gateway` in the Worker (wrangler.toml). The SDK uses it for models that are named only by a text,
 * which this service never does, and for its error classes, which then never occur.
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
