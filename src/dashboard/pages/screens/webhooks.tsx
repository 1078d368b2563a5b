/** The addresses that are told of a project's events, and what they were told. */
import { Fragment } from 'react'
import { WEBHOOK_EVENT_TYPES } from '../../../postgres/seeds.generated.ts'
import type { Action } from '../components/actions.tsx'
import { Badge, Card, UserText } from '../components/elements.tsx'
import { Resource } from '../components/resource.tsx'
import { escapeControlCharacters, formatDate, formatShortTime } from '../format.ts'
import { useProjectPath } from '../session.ts'
import type { ViewRow } from '../types.ts'

type Webhook = ViewRow<'project_webhooks'>
type Delivery = ViewRow<'project_deliveries'>

const STATES = { pending: 'warn', delivered: 'good', failed: 'bad' } as const
const REFRESH_MS = 5_000

export default function Webhooks() {
  const webhooks = useProjectPath('webhooks')
  const deliveries = useProjectPath('deliveries')
  const refreshes = [`${webhooks}`, `${deliveries}`]
  return (
    <Resource<Webhook>
      page={{
        title: 'Webhooks',
        help: 'Addresses that are told of what happens here: signed, and tried again over ten hours.',
      }}
      path={webhooks}
      query={{}}
      refreshMs={REFRESH_MS}
      refreshes={refreshes}
      title="Addresses"
      empty={{ title: 'Nobody is told', help: 'Any service that takes Standard Webhooks will do.' }}
      nameOf={({ url }) => url}
      columns={[
        { title: 'Address', cell: ({ url }) => url },
        { title: 'Events', cell: ({ events }) => (events.length === 0 ? 'All' : events.join(', ')) },
        {
          title: 'State',
          cell: ({ disabled_at: gone }) => <Badge look={gone ? 'bad' : 'good'}>{gone ? 'gone' : 'told'}</Badge>,
        },
        { title: 'Added', cell: ({ created_at }) => formatDate(created_at) },
      ]}
      make={ADD}
      actions={[
        { title: 'Send a test', label: 'Send a test to', look: 'plain', requiredRole: 'member', path: '/test' },
        REMOVE,
      ]}
    >
      <Resource<Delivery>
        path={deliveries}
        refreshMs={REFRESH_MS}
        refreshes={refreshes}
        title="Deliveries"
        empty={{ title: 'Nothing was told yet', help: 'What happens while an address is listed is told to it.' }}
        nameOf={({ kind }) => kind}
        columns={[
          { title: 'When', look: 'line', cell: each => formatShortTime(each.created_at) },
          { title: 'Event', cell: ({ kind }) => <Badge>{kind}</Badge> },
          {
            title: 'About',
            cell: each => (
              <code className="block min-w-40 text-xs break-all">
                {escapeControlCharacters(JSON.stringify(each.payload))}
              </code>
            ),
          },
          { title: 'State', cell: ({ state }) => <Badge look={STATES[state]}>{state}</Badge> },
          { title: 'Attempts', numeric: true, cell: ({ attempts }) => attempts },
          { title: 'Problem', cell: ({ problem }) => problem && <UserText className="!min-w-40">{problem}</UserText> },
        ]}
        actions={[
          { title: 'Send again', label: 'Send again:', look: 'plain', requiredRole: 'member', path: '/resend' },
        ]}
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
            <dd>When {plainWords(happens)}.</dd>
          </Fragment>
        ))}
      </dl>
    </Card>
  )
}

/** Without the Markdown that the docs have. */
function plainWords(text: string): string {
  return text.replace(/\[([^[\]]+)\]\([^()]*\)|`/g, '$1')
}

const ADD: Action<null> = {
  title: 'Add address',
  requiredRole: 'owner',
  confirmation: () => ({
    fields: [
      {
        name: 'url',
        label: 'Address',
        type: 'url',
        placeholder: 'https://example.com/events',
        hint: 'It is told of all events, by POST.',
        read: text => text.trim(),
      },
    ],
  }),
  showOnce: ({ secret }: { secret: string }) => ({
    title: 'Signing secret',
    notice: 'Copy this secret now: the receiver checks signatures with it, and it is not shown again.',
    value: secret,
    copy: 'Copy secret',
  }),
}

const REMOVE: Action<Webhook> = {
  title: 'Remove',
  requiredRole: 'owner',
  method: 'DELETE',
  confirmation: ({ url }) => ({
    title: 'Remove this address?',
    action: 'Remove address',
    text: (
      <>
        <span className="break-all">{escapeControlCharacters(url)}</span> is told nothing more, and its deliveries are
        forgotten.
      </>
    ),
  }),
}
