/** Authenticated encryption (AES-GCM) of texts and bytes in storage that others may read or write. */
import { concat } from '../bytes.ts';

const encoder = new TextEncoder();
/** Length of the nonce, which precedes the ciphertext. */
const NONCE_BYTES = 12;

/** The secret, the purpose and the storage location of a value. Decryption fails for any other purpose or location. */
export interface Sealing {
  readonly secret: string;
  readonly purpose: string;
  readonly place: string;
}

async function keyOf({ secret, purpose, place }: Sealing, use: 'encrypt' | 'decrypt') {
  const material = await crypto.subtle.digest('SHA-256', encoder.encode(`${purpose}\u0000${secret}`));
  return { by: await crypto.subtle.importKey('raw', material, 'AES-GCM', false, [use]), additionalData: encoder.encode(place) };
}

/** Encrypts a text. @returns the nonce followed by the ciphertext */
export const seal = (text: string, sealing: Sealing): Promise<Uint8Array<ArrayBuffer>> => sealBytes(encoder.encode(text), sealing);

/** Encrypts bytes. @returns the nonce followed by the ciphertext */
export async function sealBytes(bytes: Uint8Array<ArrayBuffer>, sealing: Sealing): Promise<Uint8Array<ArrayBuffer>> {
  const { by, additionalData } = await keyOf(sealing, 'encrypt');
  const iv = crypto.getRandomValues(new Uint8Array(NONCE_BYTES));
  const sealed = new Uint8Array(await crypto.subtle.encrypt({ name: 'AES-GCM', iv, additionalData }, by, bytes));
  return concat([iv, sealed]);
}

/** Decrypts what `seal` returned; undefined if it was encrypted with another secret, purpose or location, or is not valid. */
export async function open(bytes: Uint8Array<ArrayBuffer>, sealing: Sealing): Promise<string | undefined> {
  const opened = await openBytes(bytes, sealing);
  return opened && new TextDecoder().decode(opened);
}

/** Decrypts what `sealBytes` returned; undefined as `open`. */
export async function openBytes(bytes: Uint8Array<ArrayBuffer>, sealing: Sealing): Promise<Uint8Array<ArrayBuffer> | undefined> {
  const { by, additionalData } = await keyOf(sealing, 'decrypt');
  try {
    const iv = bytes.subarray(0, NONCE_BYTES);
    return new Uint8Array(await crypto.subtle.decrypt({ name: 'AES-GCM', iv, additionalData }, by, bytes.subarray(NONCE_BYTES)));
  } catch {
    return undefined;
  }
}
