/** Rules that the description of the API states, and that others enforce: SQL functions, whose messages say more than a pattern does. */
import { t } from 'elysia'

/** Of a JSON Schema, in terms of its own. */
export type Rule = { pattern: string } | { enum: readonly string[] }

/** Where `completeDescription` finds them. */
export const STATED = 'x-stated'

/** Text of which more is asked than that it is text. */
export function textOf(rule: Rule) {
  return t.String({ [STATED]: rule })
}

/** As the SQL functions have them. */
export const projectName = textOf({ pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$' })
export const keyName = textOf({ pattern: '^[^\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029]{1,100}$' })
export const email = textOf({
  pattern: '^[^\\s\\u0000-\\u001f\\u007f-\\u009f@]{1,64}@[^\\s\\u0000-\\u001f\\u007f-\\u009f@]{1,190}$',
})
export const userRole = textOf({ enum: ['owner', 'reader'] })
export const timeZone = textOf({ enum: ['UTC', ...Intl.supportedValuesOf('timeZone')] })
