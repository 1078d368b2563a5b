/** Seals the wordings of questions that a project keeps for its members to look at, as its provider keys are sealed. */
import type { Vault } from './vault.ts'

export interface Wordings {
  /** Throws as the vault does. */
  seal(wording: string, projectId: number): Promise<Uint8Array>
  /** Null where no key fits it any more: it was to be kept for a week at most. */
  open(sealed: Uint8Array, projectId: number): Promise<string | null>
}

/** Stands where a sealed key has its provider: neither opens in the other's place. */
const SEALED_AS = 'wording'

export function createWordings(vault: Vault): Wordings {
  return {
    seal: (wording, projectId) => vault.seal(wording, { projectId, provider: SEALED_AS }),
    open: (sealed, projectId) => vault.open(sealed, { projectId, provider: SEALED_AS }).catch(() => null),
  }
}
