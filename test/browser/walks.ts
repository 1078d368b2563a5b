/** What people come to the dashboard for, each as a walk of at most three clicks from the overview. */

/** One step. `first` request is the row of the list; texts in braces are facts of the seeded data. */
export type Step =
  /** Opens a page through the menu: one click, or two on a phone. */
  | { menu: string }
  /** A link of the card “Shortcuts” on the overview. */
  | { shortcut: string }
  /** `in` is a text of the row, list item or dialog that contains the control. */
  | { click: 'button' | 'link' | 'option' | 'radio'; name: string | RegExp; in?: string }
  | { open: 'first request' | 'first session' }
  /** Nothing that exists is typed, except a part of a name to search for. */
  | { type: 'new name' | 'amount' | 'message' | 'search' | 'paste'; into: string; text: string }

export interface Walk {
  name: string
  /** Starts at the overview of a project without keys and requests. */
  isFirstDay?: true
  steps: Step[]
  /** Texts that are visible at the end. */
  shows?: (string | RegExp)[]
  /** A text, or the name of a button, that is not there any more. */
  hides?: string
  /** The file that is downloaded by the last step, and a text in it. */
  downloads?: [name: string, text: string]
  /** The heading of the page that the last step opens in a new tab. */
  opens?: string
}

export const WALKS: readonly Walk[] = [
  {
    name: 'creates the first key and sees how to call it',
    isFirstDay: true,
    steps: [
      { shortcut: 'Create an API key' },
      { type: 'new name', into: 'Name', text: 'first' },
      { click: 'button', name: 'Create key' },
    ],
    shows: [/^lgw_proj_\w+$/, /chat\/completions/],
  },
  {
    name: 'sends a question in the playground',
    steps: [
      { menu: 'Playground' },
      { type: 'message', into: 'Message', text: 'What is the tallest tree?' },
      { click: 'button', name: 'Send' },
    ],
    shows: ['x-proxy-cache-reason'],
  },
  {
    name: 'sees why a request was served from the cache, and marks it wrong',
    steps: [
      { click: 'link', name: /^[\d,]+ semantic$/ },
      { open: 'first request' },
      { click: 'button', name: 'Mark as wrong' },
    ],
    shows: ['Compared questions', 'Marked wrong'],
  },
  {
    name: 'sees why a question was not served, and confirms that it means the same',
    steps: [{ shortcut: 'Near misses' }, { click: 'button', name: 'Same meaning', in: 'European' }],
    shows: ['Marked same'],
  },
  {
    name: 'sees what was paid again, and ends it',
    steps: [{ click: 'button', name: 'These ask the same', in: 'new refund policy' }],
    shows: ['Marked same'],
  },
  {
    name: 'sees why a request was slow',
    steps: [{ shortcut: 'Slowest requests' }, { open: 'first request' }],
    shows: ['Provider, to first byte', 'First to last byte'],
  },
  {
    name: 'sees why a request was rejected, and of which key',
    steps: [{ shortcut: 'Rejected requests' }, { open: 'first request' }],
    shows: ['rate_limit_exceeded', 'Rejected with 429 before any provider was called.', 'API key'],
  },
  {
    name: 'sees why a request was expensive',
    steps: [{ shortcut: 'Most expensive requests' }, { open: 'first request' }],
    shows: [/prompt tokens, [\d,]+ completion tokens/, /^\$0\.00\d+$/],
  },
  {
    name: 'sees the errors of the last day by code',
    steps: [{ shortcut: 'Errors of the last day by code' }, { click: 'option', name: /upstream_error/ }],
    shows: ['Error code', /responded with 503: Overloaded/],
  },
  {
    name: 'sees which provider fails, and how',
    steps: [{ shortcut: 'Provider errors' }, { open: 'first request' }],
    shows: ['The provider responded with status 503: Overloaded', 'Provider'],
  },
  {
    name: 'finds a request by its pasted ID',
    steps: [
      { shortcut: 'Find a request by its ID' },
      { type: 'paste', into: 'Request ID: search values', text: '{request}' },
      { click: 'option', name: '{request}' },
      { open: 'first request' },
    ],
    shows: ['Request details', '{request}'],
  },
  {
    name: 'downloads the month’s costs by team',
    steps: [{ menu: 'Costs' }, { click: 'button', name: 'Export CSV' }],
    downloads: ['costs-team.csv', 'support'],
  },
  {
    name: 'opens the monthly report',
    steps: [{ menu: 'Costs' }, { click: 'link', name: 'Monthly report' }],
    opens: 'Model Proxy: acme-support',
  },
  {
    name: 'sets the budget of a key',
    steps: [
      { shortcut: 'Key budgets, limits and rotation' },
      { click: 'button', name: 'Set budget staging' },
      { type: 'amount', into: 'Amount', text: '12.5' },
      { click: 'button', name: 'Save budget' },
    ],
    shows: [/of \$12\.50 spent, monthly/],
  },
  {
    name: 'sees who is near a limit',
    steps: [{ menu: 'Limits and budgets' }],
    shows: ['All limits, nearest first', 'Monthly budget', 'team=search'],
  },
  {
    name: 'finds a leaked key by its text, and revokes it',
    steps: [
      { shortcut: 'Find a leaked key' },
      { type: 'paste', into: 'Key', text: 'OPENAI_API_KEY={leaked}' },
      { click: 'button', name: 'Revoke leaked' },
      { click: 'button', name: 'Revoke key' },
    ],
    shows: ['Deactivated'],
  },
  {
    name: 'restores a key',
    steps: [
      { shortcut: 'Deactivated keys' },
      { click: 'button', name: 'Restore old laptop' },
      { click: 'button', name: 'Restore key' },
    ],
    hides: 'Restore old laptop',
  },
  {
    name: 'rotates a key',
    steps: [
      { shortcut: 'Key budgets, limits and rotation' },
      { click: 'button', name: 'Rotate ci' },
      { click: 'button', name: 'Rotate key' },
    ],
    shows: [/^lgw_test_\w+$/],
  },
  {
    name: 'deletes the data of an end user',
    steps: [
      { shortcut: 'End users' },
      { click: 'button', name: 'Delete the data of ada' },
      { click: 'button', name: 'Delete permanently' },
    ],
    hides: 'ada',
  },
  {
    name: 'opens the requests of an agent’s session',
    steps: [{ menu: 'Sessions' }, { open: 'first session' }],
    shows: ['Session', /^ticket-\d+$/],
  },
  {
    name: 'changes the match policy after seeing what last week would have been',
    steps: [
      { shortcut: 'Match policy' },
      { click: 'radio', name: /^Proved/ },
      { click: 'button', name: 'Save settings' },
    ],
    shows: [/^Last week: /, 'Saved. Changes apply to the next request.'],
  },
  {
    name: 'purges the cache of one model',
    steps: [
      { shortcut: 'Purge the cache' },
      { type: 'search', into: 'Model', text: '4.1' },
      { click: 'option', name: /^openai\/gpt-4\.1/ },
      { click: 'button', name: 'Delete 1 cached response' },
    ],
    hides: 'Nothing has been deleted yet.',
  },
  {
    name: 'finds a cached response, and deletes it',
    steps: [
      { shortcut: 'Cached responses' },
      { type: 'search', into: 'Search questions', text: 'seats' },
      { click: 'button', name: /^Delete / },
      { click: 'button', name: 'Delete response' },
    ],
    shows: ['No matching questions'],
  },
  {
    name: 'sees who changed what',
    steps: [{ menu: 'Audit log' }],
    shows: [/set .*Similarity threshold/],
  },
  {
    name: 'is alerted by a message',
    steps: [
      { shortcut: 'Alert me' },
      { type: 'new name', into: 'URL of the incoming webhook', text: 'https://hooks.slack.com/services/T0/B0/abcdef' },
      { click: 'button', name: 'Add destination', in: 'Events' },
    ],
    shows: ['All events', 'hooks.slack.com/…abcdef'],
  },
  {
    name: 'invites a member',
    steps: [
      { shortcut: 'Invite a member' },
      { type: 'new name', into: 'E-mail address', text: 'alan@example.org' },
      { click: 'button', name: 'Add member', in: 'Role' },
    ],
    shows: [/\/dashboard\/invitation#/],
  },
  {
    name: 'sees what each project spends',
    steps: [{ shortcut: 'Spend of all projects' }],
    shows: ['acme-support', 'internal-tools', 'Hit rate'],
  },
]
