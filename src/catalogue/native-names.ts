/** Vendors' own model names: which vendor a name belongs to, its family without a date, and the aggregators' name for it. */
import type { DirectProvider } from '../config/config.ts'

/** Letters, digits and a few signs: every vendor's names consist of these. */
const SOUND = /^[a-z0-9][a-z0-9._:@-]*$/i

/**
 * The first match wins. OpenAI does not serve its own open-weight models. Groq serves other vendors' models: these prefixes, when no
 * vendor stands in front.
 */
const PATTERNS: readonly [DirectProvider, RegExp][] = [
  [
    'groq',
    /^(?:llama|gemma\d?|mixtral|mistral-saba|qwen|deepseek-r1-distill|allam|compound|whisper-large|distil-whisper|playai)-/,
  ],
  [
    'openai',
    /^(?:gpt-(?!oss)|chatgpt-|o\d|ft:|codex-|computer-use-|text-|omni-|tts-|whisper-|dall-e-|davinci-|babbage-)/,
  ],
  ['anthropic', /^claude-/],
]

/** The direct provider whose names look like this one; undefined when none does, or when a vendor other than Groq stands in front. */
export function providerOfName(model: string): DirectProvider | undefined {
  if (/^groq\/[\w.-]+$/.test(model)) return 'groq'
  return SOUND.test(model) ? PATTERNS.find(([, pattern]) => pattern.test(model))?.[0] : undefined
}

/** `-2024-08-06`, `-20251001`, `-0613`, `-latest`. */
const SNAPSHOT = /-(?:\d{4}-\d{2}-\d{2}|\d{8}|(?:0[1-9]|1[0-2])\d{2}|latest)$/

/** The name without its date; null when it has none. */
export function familyOf(model: string): string | null {
  // A fine-tuned model has another price than its base model.
  return SNAPSHOT.test(model) && !model.startsWith('ft:') ? model.replace(SNAPSHOT, '') : null
}

/** `claude-haiku-4-5`, which aggregators write as `claude-haiku-4.5`. */
const CLAUDE_VERSION = /-(\d)-(\d{1,2})(?=-|$)/

/**
 * The names an aggregator may use for a vendor's model, the most likely last. Claude's versions get a point and lose the date, because
 * each has one snapshot. Other vendors' snapshots keep their date, because they differ from the current model. Empty for fine-tuned
 * models.
 */
export function aggregatorNames(vendor: string, model: string): string[] {
  if (model.startsWith('ft:')) return []
  if (vendor !== 'anthropic') return [`${vendor}/${model}`]
  const family = (familyOf(model) ?? model).replace(CLAUDE_VERSION, '-$1.$2')
  return [`${vendor}/${model}`, `${vendor}/${family}`]
}
