/** API keys of projects. OpenAI's clients list, read and delete them, and create them as service accounts, each of which has one key. */
import type { TSchema } from '@sinclair/typebox'
import { Type as t } from '@sinclair/typebox'
import { SQL_TYPE_SCHEMAS } from '../../postgres/admin/views.generated.ts'
import {
  defineCollection,
  defineCreate,
  defineDelete,
  defineList,
  defineRead,
  defineUpdate,
} from '../define-operations.ts'
import { computeKeyExpiry, keyNameSchema, lifetimeSchema, STRICT_OBJECT } from '../field-types.ts'
import { defineObject, notFoundInProject } from '../objects.ts'
import { stringEnum } from '../pagination.ts'
import { BUDGET_AMOUNT } from './budgets.ts'

/** Creates the schema of a limit; null removes the limit. */
const limitOf = <Schema extends TSchema>(schema: Schema) => t.Optional(t.Union([schema, t.Null()]))
const textList = t.Array(t.String(), { minItems: 1, maxItems: 100 })
const perMinute = t.Integer({ minimum: 1, maximum: 999_999_999 })
const MAX_GRACE_SECONDS = 7_776_000

const NO_KEY = notFoundInProject('key')
const apiKey = defineObject('ApiKey', 'organization.project.api_key', 'project_api_keys', 'key', NO_KEY)
const serviceAccount = defineObject(
  'ServiceAccount',
  'organization.project.service_account',
  'project_service_accounts',
  'svc_acct',
  NO_KEY,
)
/** The key with its value, which is shown only once. */
const issuedKey = t.Object({ ...apiKey.schema.properties, value: t.String() }, { $id: 'IssuedApiKey' })
/** The service account with its key, which is shown only once. */
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
  defineCreate(keys, 'Create an API key', {
    responseSchema: issuedKey,
    body: {
      name: keyNameSchema,
      type: t.Optional(stringEnum('project', 'test')),
      expires_in_seconds: t.Optional(lifetimeSchema),
      budget: t.Optional(
        t.Object(BUDGET_AMOUNT, { ...STRICT_OBJECT, description: 'A budget of the key. Requires an owner.' }),
      ),
    },
    calls: [
      'create_api_key',
      ({ ids, body }) => ({
        project: ids.project_id,
        key_type: body.type ?? 'project',
        key_name: body.name,
        expires: computeKeyExpiry(body.expires_in_seconds),
        budget: body.budget ?? null,
      }),
    ],
  }),
  defineRead(keys, 'Read an API key'),
  defineUpdate(keys, 'Change the name, expiry or limits of an API key', {
    body: {
      name: t.Optional(keyNameSchema),
      expires_in_seconds: t.Optional(
        t.Union([lifetimeSchema, t.Null()], { description: 'Null: the key never expires.' }),
      ),
      requests_per_minute: limitOf(perMinute),
      tokens_per_minute: limitOf(perMinute),
      allowed_models: limitOf(textList),
      allowed_addresses: limitOf(textList),
    },
    calls: [
      'update_key',
      ({ ids, body: { expires_in_seconds: lifetime, ...changes } }) => ({
        of_key: ids.key_id,
        changes: { ...changes, ...(lifetime !== undefined && { expires_at: computeKeyExpiry(lifetime) }) },
      }),
    ],
  }),
  defineUpdate(keys, 'Rotate an API key', {
    path: '/rotate',
    responseSchema: issuedKey,
    resultField: 'value',
    body: { grace_seconds: t.Optional(t.Integer({ minimum: 0, maximum: MAX_GRACE_SECONDS })) },
    calls: ['rotate_key', ({ ids, body }) => ({ of_key: ids.key_id, grace: `PT${body.grace_seconds ?? 0}S` })],
  }),
  defineUpdate(keys, 'Restore a deactivated API key that has not expired', {
    path: '/restore',
    calls: ['restore_key', ({ ids }) => ({ of_key: ids.key_id })],
  }),
  defineDelete(keys, 'Deactivate an API key', ['deactivate_key_with_id', ({ ids }) => ({ key_id: ids.key_id })]),

  defineList(accounts, 'List a project’s service accounts', { filter: () => ({ _of_session: false }) }),
  defineCreate(accounts, 'Create a service account with an API key', {
    responseSchema: addedServiceAccount,
    body: { name: keyNameSchema, expires_in_seconds: t.Optional(lifetimeSchema) },
    calls: [
      'create_service_account',
      ({ ids, body }) => ({
        project: ids.project_id,
        key_name: body.name,
        expires: computeKeyExpiry(body.expires_in_seconds),
      }),
    ],
  }),
  defineRead(accounts, 'Read a service account'),
  defineDelete(accounts, 'Delete a service account and deactivate its key', [
    'deactivate_key_with_id',
    ({ ids }) => ({ key_id: ids.service_account_id }),
  ]),
]
