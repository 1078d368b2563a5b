/** Field types. Rules of text are validated here and again in the SQL functions, which psql scripts call, too. */
import { Type as t } from '@sinclair/typebox'
import { nowSeconds } from '../event-loop/clock.ts'

/** A rule of text in the terms of JSON Schema. `form` completes the sentence "The field must be …" for a pattern. */
export type TextRule = ({ pattern: string; form: string } | { enum: readonly string[] }) & {
  /** True if the operation itself validates the rule, because it accepts more than the description lists. */
  isCheckedByOperation?: true
}

/** The keyword under which `completeOpenApiDocument` finds the rules. */
export const RULE_KEYWORD = 'x-rule'

/** Creates a schema of text with a rule. */
export function constrainedText(rule: TextRule, description?: string) {
  return t.String({ [RULE_KEYWORD]: rule, ...(description !== undefined && { description }) })
}

/** The name of an end user. */
export const endUserSchema = t.String({ minLength: 1 })
/** A filter by a tag. */
export const tagFilterSchema = constrainedText({
  pattern: '^[^=]+=[\\s\\S]+$',
  form: 'a name and a value, such as team=search',
})
/** A word of printable ASCII, as the command set-provider-key accepts. */
export const secretSchema = constrainedText({
  pattern: '^[!-~]{1,1024}$',
  form: '1 to 1024 printable ASCII characters',
})

/** Rejects unknown fields of an object. */
export const STRICT_OBJECT = { additionalProperties: false }

export const unixSecondsParameter = t.Integer({ minimum: 0, maximum: 100_000_000_000 })
/** The lifetime of a key in seconds. */
export const lifetimeSchema = t.Integer({ minimum: 1, maximum: 315_360_000 })

/** Returns the expiry of a key in ISO 8601; null for a key that does not expire. */
export function computeKeyExpiry(lifetime: number | null = null): string | null {
  return lifetime === null ? null : new Date((nowSeconds() + lifetime) * 1000).toISOString()
}

/** These rules are the same as in the SQL functions. */
export const projectNameSchema = constrainedText({
  pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$',
  form: '1 to 63 letters, digits, dots, dashes or underscores, beginning with a letter or digit',
})
export const keyNameSchema = constrainedText({
  pattern: '^[^\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029]{1,100}$',
  form: '1 to 100 printable characters',
})
export const emailSchema = constrainedText({
  pattern: '^[^\\s\\u0000-\\u001f\\u007f-\\u009f@]{1,64}@[^\\s\\u0000-\\u001f\\u007f-\\u009f@]{1,190}$',
  form: 'an e-mail address',
})
export const userRoleSchema = constrainedText({ enum: ['owner', 'reader'] })
export const memberRoleSchema = constrainedText({ enum: ['owner', 'member', 'viewer'] })
export const timeZoneSchema = constrainedText({
  enum: ['UTC', ...Intl.supportedValuesOf('timeZone')],
  isCheckedByOperation: true,
})
