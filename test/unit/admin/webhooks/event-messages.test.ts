/** The sentences of events, in the body that Slack reads. */
import { expect, test } from 'vitest'
import { writeSlackMessage } from '../../../../src/admin/webhooks/event-messages.ts'
import { WEBHOOK_EVENT_TYPES } from '../../../../src/postgres/seeds.generated.ts'

const write = (kind: string, payload: object, origin: string | null = null): string =>
  JSON.parse(writeSlackMessage({ kind, payload: JSON.stringify(payload), project_id: 7, project: 'acme' }, origin)).text

const budget = { percent: 80, unit: 'usd', used: 80, limit: 100, per: 'month', scope: 'project', budget_id: 'budget_1' }
const alert = { ...budget, percent: 100, used: 51.5, limit: 50, spend_alert_id: 'spend_alert_1' }

test.each([
  ['budget.threshold', budget, 'Project acme has reached 80% of its monthly budget: $80.00 of $100.00.'],
  [
    'budget.threshold',
    { ...budget, unit: 'tokens', used: 1e6, limit: 1e6, percent: 100, per: 'total', scope: 'tag' },
    'Project acme has reached 100% of its total budget for a tag: 1,000,000 of 1,000,000 tokens.',
  ],
  [
    'budget.threshold',
    { ...budget, used: 0.000004, limit: 0.000005, per: 'day', scope: 'model' },
    'Project acme has reached 80% of its daily budget for a model: $0.000004 of $0.000005.',
  ],
  [
    'budget.threshold',
    { ...budget, per: 'week', scope: 'organization' },
    'The organization has reached 80% of its weekly budget: $80.00 of $100.00. Project acme is part of it.',
  ],
  ['budget.threshold', alert, 'Project acme has spent $51.50 this month, which reaches the spend alert at $50.00.'],
  [
    'budget.threshold',
    { ...alert, scope: 'organization' },
    'The organization has spent $51.50 this month, which reaches the spend alert at $50.00. Project acme is part of it.',
  ],
  [
    'api_key.created',
    { name: 'ci', type: 'test', expires_at: '2026-12-01T10:00:00+02:00' },
    'The test key "ci" was created in project acme. It expires on 2026-12-01 08:00 UTC.',
  ],
  [
    'circuit.opened',
    { provider: 'openai', wait_ms: 900 },
    'The provider openai keeps failing in project acme: no requests are sent to it for 1 second.',
  ],
  ['project.exploded', {}, 'Event project.exploded in project acme.'],
])('describes %s %j', (kind, payload, sentence) => {
  expect(write(kind, payload)).toBe(sentence)
})

test('links to the dashboard only if its public origin is known', () => {
  expect(write('webhook.test', {})).toBe('This is a test message of project acme.')
  expect(write('webhook.test', {}, 'https://proxy.example.com')).toBe(
    'This is a test message of project acme.\nhttps://proxy.example.com/dashboard/proj_7/settings/alerts',
  )
})

test('escapes names, so that they contain no link, no markup and no mention', () => {
  expect(write('api_key.deactivated', { name: '<!channel> & <https://evil.example|you> @everyone &amp;' })).toBe(
    'The API key "&lt;!channel&gt; &amp; &lt;https://evil.example|you&gt; @\u200beveryone &amp;amp;" of project acme was deactivated.',
  )
})

test('has a sentence for each type of event, without the beginning of a key', () => {
  for (const { kind, payload } of WEBHOOK_EVENT_TYPES) {
    const values = payload.map(field => [field, field === 'expires_at' ? '2026-12-01T10:00:00Z' : `VALUE-${field}`])
    const text = write(kind, Object.fromEntries(values))
    expect(text).not.toContain('Event ')
    expect(text).toContain('acme')
    expect(text).not.toContain('VALUE-prefix')
    expect(text).not.toMatch(/undefined|null|\[object/)
  }
})
