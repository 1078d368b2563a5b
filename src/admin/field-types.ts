/** Rules that the OpenAPI description states but SQL functions enforce: their messages say more than a pattern does. */
import { t } from 'elysia'
import { nowSeconds } from '../event-loop/clock.ts'

/** In terms of JSON Schema. */
export type TextRule = { pattern: string } | { enum: readonly string[] }

/** The marker under which `completeOpenApiDocument` finds the rules. */
export const RULE_KEYWORD = 'x-rule'

/** Text with a further rule. */
export function constrainedText(rule: TextRule, description?: string) {
  return t.String({ [RULE_KEYWORD]: rule, ...(description !== undefined && { description }) })
}

/** A name that SQL could not be asked about, either. */
export const endUserSchema = t.String({ minLength: 1, pattern: '^[^\\u0000]+$' })

/** An object's other fields are refused. */
export const STRICT_OBJECT = { additionalProperties: false }

export const unixSecondsParameter = t.Integer({ minimum: 0, maximum: 100_000_000_000 })
/** Of a key that is made; left out: it does not expire. */
export const lifetimeSchema = t.Optional(t.Integer({ minimum: 1, maximum: 315_360_000 }))

/** ISO 8601; null for never. */
export function computeKeyExpiry({
  expires_in_seconds: lifetime,
}: {
  expires_in_seconds?: number | undefined
}): string | null {
  return lifetime === undefined ? null : new Date((nowSeconds() + lifetime) * 1000).toISOString()
}

/** The same rules as in the SQL functions. */
export const projectNameSchema = constrainedText({ pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$' })
export const keyNameSchema = constrainedText({ pattern: '^[^\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029]{1,100}$' })
export const emailSchema = constrainedText({
  pattern: '^[^\\s\\u0000-\\u001f\\u007f-\\u009f@]{1,64}@[^\\s\\u0000-\\u001f\\u007f-\\u009f@]{1,190}$',
})
export const userRoleSchema = constrainedText({ enum: ['owner', 'reader'] })
export const memberRoleSchema = constrainedText({ enum: ['owner', 'member', 'viewer'] })
export const timeZoneSchema = constrainedText({ enum: ['UTC', ...Intl.supportedValuesOf('timeZone')] })
