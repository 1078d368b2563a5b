/** Returns whether a part of a provider's response reached the client: in the body, encoded in its opaque state, or reported as omitted. */
import { unpackExtras } from '../../../src/formats/chat/provider-extras.ts'

export interface ReceivedResponse {
  body: string
  /** The header X-Proxy-Omitted, or the stream comment of that name. */
  omitted: string | null
}

export function isKept({ body, omitted }: ReceivedResponse, text: string): boolean {
  // Of an image's data URL, only the bytes.
  const written = JSON.stringify(text.replace(/^data:[^,]*,/, '')).slice(1, -1)
  if (body.includes(written) || (omitted !== null && omitted !== '')) return true
  return packedIn(body).some(packed => packed.includes(written))
}

function packedIn(body: string): string[] {
  const found = body.match(/mp1\.[\w-]+/g) ?? []
  return found.map(packed => JSON.stringify(unpackExtras(packed, null)))
}
