/**
 * Serves the admin API on a database in memory, for checks from outside, with one of everything; prints its address and an administrator's
 * key, and then schemathesis' configuration, in which parameters are ids of what is there.
 */
import { openEmbeddedDatabase } from '../src/postgres/embedded/embedded.ts'
import { migrate } from '../src/postgres/migrate.ts'
import { createInProcessStore } from '../src/stores/in-process-store.ts'
import { listOperations } from '../test/harness/description.ts'
import { TEST_ENCRYPTION_KEY } from '../test/harness/direct-upstreams.ts'
import { startProxy } from '../test/harness/proxy.ts'

const database = await openEmbeddedDatabase({ directory: null, psql: null })
await migrate(database)
const stores = { database, store: createInProcessStore(), databaseUrl: null, redisUrl: null }
const proxy = await startProxy({ dashboard: true, stores, environment: { ENCRYPTION_KEY: TEST_ENCRYPTION_KEY } })
await proxy.query(`select create_user('root@example.org', 'owner')`)
const [issued] = await proxy.query<{ key: string }>(`select key from issue_admin_key('root@example.org', 'checks')`)
const root = proxy.baseUrl.slice(0, -'/v1'.length)

/** Makes something; its id. */
async function make(path: string, body: unknown, key = issued?.key): Promise<Record<string, string>> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const response = await fetch(`${root}${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
  if (!response.ok) throw new Error(`${path}: ${await response.text()}`)
  return (await response.json()) as Record<string, string>
}

/** One of everything: `n` tells those that are deleted from those that stay. */
async function makeAll(project: string, n: number): Promise<Record<string, string | undefined>> {
  const own = `/v1/organization/projects/${project}`
  const month = { currency: 'USD', interval: 'month', threshold_amount: 1_000_000 }
  const alert = { ...month, notification_channel: { type: 'email', recipients: ['a@example.org'] } }
  const key = await make(`${own}/api_keys`, { name: `key ${n}`, type: 'test' })
  const webhook = await make(`${own}/webhooks`, { url: `https://hooks.example.org/${n}`, events: [] })
  const delivery = await make(`${own}/webhooks/${webhook.id}/test`, {})
  const member = await make(`${own}/users`, { email: `member${n}@example.org`, role: 'member' })
  const budget = await make(`${own}/budgets`, { unit: 'tokens', amount: 1_000_000, per: 'day', tag: `n=${n}` })
  await make(`${own}/provider_keys/openai`, { value: 'sk-0123456789abcdef' })
  await make(`${own}/spend_limit`, month)
  await make('/v1/organization/spend_limit', month)
  const spendAlert = await make(`${own}/spend_alerts`, alert)
  const everybodys = await make('/v1/organization/spend_alerts', alert)
  const adminKey = await make('/v1/organization/admin_api_keys', { name: `admin key ${n}` })
  const messages = [{ role: 'user', content: `What is ${n}?` }]
  await make('/v1/chat/completions', { model: 'openai/gpt-4o-mini', messages }, key.value)
  await proxy.settle()
  const listed = async (path: string) => {
    const answer = await fetch(`${root}${path}?project_id=${project}`, {
      headers: { authorization: `Bearer ${issued?.key}` },
    })
    return ((await answer.json()) as { data: { id: string }[] }).data[0]?.id
  }
  return {
    project_id: project,
    key_id: key.id,
    'organization key_id': adminKey.id,
    webhook_id: webhook.id,
    delivery_id: delivery.id,
    user_id: member.id,
    budget_id: budget.id,
    alert_id: spendAlert.id,
    'organization alert_id': everybodys.id,
    provider: 'openai',
    plan: 'free',
    rate_limit_id: 'rl_project_key',
    entry_id: await listed('/v1/cache/entries'),
    request_id: await listed('/v1/requests'),
  }
}

const kept = (await make('/v1/organization/projects', { name: 'kept' })).id ?? ''
const gone = (await make('/v1/organization/projects', { name: 'gone' })).id ?? ''
const [stays, goes, archived] = [await makeAll(kept, 1), await makeAll(kept, 2), await makeAll(gone, 3)]

const lines = (await listOperations()).flatMap(({ method, path, operation }) => {
  const ids = path.endsWith('/archive') ? archived : method === 'DELETE' ? goes : stays
  const isEverybodys = path.startsWith('/v1/organization/') && !path.includes('{project_id}')
  const given = (operation.parameters ?? []).flatMap((parameter: { name: string; in: string }) => {
    // In queries, the project alone: what is filtered by is made up.
    if (parameter.in === 'query' && parameter.name !== 'project_id') return []
    const id = (isEverybodys ? ids[`organization ${parameter.name}`] : undefined) ?? ids[parameter.name]
    return id === undefined ? [] : [`"${parameter.in}.${parameter.name}" = "${id}"`]
  })
  const name = `${method} ${path}`
  return given.length === 0
    ? []
    : ['[[operations]]', `include-name = "${name}"`, `parameters = { ${given.join(', ')} }`]
})
process.stdout.write(`${root} ${issued?.key}\n${lines.join('\n')}\n# complete\n`)
