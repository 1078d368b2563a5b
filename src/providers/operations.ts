/** The pass-through operations: what each accepts, and what the proxy needs to know about it. */
import type { DirectProvider } from '../config/vendors.ts'
import type { Collection } from '../postgres/kept-objects.ts'
import type { BoundCollection } from './bound-objects.ts'
import type { Endpoint } from './upstream.ts'

export interface OperationTraits {
  /** Audio and images come as forms. */
  takesForms: boolean
  /** The documented default model; null when a request must name one. */
  defaultModel: string | null
  /** Whether a repeat is answered from the cache. */
  isCached: boolean
  /** Whether it is asked about sound, and answers with its transcript. */
  hearsSound: boolean
  /** The kind of answer that has text in it, such as revised prompts beside pictures; null: its answers have none. */
  answers: 'text' | 'pictures' | null
  /** Whether it answers with pictures or sound: megabytes, which are not asked for while there is no memory for them. */
  hasLargeAnswers?: true
  /** Whether OpenAI alone has it, for its own models under a project's own key. */
  isOpenAis?: true
}

const PICTURES = {
  defaultModel: 'dall-e-2',
  isCached: false,
  hearsSound: false,
  answers: 'pictures',
  hasLargeAnswers: true,
} as const
const SOUND = { takesForms: true, defaultModel: null, isCached: false, hearsSound: true, answers: 'text' } as const
const TEXT = { takesForms: false, defaultModel: null, isCached: true, hearsSound: false, answers: null }

/** By their paths after the base address. */
export const OPERATIONS = {
  'images/generations': { ...PICTURES, takesForms: false },
  'images/edits': { ...PICTURES, takesForms: true },
  'images/variations': { ...PICTURES, takesForms: true },
  'audio/speech': { ...TEXT, hasLargeAnswers: true },
  'audio/transcriptions': SOUND,
  'audio/translations': SOUND,
  moderations: { ...TEXT, defaultModel: 'omni-moderation-latest' },
  rerank: { ...TEXT, isCached: false },
  'responses/compact': { ...TEXT, isCached: false, answers: 'text', isOpenAis: true },
} as const satisfies Record<string, OperationTraits>

export type PassedOperation = keyof typeof OPERATIONS

/** What a usage record says was asked. */
export type RecordedEndpoint = Endpoint | PassedOperation | Collection | BoundCollection | 'realtime'

export function isOperation(path: string): path is PassedOperation {
  return Object.hasOwn(OPERATIONS, path)
}

/** Whose API a client speaks, if its address or its headers say so. OpenAI's format names nobody: Groq and aggregators have it, too. */
export type NamedVendor = DirectProvider | 'google' | 'aggregator'

/** Paths of what providers keep, after the base address. */
export const COLLECTION_PATHS: Record<Collection, string> = {
  files: '/files',
  anthropic_files: '/files',
  batches: '/batches',
  message_batches: '/messages/batches',
}
