/** Encrypts the wordings of questions that a project stores for its members, as its provider keys are encrypted, and opens what is stored for them. */
import { CONTENT_SEAL_PROVIDER, decodeSealedText, isSealedText } from '../../stores/content-seal.ts'
import type { Vault } from './vault.ts'

export interface QuestionVault {
  /** Returns hex. Throws as the vault does. */
  seal(wording: string, projectId: number): Promise<string>
  /**
   * Takes PostgreSQL's text format, `\x` and hex. Returns null when no key fits: a wording is stored for a week at most, so it may be lost.
   */
  open(sealed: string, projectId: number): Promise<string | null>
  /** Of a cache entry: its question or answer, which may be sealed. Null when there is none, or no key fits. */
  openStored(text: string | null, projectId: number): Promise<string | null>
}

/** Used in place of a provider, so that a wording cannot be decrypted as a key, nor a key as a wording. */
const SEALED_AS = 'wording'

export function createQuestionVault(vault: Vault): QuestionVault {
  const open = (sealed: Uint8Array, projectId: number, provider: string) =>
    vault.open(sealed, { projectId, provider }).catch(() => null)

  return {
    async seal(wording, projectId) {
      return Buffer.from(await vault.seal(wording, { projectId, provider: SEALED_AS })).toString('hex')
    },
    open: (sealed, projectId) => open(Buffer.from(sealed.slice(2), 'hex'), projectId, SEALED_AS),
    openStored: async (text, projectId) =>
      text !== null && isSealedText(text) ? open(decodeSealedText(text), projectId, CONTENT_SEAL_PROVIDER) : text,
  }
}
