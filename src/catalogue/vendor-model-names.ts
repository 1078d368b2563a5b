/** Vendors' own model names: which vendor a name belongs to, its family without a date, and the aggregators' name for it. */
import { type DirectProvider, VENDORS } from '../config/vendors.ts'

/** Letters, digits and a few signs: every vendor's names consist of these. */
export const VALID_MODEL_NAME = /^[a-z0-9][a-z0-9._:@-]*$/i

const PATTERNS = VENDORS.flatMap(({ name, model_names }) =>
  model_names === null ? [] : [[name, new RegExp(model_names)] as const],
)
/** The vendors after which aggregators name no models, or whose names have no pattern: `<vendor>/<name>` is any model of theirs. */
const WITH_ANY_NAME: ReadonlySet<string> = new Set(
  VENDORS.filter(({ model_names, makes_models, prefixes_models }) =>
    model_names === null ? true : !makes_models && !prefixes_models,
  ).map(({ name }) => name),
)
/** Those that put their own name in front of some models. */
const PREFIXES = VENDORS.filter(vendor => vendor.prefixes_models).map(
  ({ name }) => [name, new RegExp(`^${name}/[\\w.-]+$`)] as const,
)

/** The direct providers whose names look like this one, in order of preference; none when another vendor stands in front. */
export function matchProviders(model: string): DirectProvider[] {
  const patterns = VALID_MODEL_NAME.test(model) ? PATTERNS : PREFIXES
  return patterns.flatMap(([name, pattern]) => (pattern.test(model) ? [name] : []))
}

/** The first of them; undefined when there is none. */
export function matchProvider(model: string): DirectProvider | undefined {
  return matchProviders(model)[0]
}

/** `-2024-08-06`, `-20251001`, `-0613`, `-latest`. */
const SNAPSHOT = /-(?:\d{4}-\d{2}-\d{2}|\d{8}|(?:0[1-9]|1[0-2])\d{2}|latest)$/

/** The name without its date; null when it has none. */
export function modelFamilyOf(model: string): string | null {
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
export function listAggregatorNames(vendor: string, model: string): string[] {
  if (model.startsWith('ft:')) return []
  if (vendor !== 'anthropic') return [`${vendor}/${model}`]
  const family = (modelFamilyOf(model) ?? model).replace(CLAUDE_VERSION, '-$1.$2')
  return [`${vendor}/${model}`, `${vendor}/${family}`]
}

/** `claude-haiku-4.5`, as aggregators write it. */
const CLAUDE_POINT = /-(\d)\.(\d{1,2})(?=-|$)/

/** The vendor's own spelling of a name that an aggregator has without the vendor. */
export function toNativeName(vendor: string, name: string): string {
  return vendor === 'anthropic' ? name.replace(CLAUDE_POINT, '-$1-$2') : name
}

/**
 * Whether a name without its vendor looks like the vendor's own: not a variant of an aggregator's (`:free`), nor of a vendor that puts its name
 * in front of some models itself. It may be any name of a vendor that only `<vendor>/<name>` can mean.
 */
export function isVendorModelName(vendor: string, name: string): boolean {
  if (WITH_ANY_NAME.has(vendor)) return true
  if (PREFIXES.some(([provider]) => provider === vendor)) return false
  return matchProviders(name).some(provider => provider === vendor) && (!name.includes(':') || name.startsWith('ft:'))
}
