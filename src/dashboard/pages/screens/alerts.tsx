/** The page Alerts: where a project's events are sent, when usage raises an alert, and the last deliveries. */

import { describeEvent } from '../../../admin/webhooks/describe-event.ts'
import { Badge, Card, Pending, UserText } from '../components/elements.tsx'
import { Resource } from '../components/resource.tsx'
import { capitalize, formatPlural, formatShortTime } from '../format.ts'
import { ALERTS_AREA } from '../policy-pages.ts'
import { useRows } from '../queries.ts'
import { useProject, useProjectPath, useSession } from '../session.ts'
import { useSettings } from '../settings.ts'
import type { Project, ViewRow } from '../types.ts'
import {
  createAddAction,
  DELETE_DESTINATION,
  type Destination,
  EDIT_DESTINATION,
  FORMAT_TITLES,
  nameOf,
  SEND_TEST,
} from './alert-destinations.tsx'
import { EVENT_TITLES, SELECTABLE_EVENTS } from './alert-events.tsx'
import { SettingsForm } from './settings-form.tsx'

type Delivery = ViewRow<'project_deliveries'>

const STATE_LOOKS = { pending: 'warn', delivered: 'good', failed: 'bad' } as const
const REFRESH_MS = 5_000

export default function Alerts() {
  const project = useProject()
  const canSendMail = useSession().data?.sends_mail ?? false
  const destinations = useProjectPath('webhooks')
  const deliveries = useProjectPath('deliveries')
  const refreshes = [`${destinations}`, `${deliveries}`]
  return (
    <Resource<Destination>
      page={{
        title: 'Alerts',
        help: canSendMail
          ? 'Get a mail, a Slack message or a webhook when this project needs attention. Failed deliveries are retried for ten hours.'
          : 'Get a Slack message or a webhook when this project needs attention. Failed deliveries are retried for ten hours. Mail is not set up: the operator of the proxy sets SMTP_URL and MAIL_FROM.',
      }}
      path={destinations}
      query={{}}
      refreshMs={REFRESH_MS}
      refreshes={refreshes}
      title="Destinations"
      empty={{
        title: 'Nobody is alerted yet',
        help: 'Add a destination to hear about unusual spending, errors, slow responses and expiring keys.',
      }}
      nameOf={nameOf}
      columns={[
        {
          title: 'Destination',
          cell: destination => (
            <div className="min-w-44">
              <UserText className="font-medium">{nameOf(destination)}</UserText>
              <p className="text-xs text-muted">{FORMAT_TITLES[destination.format]}</p>
            </div>
          ),
        },
        { title: 'Events', cell: ({ events }) => <EventSummary events={events} /> },
        { title: 'Status', cell: destination => <Status {...destination} /> },
      ]}
      create={createAddAction(canSendMail)}
      actions={[SEND_TEST, EDIT_DESTINATION, DELETE_DESTINATION]}
    >
      {project && <Thresholds key={project.id} project={project} />}
      <Resource<Delivery>
        path={deliveries}
        refreshMs={REFRESH_MS}
        refreshes={refreshes}
        title="Recent deliveries"
        empty={{ title: 'No deliveries yet', help: 'Send a test to check a destination.' }}
        nameOf={({ kind }) => EVENT_TITLES.get(kind) ?? kind}
        columns={[
          { title: 'Time', look: 'line', cell: each => formatShortTime(each.created_at) },
          {
            title: 'Event',
            cell: ({ kind, payload }) => (
              <div className="min-w-56">
                <UserText className="font-medium">{EVENT_TITLES.get(kind) ?? kind}</UserText>
                <UserText className="text-xs text-muted">
                  {describeEvent(kind, payload as object, project?.name ?? '').sentence}
                </UserText>
              </div>
            ),
          },
          { title: 'Destination', cell: ({ webhook_id }) => <DestinationName id={webhook_id} path={destinations} /> },
          {
            title: 'Status',
            cell: ({ state, attempts, problem }) => (
              <div className="min-w-32">
                <Badge look={STATE_LOOKS[state]}>{capitalize(state)}</Badge>
                {problem && (
                  <UserText className="mt-0.5 text-xs text-muted">
                    {`${capitalize(problem)} (${formatPlural(attempts, 'attempt')})`}
                  </UserText>
                )}
              </div>
            ),
          },
        ]}
        actions={[{ title: 'Resend', label: 'Resend', look: 'plain', requiredRole: 'member', path: '/resend' }]}
      />
    </Resource>
  )
}

/** The limits at which usage raises an alert: project settings of the area Alerts. */
function Thresholds({ project }: { project: Project }) {
  const { data, error } = useSettings(project.id)
  return (
    <Card title="Thresholds">
      {data ? (
        <SettingsForm
          project={project}
          settings={data.settings}
          className="space-y-4 p-4"
          save="Save thresholds"
          saved="Saved."
        >
          {fields => (
            <>
              <p className="text-muted">
                Usage is measured every minute. One message is sent when a threshold is reached, and one when the value
                has recovered by a fifth.
              </p>
              {fields(data.kinds.filter(({ area }) => area === ALERTS_AREA))}
            </>
          )}
        </SettingsForm>
      ) : (
        <Pending error={error} />
      )}
    </Card>
  )
}

function EventSummary({ events }: { events: readonly string[] }) {
  if (events.length === 0) return 'All events'
  const titles = events.map(kind => EVENT_TITLES.get(kind) ?? kind)
  return (
    <div className="min-w-44">
      {`${events.length} of ${SELECTABLE_EVENTS.length}`}
      <UserText className="text-xs text-muted">{titles.join(', ')}</UserText>
    </div>
  )
}

function Status({ disabled_at, failed }: Destination) {
  return (
    <div className="space-y-0.5 whitespace-nowrap">
      <Badge look={disabled_at ? 'bad' : 'good'}>{disabled_at ? 'Disabled' : 'Active'}</Badge>
      {disabled_at && <p className="text-xs text-muted">Responded with 410</p>}
      {failed > 0 && (
        <p className="text-xs text-danger">{formatPlural(failed, 'failed delivery').replace('ys', 'ies')}</p>
      )}
    </div>
  )
}

/** The destination of a delivery, as the list of destinations names it. */
function DestinationName({ id, path }: { id: string; path: string | null }) {
  const { data } = useRows<Destination>(`${path}`, {}, { enabled: path !== null })
  const found = data?.find(destination => destination.id === id)
  return found ? <UserText className="!min-w-36">{nameOf(found)}</UserText> : null
}
