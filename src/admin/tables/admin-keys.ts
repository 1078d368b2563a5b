/** Admin API keys, in OpenAI's form. Each acts with the rights of the administrator who created it. */
import { t } from 'elysia'
import { callAs } from '../../postgres/admin/call-as.ts'
import { expiryOf, keyName, lifetimeSeconds } from '../field-types.ts'
import { find } from '../find-objects.ts'
import { object } from '../objects.ts'
import { collection, list, read, remove } from '../operations.ts'
import { oneOf } from '../pages.ts'
import { serveBy } from '../table-row.ts'

const adminKey = object(
  'AdminKey',
  'organization.admin_api_key',
  'admin_api_keys',
  'admin_key',
  'There is no such admin API key.',
)
const issuedAdminKey = t.Object({ ...adminKey.schema.properties, value: t.String() }, { $id: 'IssuedAdminKey' })

const keys = collection(adminKey, {
  tag: 'Admin keys',
  base: '/v1/organization/admin_api_keys',
  own: 'key_id',
  functionsRefuse: true,
})

export const ADMIN_KEYS = [
  list(keys, 'List admin keys', { query: { order: t.Optional(oneOf('asc', 'desc')) } }),
  serveBy({
    method: 'POST',
    path: keys.base,
    tag: 'Admin keys',
    summary: 'Make an admin key, which acts with its maker’s rights',
    answer: issuedAdminKey,
    body: { name: keyName, expires_in_seconds: lifetimeSeconds },
    async serve(asked) {
      const { actor, email } = asked.caller
      const asks = { of_email: email, key_name: asked.body.name, expires: expiryOf(asked.body) }
      const [issued] = await callAs(actor, 'issue_admin_key', asks)
      return { ...(await find(keys, asked, issued?.id ?? 0)), value: issued?.key }
    },
  }),
  read(keys, 'Read an admin key'),
  remove(keys, 'Delete an admin key', ['delete_admin_key', ({ ids }) => ({ key_id: ids.key_id })]),
]
