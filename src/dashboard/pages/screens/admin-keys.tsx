/** The admin API keys of the installation. Scripts use them to call the API that these pages call. */
import type { Action } from '../components/actions.tsx'
import { REVOKE_KEY } from '../components/find-key.tsx'
import { searchNames } from '../components/picker-sources.ts'
import { Resource } from '../components/resource.tsx'
import { formatAgo, formatDate } from '../format.ts'
import { useProjects } from '../session.ts'
import type { ViewRow } from '../types.ts'

type AdminKey = ViewRow<'admin_api_keys'>

const PERMISSIONS: Record<AdminKey['permissions'], string> = { all: 'All', read_only: 'Read-only' }

export function AdminKeys() {
  const { data: projects = [] } = useProjects()
  return (
    <Resource<AdminKey>
      path="/v1/organization/admin_api_keys"
      title="Admin API keys"
      empty={{
        title: 'No admin API keys yet',
        help: 'Scripts and OpenAI’s client libraries use admin API keys to manage projects, keys and usage.',
      }}
      nameOf={key => key.name}
      columns={[
        { title: 'Name', look: 'strong', cell: key => key.name },
        { title: 'Key', look: 'code', cell: key => key.redacted_value },
        { title: 'Permissions', cell: key => PERMISSIONS[key.permissions] },
        {
          title: 'Project',
          cell: ({ project_id: id }) =>
            id === null ? 'All' : (projects.find(project => project.id === id)?.name ?? id),
        },
        { title: 'Owner', cell: key => key.owner.name },
        { title: 'Last used', look: 'line', cell: key => formatAgo(key.last_used_at) },
        { title: 'Expires', look: 'line', cell: key => formatDate(key.expires_at) },
      ]}
      create={CREATE}
      actions={[REVOKE_KEY]}
    />
  )
}

const CREATE: Action<null> = {
  title: 'Create admin key',
  confirmation: () => ({
    action: 'Create key',
    fields: [
      { name: 'name', label: 'Name', maxLength: 100, hint: 'The key expires in 90 days.' },
      {
        name: 'permissions',
        label: 'Permissions',
        choices: [
          ['all', 'All – everything that you may do'],
          ['read_only', 'Read-only – sees what you see, changes nothing'],
        ],
      },
      {
        name: 'project_id',
        label: 'Project',
        picker: searchNames('project', null),
        required: false,
        placeholder: 'All projects',
        hint: 'With a project, the key may do only what an owner of the project may do.',
      },
    ],
    toBody: ({ project_id, ...read }) => ({
      ...read,
      ...(project_id !== '' && { project_id }),
      expires_in_seconds: 90 * 86_400,
    }),
  }),
  showOnce: ({ value }: { value: string }) => ({ title: 'Your new admin key', value }),
}
