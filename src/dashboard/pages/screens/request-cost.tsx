/** The usage, cost and savings of one request. Owners can replace an estimated cost by the actual one. */
import { type Action, ActionButton } from '../components/actions.tsx'
import { formatPlural, formatUsd } from '../format.ts'
import { hasRole, useProject } from '../session.ts'
import type { RequestLogEntry } from '../types.ts'
import { DetailItem } from './request-fields.tsx'

/** Explains why a cost is estimated, by the value of `cost_estimated`. */
const ESTIMATED: Readonly<Record<string, string>> = {
  client_left: 'the client disconnected first',
  provider_failed: 'the provider failed',
  provider_silent: 'the provider stopped sending',
  proxy_stopped: 'the proxy stopped',
  not_reported: 'the provider did not report its usage',
}

function createSettleAction(projectId: string): Action<RequestLogEntry> {
  return {
    title: 'Enter actual cost',
    path: '/settle',
    confirmation: ({ cost_usd }) => ({
      action: 'Save cost',
      text: 'Enter what the provider charged, from its bill or usage page. This replaces the estimate in reports and budgets.',
      fields: [
        {
          name: 'cost_usd',
          label: 'Cost in US dollars',
          initial: String(cost_usd),
          read: text => Number(text),
        },
      ],
      toBody: read => ({ project_id: projectId, ...read }),
    }),
  }
}

function SettleButton({ request, projectId }: { request: RequestLogEntry; projectId: string }) {
  const project = useProject()
  if (!hasRole(project, 'owner')) return null
  return (
    <div className="mt-2">
      <ActionButton
        action={createSettleAction(projectId)}
        subject={request}
        url={`/v1/requests/${request.id}`}
        refreshes={['/v1/requests', '/v1/usage']}
        look="plain"
      />
    </div>
  )
}

export function RequestCost({ request, projectId }: { request: RequestLogEntry; projectId: string }) {
  const { cached_prompt_tokens: cached, tokens_saved, completion_tokens_saved } = request
  return (
    <>
      {cached > 0 && <DetailItem title="Cached by the provider">{formatPlural(cached, 'prompt token')}</DetailItem>}
      {request.cost_estimated !== null && (
        <DetailItem title="Cost">
          {formatUsd(request.cost_usd)}
          {', estimated: '}
          {ESTIMATED[request.cost_estimated] ?? request.cost_estimated}.
          {request.doubtful_usd !== null &&
            ` Its provider may have charged up to ${formatUsd(request.doubtful_usd)} more.`}
          <SettleButton request={request} projectId={projectId} />
        </DetailItem>
      )}
      {completion_tokens_saved !== null && (
        <DetailItem title="Saved by the cache">
          {formatUsd(request.saved_usd)}, {formatPlural(tokens_saved, 'prompt token')},{' '}
          {formatPlural(completion_tokens_saved, 'completion token')}
        </DetailItem>
      )}
    </>
  )
}
