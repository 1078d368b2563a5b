/** Vendors of the installation. Changes apply in every process within seconds. */
import { Type as t } from '@sinclair/typebox'
import { type Actor, callAsActor } from '../../postgres/admin/call-as.ts'
import { readView } from '../../postgres/admin/read-view.ts'
import { installationKeyOwner } from '../../providers/keys/installation-keys.ts'
import { sealKey } from '../../providers/keys/vault.ts'
import { defineOperation } from '../admin-operation.ts'
import { secretSchema } from '../field-types.ts'
import { exactFilters, type OperationRequest, readExactFilters } from '../find-objects.ts'
import { notFoundError } from '../ids.ts'
import { defineObject } from '../objects.ts'
import { deletedSchema, listSchema, textSchema } from '../responses/shared.ts'

const vendor = defineObject('Vendor', 'organization.vendor', 'organization_vendors', null, 'There is no such vendor.')
const PATH = '/v1/organization/vendors'
const tag = 'Vendors'

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

interface VendorChange {
  columns?: Record<string, unknown>
  key?: string | null
}

async function setVendor({ caller, options }: OperationRequest, name: string, { columns = {}, key }: VendorChange) {
  await callAsActor(caller.actor, 'set_vendor', { vendor: name, columns })
  if (key !== undefined) {
    const sealed =
      key === null ? { sealed: null, last_four: null } : await sealKey(options.vault, key, installationKeyOwner(name))
    await callAsActor(caller.actor, 'set_vendor_key', { vendor: name, ...sealed })
  }
  return findVendor(caller.actor, name)
}

async function findVendor(actor: Actor, name: string) {
  const [row] = await readView(actor, 'organization_vendors', { _id: name })
  if (!row) throw notFoundError(vendor.notFoundMessage)
  return { object: vendor.kind, ...row }
}

export const VENDOR_OPERATIONS = [
  defineOperation({
    method: 'GET',
    path: PATH,
    tag,
    summary: 'List vendors',
    response: listSchema(vendor.schema),
    query: exactFilters('organization_vendors'),
    async serve({ caller, query }) {
      await callAsActor(caller.actor, 'require_administrator', {})
      const rows = await readView(caller.actor, 'organization_vendors', readExactFilters('organization_vendors', query))
      return { object: 'list', data: rows.map(row => ({ object: vendor.kind, ...row })), has_more: false }
    },
  }),
  defineOperation({
    method: 'POST',
    path: PATH,
    tag,
    summary: 'Add a vendor',
    response: vendor.schema,
    body: { name: t.String({ maxLength: 63 }), ...CHANGES },
    serve: asked => setVendor(asked, asked.body.name, asked.body),
  }),
  defineOperation({
    method: 'GET',
    path: `${PATH}/:vendor`,
    tag,
    summary: 'Read a vendor',
    response: vendor.schema,
    async serve({ caller: { actor }, ids }) {
      await callAsActor(actor, 'require_administrator', {})
      return findVendor(actor, String(ids.vendor))
    },
  }),
  defineOperation({
    method: 'POST',
    path: `${PATH}/:vendor`,
    tag,
    summary: 'Change a vendor',
    response: vendor.schema,
    body: CHANGES,
    serve: asked => setVendor(asked, String(asked.ids.vendor), asked.body),
  }),
  defineOperation({
    method: 'DELETE',
    path: `${PATH}/:vendor`,
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
