/** Encrypts the wordings of questions that a project stores for its members, as its provider keys are encrypted. */
import type { Vault } from './vault.ts'

export interface Wordings {
  /** Returns hex. Throws as the vault does. */
  seal(wording: string, projectId: number): Promise<string>
  /**
   * Takes PostgreSQL's text format, `\x` and hex. Returns null when no key fits: a wording is stored for a week at most, so it may be lost.
   */
  open(sealed: string, projectId: number): Promise<string | null>
}

/** Used in place of a provider, so that a wording cannot be decrypted as a key, nor a key as a wording. */
const SEALED_AS = 'wording'

export function createWordings(vault: Vault): Wordings {
  return {
    async seal(wording, projectId) {
      return Buffer.from(await vault.seal(wording, { projectId, provider: SEALED_AS })).toString('hex')
    },
    open(sealed, projectId) {
      const bytes = Buffer.from(sealed.slice(2), 'hex')
      return vault.open(bytes, { projectId, provider: SEALED_AS }).catch(() => null)
    },
  }
}
