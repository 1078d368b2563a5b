/** Seals stored prompts and responses of projects whose setting `seal_answers` is on, and opens sealed content. */
import { isSealed, openSealedBytes, sealSecret } from './seal.ts'

interface SealKeys {
  /** Null when no key is configured. */
  current: Uint8Array | null
  others: readonly Uint8Array[]
}

interface SealPolicy {
  project_id: number
  seal_answers: 'off' | 'on'
}

/** Seals content as text: a marker character, which cannot begin JSON, then base64. */
export interface ContentSeal {
  /** Returns the body to store, in UTF-8. Null when it must be sealed and no key is configured; then it must not be stored. */
  seal(body: Uint8Array, policy: SealPolicy): Uint8Array | null
  /** Like `seal`, for text. */
  sealText(text: string, policy: SealPolicy): string | null
  /** Opens a sealed body, and returns any other unchanged. Null when no key opens it. */
  open(body: Uint8Array, projectId: number): Uint8Array | null
  /** Like `open`, for text. */
  openText(text: string, projectId: number): string | null
}

/** Takes the place of the provider in the seal context, so that no other sealed value can be used as a response. */
export const CONTENT_SEAL_PROVIDER = 'answer'
const MARK = '\u0001'

export const isSealedText = (text: string) => text.startsWith(MARK)
export const decodeSealedText = (text: string) => Buffer.from(text.slice(1), 'base64')

export const encodeSealedText = (sealed: Uint8Array) => MARK + Buffer.from(sealed).toString('base64')

export function createContentSeal({ current, others }: SealKeys): ContentSeal {
  function sealToText(secret: string | Uint8Array, projectId: number): string | null {
    if (current === null) return null
    return encodeSealedText(sealSecret(secret, { projectId, provider: CONTENT_SEAL_PROVIDER }, current))
  }
  function openFromText(text: string, projectId: number): Buffer | null {
    const sealed = decodeSealedText(text)
    for (const key of [current, ...others]) {
      const opened = key && openSealedBytes(sealed, { projectId, provider: CONTENT_SEAL_PROVIDER }, key)
      if (opened) return opened
    }
    return null
  }

  return {
    // A body that looks sealed is sealed, too, because it could not be distinguished later.
    seal(body, { project_id, seal_answers }) {
      if (seal_answers === 'off' && !isSealed(body)) return body
      const sealed = sealToText(body, project_id)
      return sealed === null ? null : Buffer.from(sealed, 'latin1')
    },
    sealText: (text, { project_id, seal_answers }) =>
      seal_answers === 'off' && !isSealedText(text) ? text : sealToText(text, project_id),
    open(body, projectId) {
      return isSealed(body)
        ? openFromText(Buffer.from(body.buffer, body.byteOffset, body.length).toString('latin1'), projectId)
        : body
    },
    openText: (text, projectId) =>
      isSealedText(text) ? (openFromText(text, projectId)?.toString('utf8') ?? null) : text,
  }
}
