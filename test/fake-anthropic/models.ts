/** The models of the fake provider, and the settings that each accepts. */

export interface FakeModel {
  maxTokens: number
  thinking: readonly string[]
  efforts: readonly string[]
  /** Accepts temperature, top_p and top_k, in the API version that has them. */
  isSampled: boolean
  /** Supports forced tool calls. */
  isForced: boolean
  /** Continues an assistant turn at the end of the conversation. */
  isPrefilled: boolean
  thinksByDefault: boolean
}

const EFFORTS = ['low', 'medium', 'high', 'xhigh', 'max']
const NEWEST: FakeModel = {
  maxTokens: 128_000,
  thinking: ['adaptive'],
  efforts: EFFORTS,
  isSampled: false,
  isForced: false,
  isPrefilled: false,
  thinksByDefault: true,
}

const MODELS: Record<string, FakeModel> = {
  'claude-opus-5-5': NEWEST,
  'claude-fable-5-1': NEWEST,
  'claude-sonnet-5-5': { ...NEWEST, thinking: ['adaptive', 'between_tools'] },
  'claude-haiku-5-5': { ...NEWEST, thinking: ['adaptive', 'disabled'], isForced: true },
  'claude-opus-4-8': { ...NEWEST, thinking: ['adaptive', 'disabled'], isForced: true, thinksByDefault: false },
  'claude-sonnet-4-6': {
    maxTokens: 128_000,
    thinking: ['adaptive', 'enabled', 'disabled'],
    efforts: ['low', 'medium', 'high', 'max'],
    isSampled: true,
    isForced: true,
    isPrefilled: false,
    thinksByDefault: false,
  },
  'claude-haiku-4-5': {
    maxTokens: 64_000,
    thinking: ['enabled', 'disabled'],
    efforts: [],
    isSampled: true,
    isForced: true,
    isPrefilled: true,
    thinksByDefault: false,
  },
}

export function findModel(name: string): FakeModel | undefined {
  return Object.hasOwn(MODELS, name) ? MODELS[name] : undefined
}
