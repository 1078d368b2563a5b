/** The audit log in sentences: every action that SQL functions record, with names instead of ids, also of what is renamed or deleted later. */
import { beforeAll, expect, test } from 'vitest'
import { toText } from '../../../src/dashboard/pages/audit-phrases.ts'
import {
  AUDIT_TITLES,
  type AuditEvent,
  describeActor,
  describeAuditEvent,
} from '../../../src/dashboard/pages/audit-sentences.ts'
import type { Settings } from '../../../src/dashboard/pages/types.ts'
import { AUDIT_ACTIONS } from '../../../src/postgres/seeds.generated.ts'
import { describeBackends } from '../../harness/backends.ts'
import { duringTests } from '../../harness/during-tests.ts'
import { startProxy } from '../../harness/proxy.ts'
import { addUser, type Browser, issueAdminKey, logIn, send } from './people.ts'

const KEY = `(select id from api_keys where name = 'ci')`
const PERSON = `(select id from users where email = 'grace@example.org')`
const ADMIN_KEY = `(select id from admin_keys where name like 'terra%')`
const PROJECT = `(select id from projects where name like 'doc%')`

/** A change by an operator, and its sentence. The calls of audit() record what the functions do that need a request or an end user. */
const CHANGES: readonly [statement: string, sentence: string][] = [
  [`create_project('doc', 'free')`, 'created the project doc with the plan free'],
  [`update_project('doc', 'docs', null)`, 'renamed the project from doc to docs'],
  [`set_plan('docs', 'pro')`, 'moved the project docs from free to pro'],
  [`set_plan_limits('pro', '{"requests_per_month": 7}')`, 'changed the plan pro: requests per month from 1M to 7'],
  [`set_setting('docs', 'semantic_policy', 'judged')`, 'set Match policy from Verified to Judged'],
  [`set_setting('docs', 'semantic_guards', 'false')`, 'set Match policy from Judged to Similarity only'],
  [`set_setting('docs', 'cache_ttl_seconds', '86400')`, 'set Time to live from 7 days to 1 day'],
  [`set_setting('docs', 'cache_bytes', '0')`, 'set Maximum cache size from 1 GiB to 0 bytes'],
  [`set_setting('docs', 'semantic_threshold', '0.9')`, 'set Similarity threshold from 0.95 to 0.9'],
  [`set_setting('docs', 'aliases', 'fast=gpt-4o-mini')`, 'set Aliases from nothing to fast=gpt-4o-mini'],
  [`set_setting('docs', 'streams', 'live')`, 'set Streams to Live'],
  [`issue_key('docs', 'test', 'build')`, 'created the test key build'],
  [
    `update_key((select id from api_keys where name = 'build'), '{"name": "ci"}')`,
    'changed the key ci: renamed it from build to ci',
  ],
  [
    `update_key(${KEY}, '{"requests_per_minute": 60, "allowed_models": null}')`,
    'changed the key ci: set requests per minute to 60, set Allowed models to the default',
  ],
  [
    `set_key_log_content((select prefix from api_keys where name = 'ci'), 'off')`,
    'changed the key ci: set Storage of request text to Not stored',
  ],
  [`update_key(${KEY}, '{"expires_at": null}')`, 'changed the key ci: set expiry to never'],
  [`set_budget('docs', 'usd', 50, 'month', of_key => ${KEY})`, 'set a monthly budget of $50.00 for the key ci'],
  [`set_budget('docs', 'tokens', 900, 'total')`, 'set a budget of 900 tokens for all requests'],
  [
    `set_budget('docs', 'usd', 5, 'day', of_tag => 'team=search')`,
    'set a daily budget of $5.00 for the tag team=search',
  ],
  [
    `remove_budget('docs', (select id from budgets where key_id = ${KEY}))`,
    'deleted the monthly budget of $50.00 for the key ci',
  ],
  [
    `remove_budget('docs', (select id from budgets where tag is not null))`,
    'deleted the daily budget of $5.00 for the tag team=search',
  ],
  [`set_spend_alert('docs', 9, '{ops@example.org}')`, 'set a spend alert at $9.00 a month'],
  [`remove_spend_alert('docs', (select id from spend_alerts))`, 'deleted the spend alert at $9.00 a month'],
  [`rotate_key(${KEY})`, 'rotated the key ci'],
  [
    `deactivate_key_with_id((select id from api_keys where name = 'ci' and replaced_by is null))`,
    'deactivated the key ci',
  ],
  [`restore_key((select id from api_keys where name = 'ci' and replaced_by is null))`, 'restored the key ci'],
  [
    `deactivate_key_with_id((select id from api_keys where name = 'ci' and replaced_by is null))`,
    'deactivated the key ci',
  ],
  [
    `store_provider_key(${PROJECT}, 'openai', '\\x00', 'x9Kf', 'default', 1)`,
    'stored the key ending in x9Kf of the provider openai',
  ],
  [`remove_provider_key('docs', 'openai', 'default')`, 'deleted the key ending in x9Kf of the provider openai'],
  [`add_webhook('docs', 'https://example.com/secret', '{}', '')`, 'created the webhook https://example.com/…'],
  [
    `update_webhook('docs', (select id from webhooks), 'https://example.com/other', null)`,
    'changed the webhook https://example.com/…',
  ],
  [`remove_webhook('docs', (select id from webhooks))`, 'deleted the webhook https://example.com/…'],
  [`audit('webhook.resent', ${PROJECT}, 'delivery_7')`, 'resent an event to a webhook'],
  [`add_user('grace@example.org', 'reader', null)`, 'added the user grace@example.org'],
  [`set_user_role(${PERSON}, 'owner')`, 'made grace@example.org an administrator'],
  [
    `audit('user.updated', null, 'user_' || ${PERSON}, '{"password": "changed"}')`,
    'changed the password of grace@example.org',
  ],
  [`audit('password_reset.sent', null, 'user_' || ${PERSON})`, 'requested a new password for grace@example.org'],
  [`audit('invite.sent', null, 'user_' || ${PERSON})`, 'invited grace@example.org'],
  [`audit('invite.accepted', null, 'user_' || ${PERSON})`, 'accepted the invitation for grace@example.org'],
  [`add_member('docs', 'grace@example.org', 'viewer')`, 'added grace@example.org as viewer'],
  [`set_member('docs', ${PERSON}, 'member')`, 'changed the role of grace@example.org from viewer to member'],
  [`remove_member('docs', ${PERSON})`, 'removed the member grace@example.org'],
  [`audit('login.failed', null, 'login')`, 'failed to log in'],
  [`audit('logout.succeeded', null, 'user_' || ${PERSON})`, 'logged out'],
  [`audit('logout.succeeded', null, 'user_' || ${PERSON}, '{"session": "session_3"}')`, 'ended a session'],
  [`audit('logout.succeeded', null, 'user_' || ${PERSON}, '{"sessions": 2}')`, 'ended 2 sessions of grace@example.org'],
  [`issue_admin_key('grace@example.org', 'terra', null, 'read_only')`, 'created the read-only admin key terra'],
  [`rename_admin_key(${ADMIN_KEY}, 'terraform')`, 'renamed the admin key terra to terraform'],
  [`delete_admin_key(${ADMIN_KEY})`, 'deleted the admin key terraform'],
  [`delete_user(${PERSON})`, 'deleted the user grace@example.org'],
  [`set_vendor('mine', '{"base_url": "https://api.example.com/v1"}')`, 'set the vendor mine'],
  [`set_vendor_key('mine', '\\x00', 'wxyz')`, 'stored the installation’s key ending in wxyz of mine'],
  [`set_vendor_key('mine', null, null)`, 'deleted the installation’s key of mine'],
  [`remove_vendor('mine', false)`, 'removed the vendor mine'],
  [
    `audit('accounts.imported', null, 'litellm', '{"keys": 40, "projects": 12}')`,
    'imported 40 new keys and 12 new projects from litellm',
  ],
  [`purge_cache('docs')`, 'purged the cache of 0 responses'],
  [
    `audit('cache.invalidated', ${PROJECT}, 'proj_1', '{"entries": 3, "api_key_id": "key_1", "api_key": "ci", "of_an_end_user": true}')`,
    'deleted 3 cached responses of the key ci of an end user',
  ],
  [`audit('cache.verdict', ${PROJECT}, 'r-1', '{"verdict": "wrong"}')`, 'marked the match of a request as wrong'],
  [
    `audit('cache.verdict_removed', ${PROJECT}, 'v-1', '{"verdict": "same", "source": "judge"}')`,
    'deleted a verdict of the judge that two questions are the same',
  ],
  [`audit('request.settled', ${PROJECT}, 'r-1')`, 'settled the cost of a request'],
  [`export_end_user('docs', 'alice')`, 'exported the data of an end user'],
  [`forget_end_user('docs', 'alice', false)`, 'deleted the data of an end user'],
  [`archive_project('docs')`, 'archived the project docs'],
]

