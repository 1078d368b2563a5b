/** Seals what is stored of a project's questions and answers, where its setting `seal_answers` is on, and opens what is sealed. */
import { isSealed, openSealedBytes, sealSecret } from './seal.ts'

interface Keys {
  /** Null where none is set. */
  current: Uint8Array | null
  others: readonly Uint8Array[]
}

interface Sealing {
  project_id: number
  seal_answers: 'off' | 'on'
}

/** Text is sealed to text: begun by the first byte of what is sealed, which begins no JSON, then base64. */
export interface ContentSeal {
  /** As it is to be stored, in UTF-8; null where it has to be sealed and there is no key: then it is not to be stored. */
  seal(body: Uint8Array, account: Sealing): Uint8Array | null
  sealText(text: string, account: Sealing): string | null
  /** What is not sealed, as it is; null where no key fits. */
  open(body: Uint8Array, projectId: number): Uint8Array | null
  openText(text: string, projectId: number): string | null
}

/** In place of a provider, so that nothing else that is sealed can be taken for an answer. */
export const CONTENT_SEAL_PROVIDER = 'answer'
const MARK = '\u0001'

export const isSealedText = (text: string) => text.startsWith(MARK)
export const decodeSealedText = (text: string) => Buffer.from(text.slice(1), 'base64')

export const encodeSealedText = (sealed: Uint8Array) => MARK + Buffer.from(sealed).toString('base64')

export function createContentSeal({ current, others }: Keys): ContentSeal {
  function write(secret: string | Uint8Array, projectId: number): string | null {
    if (current === null) return null
    return encodeSealedText(sealSecret(secret, { projectId, provider: CONTENT_SEAL_PROVIDER }, current))
  }
  function read(text: string, projectId: number): Buffer | null {
    const sealed = decodeSealedText(text)
    for (const key of [current, ...others]) {
      const opened = key && openSealedBytes(sealed, { projectId, provider: CONTENT_SEAL_PROVIDER }, key)
      if (opened) return opened
    }
    return null
  }

  return {
    // What looks sealed is sealed, too: it could not be told apart.
    seal(body, { project_id, seal_answers }) {
      if (seal_answers === 'off' && !isSealed(body)) return body
      const sealed = write(body, project_id)
      return sealed === null ? null : Buffer.from(sealed, 'latin1')
    },
    sealText: (text, { project_id, seal_answers }) =>
      seal_answers === 'off' && !isSealedText(text) ? text : write(text, project_id),
    open(body, projectId) {
      return isSealed(body)
        ? read(Buffer.from(body.buffer, body.byteOffset, body.length).toString('latin1'), projectId)
        : body
    },
    openText: (text, projectId) => (isSealedText(text) ? (read(text, projectId)?.toString('utf8') ?? null) : text),
  }
}
