/** All projects and their plans, for administrators. */

import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { call } from '../api.ts'
import { Badge, Card, Empty, Name, PageHeader, Problem } from '../components/basics.tsx'
import { Select } from '../components/select.tsx'
import { buttonColumn, type Column, Table } from '../components/table.tsx'
import { formatCount, formatDate } from '../format.ts'
import { usePaged } from '../paged.ts'
import type { Plan, Project } from '../types.ts'
import { ArchiveProject } from './archive-project.tsx'
import { NewProject, usePlans } from './new-project.tsx'

const PATH = '/v1/organization/projects'

export function Projects() {
  const queries = useQueryClient()
  const plans = usePlans()
  const projects = usePaged<Project>(PATH, { include_archived: true, limit: 50 })
  const [going, setGoing] = useState<Project | null>(null)
  const refresh = () =>
    Promise.all([
      queries.invalidateQueries({ queryKey: [PATH] }),
      queries.invalidateQueries({ queryKey: ['projects'] }),
    ])
  const move = useMutation({
    mutationFn: ({ id, plan }: { id: string; plan: string }) => call('POST', `${PATH}/${id}`, { plan }),
    onSettled: refresh,
  })
  return (
    <>
      <PageHeader title="Projects and plans" action={<NewProject />}>
        Projects never share cached answers or counts. A project’s limits are those of its plan; a new plan applies from
        the next request on.
      </PageHeader>
      <div className="space-y-5">
        <Problem error={move.error} />
        <Card title="Projects">
          <Table
            label="Projects"
            {...projects}
            keyOf={project => project.id}
            empty={<Empty title="No project yet">Create one for each application.</Empty>}
            columns={columnsOf({ plans: plans.data ?? [], move: move.mutate, archive: setGoing })}
          />
        </Card>
        <Plans plans={plans.data} error={plans.error} />
      </div>
      {going && <ArchiveProject project={going} onClose={() => setGoing(null)} />}
    </>
  )
}

interface ProjectActions {
  plans: readonly Pick<Plan, 'name'>[]
  move(to: { id: string; plan: string }): void
  archive(project: Project): void
}

function columnsOf({ plans, move, archive }: ProjectActions): Column<Project>[] {
  return [
    {
      title: 'Name',
      cell: project => (
        <Link to={`/${project.id}/overview` as never} className="font-medium text-accent hover:underline">
          <Name>{project.name}</Name>
        </Link>
      ),
    },
    {
      title: 'State',
      cell: project => <Badge look={project.status === 'active' ? 'good' : 'neutral'}>{project.status}</Badge>,
    },
    {
      title: 'Plan',
      cell: project => (
        <Select
          aria-label={`Plan of ${project.name}`}
          choices={plans.length > 0 ? plans.map(plan => plan.name) : [project.plan]}
          value={project.plan}
          onChange={plan => move({ id: project.id, plan })}
        />
      ),
    },
    { title: 'Created', look: 'line', cell: project => formatDate(project.created_at) },
    buttonColumn('Archive', project => (project.status === 'active' ? project.name : null), archive),
  ]
}

function Plans({ plans, error }: { plans: Plan[] | undefined; error: Error | null }) {
  return (
    <Card title="Plans">
      <Table
        label="Plans"
        rows={plans}
        error={error}
        keyOf={plan => plan.name}
        empty={<Empty title="No plans">Operators create plans with SQL, as rows of the table plans.</Empty>}
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
