/** The pass-through operations: what each accepts, and what the proxy needs to know about it. */
import type { DirectProvider } from '../config/vendors.ts'
import type { ObjectCollection } from '../postgres/stored-objects.ts'
import type { OpenAiCollection } from './openai-collections.ts'
import type { Endpoint } from './upstream.ts'

export interface PassThroughTraits {
  /** Audio and images come as forms. */
  acceptsForms: boolean
  /** The documented default model; null when a request must name one. */
  defaultModel: string | null
  /** Whether a repeat is answered from the cache. */
  isCacheable: boolean
  /** Whether it is asked about sound, and answers with its transcript. */
  acceptsAudio: boolean
  /** The kind of answer that has text in it, such as revised prompts beside pictures; null: its answers have none. */
  outputKind: 'text' | 'pictures' | null
  /** Whether it answers with pictures or sound: megabytes, which are not asked for while there is no memory for them. */
  hasLargeResponses?: true
  /** Whether OpenAI alone has it, for its own models under a project's own key. */
  isOpenAiOnly?: true
}

const PICTURES = {
  defaultModel: 'dall-e-2',
  isCacheable: false,
  acceptsAudio: false,
  outputKind: 'pictures',
  hasLargeResponses: true,
} as const
const SOUND = {
  acceptsForms: true,
  defaultModel: null,
  isCacheable: false,
  acceptsAudio: true,
  outputKind: 'text',
} as const
const TEXT = { acceptsForms: false, defaultModel: null, isCacheable: true, acceptsAudio: false, outputKind: null }

/** By their paths after the base address. */
export const PASS_THROUGH_OPERATIONS = {
  'images/generations': { ...PICTURES, acceptsForms: false },
  'images/edits': { ...PICTURES, acceptsForms: true },
  'images/variations': { ...PICTURES, acceptsForms: true },
  'audio/speech': { ...TEXT, hasLargeResponses: true },
  'audio/transcriptions': SOUND,
  'audio/translations': SOUND,
  moderations: { ...TEXT, defaultModel: 'omni-moderation-latest' },
  rerank: { ...TEXT, isCacheable: false },
  'responses/compact': { ...TEXT, isCacheable: false, outputKind: 'text', isOpenAiOnly: true },
} as const satisfies Record<string, PassThroughTraits>

export type PassThroughOperation = keyof typeof PASS_THROUGH_OPERATIONS

/** What a usage record says was asked. */
export type RecordedEndpoint = Endpoint | PassThroughOperation | ObjectCollection | OpenAiCollection | 'realtime'

export function isPassThroughOperation(path: string): path is PassThroughOperation {
  return Object.hasOwn(PASS_THROUGH_OPERATIONS, path)
}

/** Whose API a client speaks, if its address or its headers say so. OpenAI's format names nobody: Groq and aggregators have it, too. */
export type ClientVendor = DirectProvider | 'google' | 'aggregator'

/** Paths of what providers keep, after the base address. */
export const COLLECTION_PATHS: Record<ObjectCollection, string> = {
  files: '/files',
  anthropic_files: '/files',
  batches: '/batches',
  message_batches: '/messages/batches',
}
