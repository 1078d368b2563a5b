/** Vendors of the installation. Changes apply in every process within seconds. */
import { Type as t } from '@sinclair/typebox'
import { callAsActor } from '../../postgres/admin/call-as.ts'
import { installationKeyOwner } from '../../providers/keys/installation-keys.ts'
import { sealKey } from '../../providers/keys/vault.ts'
import { defineOperation, type FieldValues } from '../admin-operation.ts'
import { defineCollection, defineFullList, defineRead } from '../define-operations.ts'
import { secretSchema } from '../field-types.ts'
import { findObject, type OperationRequest } from '../find-objects.ts'
import { defineObject } from '../objects.ts'
import { deletedSchema, textSchema } from '../responses/shared.ts'

const vendor = defineObject('Vendor', 'organization.vendor', 'organization_vendors', null, 'There is no such vendor.')
const tag = 'Vendors'
const vendors = defineCollection(vendor, {
  tag,
  basePath: '/v1/organization/vendors',
  idParameter: 'vendor',
  isOrganizationWide: true,
})

const CHANGES = {
  columns: t.Optional(
    t.Record(t.String({ maxLength: 63 }), t.Unknown(), {
      description: 'Columns of the table vendors, such as base_url. Text stands for lists, separated by commas.',
    }),
  ),
  key: t.Optional(
    t.Union([secretSchema, t.Null()], {
      description: 'The key that all projects use that have none of their own. Null: none.',
    }),
  ),
}

async function setVendor(asked: OperationRequest, name: string, { columns = {}, key }: FieldValues<typeof CHANGES>) {
  const { caller, options } = asked
  await callAsActor(caller.actor, 'set_vendor', { vendor: name, columns })
  if (key !== undefined) {
    const sealed =
      key === null ? { sealed: null, last_four: null } : await sealKey(options.vault, key, installationKeyOwner(name))
    await callAsActor(caller.actor, 'set_vendor_key', { vendor: name, ...sealed })
  }
  return findObject(vendors, asked, name)
}

export const VENDOR_OPERATIONS = [
  defineFullList(vendors, 'List vendors'),
  defineOperation({
    method: 'POST',
    path: vendors.basePath,
    tag,
    summary: 'Add a vendor',
    response: vendor.schema,
    body: { name: t.String({ maxLength: 63 }), ...CHANGES },
    serve: asked => setVendor(asked, asked.body.name, asked.body),
  }),
  defineRead(vendors, 'Read a vendor'),
  defineOperation({
    method: 'POST',
    path: `${vendors.basePath}/:vendor`,
    tag,
    summary: 'Change a vendor',
    response: vendor.schema,
    body: CHANGES,
    serve: asked => setVendor(asked, String(asked.ids.vendor), asked.body),
  }),
  defineOperation({
    method: 'DELETE',
    path: `${vendors.basePath}/:vendor`,
    tag,
    summary: 'Remove a vendor',
    response: deletedSchema(vendor.kind ?? '', { id: textSchema }),
    query: { with_keys: t.Optional(t.Boolean()) },
    async serve({ caller, ids, query: { with_keys = false } }) {
      const name = String(ids.vendor)
      await callAsActor(caller.actor, 'remove_vendor', { vendor: name, with_keys })
      return { object: `${vendor.kind}.deleted`, id: name, deleted: true }
    },
  }),
]
