/** Projects' API keys. OpenAI's clients list, read and delete them, and make them as service accounts, each of which stands for one key. */
import type { TSchema } from '@sinclair/typebox'
import { t } from 'elysia'
import { SQL_TYPE_SCHEMAS } from '../../postgres/admin/views.generated.ts'
import {
  defineCollection,
  defineCreate,
  defineDelete,
  defineList,
  defineRead,
  defineUpdate,
} from '../define-operations.ts'
import { computeKeyExpiry, keyNameSchema, lifetimeSchema } from '../field-types.ts'
import { defineObject, notFoundInProject } from '../objects.ts'
import { stringEnum } from '../pagination.ts'

/** Null takes the limit away. */
const limitOf = <Schema extends TSchema>(schema: Schema) => t.Optional(t.Union([schema, t.Null()]))
const someTexts = t.Array(t.String(), { minItems: 1, maxItems: 100 })
const aMinute = t.Integer({ minimum: 1, maximum: 999_999_999 })
const MOST_GRACE_SECONDS = 7_776_000

const NO_KEY = notFoundInProject('key')
const apiKey = defineObject('ApiKey', 'organization.project.api_key', 'project_api_keys', 'key', NO_KEY)
const serviceAccount = defineObject(
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
    api_key: t.Object({ ...SQL_TYPE_SCHEMAS.service_account_key }, { $id: 'ServiceAccountKey' }),
  },
  { $id: 'AddedServiceAccount' },
)

const keys = defineCollection(apiKey, {
  tag: 'API keys',
  basePath: '/v1/organization/projects/:project_id/api_keys',
  idParameter: 'key_id',
})
const accounts = defineCollection(serviceAccount, {
  tag: 'API keys',
  basePath: '/v1/organization/projects/:project_id/service_accounts',
  idParameter: 'service_account_id',
})

export const API_KEY_OPERATIONS = [
  defineList(keys, 'List a project’s API keys', {
    query: { include_inactive: t.Optional(t.Boolean()) },
    filter: () => ({ _of_session: false }),
  }),
  defineCreate(keys, 'Make an API key', {
    answer: issuedKey,
    body: { name: keyNameSchema, type: t.Optional(stringEnum('project', 'test')), expires_in_seconds: lifetimeSchema },
    calls: [
      'create_api_key',
      ({ ids, body }) => ({
        project: ids.project_id,
        key_type: body.type ?? 'project',
        key_name: body.name,
        expires: computeKeyExpiry(body),
      }),
    ],
  }),
  defineRead(keys, 'Read an API key'),
  defineUpdate(keys, 'Change an API key’s own limits', {
    body: {
      requests_per_minute: limitOf(aMinute),
      tokens_per_minute: limitOf(aMinute),
      allowed_models: limitOf(someTexts),
      allowed_addresses: limitOf(someTexts),
    },
    calls: ['set_key_limits', ({ ids, body }) => ({ of_key: ids.key_id, limits: body })],
  }),
  defineUpdate(keys, 'Give an API key a new value', {
    path: '/rotate',
    answer: issuedKey,
    shows: 'value',
    body: { grace_seconds: t.Optional(t.Integer({ minimum: 0, maximum: MOST_GRACE_SECONDS })) },
    calls: ['rotate_key', ({ ids, body }) => ({ rotated: ids.key_id, grace: `PT${body.grace_seconds ?? 0}S` })],
  }),
  defineDelete(keys, 'Deactivate an API key', ['deactivate_key_with_id', ({ ids }) => ({ key_id: ids.key_id })]),

  defineList(accounts, 'List a project’s service accounts: its keys', { filter: () => ({ _of_session: false }) }),
  defineCreate(accounts, 'Make a service account, with its API key', {
    answer: addedServiceAccount,
    body: { name: keyNameSchema, expires_in_seconds: lifetimeSchema },
    calls: [
      'create_service_account',
      ({ ids, body }) => ({ project: ids.project_id, key_name: body.name, expires: computeKeyExpiry(body) }),
    ],
  }),
  defineRead(accounts, 'Read a service account'),
  defineDelete(accounts, 'Delete a service account: its key is deactivated', [
    'deactivate_key_with_id',
    ({ ids }) => ({ key_id: ids.service_account_id }),
  ]),
]
