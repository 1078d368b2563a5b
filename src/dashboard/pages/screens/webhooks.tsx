/** The webhooks page: the webhooks of a project, their deliveries, and the types of events. */
import { Fragment } from 'react'
import { WEBHOOK_EVENT_TYPES } from '../../../postgres/seeds.generated.ts'
import type { Action } from '../components/actions.tsx'
import { Badge, Card, UserText } from '../components/elements.tsx'
import { Resource } from '../components/resource.tsx'
import { capitalize, escapeControlCharacters, formatDate, formatShortTime } from '../format.ts'
import { useProjectPath } from '../session.ts'
import type { ViewRow } from '../types.ts'

type Webhook = ViewRow<'project_webhooks'>
type Delivery = ViewRow<'project_deliveries'>

const STATE_LOOKS = { pending: 'warn', delivered: 'good', failed: 'bad' } as const
const FORMATS = [
  ['standard', 'Standard Webhooks'],
  ['slack', 'Slack'],
] as const
const FORMAT_TITLES = new Map<string, string>(FORMATS)
const REFRESH_MS = 5_000

export default function Webhooks() {
  const webhooks = useProjectPath('webhooks')
  const deliveries = useProjectPath('deliveries')
  const refreshes = [`${webhooks}`, `${deliveries}`]
  return (
    <Resource<Webhook>
      page={{
        title: 'Webhooks',
        help: 'Send this project’s events to a URL. Deliveries are signed, and failed ones are retried for ten hours. A webhook is disabled when its receiver responds with 410; resend a delivery to enable it.',
      }}
      path={webhooks}
      query={{}}
      refreshMs={REFRESH_MS}
      refreshes={refreshes}
      label="Webhooks"
      empty={{
        title: 'No webhooks yet',
        help: 'Slack, Mattermost, and any service that supports Standard Webhooks can receive events.',
      }}
      nameOf={({ url }) => url}
      columns={[
        { title: 'URL', cell: ({ url }) => url },
        { title: 'Format', cell: ({ format }) => FORMAT_TITLES.get(format) ?? format },
        { title: 'Events', cell: ({ events }) => (events.length === 0 ? 'All' : events.join(', ')) },
        {
          title: 'Status',
          cell: ({ disabled_at }) => (
            <Badge look={disabled_at ? 'bad' : 'good'}>{disabled_at ? 'Disabled' : 'Active'}</Badge>
          ),
        },
        { title: 'Added', cell: ({ created_at }) => formatDate(created_at) },
      ]}
      create={ADD}
      actions={[
        { title: 'Send test event', label: 'Send test event to', look: 'plain', requiredRole: 'member', path: '/test' },
        DELETE,
      ]}
    >
      <Resource<Delivery>
        path={deliveries}
        refreshMs={REFRESH_MS}
        refreshes={refreshes}
        title="Deliveries"
        empty={{ title: 'No deliveries yet', help: 'Events are delivered to all active webhooks.' }}
        nameOf={({ kind }) => kind}
        columns={[
          { title: 'Time', look: 'line', cell: each => formatShortTime(each.created_at) },
          { title: 'Event', cell: ({ kind }) => <Badge>{kind}</Badge> },
          {
            title: 'Payload',
            cell: each => (
              <code className="block min-w-40 text-xs break-all">
                {escapeControlCharacters(JSON.stringify(each.payload))}
              </code>
            ),
          },
          { title: 'Status', cell: ({ state }) => <Badge look={STATE_LOOKS[state]}>{capitalize(state)}</Badge> },
          { title: 'Attempts', numeric: true, cell: ({ attempts }) => attempts },
          { title: 'Error', cell: ({ problem }) => problem && <UserText className="!min-w-40">{problem}</UserText> },
        ]}
        actions={[{ title: 'Resend', label: 'Resend', look: 'plain', requiredRole: 'member', path: '/resend' }]}
      />
      <Events />
    </Resource>
  )
}

function Events() {
  return (
    <Card title="Events">
      <dl className="grid gap-x-4 gap-y-2 p-4 sm:grid-cols-[auto_minmax(0,1fr)]">
        {WEBHOOK_EVENT_TYPES.map(({ kind, happens }) => (
          <Fragment key={kind}>
            <dt>
              <Badge>{kind}</Badge>
            </dt>
            <dd>When {stripMarkdown(happens)}.</dd>
          </Fragment>
        ))}
      </dl>
    </Card>
  )
}

/** Removes links and code marks. The descriptions of events are also used in the docs. */
function stripMarkdown(text: string): string {
  return text.replace(/\[([^[\]]+)\]\([^()]*\)|`/g, '$1')
}

const ADD: Action<null> = {
  title: 'Add webhook',
  requiredRole: 'owner',
  confirmation: () => ({
    fields: [
      {
        name: 'format',
        label: 'Format',
        choices: FORMATS,
        hint: 'Slack also suits Mattermost, and Discord with /slack after its URL.',
      },
      {
        name: 'url',
        label: 'URL',
        type: 'url',
        placeholder: 'https://example.com/events',
        hint: 'Receives all events by POST.',
        read: text => text.trim(),
      },
    ],
  }),
  // Slack does not verify signatures.
  showOnce: ({ secret, format }: { secret: string; format: Webhook['format'] }) =>
    format === 'slack'
      ? null
      : {
          title: 'Signing secret',
          notice: 'Copy this secret now. The receiver needs it to verify signatures. It is shown only once.',
          value: secret,
          copy: 'Copy secret',
        },
}

const DELETE: Action<Webhook> = {
  title: 'Delete',
  requiredRole: 'owner',
  method: 'DELETE',
  confirmation: ({ url }) => ({
    title: 'Delete this webhook?',
    action: 'Delete webhook',
    text: (
      <>
        <span className="break-all">{escapeControlCharacters(url)}</span> receives no more events. Its delivery history
        is deleted.
      </>
    ),
  }),
}
