/** The forms of model names: a name's family without a date, and the aggregators' name for a vendor's model. */

/** Letters, digits and a few signs: every vendor's names consist of these. */
export const VALID_MODEL_NAME = /^[a-z0-9][a-z0-9._:@-]*$/i

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
