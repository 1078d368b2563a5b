/** The pages of a project's settings under “Cache and models”: each area of settings is on one of them. */
import type { SettingKind } from './types.ts'

export interface PolicyPage {
  /** The last part of the page's path; empty for the first page. */
  name: string
  title: string
  help: string
  areas: readonly string[]
}

const MATCHING: PolicyPage = {
  name: '',
  title: 'Matching',
  help: 'Which requests are answered from the cache, and how similar a cached question must be.',
  areas: ['Cache hits', 'Judge'],
}

export const POLICY_PAGES: readonly PolicyPage[] = [
  MATCHING,
  {
    name: 'sharing',
    title: 'Sharing and lifetime',
    help: 'Who shares cached responses, and how long they are served.',
    areas: ['Sharing', 'Lifetime'],
  },
  {
    name: 'models',
    title: 'Models and routing',
    help: 'Which models may be called, under which names, and what happens when a provider fails.',
    areas: ['Models', 'Timeouts and streams', 'Provider features'],
  },
  {
    name: 'spending',
    title: 'Spending and stored data',
    help: 'What happens when a budget is spent, and which texts are stored.',
    areas: ['Budgets', 'Stored data'],
  },
]

/** The area of the settings that are on the page Alerts. */
export const ALERTS_AREA = 'Alerts'

/** Returns the page of a name in the URL; undefined for an unknown one. */
export function findPolicyPage(name = ''): PolicyPage | undefined {
  return POLICY_PAGES.find(page => page.name === name)
}

/** Returns the settings of a page, by area. An area of another version is on the first page. */
export function settingsOfPage(page: PolicyPage, kinds: readonly SettingKind[]): [area: string, SettingKind[]][] {
  const pageOf = (area: string) => POLICY_PAGES.find(({ areas }) => areas.includes(area)) ?? MATCHING
  return [
    ...Map.groupBy(
      kinds.filter(({ area }) => area !== ALERTS_AREA && pageOf(area) === page),
      ({ area }) => area,
    ),
  ]
}
