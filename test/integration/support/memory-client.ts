/** The user's side of an SDK client, in memory; the URL that it would open is recorded for the test. */
export class Memory {
  readonly redirectUrl = 'http://127.0.0.1:4711/callback';
  readonly clientMetadata = {
    client_name: 'Test of the SDK',
    redirect_uris: [this.redirectUrl],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
  };
  // biome-ignore lint/suspicious/noExplicitAny: kept as each SDK gives it
  readonly kept: { client?: any; tokens?: any; verifier?: string; asked?: URL } = {};
  state = () => 'state-of-the-client';
  clientInformation = () => this.kept.client;
  saveClientInformation(client: object): void {
    this.kept.client = client;
  }
  tokens = () => this.kept.tokens;
  saveTokens(tokens: object): void {
    this.kept.tokens = tokens;
  }
  codeVerifier = () => this.kept.verifier ?? '';
  saveCodeVerifier(verifier: string): void {
    this.kept.verifier = verifier;
  }
  redirectToAuthorization(url: URL): void {
    this.kept.asked = url;
  }
}
