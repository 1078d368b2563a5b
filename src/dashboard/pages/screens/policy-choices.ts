/** The form's choices of cache policy, with their explanations. */
import type { Choice, Units } from '../components/setting-fields.tsx'

export const CACHE_MODES: readonly Choice[] = [
  { value: 'all', title: 'Every request', hint: 'Unless the request itself forbids it.' },
  {
    value: 'deterministic',
    title: 'Deterministic ones',
    hint: 'With temperature 0, or a seed. The rest is always asked.',
  },
  { value: 'off', title: 'None', hint: 'Nothing is looked up, and nothing stored.' },
]

export const SEMANTIC_MODES: readonly Choice[] = [
  { value: 'on', title: 'On', hint: 'May be answered from the cache, as the policy says.' },
  {
    value: 'shadow',
    title: 'Shadow',
    hint: 'The provider is asked; what would have been served is shown under Matches.',
  },
  { value: 'off', title: 'Off', hint: 'The very same request alone is answered from the cache.' },
]

export const POLICIES: readonly Choice[] = [
  {
    value: 'proved',
    title: 'Proved',
    hint: 'Every difference is of a kind that is known to be harmless, or a person confirmed the pair.',
  },
  {
    value: 'judged',
    title: 'Judged',
    hint: 'Also what a model confirmed, and what verdicts have shown to be right often enough.',
  },
  {
    value: 'threshold',
    title: 'Similar enough',
    hint: 'Similarity alone. It serves wrong answers sooner or later: look at Similarity first.',
  },
]

export const JUDGE_MODES: readonly Choice[] = [
  { value: 'off', title: 'Nobody is asked', hint: 'People’s verdicts count, given under Matches and Near misses.' },
  {
    value: 'inline',
    title: 'A model is asked',
    hint: 'About the nearest question, before the provider is; the request waits for it.',
  },
  {
    value: 'learn',
    title: 'A model is asked afterwards',
    hint: 'No request waits: what it says serves later ones, and exchanges of words that it finds harmless are learned.',
  },
]

export const WORDINGS: readonly Choice[] = [
  { value: 'off', title: 'Not kept', hint: 'Matches show how similar, and what kind of difference: no wording.' },
  {
    value: 'sealed',
    title: 'Kept for a week',
    hint: 'Sealed with the encryption key, and shown to members of this project under Matches and Near misses.',
  },
]

export const TIMES: Units = [
  ['seconds', 1],
  ['minutes', 60],
  ['hours', 3600],
  ['days', 86_400],
]

export const SIZES: Units = [
  ['bytes', 1],
  ['KiB', 1024],
  ['MiB', 1024 ** 2],
  ['GiB', 1024 ** 3],
]
