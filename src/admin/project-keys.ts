/** A project's API keys. They are listed, read and deleted as in OpenAI's API; creating, limiting and rotating them are additions. */
import { type TSchema, t } from 'elysia'
import { nowSeconds } from '../event-loop/clock.ts'
import type { Actor } from '../postgres/admin/act-as.ts'
import type { KeyRow } from '../postgres/admin/key-rows.ts'
import {
  deactivateKeyWithId,
  findKeyId,
  issueKeyAs,
  pageOfKeys,
  rotateKey,
  setKeyLimits,
} from '../postgres/admin/projects.ts'
import { apiKey, issuedKey } from './answers/projects.ts'
import { deleted, pagesOf, text } from './answers/shared.ts'
import { type AdminOptions, createController } from './controller.ts'
import { keyName, lifetimeSeconds, strict } from './field-types.ts'
import { formatId, notFound, requireId } from './ids.ts'
import { operation } from './operation.ts'
import { fromSeconds, oneOf, pageQueryOf, pageSize, readCursor, toPage, toSeconds } from './pages.ts'
import { findProject } from './projects.ts'

/** Null takes the limit away. */
const limitOf = <Schema extends TSchema>(schema: Schema) => t.Optional(t.Union([schema, t.Null()]))
const someTexts = t.Array(t.String(), { minItems: 1, maxItems: 100 })
const keyLimits = t.Object(
  {
    requests_per_minute: limitOf(t.Integer({ minimum: 1, maximum: 999_999_999 })),
    tokens_per_minute: limitOf(t.Integer({ minimum: 1, maximum: 999_999_999 })),
    allowed_models: limitOf(someTexts),
    allowed_addresses: limitOf(someTexts),
  },
  strict,
)
const MOST_GRACE_SECONDS = 7_776_000

export function createProjectKeysController(options: AdminOptions) {
  return createController(options, '/v1/organization/projects', 'API keys')
    .get(
      '/:project_id/api_keys',
      async ({ caller, params, query: { after, limit, include_inactive } }) => {
        const { id } = await findProject(caller.actor, params.project_id)
        const rows = await pageOfKeys(caller.actor, {
          of_project: id,
          include_inactive: include_inactive ?? false,
          after_id: readCursor('key', after),
          page_size: pageSize(limit),
        })
        return toPage(rows.map(describeKey), limit)
      },
      operation('List a project’s API keys', pagesOf(apiKey), {
        query: t.Object({ ...pageQueryOf('key'), include_inactive: t.Optional(t.Boolean()) }, strict),
      }),
    )
    .post(
      '/:project_id/api_keys',
      async ({ caller, params, body }) => {
        const project = requireId('proj', params.project_id)
        const { row, value } = await makeKey(caller.actor, project, body)
        return { ...describeKey(row), value }
      },
      operation('Make an API key', issuedKey, {
        body: t.Object(
          {
            name: keyName,
            type: t.Optional(oneOf('project', 'test')),
            expires_in_seconds: lifetimeSeconds,
          },
          strict,
        ),
      }),
    )
    .get(
      '/:project_id/api_keys/:key_id',
      ({ caller, params }) =>
        readKey(caller.actor, requireId('proj', params.project_id), requireId('key', params.key_id)),
      operation('Read an API key', apiKey),
    )
    .delete(
      '/:project_id/api_keys/:key_id',
      async ({ caller, params }) => {
        const project = requireId('proj', params.project_id)
        const { id } = await findKey(caller.actor, project, requireId('key', params.key_id))
        await deactivateKeyWithId(caller.actor, { key_id: id })
        return { object: 'organization.project.api_key.deleted' as const, id: formatId('key', id), deleted: true }
      },
      operation('Deactivate an API key', deleted('organization.project.api_key', { id: text })),
    )
}

/** What changes of a key that stays the same one. */
export function createKeyChangesController(options: AdminOptions) {
  return createController(options, '/v1/organization/projects', 'API keys')
    .post(
      '/:project_id/api_keys/:key_id',
      async ({ caller, params, body }) => {
        const project = requireId('proj', params.project_id)
        const { id } = await findKey(caller.actor, project, requireId('key', params.key_id))
        await setKeyLimits(caller.actor, { of_key: id, limits: body })
        return readKey(caller.actor, project, id)
      },
      operation('Change an API key’s own limits', apiKey, { body: keyLimits }),
    )
    .post(
      '/:project_id/api_keys/:key_id/rotate',
      async ({ caller, params, body }) => {
        const project = requireId('proj', params.project_id)
        const { id } = await findKey(caller.actor, project, requireId('key', params.key_id))
        const grace = `PT${body.grace_seconds ?? 0}S`
        const [rotated] = await rotateKey(caller.actor, { rotated: id, grace })
        return { ...(await readKey(caller.actor, project, id)), value: rotated?.result ?? '' }
      },
      operation('Give an API key a new value', issuedKey, {
        body: t.Object({ grace_seconds: t.Optional(t.Integer({ minimum: 0, maximum: MOST_GRACE_SECONDS })) }, strict),
      }),
    )
}

/** With its value, which is shown this once. */
export async function makeKey(
  actor: Actor,
  project: number,
  { name, type = 'project', expires_in_seconds: lifetime }: ToMake,
): Promise<{ row: KeyRow; value: string }> {
  const expires = lifetime === undefined ? null : fromSeconds(nowSeconds() + lifetime)
  const [issued] = await issueKeyAs(actor, { project, key_type: type, key_name: name, expires })
  const value = issued?.result ?? ''
  const [found] = await findKeyId(actor, { key: value })
  return { row: await findKey(actor, project, found?.result ?? 0), value }
}

interface ToMake {
  name: string
  type?: KeyRow['type'] | undefined
  expires_in_seconds?: number | undefined
}

/** Throws a 404 when the project does not have the key, or the caller may not see the project. */
export async function findKey(actor: Actor, project: number, key: number, include_inactive = true): Promise<KeyRow> {
  const [row] = await pageOfKeys(actor, { of_project: project, only_key: key, include_inactive, page_size: 1 })
  if (row === undefined) throw notFound('There is no such key in this project.')
  return row
}

async function readKey(actor: Actor, project: number, key: number) {
  return describeKey(await findKey(actor, project, key))
}

function describeKey(row: KeyRow) {
  return {
    id: formatId('key', row.id),
    object: 'organization.project.api_key' as const,
    name: row.name,
    redacted_value: `${row.prefix}…`,
    created_at: toSeconds(row.created_at),
    last_used_at: toSeconds(row.last_used_at),
    expires_at: toSeconds(row.expires_at),
    // A key belongs to the project, not to a user.
    owner: {
      type: 'service_account' as const,
      service_account: {
        id: formatId('svc_acct', row.id),
        created_at: toSeconds(row.created_at),
        name: row.name,
        role: 'member',
      },
    },
    owner_project_access: row.state === 'active' ? ('active' as const) : ('inactive' as const),
    type: row.type,
    state: row.state,
    deactivated_at: toSeconds(row.deactivated_at),
    requests_per_minute: row.requests_per_minute,
    tokens_per_minute: row.tokens_per_minute,
    allowed_models: row.allowed_models,
    allowed_addresses: row.allowed_addresses,
    former_value_of: row.replaced_by === null ? null : formatId('key', row.replaced_by),
  }
}
