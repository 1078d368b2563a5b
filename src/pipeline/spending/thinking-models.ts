/** How models that can think do so, by their names. */
import { nativeName } from '../../catalogue/native-names.ts'
import { traitsOf } from '../../providers/anthropic/model-traits.ts'

export interface ModelThinking {
  /** Whether it thinks when the request does not say. */
  isDefault: boolean
  canBeOff: boolean
  /** Whether what a response shows of its thoughts is at most a summary. */
  isHidden: boolean
}

/** Providers reject a request that turns thinking off for one of these. An aggregator may ignore it. */
const ALWAYS =
  /^o\d|^gpt-5(?!\.\d)|^gpt-oss|^gpt-.*-(?:pro|codex)|^gemini-.*-pro|^grok-4(?!.*fast)|-r1\b|[-:]thinking\b/
/** Their makers do not show thoughts as they are charged. */
const HIDDEN = /^o\d|^gpt-(?!oss)|^codex|^gemini-|^grok-/

/** `model`: as the catalogue names it. */
export function thinkingOf(model: string): ModelThinking {
  const name = model.slice(model.lastIndexOf('/') + 1)
  const isAlways = ALWAYS.test(name)
  if (!name.startsWith('claude-')) return { isDefault: true, canBeOff: !isAlways, isHidden: HIDDEN.test(name) }
  const { thinksByDefault, off } = traitsOf(nativeName('anthropic', name))
  return { isDefault: thinksByDefault || isAlways, canBeOff: off === 'disabled' && !isAlways, isHidden: true }
}
