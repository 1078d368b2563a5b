/** Projects' API keys. OpenAI's clients list, read and delete them, and make them as service accounts, each of which stands for one key. */
import type { TSchema } from '@sinclair/typebox'
import { t } from 'elysia'
import { TYPES } from '../../postgres/admin/views.generated.ts'
import { expiryOf, keyName, lifetimeSeconds } from '../field-types.ts'
import { noneHere, object } from '../objects.ts'
import { change, collection, list, make, read, remove } from '../operations.ts'
import { oneOf } from '../pages.ts'

/** Null takes the limit away. */
const limitOf = <Schema extends TSchema>(schema: Schema) => t.Optional(t.Union([schema, t.Null()]))
const someTexts = t.Array(t.String(), { minItems: 1, maxItems: 100 })
const aMinute = t.Integer({ minimum: 1, maximum: 999_999_999 })
const MOST_GRACE_SECONDS = 7_776_000

const NO_KEY = noneHere('key')
const apiKey = object('ApiKey', 'organization.project.api_key', 'project_api_keys', 'key', NO_KEY)
const serviceAccount = object(
  'ServiceAccount',
  'organization.project.service_account',
  'project_service_accounts',
  'svc_acct',
  NO_KEY,
)
/** With the key itself, which is shown this once. */
const issuedKey = t.Object({ ...apiKey.schema.properties, value: t.String() }, { $id: 'IssuedApiKey' })
/** With its key, which is shown this once. */
const addedServiceAccount = t.Object(
  {
    ...serviceAccount.schema.properties,
    api_key: t.Object({ ...TYPES.service_account_key }, { $id: 'ServiceAccountKey' }),
  },
  { $id: 'AddedServiceAccount' },
)

const keys = collection(apiKey, {
  tag: 'API keys',
  base: '/v1/organization/projects/:project_id/api_keys',
  own: 'key_id',
})
const accounts = collection(serviceAccount, {
  tag: 'API keys',
  base: '/v1/organization/projects/:project_id/service_accounts',
  own: 'service_account_id',
})

export const API_KEYS = [
  list(keys, 'List a project’s API keys', {
    query: { include_inactive: t.Optional(t.Boolean()) },
    filter: () => ({ _of_session: false }),
  }),
  make(keys, 'Make an API key', {
    answer: issuedKey,
    body: { name: keyName, type: t.Optional(oneOf('project', 'test')), expires_in_seconds: lifetimeSeconds },
    calls: [
      'make_api_key',
      ({ ids, body }) => ({
        project: ids.project_id,
        key_type: body.type ?? 'project',
        key_name: body.name,
        expires: expiryOf(body),
      }),
    ],
  }),
  read(keys, 'Read an API key'),
  change(keys, 'Change an API key’s own limits', {
    body: {
      requests_per_minute: limitOf(aMinute),
      tokens_per_minute: limitOf(aMinute),
      allowed_models: limitOf(someTexts),
      allowed_addresses: limitOf(someTexts),
    },
    calls: ['set_key_limits', ({ ids, body }) => ({ of_key: ids.key_id, limits: body })],
  }),
  change(keys, 'Give an API key a new value', {
    path: '/rotate',
    answer: issuedKey,
    shows: 'value',
    body: { grace_seconds: t.Optional(t.Integer({ minimum: 0, maximum: MOST_GRACE_SECONDS })) },
    calls: ['rotate_key', ({ ids, body }) => ({ rotated: ids.key_id, grace: `PT${body.grace_seconds ?? 0}S` })],
  }),
  remove(keys, 'Deactivate an API key', ['deactivate_key_with_id', ({ ids }) => ({ key_id: ids.key_id })]),

  list(accounts, 'List a project’s service accounts: its keys', { filter: () => ({ _of_session: false }) }),
  make(accounts, 'Make a service account, with its API key', {
    answer: addedServiceAccount,
    body: { name: keyName, expires_in_seconds: lifetimeSeconds },
    calls: [
      'make_service_account',
      ({ ids, body }) => ({ project: ids.project_id, key_name: body.name, expires: expiryOf(body) }),
    ],
  }),
  read(accounts, 'Read a service account'),
  remove(accounts, 'Delete a service account: its key is deactivated', [
    'deactivate_key_with_id',
    ({ ids }) => ({ key_id: ids.service_account_id }),
  ]),
]
