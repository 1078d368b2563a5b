/** The operations that are passed on as they come: what each takes, and what is to be known of it here. */

export interface OperationTraits {
  /** Sound and pictures come as forms. */
  takesForms: boolean
  /** The documented model of requests that name none; null where they must. */
  defaultModel: string | null
  /** Whether the same request is answered from the cache. */
  isCached: boolean
}

const PICTURES = { defaultModel: 'dall-e-2', isCached: false }
const SOUND = { takesForms: true, defaultModel: null, isCached: false }

/** By their paths behind the base address. */
export const OPERATIONS = {
  'images/generations': { ...PICTURES, takesForms: false },
  'images/edits': { ...PICTURES, takesForms: true },
  'images/variations': { ...PICTURES, takesForms: true },
  'audio/speech': { takesForms: false, defaultModel: null, isCached: true },
  'audio/transcriptions': SOUND,
  'audio/translations': SOUND,
  moderations: { takesForms: false, defaultModel: 'omni-moderation-latest', isCached: true },
  rerank: { takesForms: false, defaultModel: null, isCached: false },
} as const satisfies Record<string, OperationTraits>

export type Operation = keyof typeof OPERATIONS

/** What a provider keeps for a project. */
export type Collection = 'files' | 'batches'

export function isOperation(path: string): path is Operation {
  return Object.hasOwn(OPERATIONS, path)
}

/** Beginnings of the paths that Groq has; Anthropic has none of them. */
export const GROQ_PASSES: readonly string[] = ['/audio/', '/files', '/batches']
