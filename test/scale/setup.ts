import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  export interface ProvidedContext {
    /** A connection string of the coordinator of a Citus cluster. */
    citusUrl: string;
  }
}

/** Passes the address of the cluster to the tests. */
export default function setup(project: TestProject): void {
  project.provide('citusUrl', process.env.CITUS_URL ?? '');
}
