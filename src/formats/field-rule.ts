/** How a field of one API is translated to another: what a rule says, and how rules are applied to a request. */
import type { ProxyError } from '../errors/errors.ts'
import type { JsonObject } from './json/canonical.ts'

export interface FieldRule {
  /** `repeated` fields have no effect, but the response repeats them. */
  treatment: 'translated' | 'repeated' | 'dropped' | 'refused'
  /** One sentence: what it becomes, or why not. */
  reason: string
  /** For a refused field: values that have no effect and so are accepted. Null always is. */
  accepts?: (value: unknown) => boolean
}

type Reason = string | [reason: string, accepts: FieldRule['accepts']]

/** Writes the rules of all fields of one treatment; `All` are the fields that the API has. */
export const createRuleWriter =
  <All extends string>() =>
  <Field extends All>(treatment: FieldRule['treatment'], reasons: Record<Field, Reason>): Record<Field, FieldRule> => {
    const rules = Object.entries<Reason>(reasons).map(([field, given]): [string, FieldRule] => {
      const [reason, accepts] = typeof given === 'string' ? [given] : given
      return [field, { treatment, reason, ...(accepts ? { accepts } : {}) }]
    })
    return Object.fromEntries(rules) as Record<Field, FieldRule>
  }

/** Returns the fields without a rule. Throws what `refuse` returns for the first refused field. */
export function applyFieldRules(
  body: JsonObject,
  rules: Readonly<Record<string, FieldRule>>,
  refuse: (field: string, rule: FieldRule) => ProxyError,
): JsonObject {
  const unruled: JsonObject = Object.create(null)
  for (const [field, value] of Object.entries(body)) {
    const rule = Object.hasOwn(rules, field) ? rules[field] : undefined
    if (rule === undefined) unruled[field] = value
    else if (rule.treatment === 'refused' && value !== null && !rule.accepts?.(value)) throw refuse(field, rule)
  }
  return unruled
}
