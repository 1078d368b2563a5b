/** Selects what a model requires of assistant messages that another model created. */
import type { Catalogue } from '../catalogue/catalogue.ts'
import type { TurnRule } from '../config/vendors.ts'

/** Vendors whose models have another prefix at aggregators than the vendor's name. */
const VENDOR_OF_PREFIX = new Map([
  ['google', 'gemini'],
  ['mistralai', 'mistral'],
])

/** Google requires signatures from Gemini 3 on. */
const UNSIGNED_GEMINI = /gemini-[12](?![0-9])/

/** Returns the rules of the vendor, and of the vendor whose prefix the model has at an aggregator. */
export function turnRulesOf({ vendors }: Pick<Catalogue, 'vendors'>, vendor: string, model: string): TurnRule[] {
  const prefix = model.includes('/') ? model.slice(0, model.indexOf('/')) : vendor
  const names = new Set([vendor, VENDOR_OF_PREFIX.get(prefix) ?? prefix])
  const rules = [...names].flatMap(name => vendors.find(name)?.turn_rules ?? [])
  return rules.filter(rule => rule !== 'google_signatures' || !UNSIGNED_GEMINI.test(model))
}
