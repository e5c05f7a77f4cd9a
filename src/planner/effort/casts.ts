/** The steps of casts. PostgreSQL makes values of some types much more slowly than it reads the texts, and does not check for interrupts. */
import type { TypeName } from '@pgsql/types';
import { lastName } from '../plan/tree.ts';
import { FREE_TYPES, names, SLOW_TYPES } from './functions.ts';
import { bytesOf, bytesWithNumbers, MAX_SIZE, type Size, SMALL } from './sizes.ts';
import { freePass, onePass, SEARCHED, STEPS_PER_BYTE } from './steps.ts';

const MULTIRANGES = names('int4multirange int8multirange nummultirange datemultirange tsmultirange tstzmultirange');

/** The steps per byte of an array, of a document, of a set of ranges, and of an array of documents: PostgreSQL keeps up to 1,200 bytes for each byte of it. */
const OF_ARRAY = 100;
const OF_DOCUMENT = 500;
const OF_RANGES = 2_000;
const OF_DOCUMENTS = 8_000;
/** The bytes of the shortest value in an array or document: a digit and a comma. A longer number takes no more time per value. */
const BYTES_OF_A_VALUE = 2;

/** The steps of a cast of a value of variable length. @param type the type, or that of the elements of an array */
export function stepsOfCast(type: string, size: Size, isArray: boolean): number {
  if (SLOW_TYPES.has(type)) return bytesWithNumbers(size, SEARCHED) ** 2 / 8;
  if (FREE_TYPES.has(type) && !isArray) return freePass(size);
  const [bytes, stepsOfByte] = [bytesOf(size, SEARCHED), stepsPerByte(type, isArray)];
  if (bytes >= MAX_SIZE) return onePass(bytes, stepsOfByte);
  return onePass(bytes - size.digits * (1 - BYTES_OF_A_VALUE / SMALL.made), stepsOfByte) + onePass(size.digits);
}

function stepsPerByte(type: string, isArray: boolean): number {
  const isComposed = type === 'jsonb' || MULTIRANGES.has(type);
  if (isArray) return isComposed || type === 'json' ? OF_DOCUMENTS : OF_ARRAY;
  return type === 'jsonb' ? OF_DOCUMENT : isComposed ? OF_RANGES : STEPS_PER_BYTE;
}

/** The steps of making columns of some types from the parts of a document, if they take longer than one pass over it. @param value nodes with names of types */
export function stepsOfTypes(value: unknown, document: Size): number {
  const types: TypeName[] = [];
  collect(value, types);
  return types.reduce((most, { names: path, arrayBounds = [] }) => {
    const [type, isArray] = [lastName(path), arrayBounds.length > 0];
    const isSlow = SLOW_TYPES.has(type) || stepsPerByte(type, isArray) > STEPS_PER_BYTE;
    return isSlow ? Math.max(most, stepsOfCast(type, document, isArray)) : most;
  }, 0);
}

function collect(value: unknown, types: TypeName[]): void {
  if (value === null || typeof value !== 'object') return;
  if ('names' in value && 'typemod' in value) types.push(value as TypeName);
  else for (const inner of Object.values(value)) collect(inner, types);
}
