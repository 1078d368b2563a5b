/** All projects and their plans, for administrators. */
import { Link } from '@tanstack/react-router'
import { Badge, Card, EmptyState, UserText } from '../components/elements.tsx'
import { Resource } from '../components/resource.tsx'
import { Table } from '../components/table.tsx'
import { formatCount, formatDate } from '../format.ts'
import { PROJECTS_PATH } from '../session.ts'
import type { Plan, Project } from '../types.ts'
import { ARCHIVE_PROJECT_ACTION, useCreateProjectAction, usePlans } from './project-actions.tsx'

export default function Projects() {
  const plans = usePlans()
  return (
    <Resource<Project>
      page={{
        title: 'Projects and plans',
        help: 'Projects never share cached answers or counts. A project’s limits are those of its plan; a new plan applies from the next request on.',
      }}
      path={PROJECTS_PATH}
      query={{ include_archived: true, limit: 50 }}
      title="Projects"
      empty={{ title: 'No project yet', help: 'Create one for each application.' }}
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
          title: 'State',
          cell: project => <Badge look={project.status === 'active' ? 'good' : 'neutral'}>{project.status}</Badge>,
        },
        {
          title: 'Plan',
          cell: project => project.plan,
          ...(plans.data && { change: { field: 'plan', choices: plans.data.map(({ name }) => name) } }),
        },
        { title: 'Created', look: 'line', cell: project => formatDate(project.created_at) },
      ]}
      make={useCreateProjectAction()}
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
        empty={<EmptyState title="No plans">Operators create plans with SQL, as rows of the table plans.</EmptyState>}
        columns={[
          { title: 'Plan', look: 'strong', cell: plan => plan.name },
          { title: 'A minute per key', numeric: true, cell: plan => formatCount(plan.requests_per_minute_per_key) },
          {
            title: 'Tokens',
            numeric: true,
            cell: ({ tokens_per_minute_per_key: tokens }) => (tokens === null ? 'Any' : formatCount(tokens)),
          },
          { title: 'Per address', numeric: true, cell: plan => formatCount(plan.requests_per_minute_per_address) },
          { title: 'A month', numeric: true, cell: plan => formatCount(plan.requests_per_month) },
          { title: 'Test keys a minute', numeric: true, cell: plan => formatCount(plan.test_requests_per_minute) },
          { title: 'Test keys a month', numeric: true, cell: plan => formatCount(plan.test_requests_per_month) },
        ]}
      />
    </Card>
  )
}
