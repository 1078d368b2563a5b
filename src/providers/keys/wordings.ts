/** Encrypts the wordings of questions that a project stores for its members, as its provider keys are encrypted. */
import type { Vault } from './vault.ts'

export interface Wordings {
  /** Throws as the vault does. */
  seal(wording: string, projectId: number): Promise<Uint8Array>
  /** Returns null when no key fits: a wording is stored for a week at most, so it may be lost. */
  open(sealed: Uint8Array, projectId: number): Promise<string | null>
}

/** Used in place of a provider, so that a wording cannot be decrypted as a key, nor a key as a wording. */
const SEALED_AS = 'wording'

export function createWordings(vault: Vault): Wordings {
  return {
    seal: (wording, projectId) => vault.seal(wording, { projectId, provider: SEALED_AS }),
    open: (sealed, projectId) => vault.open(sealed, { projectId, provider: SEALED_AS }).catch(() => null),
  }
}
