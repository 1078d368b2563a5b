/** Admin API keys, for scripts that call the same API as these pages. */
import type { Action } from '../components/actions.tsx'
import { Resource } from '../components/resource.tsx'
import { formatAgo, formatDate, isolateDirection } from '../format.ts'
import type { ViewRow } from '../types.ts'

type AdminKey = ViewRow<'admin_api_keys'>

export function AdminKeys() {
  return (
    <Resource<AdminKey>
      path="/v1/organization/admin_api_keys"
      title="Admin API keys"
      empty={{
        title: 'No admin keys',
        help: 'With an admin key, OpenAI’s client libraries can manage projects, keys and usage here.',
      }}
      nameOf={key => key.name}
      columns={[
        { title: 'Name', look: 'strong', cell: key => key.name },
        { title: 'Key', look: 'code', cell: key => key.redacted_value },
        { title: 'Acts for', cell: key => key.owner.name },
        { title: 'Last used', look: 'line', cell: key => formatAgo(key.last_used_at) },
        { title: 'Expires', look: 'line', cell: key => formatDate(key.expires_at) },
      ]}
      make={MAKE}
      actions={[DELETE]}
    />
  )
}

const MAKE: Action<null> = {
  title: 'New admin key',
  confirmation: () => ({
    action: 'Create key',
    fields: [
      { name: 'name', label: 'Name', maxLength: 100, hint: 'It has all your permissions, and expires in 90 days.' },
    ],
    toBody: read => ({ ...read, expires_in_seconds: 90 * 86_400 }),
  }),
  showOnce: ({ value }: { value: string }) => ({ title: 'Your new admin key', value }),
}

const DELETE: Action<AdminKey> = {
  title: 'Delete',
  method: 'DELETE',
  confirmation: key => ({
    title: `Delete “${isolateDirection(key.name)}”?`,
    action: 'Delete key',
    text: 'Its requests are refused from the next one on.',
  }),
}
