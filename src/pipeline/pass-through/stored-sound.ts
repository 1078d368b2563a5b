/** Audio as the cache stores it: its content type, and its bytes in base64, because entries are text. */
import { parseJsonObject } from '../../json/json-object.ts'

export interface Sound {
  contentType: string
  bytes: Uint8Array
}

/** Longer audio is relayed and not stored: some four minutes of mp3. */
export const MAX_SOUND_BYTES = 1_500_000

export function writeSound({ contentType, bytes }: Sound): Uint8Array {
  const sound = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('base64')
  return Buffer.from(`{"content_type":${JSON.stringify(contentType)},"base64":"${sound}"}`)
}

/** Returns null for anything else. */
export function readSound(stored: Uint8Array): Sound | null {
  const { content_type, base64 } = parseJsonObject(new TextDecoder().decode(stored)) ?? {}
  if (typeof content_type !== 'string' || typeof base64 !== 'string') return null
  return { contentType: content_type, bytes: Buffer.from(base64, 'base64') }
}
