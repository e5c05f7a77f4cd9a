/** (tpch-1) The same at scale 1: some minutes to load, some gigabytes. */
import { runAt } from './tpch.ts';

export const run = (): Promise<void> => runAt(1);
