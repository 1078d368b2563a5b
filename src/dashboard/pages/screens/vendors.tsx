/** The vendors page of administrators: the providers that requests reach directly. */
import type { Action } from '../components/actions.tsx'
import { Badge } from '../components/elements.tsx'
import { type FormField, readLines } from '../components/form.tsx'
import { searchList } from '../components/picker-sources.ts'
import { Resource } from '../components/resource.tsx'
import { isolateDirection } from '../format.ts'
import type { ViewRow } from '../types.ts'

type Vendor = ViewRow<'organization_vendors'>

const PATH = '/v1/organization/vendors'
const ENDPOINTS = ['chat', 'completions', 'embeddings', 'responses', 'messages']

export default function Vendors() {
  return (
    <Resource<Vendor>
      page={{
        title: 'Vendors',
        help: 'The providers that requests reach directly, with a project’s own key or with the installation’s. Changes apply within seconds.',
      }}
      path={PATH}
      query={{}}
      refreshes={[PATH]}
      label="Vendors"
      empty={{ title: 'No vendors yet', help: 'A vendor needs a name and a base URL.' }}
      nameOf={({ title }) => title}
      columns={[
        { title: 'Name', look: 'strong', cell: ({ name }) => name },
        { title: 'Base URL', cell: ({ base_url }) => base_url ?? 'Set by each installation' },
        { title: 'Endpoints', cell: ({ endpoints }) => endpoints.join(', ') },
        { title: 'Installation’s key', look: 'code', cell: ({ redacted_value }) => redacted_value },
        { title: 'Source', cell: ({ source }) => <Badge>{source === 'seed' ? 'Release' : 'Operator'}</Badge> },
      ]}
      create={ADD}
      actions={[EDIT, REMOVE]}
    />
  )
}

function listFields(vendor: Vendor | null): FormField[] {
  return [
    {
      name: 'base_url',
      label: 'Base URL',
      type: 'url',
      placeholder: 'https://api.example.com/v1',
      initial: vendor?.base_url ?? undefined,
      read: text => text.trim(),
    },
    {
      name: 'allows_private_address',
      label: 'Private networks and http://',
      choices: [
        ['false', 'Not allowed'],
        ['true', 'Allowed'],
      ],
      initial: vendor ? String(vendor.allows_private_address) : undefined,
    },
    {
      name: 'endpoints',
      label: 'Endpoints',
      picker: { ...searchList('endpoint', ENDPOINTS), isMultiple: true },
      initial: vendor?.endpoints.join('\n') ?? 'chat',
      read: readLines,
    },
    {
      name: 'model_names',
      label: 'Native model names',
      required: false,
      spellCheck: false,
      initial: vendor?.model_names ?? undefined,
      hint: 'A regular expression. Without it, models are reached as name/model only.',
    },
    {
      name: 'key',
      label: 'Key for all projects',
      type: 'password',
      required: false,
      spellCheck: false,
      hint: 'Projects use it that have no key of their own. Empty: no change.',
      read: text => text.trim(),
    },
  ]
}

function toBody({ name, key, ...columns }: Record<string, unknown>) {
  return { ...(name !== undefined && { name }), columns, ...(key !== '' && { key }) }
}

const ADD: Action<null> = {
  title: 'Add vendor',
  confirmation: () => ({
    fields: [
      { name: 'name', label: 'Name', maxLength: 31, hint: 'Lowercase letters, digits and dashes.' },
      ...listFields(null),
    ],
    toBody,
  }),
}

const EDIT: Action<Vendor> = {
  title: 'Edit',
  look: 'plain',
  confirmation: vendor => ({
    title: `Edit ${isolateDirection(vendor.title)}`,
    action: 'Save',
    fields: listFields(vendor),
    toBody,
  }),
}

const REMOVE: Action<Vendor> = {
  title: 'Remove',
  method: 'DELETE',
  confirmation: vendor => ({
    title: `Remove ${isolateDirection(vendor.title)}?`,
    action: 'Remove vendor',
    text: 'Its models can no longer be requested directly. A vendor with keys cannot be removed before they are.',
  }),
}
