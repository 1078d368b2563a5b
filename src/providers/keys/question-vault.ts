/** Encrypts and decrypts the wordings of a project's questions with the encryption key, and decrypts its cached questions and responses. */
import { CONTENT_SEAL_PROVIDER, decodeSealedText, isSealedText } from '../../stores/content-seal.ts'
import type { Vault } from './vault.ts'

export interface QuestionVault {
  /** Encrypts a wording. Returns hex. Throws as `Vault.seal` does. */
  seal(wording: string, projectId: number): Promise<string>
  /**
   * Decrypts a wording in PostgreSQL's text format, `\x` and hex. Returns null when no key decrypts it; such a wording is given up, because it is
   * stored for a week at most.
   */
  open(sealed: string, projectId: number): Promise<string | null>
  /** Returns the plain text of a cache entry's question or response, which may be encrypted; null when there is none, or no key decrypts it. */
  openStored(text: string | null, projectId: number): Promise<string | null>
}

/** Used in place of a provider's name, so that a wording cannot be decrypted as a key, nor a key as a wording. */
const WORDING_SEAL_PROVIDER = 'wording'

export function createQuestionVault(vault: Vault): QuestionVault {
  const open = (sealed: Uint8Array, projectId: number, provider: string) =>
    vault.open(sealed, { projectId, provider }).catch(() => null)

  return {
    async seal(wording, projectId) {
      return Buffer.from(await vault.seal(wording, { projectId, provider: WORDING_SEAL_PROVIDER })).toString('hex')
    },
    open: (sealed, projectId) => open(Buffer.from(sealed.slice(2), 'hex'), projectId, WORDING_SEAL_PROVIDER),
    openStored: async (text, projectId) =>
      text !== null && isSealedText(text) ? open(decodeSealedText(text), projectId, CONTENT_SEAL_PROVIDER) : text,
  }
}
