/** Defines rules for translating the fields of one API to another, and applies them to a request. */
import type { ProxyError } from '../errors/errors.ts'
import type { JsonObject } from './json/canonical.ts'

export interface FieldRule {
  /** How the translation treats the field. `echoed` fields have no effect, but the response repeats them. */
  treatment: 'translated' | 'echoed' | 'omitted' | 'rejected'
  /** One sentence for the documentation: the field's translation, or why it has none. */
  reason: string
  /** Returns whether a value of a rejected field has no effect and so is accepted. Null is always accepted. */
  accepts?: (value: unknown) => boolean
}

type Reason = string | [reason: string, accepts: FieldRule['accepts']]

/** Returns a function that creates the rules of all fields with one treatment. `All` is the union of the API's fields. */
export const createRuleWriter =
  <All extends string>() =>
  <Field extends All>(treatment: FieldRule['treatment'], reasons: Record<Field, Reason>): Record<Field, FieldRule> => {
    const rules = Object.entries<Reason>(reasons).map(([field, given]): [string, FieldRule] => {
      const [reason, accepts] = typeof given === 'string' ? [given] : given
      return [field, { treatment, reason, ...(accepts ? { accepts } : {}) }]
    })
    return Object.fromEntries(rules) as Record<Field, FieldRule>
  }

/** Returns the fields without a rule. Throws the result of `createRejection` for the first rejected field. */
export function applyFieldRules(
  body: JsonObject,
  rules: Readonly<Record<string, FieldRule>>,
  createRejection: (field: string, rule: FieldRule) => ProxyError,
): JsonObject {
  const withoutRule: JsonObject = Object.create(null)
  for (const [field, value] of Object.entries(body)) {
    const rule = Object.hasOwn(rules, field) ? rules[field] : undefined
    if (rule === undefined) withoutRule[field] = value
    else if (rule.treatment === 'rejected' && value !== null && !rule.accepts?.(value))
      throw createRejection(field, rule)
  }
  return withoutRule
}
