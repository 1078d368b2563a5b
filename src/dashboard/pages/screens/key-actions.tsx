/** The actions on API keys: create, limit, rotate and deactivate. */
import type { Action } from '../components/actions.tsx'
import { RequestSnippets } from '../components/request-snippets.tsx'
import { isolateDirection } from '../format.ts'
import type { ApiKey } from '../types.ts'

const DAY = 86_400

/** Describes the dialog that shows a new key once, with code examples. */
function showKey(projectId: string) {
  return ({ value, type }: { value: string; type: ApiKey['type'] }) => ({
    title: 'Your new API key',
    value,
    children: <RequestSnippets projectId={projectId} keyType={type} apiKey={value} />,
  })
}

export function createKeyAction(projectId: string): Action<null> {
  return {
    title: 'Create API key',
    requiredRole: 'member',
    confirmation: () => ({
      action: 'Create key',
      fields: [
        {
          name: 'name',
          label: 'Name',
          maxLength: 100,
          placeholder: 'production',
          hint: 'Use a separate key for each service and environment.',
        },
        {
          name: 'type',
          label: 'Type',
          choices: [
            ['project', 'Project key – uses providers, counts towards the plan'],
            ['test', 'Test key – uses the built-in sandbox, free and limited'],
          ],
        },
        {
          name: 'expires_in_seconds',
          label: 'Expires',
          choices: [
            ['', 'Never'],
            [String(30 * DAY), 'In 30 days'],
            [String(90 * DAY), 'In 90 days'],
            [String(365 * DAY), 'In 1 year'],
          ],
          read: text => (text === '' ? undefined : Number(text)),
        },
      ],
    }),
    showOnce: showKey(projectId),
  }
}

/** Reports whether the row is an active key, and not a former value of a rotated key. A former value shares the limits of its key. */
function isCurrent({ state, former_value_of }: ApiKey): boolean {
  return state === 'active' && former_value_of === null
}

/** Returns null for an empty field. */
function readNumber(text: string): number | null {
  return text.trim() === '' ? null : Number(text)
}

/** Reads comma-separated text. Returns null for an empty field. */
function readList(text: string): string[] | null {
  return text.trim() === '' ? null : text.split(',').map(part => part.trim())
}

const LIMIT: Action<ApiKey> = {
  title: 'Edit limits',
  look: 'plain',
  requiredRole: 'owner',
  isAvailable: isCurrent,
  confirmation: key => ({
    title: `Limits of “${isolateDirection(key.name)}”`,
    action: 'Save limits',
    fields: [
      {
        name: 'requests_per_minute',
        label: 'Requests per minute',
        inputMode: 'numeric',
        required: false,
        hint: 'Leave empty for the plan’s limit.',
        initial: key.requests_per_minute?.toString(),
        read: readNumber,
      },
      {
        name: 'tokens_per_minute',
        label: 'Tokens per minute',
        inputMode: 'numeric',
        required: false,
        hint: 'Leave empty for the plan’s limit. While a request runs, its maximum counts; afterwards, the tokens that it used.',
        initial: key.tokens_per_minute?.toString(),
        read: readNumber,
      },
      {
        name: 'allowed_models',
        label: 'Models',
        placeholder: 'gpt-4o*, anthropic/*',
        required: false,
        hint: 'Patterns, separated by commas. Leave empty for the project’s allowed models.',
        initial: key.allowed_models?.join(', '),
        read: readList,
      },
      {
        name: 'allowed_addresses',
        label: 'Addresses',
        placeholder: '10.0.0.0/8, 2001:db8::/32',
        required: false,
        hint: 'IP networks that requests may come from, separated by commas. Leave empty for any.',
        initial: key.allowed_addresses?.join(', '),
        read: readList,
      },
    ],
  }),
}

function createRotateAction(projectId: string): Action<ApiKey> {
  return {
    title: 'Rotate',
    look: 'plain',
    requiredRole: 'member',
    path: '/rotate',
    isAvailable: isCurrent,
    confirmation: key => ({
      title: `Rotate “${isolateDirection(key.name)}”`,
      action: 'Rotate key',
      text: <p>The key gets a new value and keeps its ID, name, limits, budgets and counters.</p>,
      fields: [
        {
          name: 'grace_seconds',
          label: 'Current value',
          initial: '86400',
          choices: [
            ['0', 'Expires now'],
            ['3600', 'Expires in 1 hour'],
            ['86400', 'Expires in 1 day'],
            ['604800', 'Expires in 1 week'],
            ['2592000', 'Expires in 30 days'],
          ],
          read: Number,
        },
      ],
    }),
    showOnce: showKey(projectId),
  }
}

const DEACTIVATE: Action<ApiKey> = {
  title: 'Deactivate',
  requiredRole: 'member',
  method: 'DELETE',
  isAvailable: ({ state }) => state !== 'deactivated',
  confirmation: key => ({
    title: `Deactivate “${isolateDirection(key.name)}”?`,
    action: 'Deactivate key',
    text: (
      <>
        Requests with <code className="font-mono text-ink">{key.redacted_value}</code> are rejected immediately. This
        cannot be undone.
      </>
    ),
  }),
}

export function listKeyActions(projectId: string): Action<ApiKey>[] {
  return [LIMIT, createRotateAction(projectId), DEACTIVATE]
}
