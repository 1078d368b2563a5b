/** Creates one object of each kind that the admin API describes, so that every operation has an existing id. */
import type { TestProxy } from '../../harness/proxy.ts'
import { addUser, issueAdminKey, send } from '../../integration/admin/people.ts'

export type Ids = Record<string, string | undefined>

export interface Everything {
  adminKey: string
  /** Ids that remain, ids that are deleted, and ids in the project that is archived. */
  stays: Ids
  goes: Ids
  archived: Ids
}

export async function makeEverything(proxy: TestProxy): Promise<Everything> {
  const email = 'root@example.org'
  await addUser(proxy, email, 'owner')
  const adminKey = await issueAdminKey(proxy, email)
  const headersOf = (key = adminKey) => ({ headers: { authorization: `Bearer ${key}` } })

  async function make(path: string, body: unknown, key?: string): Promise<Record<string, string>> {
    const { status, json } = await send(proxy, 'POST', path, { ...headersOf(key), body })
    if (status !== 200) throw new Error(`${path}: ${JSON.stringify(json)}`)
    return json
  }

  async function makeAll(project: string, n: number): Promise<Ids> {
    const own = `/v1/organization/projects/${project}`
    const month = { currency: 'USD', interval: 'month', threshold_amount: 1_000_000 }
    const alert = { ...month, notification_channel: { type: 'email', recipients: ['a@example.org'] } }
    const key = await make(`${own}/api_keys`, { name: `key ${n}`, type: 'test' })
    const account = await make(`${own}/service_accounts`, { name: `account ${n}` })
    const invite = await make('/v1/organization/invites', { email: `invited${n}@example.org`, role: 'reader' })
    const webhook = await make(`${own}/webhooks`, { url: `https://hooks.example.org/${n}`, events: [] })
    const delivery = await make(`${own}/webhooks/${webhook.id}/test`, {})
    const member = await make(`${own}/users`, { email: `member${n}@example.org`, role: 'member' })
    const budget = await make(`${own}/budgets`, { unit: 'tokens', amount: 1_000_000, per: 'day', tag: `n=${n}` })
    await make(`${own}/provider_keys/openai`, { value: 'sk-0123456789abcdef' })
    await make(`${own}/spend_limit`, month)
    await make('/v1/organization/spend_limit', month)
    const projectsAlert = await make(`${own}/spend_alerts`, alert)
    const everybodysAlert = await make('/v1/organization/spend_alerts', alert)
    const otherAdminKey = await make('/v1/organization/admin_api_keys', { name: `admin key ${n}` })
    const columns = { base_url: `https://api${n}.example.org/v1` }
    const vendor = await make('/v1/organization/vendors', { name: `vendor${n}`, columns })
    const messages = [{ role: 'user', content: `What is ${n}?` }]
    await make('/v1/chat/completions', { model: 'openai/gpt-4o-mini', messages }, key.value)
    await proxy.settle()
    const newest = async (path: string) =>
      (await send(proxy, 'GET', `${path}?project_id=${project}`, headersOf())).json.data[0]?.id
    return {
      project_id: project,
      key_id: key.id,
      'organization key_id': otherAdminKey.id,
      service_account_id: account.id,
      invite_id: invite.id,
      webhook_id: webhook.id,
      delivery_id: delivery.id,
      user_id: member.id,
      budget_id: budget.id,
      alert_id: projectsAlert.id,
      'organization alert_id': everybodysAlert.id,
      provider: 'openai',
      vendor: vendor.name,
      plan: 'free',
      rate_limit_id: 'rl_project_key',
      entry_id: await newest('/v1/cache/entries'),
      request_id: await newest('/v1/requests'),
      audit_log_id: (await send(proxy, 'GET', '/v1/organization/audit_logs?limit=1', headersOf())).json.data[0]?.id,
    }
  }

  const { id: kept = '' } = await make('/v1/organization/projects', { name: 'kept' })
  const { id: gone = '' } = await make('/v1/organization/projects', { name: 'gone' })
  return { adminKey, stays: await makeAll(kept, 1), goes: await makeAll(kept, 2), archived: await makeAll(gone, 3) }
}
