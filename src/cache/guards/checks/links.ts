/** Vetoes when two questions name other web addresses, mail addresses or paths. */
import type { Guard, GuardFeatures } from '../guard.ts'
import { sameBag } from './bags.ts'

export const links: Guard<'links'> = {
  name: 'links',
  differs: ({ asked, cached }) => !sameBag(linksOf(asked), linksOf(cached)),
}

function linksOf(features: GuardFeatures): string[] {
  return features.tokens.filter(token => token.kind === 'link').map(token => token.key.replace(/\/$/, ''))
}