describeBackends('the audit log in sentences', backend => {
  const proxy = duringTests(() => startProxy({ dashboard: true, stores: backend.open() }))
  let ada: Browser
  let kinds: Settings['kinds']

  beforeAll(async () => {
    await addUser(proxy, 'ada@example.org', 'owner')
    ada = await logIn(proxy, 'ada@example.org')
  })

  const readEvents = async (query = 'limit=100'): Promise<AuditEvent[]> =>
    (await ada.send('GET', `/v1/organization/audit_logs?${query}`)).json.data

  test('name what was changed, as it was called then', async () => {
    for (const [statement] of CHANGES) await proxy.query(`select ${statement}`)
    const [{ id } = { id: '' }] = await proxy.query<{ id: string }>(`select 'proj_' || id as id from projects`)
    kinds = (await ada.send('GET', `/v1/organization/projects/${id}/settings`)).json.kinds
    const events = (await readEvents()).reverse()
    const sentences = events.map(event => toText(describeAuditEvent(event, kinds)))
    expect(sentences.slice(-CHANGES.length)).toEqual(CHANGES.map(([, sentence]) => sentence))
  })

  test('exist for every action, without ids', async () => {
    const events = await readEvents()
    const actions = AUDIT_ACTIONS.map(({ action }) => action as string)
    expect(new Set(events.map(({ type }) => type))).toEqual(new Set(actions))
    expect(AUDIT_TITLES.map(([action]) => action).sort()).toEqual(actions.sort())
    const sentences = events.map(event => toText(describeAuditEvent(event, kinds)))
    expect(sentences.filter(each => /_\d|undefined|null|NaN|\[object|_[a-z]/.test(each))).toEqual([])
  })

  test('name who made the change: a user, an admin key that was deleted since, or an operator', async () => {
    const created = await ada.send('POST', '/v1/organization/projects', { name: 'sketches' })
    const headers = { authorization: `Bearer ${await issueAdminKey(proxy, 'ada@example.org')}` }
    await send(proxy, 'POST', `/v1/organization/projects/${created.json.id}`, { body: { name: 'drafts' }, headers })
    await proxy.query(`select delete_admin_key(id) from admin_keys where name = 'tests'`)
    const [deleted, renamed, , made] = await readEvents('limit=4')
    expect([made, renamed, deleted].map(event => event && describeActor(event.actor))).toEqual([
      { name: 'ada@example.org', origin: expect.stringMatching(/^from (127\.0\.0\.1|::1)/) },
      { name: 'ada@example.org', origin: 'with the admin key tests' },
      { name: expect.any(String), origin: 'as an operator' },
    ])
  })

  test('describe an event of another version by its type', () => {
    const event = { type: 'moon.landed', 'moon.landed': { id: 'moon_1', data: {} } } as unknown as AuditEvent
    expect(toText(describeAuditEvent(event, []))).toBe('made a change of the type moon.landed: moon_1')
  })
})
