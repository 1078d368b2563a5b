/** The projects page of administrators: all projects and plans. */
import { Link } from '@tanstack/react-router'
import { Badge, Card, EmptyState, UserText } from '../components/elements.tsx'
import { Resource } from '../components/resource.tsx'
import { Table } from '../components/table.tsx'
import { capitalize, formatCount, formatDate } from '../format.ts'
import { PROJECTS_PATH } from '../session.ts'
import type { Plan, Project } from '../types.ts'
import { ARCHIVE_PROJECT_ACTION, useCreateProjectAction, usePlans } from './project-actions.tsx'

export default function Projects() {
  const plans = usePlans()
  return (
    <Resource<Project>
      page={{
        title: 'Projects and plans',
        help: 'Projects never share cached responses or usage. The plan sets the limits of a project; a new plan applies to the next request.',
      }}
      path={PROJECTS_PATH}
      query={{ include_archived: true, limit: 50 }}
      title="Projects"
      empty={{ title: 'No projects yet', help: 'Create one for each application.' }}
      nameOf={project => project.name}
      columns={[
        {
          title: 'Name',
          cell: project => (
            <Link to={`/${project.id}/overview` as never} className="font-medium text-accent hover:underline">
              <UserText>{project.name}</UserText>
            </Link>
          ),
        },
        {
          title: 'Status',
          cell: project => (
            <Badge look={project.status === 'active' ? 'good' : 'neutral'}>{capitalize(project.status)}</Badge>
          ),
        },
        {
          title: 'Plan',
          cell: project => project.plan,
          ...(plans.data && { change: { field: 'plan', choices: plans.data.map(({ name }) => name) } }),
        },
        { title: 'Created', look: 'line', cell: project => formatDate(project.created_at) },
      ]}
      create={useCreateProjectAction()}
      actions={[ARCHIVE_PROJECT_ACTION]}
    >
      <Plans plans={plans.data} error={plans.error} />
    </Resource>
  )
}

function Plans({ plans, error }: { plans: Plan[] | undefined; error: Error | null }) {
  return (
    <Card title="Plans">
      <Table
        label="Plans"
        rows={plans}
        error={error}
        keyOf={plan => plan.name}
        empty={<EmptyState title="No plans">Plans are rows of the database table plans.</EmptyState>}
        columns={[
          { title: 'Plan', look: 'strong', cell: plan => plan.name },
          { title: 'Requests/min per key', numeric: true, cell: plan => formatCount(plan.requests_per_minute_per_key) },
          {
            title: 'Tokens/min per key',
            numeric: true,
            cell: ({ tokens_per_minute_per_key: tokens }) => (tokens === null ? 'Unlimited' : formatCount(tokens)),
          },
          {
            title: 'Requests/min per address',
            numeric: true,
            cell: plan => formatCount(plan.requests_per_minute_per_address),
          },
          { title: 'Requests/month', numeric: true, cell: plan => formatCount(plan.requests_per_month) },
          { title: 'Test requests/min', numeric: true, cell: plan => formatCount(plan.test_requests_per_minute) },
          { title: 'Test requests/month', numeric: true, cell: plan => formatCount(plan.test_requests_per_month) },
        ]}
      />
    </Card>
  )
}
