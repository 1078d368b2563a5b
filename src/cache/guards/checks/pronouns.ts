/** Vetoes when "my" stands against "your": the one asks about the writer, the other about the assistant. */
import type { Guard, GuardFeatures } from '../guard.ts'

export const pronouns: Guard<'pronouns'> = {
  name: 'pronouns',
  differs: ({ asked, cached }) =>
    hasSameSubjects(asked, cached) &&
    ((onlyMine(asked) && onlyYours(cached)) || (onlyYours(asked) && onlyMine(cached))),
}

/** "Should you tell your wife" is "should I tell my wife": there the subject goes along. */
function hasSameSubjects(asked: GuardFeatures, cached: GuardFeatures): boolean {
  return has(asked, 'i') === has(cached, 'i') && has(asked, 'you') === has(cached, 'you')
}

function onlyMine(features: GuardFeatures): boolean {
  return has(features, 'my') && !has(features, 'your')
}

function onlyYours(features: GuardFeatures): boolean {
  return has(features, 'your') && !has(features, 'my')
}

function has(features: GuardFeatures, key: string): boolean {
  return features.tokens.some(token => token.key === key)
}
