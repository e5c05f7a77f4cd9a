/** The 22 queries of TPC-H. */
import { Q01_TO_08 } from './q01-08.ts';
import { Q09_TO_15 } from './q09-15.ts';
import { Q16_TO_22 } from './q16-22.ts';

export { type Query, texts } from './query.ts';
export const QUERIES = [...Q01_TO_08, ...Q09_TO_15, ...Q16_TO_22];
