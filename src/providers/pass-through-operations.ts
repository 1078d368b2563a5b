/** Defines the pass-through operations, with the traits of each. */

import type { Endpoint } from '../formats/endpoint.ts'
import type { StoredObjectCollection } from './stored-object-collections.ts'

export interface PassThroughTraits {
  /** Whether a request body may be a form, as for audio and images. */
  acceptsForms: boolean
  /** The documented default model; null when a request must name one. */
  defaultModel: string | null
  /** Whether a repeated request is served from the cache. */
  isCacheable: boolean
  /** Whether the request contains audio, and the response is its transcript. */
  acceptsAudio: boolean
  /** The kind of response that contains text, such as revised prompts beside pictures; null when responses contain no text. */
  outputKind: 'text' | 'pictures' | null
  /** Whether responses are images or audio of several megabytes. Such a request is not sent while there is no memory for its response. */
  hasLargeResponses?: true
  /** Whether only OpenAI supports the operation, for its own models and with the project's own key. */
  isOpenAiOnly?: true
}

const IMAGES = {
  defaultModel: 'dall-e-2',
  isCacheable: false,
  acceptsAudio: false,
  outputKind: 'pictures',
  hasLargeResponses: true,
} as const
const AUDIO = {
  acceptsForms: true,
  defaultModel: null,
  isCacheable: false,
  acceptsAudio: true,
  outputKind: 'text',
} as const
const TEXT = { acceptsForms: false, defaultModel: null, isCacheable: true, acceptsAudio: false, outputKind: null }

/** The operations by their paths after the base address. */
export const PASS_THROUGH_OPERATIONS = {
  'images/generations': { ...IMAGES, acceptsForms: false },
  'images/edits': { ...IMAGES, acceptsForms: true },
  'images/variations': { ...IMAGES, acceptsForms: true },
  'audio/speech': { ...TEXT, hasLargeResponses: true },
  'audio/transcriptions': AUDIO,
  'audio/translations': AUDIO,
  moderations: { ...TEXT, defaultModel: 'omni-moderation-latest' },
  rerank: { ...TEXT, isCacheable: false },
  'responses/compact': { ...TEXT, isCacheable: false, outputKind: 'text', isOpenAiOnly: true },
} as const satisfies Record<string, PassThroughTraits>

export type PassThroughOperation = keyof typeof PASS_THROUGH_OPERATIONS

/** The endpoint in a usage record. */
export type RecordedEndpoint = Endpoint | PassThroughOperation | StoredObjectCollection | 'realtime'

export function isPassThroughOperation(path: string): path is PassThroughOperation {
  return Object.hasOwn(PASS_THROUGH_OPERATIONS, path)
}

/** The vendor whose API a client uses, as its path or its headers show, or `google` or `aggregator`. OpenAI's format identifies no vendor: Groq and aggregators use it, too. */
export type ClientVendor = string
