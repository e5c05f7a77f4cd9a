/** The service itself, built as its variants are. */
export * from '../../src/index.ts';
export { default } from '../../src/index.ts';
