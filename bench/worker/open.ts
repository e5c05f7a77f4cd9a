/** The service, built with a stand-in for the judging of credentials. */
export * from '../../src/index.ts';
export { default } from '../../src/index.ts';
