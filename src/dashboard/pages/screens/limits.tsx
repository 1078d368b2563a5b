/** The limits page: all limits with their use, the plan, budgets, and rejected requests. */
import { PageHeader } from '../components/elements.tsx'
import { Figure, Figures } from '../components/figures.tsx'
import { formatCount } from '../format.ts'
import { useProject } from '../session.ts'
import { Budgets } from './budgets.tsx'
import { LimitList } from './limit-list.tsx'
import { usePlans } from './project-actions.tsx'
import { RejectedRequests } from './rejected-requests.tsx'

export default function LimitsPage() {
  const project = useProject()
  const plans = usePlans()
  const plan = plans.data?.find(each => each.name === project?.plan)
  return (
    <>
      <PageHeader title="Limits and budgets">
        The plan and each key set rate limits, which apply to every interval of 60 seconds. Budgets limit spending.
        Requests over a limit are rejected with 429 and are not counted.
      </PageHeader>
      {project && (
        <div className="space-y-5">
          <LimitList project={project} />
          <div id="budgets" className="scroll-mt-16">
            <Budgets />
          </div>
          {plan && (
            <Figures columns={3}>
              <Figure
                title="Requests per minute, per project key"
                value={formatCount(plan.requests_per_minute_per_key)}
                note={`set by the plan ${plan.name}`}
              />
              <Figure
                title="Requests per minute, per client address"
                value={formatCount(plan.requests_per_minute_per_address)}
              />
              <Figure title="Requests per minute, per test key" value={formatCount(plan.test_requests_per_minute)} />
            </Figures>
          )}
          <RejectedRequests />
        </div>
      )}
    </>
  )
}
