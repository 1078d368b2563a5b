/** The actions that create and archive a project. */

import { useNavigate } from '@tanstack/react-router'
import { type Action, ActionButton } from '../components/actions.tsx'
import { formatPlural, isolateDirection } from '../format.ts'
import { useRows } from '../queries.ts'
import { PROJECTS_PATH } from '../session.ts'
import type { Plan, Project } from '../types.ts'

export function usePlans() {
  return useRows<Plan>('/v1/organization/plans')
}

function useCreateProjectAction(): Action<null> {
  const { data: plans = [] } = usePlans()
  const navigate = useNavigate()
  return {
    title: 'Create project',
    confirmation: () => ({
      action: 'Create project',
      fields: [
        { name: 'name', label: 'Name', maxLength: 63, hint: 'Letters, digits, dots, dashes and underscores.' },
        {
          name: 'plan',
          label: 'Plan',
          initial: 'free',
          choices: plans.map(
            ({ name, requests_per_month: quota }) =>
              [name, `${name} – ${formatPlural(quota, 'request')} per month`] as const,
          ),
        },
      ],
    }),
    // Navigates before the list of projects is refetched: the start page redirects to the overview once there is a project.
    onDone: ({ id }: Project) => navigate({ to: `/${id}/settings/keys` as never }),
  }
}

export const ARCHIVE_PROJECT_ACTION: Action<Pick<Project, 'name' | 'status'>> = {
  title: 'Archive',
  path: '/archive',
  isAvailable: project => project.status === 'active',
  confirmation: project => ({
    title: `Archive ${isolateDirection(project.name)}?`,
    action: 'Archive project',
    text: 'All API keys of this project are deactivated immediately. Its request records are kept. This cannot be undone.',
  }),
}

export function CreateProjectButton() {
  return (
    <ActionButton
      action={useCreateProjectAction()}
      subject={null}
      url={PROJECTS_PATH}
      refreshes={[PROJECTS_PATH]}
      look="primary"
    />
  )
}
