/** The addresses that are told of a project's events, and what they were told. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { call, get } from '../api.ts'
import { Badge, Button, Card, Empty, Name, PageHeader, Problem, RowButton } from '../components/basics.tsx'
import { Confirm } from '../components/confirm.tsx'
import { TextField } from '../components/fields.tsx'
import { FormDialog } from '../components/form-dialog.tsx'
import { ShownOnce } from '../components/shown-once.tsx'
import { Table } from '../components/table.tsx'
import { formatDate, formatShortTime, plain } from '../format.ts'
import { usePaged } from '../paged.ts'
import { may, useProject } from '../session.ts'
import type { Delivery, Page, Webhook } from '../types.ts'

const STATES = { pending: 'warn', delivered: 'good', failed: 'bad' } as const
const REFRESH_MS = 5_000

export function Webhooks() {
  const project = useProject()
  const queries = useQueryClient()
  const [isAdding, setAdding] = useState(false)
  const [removing, setRemoving] = useState<Webhook | null>(null)
  const own = `/v1/organization/projects/${project?.id}`
  const refresh = () =>
    Promise.all([`${own}/webhooks`, `${own}/deliveries`].map(path => queries.invalidateQueries({ queryKey: [path] })))
  const sending = useMutation({ mutationFn: (path: string) => call('POST', `${own}${path}`, {}), onSuccess: refresh })
  const send = may(project, 'member') ? sending.mutate : null
  const isOwner = may(project, 'owner')
  const add = isOwner && (
    <Button look="primary" onClick={() => setAdding(true)}>
      Add address
    </Button>
  )

  return (
    <>
      <PageHeader title="Webhooks" action={add}>
        Addresses that are told when a quota is nearly used up, a key is created, expires or goes, a provider keeps
        failing, or a hit was wrong: signed, and tried again over ten hours.
      </PageHeader>
      <Problem error={sending.error} />
      {project && <Addresses own={own} send={send} add={add} remove={isOwner ? setRemoving : null} />}
      {project && <Deliveries own={own} send={send} />}
      {isAdding && <AddWebhook path={`${own}/webhooks`} onDone={refresh} onClose={() => setAdding(false)} />}
      {removing && (
        <Confirm
          title="Remove this address?"
          action="Remove address"
          run={() => call('DELETE', `${own}/webhooks/${removing.id}`)}
          onDone={refresh}
          onClose={() => setRemoving(null)}
        >
          <span className="break-all">{plain(removing.url)}</span> is told nothing more, and its deliveries are
          forgotten.
        </Confirm>
      )}
    </>
  )
}

interface ListProps {
  /** The project's path in the API. */
  own: string
  /** Null when the user may send nothing. */
  send: ((path: string) => void) | null
}

function Addresses({
  own,
  send,
  add,
  remove,
}: ListProps & { add: ReactNode; remove: ((webhook: Webhook) => void) | null }) {
  const path = `${own}/webhooks`
  const list = useQuery({ queryKey: [path], queryFn: () => get<Page<Webhook>>(path), refetchInterval: REFRESH_MS })
  return (
    <Card title="Addresses">
      <Table
        label="Addresses"
        rows={list.data?.data}
        error={list.error}
        keyOf={webhook => webhook.id}
        empty={
          <Empty title="Nobody is told" action={add}>
            Any service that takes Standard Webhooks will do.
          </Empty>
        }
        columns={[
          { title: 'Address', cell: ({ url }) => url },
          { title: 'Events', cell: ({ events }) => (events.length === 0 ? 'All' : events.join(', ')) },
          {
            title: 'State',
            cell: ({ disabled_at: gone }) => <Badge look={gone ? 'bad' : 'good'}>{gone ? 'gone' : 'told'}</Badge>,
          },
          { title: 'Added', cell: ({ created_at }) => formatDate(created_at) },
          {
            title: '',
            numeric: true,
            cell: webhook => (
              <span className="flex justify-end gap-2">
                {send && (
                  <RowButton
                    look="plain"
                    aria-label={`Send a test to ${plain(webhook.url)}`}
                    onClick={() => send(`/webhooks/${webhook.id}/test`)}
                  >
                    Send a test
                  </RowButton>
                )}
                {remove && (
                  <RowButton aria-label={`Remove ${plain(webhook.url)}`} onClick={() => remove(webhook)}>
                    Remove
                  </RowButton>
                )}
              </span>
            ),
          },
        ]}
      />
    </Card>
  )
}

function Deliveries({ own, send }: ListProps) {
  const list = usePaged<Delivery>(`${own}/deliveries`, { limit: 50 }, { refetchMs: REFRESH_MS })
  return (
    <Card title="Deliveries" className="mt-6">
      <Table
        label="Deliveries"
        rows={list.rows}
        error={list.error}
        more={list.more}
        keyOf={delivery => delivery.id}
        empty={<Empty title="Nothing was told yet">What happens while an address is listed is told to it.</Empty>}
        columns={[
          {
            title: 'When',
            cell: each => <span className="whitespace-nowrap">{formatShortTime(each.created_at)}</span>,
          },
          { title: 'Event', cell: ({ kind }) => <Badge>{kind}</Badge> },
          {
            title: 'About',
            cell: each => (
              <code className="block min-w-40 text-xs break-all">{plain(JSON.stringify(each.payload))}</code>
            ),
          },
          { title: 'State', cell: ({ state }) => <Badge look={STATES[state]}>{state}</Badge> },
          { title: 'Attempts', numeric: true, cell: ({ attempts }) => attempts },
          { title: 'Problem', cell: ({ problem }) => problem && <Name className="!min-w-40">{problem}</Name> },
          {
            title: '',
            numeric: true,
            cell: ({ id, kind }) =>
              send && (
                <RowButton
                  look="plain"
                  aria-label={`Send again: ${kind}`}
                  onClick={() => send(`/deliveries/${id}/resend`)}
                >
                  Send again
                </RowButton>
              ),
          },
        ]}
      />
    </Card>
  )
}

function AddWebhook({ path, onDone, onClose }: { path: string; onDone(): void; onClose(): void }) {
  const [url, setUrl] = useState('')
  const adding = useMutation({
    mutationFn: () => call<{ secret: string }>('POST', path, { url: url.trim() }),
    onSuccess: onDone,
  })
  if (adding.data) {
    const notice = 'Copy this secret now: the receiver checks signatures with it, and it is not shown again.'
    return (
      <ShownOnce
        title="Signing secret"
        notice={notice}
        value={adding.data.secret}
        copy="Copy secret"
        onClose={onClose}
      />
    )
  }
  return (
    <FormDialog title="Add address" action="Add address" sending={adding} onClose={onClose}>
      <TextField
        label="Address"
        type="url"
        required
        autoComplete="off"
        placeholder="https://example.com/events"
        hint="It is told of all events, by POST."
        value={url}
        onChange={setUrl}
      />
    </FormDialog>
  )
}
