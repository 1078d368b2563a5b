/** Finds a leaked key by its text. The text is hashed here: no SQL statement, error, log or metric contains it. */
import { Type as t } from '@sinclair/typebox'
import { invalidRequestError } from '../../errors/errors.ts'
import { callAsActor } from '../../postgres/admin/call-as.ts'
import { hashKey } from '../../postgres/key-hash.ts'
import { defineOperation } from '../admin-operation.ts'
import { leakedKeySchema } from '../responses/searches.ts'
import { listSchema } from '../responses/shared.ts'

/** A key, or at least its displayed beginning, anywhere in a text. */
const KEY = /lgw_(?:proj|test|admin)_[0-9A-Za-z]{8,}/
/** A key of another gateway, which was imported: the whole text. */
const IMPORTED_KEY = /^\s*([!-~]{8,})\s*$/
/** The characters of the displayed beginning after the last underscore. */
const SHOWN_CHARACTERS = 8

export const LEAKED_KEY_OPERATIONS = [
  defineOperation({
    ...{ method: 'POST', path: '/v1/organization/leaked_keys', tag: 'API keys', response: listSchema(leakedKeySchema) },
    summary: 'Find a key by its text, or by its displayed beginning',
    body: { text: t.String({ minLength: 1, maxLength: 10_000 }) },
    async serve({ caller: { actor }, options, body: { text } }) {
      const issued = KEY.exec(text)?.[0]
      const key = issued ?? IMPORTED_KEY.exec(text)?.[1]
      if (key === undefined)
        throw invalidRequestError(
          "The field 'text' must contain a key or its displayed beginning, such as lgw_proj_ and eight more characters.",
          'text',
        )
      const hash = hashKey(key)
      // The beginning of another gateway's key may be most of it.
      const key_prefix = issued?.slice(0, issued.lastIndexOf('_') + 1 + SHOWN_CHARACTERS) ?? ''
      // A key that is not found counts as a failed attempt with a credential, so that keys cannot be guessed here.
      const found = await options.credentialAttempts.lookUp(`leaked:${hash}`, actor.address, async () => {
        const rows = await callAsActor(actor, 'find_leaked_keys', { hash, key_prefix })
        return rows.length === 0 ? null : rows
      })
      const data = (found ?? []).map(row => ({ object: 'organization.leaked_key' as const, ...row }))
      return { object: 'list', data, has_more: false }
    },
  }),
]
