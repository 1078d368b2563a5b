/** Admin API keys, in OpenAI's form. Each acts with the rights of the administrator who created it. */
import { Type as t } from '@sinclair/typebox'
import { callAsActor } from '../../postgres/admin/call-as.ts'
import { defineOperation } from '../admin-operation.ts'
import { defineCollection, defineDelete, defineList, defineRead, defineUpdate } from '../define-operations.ts'
import { computeKeyExpiry, keyNameSchema, lifetimeSchema } from '../field-types.ts'
import { findObject } from '../find-objects.ts'
import { defineObject } from '../objects.ts'
import { stringEnum } from '../pagination.ts'

const adminKey = defineObject(
  'AdminKey',
  'organization.admin_api_key',
  'admin_api_keys',
  'admin_key',
  'There is no such admin API key.',
)
const issuedAdminKey = t.Object({ ...adminKey.schema.properties, value: t.String() }, { $id: 'IssuedAdminKey' })

const keys = defineCollection(adminKey, {
  tag: 'Admin keys',
  basePath: '/v1/organization/admin_api_keys',
  idParameter: 'key_id',
  isCheckedBySql: true,
})

export const ADMIN_KEY_OPERATIONS = [
  defineList(keys, 'List admin keys', { query: { order: t.Optional(stringEnum('asc', 'desc')) } }),
  defineOperation({
    method: 'POST',
    path: keys.basePath,
    tag: 'Admin keys',
    summary: 'Create an admin key with the rights of its creator, for GET requests only, or for one project',
    response: issuedAdminKey,
    body: {
      name: keyNameSchema,
      expires_in_seconds: t.Optional(lifetimeSchema),
      permissions: t.Optional(stringEnum('all', 'read_only')),
      project_id: t.Optional(t.String({ description: 'The only project in which the key may act, as an owner.' })),
    },
    async serve(asked) {
      const { actor, email } = asked.caller
      const asks = {
        of_email: email,
        key_name: asked.body.name,
        expires: computeKeyExpiry(asked.body.expires_in_seconds),
        with_permissions: asked.body.permissions,
        project: (asked.ids as { project_id?: number }).project_id ?? null,
      }
      const [issued] = await callAsActor(actor, 'issue_admin_key', asks)
      return { ...(await findObject(keys, asked, issued?.id ?? 0)), value: issued?.key }
    },
  }),
  defineRead(keys, 'Read an admin key'),
  defineUpdate(keys, 'Rename an admin key', {
    body: { name: keyNameSchema },
    calls: ['rename_admin_key', ({ ids, body }) => ({ key_id: ids.key_id, new_name: body.name })],
  }),
  defineDelete(keys, 'Delete an admin key', ['delete_admin_key', ({ ids }) => ({ key_id: ids.key_id })]),
]
